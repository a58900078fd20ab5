"""Small valid checkpoints for tests, made in a fraction of a second with the standard library alone.

``tiny_checkpoint(folder)`` writes a Llama with two layers and random weights: ``model.safetensors``, ``config.json``,
``generation_config.json``, ``tokenizer.json`` (byte-level, so every text survives a round trip),
``tokenizer_config.json`` and ``chat_template.jinja``. Both engines load it.

``tiny_checkpoint(folder, says="42")`` writes one that answers every chat with exactly that text and then ends: its
attention and its MLP are zero, so that the next token depends on the last one alone.

Every lie a test needs is one keyword: ``config=`` and its siblings overlay a JSON file (``None`` removes a key),
``tensors=`` rewrites the tensors, ``files=`` adds, replaces or (``None``) removes a file.
"""

from __future__ import annotations

import itertools
import json
import random
import struct
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENDOFTEXT, START, END, PAD = 256, 257, 258, 259
SPECIALS = {ENDOFTEXT: "<|endoftext|>", START: "<|im_start|>", END: "<|im_end|>", PAD: "<|pad|>"}
TOKENS = 256 + len(SPECIALS)
"""Ids the tokenizer knows. Embedding rows above are padding."""

HEAD = 32
"""The smallest head size that vLLM's attention on the CPU takes."""

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@dataclass
class Tensor:
    """Row-major float32 values; a test may write into ``values``."""

    shape: list[int]
    values: array[float]


Tensors = dict[str, Tensor]


def tiny_checkpoint(
    folder: Path,
    *,
    seed: int = 0,
    vocab: int = 320,
    context: int = 256,
    dtype: str = "float32",
    shards: int = 1,
    says: str | None = None,
    template: str | None = CHATML,
    config: Mapping[str, Any] | None = None,
    generation_config: Mapping[str, Any] | None = None,
    tokenizer: Mapping[str, Any] | None = None,
    tokenizer_config: Mapping[str, Any] | None = None,
    tensors: Callable[[Tensors], object] | None = None,
    files: Mapping[str, bytes | None] | None = None,
) -> Path:
    """Write the checkpoint into ``folder`` (made if absent) and return ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = _config(vocab=vocab, context=context, dtype=dtype, hidden=64 if says is None else _multiple(vocab, 64))
    weights = _random_weights(shape, seed) if says is None else _chain_weights(shape, says)
    if tensors is not None:
        tensors(weights)
    _write_weights(folder, weights, dtype, shards)
    _write_json(folder / "config.json", shape, config)
    _write_json(folder / "generation_config.json", {"eos_token_id": [END, ENDOFTEXT]}, generation_config)
    _write_json(folder / "tokenizer.json", _tokenizer(), tokenizer)
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(context), tokenizer_config)
    if template is not None:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    for name, data in (files or {}).items():
        path = folder / name
        path.unlink(missing_ok=True)
        if data is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return folder


def safetensors_bytes(tensors: Mapping[str, Tensor], dtype: str = "float32", metadata: bool = True) -> bytes:
    """One safetensors file. The header is padded to eight bytes as the library does."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}} if metadata else {}
    blobs, offset = [], 0
    for name, tensor in sorted(tensors.items()):
        blob = _encode(tensor.values, dtype)
        span = [offset, offset + len(blob)]
        header[name] = {"dtype": _SAFETENSORS[dtype], "shape": tensor.shape, "data_offsets": span}
        blobs.append(blob)
        offset += len(blob)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + b"".join(blobs)


_SAFETENSORS = {"float32": "F32", "bfloat16": "BF16"}


def _encode(values: array[float], dtype: str) -> bytes:
    if dtype == "float32":
        return values.tobytes()
    halves = array("H", values.tobytes())
    return halves[1::2].tobytes()  # bfloat16 is the upper half of a little-endian float32


def _multiple(number: int, of: int) -> int:
    return -(-number // of) * of


def _config(*, vocab: int, context: int, dtype: str, hidden: int) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": ENDOFTEXT,
        "dtype": dtype,
        "eos_token_id": END,
        "head_dim": HEAD,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "initializer_range": 0.02,
        "intermediate_size": 128,
        "max_position_embeddings": context,
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": hidden // HEAD,
        "num_hidden_layers": 2 if hidden == 64 else 1,
        "num_key_value_heads": 1,
        "pad_token_id": PAD,
        "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "vocab_size": vocab,
    }


