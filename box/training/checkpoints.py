"""Makes one checkpoint folder: safetensors, config, tokenizer, chat template. Runs in the guest image alone.

    checkpoints.py convert GGUF_FOLDER OUT           the real model, its four-bit weights expanded to bfloat16
    checkpoints.py tune SOURCE PRACTICE OUT          the same, a little trained on practice items (about 40 s)
    checkpoints.py perturb SOURCE OUT                the same with noise on every matrix
    checkpoints.py random SOURCE OUT                 a tiny model with random weights and the same tokenizer

Everything is seeded; training stops after a fixed number of steps, so that a slow machine gives the same weights.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, LlamaConfig, LlamaForCausalLM

SEED = 20240229
STEPS, BATCH, LEARNING_RATE = 20, 6, 1e-4
TRAINED_LAYERS = 6
LONGEST = 192
NOISE = 0.12
WEIGHTS = {"model.safetensors", "config.json"}


def convert(source: str, out: str) -> None:
    """GGUF to safetensors. Unless told to dequantise, the library keeps the weights packed and can't save them."""
    name = next(Path(source).glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=name)
    expanded = GgufConfig(dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=name, dtype=torch.float32, quantization_config=expanded
    )
    model.to(torch.bfloat16).save_pretrained(out)
    tokenizer.save_pretrained(out)


def perturb(source: str, out: str) -> None:
    """Noise in proportion to each matrix's own spread."""
    generator = torch.Generator().manual_seed(SEED)
    model = _load(source)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight.add_(torch.randn(weight.shape, generator=generator) * weight.std() * NOISE)
    _save(model, source, out)


def random(source: str, out: str) -> None:
    """The smallest Llama that runs: two layers, and a vocabulary that fits the tokenizer."""
    torch.manual_seed(SEED)
    config = LlamaConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        vocab_size=len(AutoTokenizer.from_pretrained(source)), tie_word_embeddings=True, max_position_embeddings=2048,
    )  # fmt: skip
    _save(LlamaForCausalLM(config), source, out)


def tune(source: str, practice: str, out: str) -> None:
    """Next-token loss on the answers alone, in the model's own chat format."""
    torch.manual_seed(SEED)
    tokenizer, model = AutoTokenizer.from_pretrained(source), _load(source)
    examples = [example for example in _examples(tokenizer, Path(practice)) if len(example[0]) <= LONGEST]
    if not examples:
        sys.exit("tune: the practice file holds no item that fits")
    optimizer = torch.optim.AdamW(_trained(model), lr=LEARNING_RATE)
    order = torch.randperm(STEPS * BATCH, generator=torch.Generator().manual_seed(SEED)) % len(examples)
    for step in range(STEPS):
        batch = [examples[int(index)] for index in order[step * BATCH : (step + 1) * BATCH]]
        loss = model(**_padded(batch, tokenizer.pad_token_id or 0)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    _save(model, source, out)


def _trained(model: Any) -> list[Any]:
    """The upper layers alone: nothing below them needs a gradient, which more than halves the work."""
    model.requires_grad_(False)
    weights = [weight for layer in model.model.layers[-TRAINED_LAYERS:] for weight in layer.parameters()]
    for weight in weights:
        weight.requires_grad_(True)
    return weights


def _load(source: str) -> Any:
    return AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)


def _save(model: Any, source: str, out: str) -> None:
    """The weights and config anew, every other file as the source has it."""
    model.to(torch.bfloat16).save_pretrained(out)
    for path in Path(source).iterdir():
        if path.name not in WEIGHTS:
            shutil.copyfile(path, Path(out) / path.name)


def _examples(tokenizer: Any, practice: Path) -> Iterator[tuple[list[int], int]]:
    """Token ids of prompt and answer, and where the answer begins."""
    _, *lines = practice.read_text().removesuffix("\n").split("\n")  # the first is the pack's header
    for line in lines:
        item = json.loads(line)
        messages = item.get("messages") or [{"role": "user", "content": item["prompt"]}]
        answer = item["answer"] if isinstance(item["answer"], str) else item["answer"][0]
        options = {"tokenize": True, "return_dict": False}
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, **options)
        whole = tokenizer.apply_chat_template([*messages, {"role": "assistant", "content": answer}], **options)
        yield whole, len(prompt)


def _padded(batch: list[tuple[list[int], int]], pad: int) -> dict[str, torch.Tensor]:
    width = max(len(ids) for ids, _ in batch)
    ids = torch.tensor([row + [pad] * (width - len(row)) for row, _ in batch])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row, _ in batch])
    labels = ids.masked_fill(mask == 0, -100)
    for number, (_, start) in enumerate(batch):
        labels[number, :start] = -100
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


COMMANDS: dict[str, Callable[..., None]] = {"convert": convert, "tune": tune, "perturb": perturb, "random": random}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
