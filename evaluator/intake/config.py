"""Judges config.json: a family we know, sizes within bounds, and which tensors those sizes promise.

Bounds come first, so that a configuration of a billion layers costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import names, strictjson
from evaluator.intake.families import FAMILIES, Family

DTYPES = frozenset({"float32", "bfloat16", "float16"})
_ACTIVATIONS = frozenset(
    {"silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python", "quick_gelu"}
    | {"relu", "relu2"}
)
_BOUNDS = {
    "vocab_size": (1, 2**22),
    "hidden_size": (1, 2**16),
    "intermediate_size": (1, 2**20),
    "num_hidden_layers": (1, 512),
    "num_attention_heads": (1, 1024),
    "num_key_value_heads": (1, 1024),
    "head_dim": (1, 1024),
    "max_position_embeddings": (16, 2**24),
}
_LARGEST_NUMBER = 10**15
_AS_TRAINED = "Upload the config.json that the model was saved with."


@dataclass(frozen=True)
class Model:
    """What config.json promises. ``expected`` has no output head; ``head_shape`` is what one must have."""

    architecture: str
    family: Family
    vocabulary: int
    context: int
    tied: bool
    dtype: str | None
    expected: Mapping[str, tuple[int, ...]]
    head_shape: tuple[int, ...]
    ends: tuple[int, ...]


def read(untrusted: Mapping[str, Any], text: str) -> Model:
    """Raises ``Refused`` with everything that is wrong."""
    architecture, family = _family(untrusted)
    findings = [*_kinds(untrusted), *_numbers(untrusted, text)]
    sizes, wrong = _sizes(untrusted, family, text)
    findings += wrong
    if not findings:
        findings += _relations(sizes, untrusted, family) + _token_ids(untrusted, sizes["vocab_size"], text)
    findings += _flags(untrusted, family, text)
    tied = untrusted.get("tie_word_embeddings", family.tied)
    if findings:
        raise Refused(findings)
    return Model(
        architecture=architecture,
        family=family,
        vocabulary=sizes["vocab_size"],
        context=sizes["max_position_embeddings"],
        tied=tied,
        dtype=untrusted.get("dtype", untrusted.get("torch_dtype")),
        expected=_expected(family, sizes, untrusted),
        head_shape=(sizes["vocab_size"], sizes["hidden_size"]),
        ends=token_ids(untrusted.get("eos_token_id")),
    )


def token_ids(untrusted: Any) -> tuple[int, ...]:
    """One id or a list of them, as ``eos_token_id`` is written."""
    found = untrusted if isinstance(untrusted, list) else [untrusted]
    return tuple(item for item in found if type(item) is int)


def _family(untrusted: Mapping[str, Any]) -> tuple[str, Family]:
    stated = untrusted.get("architectures")
    supported = f"Supported are {', '.join(FAMILIES)}."
    if not isinstance(stated, list) or len(stated) != 1 or not isinstance(stated[0], str):
        problem = 'The key "architectures" must hold a list with one name.'
        raise Refused.one("architecture", names.CONFIG, problem, supported)
    if stated[0] not in FAMILIES:
        problem = f"The architecture {stated[0][:80]!a} is not supported."
        raise Refused.one("architecture", names.CONFIG, problem, supported)
    family = FAMILIES[stated[0]]
    if untrusted.get("model_type") != family.model_type:
        problem = f"The model_type {ascii(untrusted.get('model_type'))[:80]} does not belong to {stated[0]}."
        raise Refused.one("model-type", names.CONFIG, problem, f'Write "model_type": "{family.model_type}".')
    return stated[0], family


def _kinds(untrusted: Mapping[str, Any]) -> list[Finding]:
    findings = []
    if untrusted.get("quantization_config") is not None:
        problem = "The weights are quantised (quantization_config)."
        remedy = "Upload the weights in float32, bfloat16 or float16, without quantization_config."
        findings.append(Finding("quantised", names.CONFIG, problem, remedy))
    if untrusted.get("is_encoder_decoder") not in (None, False):
        problem = "The model is an encoder-decoder."
        findings.append(Finding("architecture", names.CONFIG, problem, "Upload a decoder-only language model."))
    for key in ("dtype", "torch_dtype"):
        if untrusted.get(key) is not None and untrusted[key] not in DTYPES:
            problem = f"The {key} {ascii(untrusted[key])[:40]} is not supported."
            remedy = f"Supported are {', '.join(sorted(DTYPES))}."
            findings.append(Finding("config-dtype", names.CONFIG, problem, remedy))
    for key in ("hidden_act", "hidden_activation", "activation_function"):
        if untrusted.get(key) is not None and untrusted[key] not in _ACTIVATIONS:
            problem = f"The {key} {ascii(untrusted[key])[:40]} is not known."
            remedy = f"Known are {', '.join(sorted(_ACTIVATIONS))}."
            findings.append(Finding("config-activation", names.CONFIG, problem, remedy))
    return findings


def _numbers(untrusted: Mapping[str, Any], text: str) -> list[Finding]:
    """No number anywhere that a loader could stumble over, whatever its key means."""
    found = []
    for path, key, item in strictjson.walk(dict(untrusted)):
        if isinstance(item, int | float) and abs(item) > _LARGEST_NUMBER:
            found.append(_finding(text, key or path, f"is out of range ({item:.3g}).", path))
    return found[:8]


def _sizes(untrusted: Mapping[str, Any], family: Family, text: str) -> tuple[dict[str, int], list[Finding]]:
    sizes: dict[str, int] = {}
    findings = []
    for size, (low, high) in _BOUNDS.items():
        key = family.keys.get(size, size)
        value = untrusted.get(key, untrusted.get(size))
        if value is None:
            value = _default(size, sizes, family)
        if value is None:
            findings.append(Finding("config-missing-key", names.CONFIG, f"The key {key!r} is missing.", _AS_TRAINED))
        elif type(value) is not int or not low <= value <= high:
            shown = ascii(value)[:40]
            findings.append(_finding(text, key, f"must be a whole number from {low} to {high}, not {shown}.", key))
        else:
            sizes[size] = value
    return sizes, findings


def _default(size: str, sizes: Mapping[str, int], family: Family) -> int | None:
    """What the loaders take for a missing key, where that is a rule and not a guess."""
    if size in family.defaults:
        return family.defaults[size]
    if size == "num_key_value_heads":
        return sizes.get("num_attention_heads")
    if size == "head_dim" and "num_attention_heads" in sizes:
        return max(1, sizes.get("hidden_size", 1) // sizes["num_attention_heads"])
    if size == "intermediate_size" and family.model_type == "gpt2":
        return 4 * sizes.get("hidden_size", 1)
    return None


def _flags(untrusted: Mapping[str, Any], family: Family, text: str) -> list[Finding]:
    """What decides about tensors is true or false: to a loader the text "false" is true."""
    flags = [*family.flags, "tie_word_embeddings"]
    wrong = [flag for flag in flags if flag in untrusted and not isinstance(untrusted[flag], bool)]
    return [_finding(text, flag, "must be true or false.") for flag in wrong]


def _relations(sizes: Mapping[str, int], untrusted: Mapping[str, Any], family: Family) -> list[Finding]:
    heads, keys, hidden = sizes["num_attention_heads"], sizes["num_key_value_heads"], sizes["hidden_size"]
    findings = []
    if heads % keys:
        problem = f"{heads} attention heads can't be shared out over {keys} key-value heads."
        findings.append(Finding("config-inconsistent", names.CONFIG, problem, _AS_TRAINED))
    if untrusted.get("head_dim") is None and "head_dim" not in family.defaults and hidden % heads:
        problem = f"hidden_size {hidden} is not a multiple of num_attention_heads {heads}, and head_dim is missing."
        findings.append(Finding("config-inconsistent", names.CONFIG, problem, _AS_TRAINED))
    return findings


def _token_ids(untrusted: Mapping[str, Any], vocabulary: int, text: str) -> list[Finding]:
    findings = []
    for key in ("bos_token_id", "eos_token_id", "pad_token_id"):
        value = untrusted.get(key)
        ids = value if isinstance(value, list) else [value]
        if value is not None and not all(type(item) is int and -1 <= item < vocabulary for item in ids):
            problem = f"{ascii(value)[:60]} is not an id below the vocabulary size {vocabulary}."
            findings.append(_finding(text, key, problem, key))
    return findings


def _expected(family: Family, sizes: Mapping[str, int], untrusted: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    letters = _letters(sizes)
    layer = dict(family.layer)
    for flag, more in family.flags.items():
        if untrusted.get(flag, family.defaults.get(flag, False)):
            layer.update(more)
    shapes = {family.embedding: "v h", **family.top}
    for number in range(sizes["num_hidden_layers"]):
        shapes.update({f"{family.layers}{number}.{name}": shape for name, shape in layer.items()})
    return {name: tuple(letters[letter] for letter in shape.split()) for name, shape in shapes.items()}


def _letters(sizes: Mapping[str, int]) -> dict[str, int]:
    hidden, inner, head = sizes["hidden_size"], sizes["intermediate_size"], sizes["head_dim"]
    queries, keys = sizes["num_attention_heads"] * head, sizes["num_key_value_heads"] * head
    return {
        "v": sizes["vocab_size"],
        "h": hidden,
        "i": inner,
        "q": queries,
        "k": keys,
        "d": head,
        "p": sizes["max_position_embeddings"],
        "3h": 3 * hidden,
        "2i": 2 * inner,
        "qkv": queries + 2 * keys,
    }


def _finding(text: str, key: str, problem: str, path: str | None = None) -> Finding:
    where = f"{names.CONFIG}{strictjson.line_of(text, key)}, at {(path or key)[:120]}"
    return Finding("config-bounds", where, f"The value {problem}", _AS_TRAINED)