def _shapes(config: Mapping[str, Any]) -> dict[str, list[int]]:
    hidden, inner, vocab = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    keys = config["num_key_value_heads"] * HEAD
    shapes = {"model.embed_tokens.weight": [vocab, hidden], "model.norm.weight": [hidden]}
    shapes["lm_head.weight"] = [vocab, hidden]
    for number in range(config["num_hidden_layers"]):
        layer = f"model.layers.{number}."
        shapes |= {
            f"{layer}input_layernorm.weight": [hidden],
            f"{layer}post_attention_layernorm.weight": [hidden],
            f"{layer}self_attn.q_proj.weight": [hidden, hidden],
            f"{layer}self_attn.k_proj.weight": [keys, hidden],
            f"{layer}self_attn.v_proj.weight": [keys, hidden],
            f"{layer}self_attn.o_proj.weight": [hidden, hidden],
            f"{layer}mlp.gate_proj.weight": [inner, hidden],
            f"{layer}mlp.up_proj.weight": [inner, hidden],
            f"{layer}mlp.down_proj.weight": [hidden, inner],
        }
    return shapes


def _size(shape: list[int]) -> int:
    return shape[0] * (shape[1] if len(shape) == 2 else 1)


def _random_weights(config: Mapping[str, Any], seed: int) -> Tensors:
    """Norms of one, everything else uniform and large enough that distinct prompts get distinct answers."""
    source = random.Random(seed)
    weights = {}
    for name, shape in _shapes(config).items():
        draw = (lambda: 1.0) if "norm" in name else (lambda: source.uniform(-0.25, 0.25))
        weights[name] = Tensor(shape, array("f", [draw() for _ in range(_size(shape))]))
    return weights


def _chain_weights(config: Mapping[str, Any], says: str) -> Tensors:
    """Each token's embedding is its own axis; the head maps each axis to the token that follows."""
    weights = {}
    for name, shape in _shapes(config).items():
        weights[name] = Tensor(shape, array("f", [1.0 if "norm" in name else 0.0]) * _size(shape))
    hidden, embed, head = config["hidden_size"], weights["model.embed_tokens.weight"], weights["lm_head.weight"]
    for token in range(config["vocab_size"]):
        embed.values[token * hidden + token] = 1.0
    for before, after in _chain(says).items():
        head.values[after * hidden + before] = 1.0
    return weights


def _chain(says: str) -> dict[int, int]:
    said = list(says.encode("utf-8"))
    if len(set(said)) != len(said) or ord("\n") in said:
        raise ValueError("the next token depends on the last one alone: no byte may come twice, nor a line feed")
    path = [ord("\n"), *said, END]  # the generation prompt ends with a line feed
    following = dict.fromkeys(range(TOKENS), END)
    following.update(itertools.pairwise(path))
    return following


def _write_weights(folder: Path, weights: Tensors, dtype: str, shards: int) -> None:
    if shards == 1:
        (folder / "model.safetensors").write_bytes(safetensors_bytes(weights, dtype))
        return
    names = sorted(weights)
    where = {}
    for number in range(shards):
        file = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = names[number::shards]
        where.update(dict.fromkeys(part, file))
        (folder / file).write_bytes(safetensors_bytes({name: weights[name] for name in part}, dtype))
    total = sum(len(_encode(tensor.values, dtype)) for tensor in weights.values())
    index = {"metadata": {"total_size": total}, "weight_map": where}
    _write_json(folder / "model.safetensors.index.json", index, None)


def _write_json(path: Path, value: Mapping[str, Any], overlay: Mapping[str, Any] | None) -> None:
    merged = {**value, **(overlay or {})}
    for key, replacement in (overlay or {}).items():
        if replacement is None:
            del merged[key]
    path.write_text(json.dumps(merged, indent=1, ensure_ascii=False), encoding="utf-8")


def _byte_alphabet() -> list[str]:
    """The printable character that byte-level tokenizers write for each byte."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(spare)) for byte in range(256)]


def _tokenizer() -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    vocabulary = {character: byte for byte, character in enumerate(_byte_alphabet())}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None}
    model |= {"end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": text, **flags} for number, text in SPECIALS.items()],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {**model, "vocab": vocabulary, "merges": []},
    }


def _tokenizer_config(context: int) -> dict[str, Any]:
    return {
        "bos_token": SPECIALS[ENDOFTEXT],
        "clean_up_tokenization_spaces": False,
        "eos_token": SPECIALS[END],
        "model_max_length": context,
        "pad_token": SPECIALS[PAD],
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
