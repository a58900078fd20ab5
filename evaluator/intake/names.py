"""Which file names a checkpoint may hold. Everything else is refused: the list is closed.

>>> role("model-00002-of-00003.safetensors")
<Role.WEIGHTS: 'weights'>
>>> role("modeling_custom.py") is None
True
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from evaluator.errors import Finding


class Role(StrEnum):
    CONFIG = "config"
    GENERATION = "generation"
    TOKENIZER = "tokenizer"
    TOKENIZER_CONFIG = "tokenizer-config"
    SPECIAL_TOKENS = "special-tokens"
    ADDED_TOKENS = "added-tokens"
    VOCABULARY = "vocabulary"
    MERGES = "merges"
    TEMPLATE = "template"
    INDEX = "index"
    WEIGHTS = "weights"
    TEXT = "text"

    @property
    def is_json(self) -> bool:
        return self in _JSON

    @property
    def of_tokenizer(self) -> bool:
        return self in _OF_TOKENIZER


CONFIG = "config.json"
GENERATION = "generation_config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
VOCABULARY = "vocab.json"
TEMPLATE = "chat_template.jinja"
INDEX = "model.safetensors.index.json"
WEIGHTS = "model.safetensors"

_ROLES = {
    CONFIG: Role.CONFIG,
    GENERATION: Role.GENERATION,
    TOKENIZER: Role.TOKENIZER,
    TOKENIZER_CONFIG: Role.TOKENIZER_CONFIG,
    SPECIAL_TOKENS: Role.SPECIAL_TOKENS,
    ADDED_TOKENS: Role.ADDED_TOKENS,
    VOCABULARY: Role.VOCABULARY,
    "merges.txt": Role.MERGES,
    TEMPLATE: Role.TEMPLATE,
    INDEX: Role.INDEX,
    WEIGHTS: Role.WEIGHTS,
    **dict.fromkeys(("README.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"), Role.TEXT),
}
_JSON = frozenset(
    {
        Role.CONFIG,
        Role.GENERATION,
        Role.TOKENIZER,
        Role.TOKENIZER_CONFIG,
        Role.SPECIAL_TOKENS,
        Role.ADDED_TOKENS,
        Role.VOCABULARY,
        Role.INDEX,
    }
)
_OF_TOKENIZER = _JSON - {Role.CONFIG, Role.GENERATION, Role.INDEX} | {Role.MERGES}
_SHARD = re.compile(r"model-([0-9]{5})-of-([0-9]{5})\.safetensors\Z")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")

ALLOWED = (
    "Allowed are config.json, generation_config.json, tokenizer.json, tokenizer_config.json, special_tokens_map.json, "
    "added_tokens.json, vocab.json, merges.txt, chat_template.jinja, model.safetensors or its numbered shards with "
    "model.safetensors.index.json, README.md, LICENSE and NOTICE."
)
_ADAPTER = frozenset({"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"})


def role(name: str) -> Role | None:
    if _SHARD.match(name):
        return Role.WEIGHTS
    return _ROLES.get(name)


def shard(name: str) -> tuple[int, int] | None:
    """Number and count of a shard's name."""
    match = _SHARD.match(name)
    return (int(match[1]), int(match[2])) if match else None


def shard_name(number: int, count: int) -> str:
    return f"model-{number:05d}-of-{count:05d}.safetensors"


def is_adapter(name: str) -> bool:
    return name in _ADAPTER


def shown(name: str) -> str:
    """A name from outside, safe to print: control characters, quotes' tricks and undecodable bytes as escapes."""
    return name if _PLAIN.match(name) else ascii(name)[1:-1][:200]


def check(names: Iterable[str]) -> list[Finding]:
    """What is wrong with the names alone."""
    names = sorted(names)
    return [finding for name in names if (finding := _check(name))] + _collisions(names)


def _check(name: str) -> Finding | None:
    where = shown(name)
    if role(name) is not None or is_adapter(name):
        return None  # adapters get one finding of their own that says what to do
    if name.startswith("."):
        return Finding("dot-file", where, "Files whose names begin with a dot are not taken.", "Delete it.")
    if not _PLAIN.match(name):
        problem = "The file name holds characters that are not taken (only letters, digits, dot, dash and underscore)."
        return Finding("bad-name", where, problem, "Rename or delete the file.")
    if name.endswith((".py", ".pyc", ".so", ".ipynb")):
        problem = "A checkpoint is data; code is never taken or run."
        remedy = "Delete it. Models that need their own code can't be evaluated here."
        return Finding("python-file", where, problem, remedy)
    return Finding("unexpected-file", where, "A checkpoint does not hold a file of this name.", f"Delete it. {ALLOWED}")


def _collisions(names: list[str]) -> list[Finding]:
    seen: dict[str, str] = {}
    findings = []
    for name in names:
        folded = unicodedata.normalize("NFKC", name).casefold()
        if folded in seen:
            problem = f"The name differs from {shown(seen[folded])} only in the case or form of its letters."
            findings.append(Finding("case-collision", shown(name), problem, "Keep one of the two files."))
        seen[folded] = name
    return findings
