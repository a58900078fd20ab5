"""Nothing in a checkpoint may name code or anything outside its own folder, at any depth of any of its JSON files.

Loaders have followed such names although remote code was switched off. Names that only describe are rewritten or
ignored by every loader, yet telling them from the others is guesswork, so one key alone is let pass with a note:
``_name_or_path`` at the top of a configuration, which every loader overwrites with the folder it loads from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evaluator.errors import Finding
from evaluator.intake import strictjson
from evaluator.intake.names import Role

CODE_KEYS = frozenset(
    {
        "auto_map",
        "trust_remote_code",
        "custom_pipelines",
        "custom_pipeline",
        "custom_generate",
        "remote_code",
        "code_revision",
        "tokenizer_file",
        "special_tokens_map_file",
    }
)
"""Keys by which some loader was once led to run code or open a file elsewhere."""

_DESCRIBES = frozenset({"_name_or_path", "name_or_path"})
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*(@[\w.-]+)?(:[\w.-]+)?\Z")
_ABSOLUTE = re.compile(r"(/|~|[A-Za-z]:[\\/]|\\\\)[^\s<>|]*\Z")
_TEXTS = {
    # Data, not references: token texts, regular expressions, and the template, which has checks of its own.
    Role.TOKENIZER: re.compile(r"model\.(vocab|merges)\b|added_tokens\[\d+\]\.content\Z|.*\.pattern\.\w+\Z"),
    Role.TOKENIZER_CONFIG: re.compile(r"chat_template\b|added_tokens_decoder\.\d+\.content\Z"),
    Role.SPECIAL_TOKENS: re.compile(r".*"),
    Role.VOCABULARY: re.compile(r".*"),
    Role.ADDED_TOKENS: re.compile(r".*"),
    Role.INDEX: re.compile(r"weight_map\b"),
}
_KEYS_ARE_DATA = frozenset({Role.VOCABULARY, Role.ADDED_TOKENS})


def check(value: dict[str, Any], text: str, where: str, role: Role) -> tuple[list[Finding], list[str]]:
    """Findings and notes for one parsed file; ``text`` is its source, for line numbers."""
    findings, notes = [], []
    for path, key, item in _visible(value, role):
        if key is not None and role not in _KEYS_ARE_DATA and _folded(key) in CODE_KEYS:
            findings.append(_code(where, text, path, key))
        elif not isinstance(item, str) or _skipped(path, role) or (kind := _outside(item)) is None:
            continue
        elif path in _DESCRIBES and kind != "a path":
            notes.append(f"{where}: {path} names {item[:80]!r}; it is ignored, only this folder is loaded.")
        else:
            findings.append(_reference(where, text, path, item, kind))
    return findings, notes


def _visible(value: dict[str, Any], role: Role) -> Iterator[tuple[str, str | None, Any]]:
    """All values, less a tokenizer's vocabulary and merges, which hold a million texts and no settings."""
    if role is Role.TOKENIZER and isinstance(value.get("model"), dict):
        model = {key: item for key, item in value["model"].items() if key not in {"vocab", "merges"}}
        value = {**value, "model": model}
    return strictjson.walk(value)


def _folded(key: str) -> str:
    return key.strip().casefold().replace("-", "_")


def _skipped(path: str, role: Role) -> bool:
    pattern = _TEXTS.get(role)
    return pattern is not None and pattern.match(path) is not None


def _outside(text: str) -> str | None:
    """What kind of place outside the folder ``text`` names, if any."""
    if _URL.search(text):
        return "a web address"
    if ".." in text or _ABSOLUTE.match(text):
        return "a path"
    return "a model on a hub" if _HUB_ID.match(text) else None


def _code(where: str, text: str, path: str, key: str) -> Finding:
    return Finding(
        "remote-code",
        f"{where}{strictjson.line_of(text, key)}, at {path[:120]}",
        f"The key {key[:60]!r} makes loaders run code or open files outside this folder.",
        "Delete the key. Models that need their own code can't be evaluated here.",
    )


def _reference(where: str, text: str, path: str, item: str, kind: str) -> Finding:
    return Finding(
        "outside-reference",
        f"{where}{strictjson.line_of(text, item)}, at {path[:120]}",
        f"The value {item[:80]!a} names {kind}.",
        "Delete it or put a plain name there; everything a checkpoint needs lies in its own folder.",
    )
