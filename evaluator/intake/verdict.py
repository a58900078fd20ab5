"""Turns what the child said, which may be the work of whoever took it over, into typed and bounded values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import strictjson
from evaluator.intake.families import FAMILIES
from evaluator.intake.limits import Limits
from evaluator.records import controls

_CODE = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")
_HEX = re.compile(r"[0-9a-f]{64}\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_LONGEST = 800
_NOTES = 20
_LARGEST = 2**53 - 1


@dataclass(frozen=True)
class Verdict:
    """``parsed`` is what the child read of each file: how many bytes from the start, and their SHA-256."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    parsed: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    facts: Mapping[str, Any] | None = None
    peak_kib: int = 0


def read(untrusted: bytes, files: set[str], limits: Limits) -> Verdict:
    """Raises ``Refused`` where the answer is not one that an honest child gives."""
    answer = strictjson.parse_object(untrusted, "the child's answer")
    _require(answer.keys() == {"findings", "notes", "parsed", "facts", "confined", "peak_kib"})
    findings = _findings(answer["findings"], limits)
    facts = None
    if answer["facts"] is not None:
        _require(not findings)
        facts = {**_facts(answer["facts"]), "confinement": _confined(answer["confined"])}
    _require(bool(findings) != (facts is not None))
    notes, parsed = _notes(answer["notes"]), _parsed(answer["parsed"], files)
    return Verdict(findings, notes, parsed, facts, _whole(answer["peak_kib"]))


def read_progress(untrusted: bytes, files: set[str], limits: Limits) -> tuple[str, tuple[Finding, ...]]:
    """The file that was being read and the findings before; of a broken note, any file and none."""
    try:
        note = strictjson.parse_object(untrusted, "the child's progress")
        _require(note.get("file") in files)
        return note["file"], _findings(note.get("findings"), limits)
    except Refused:
        return "the folder", ()


def _require(condition: bool) -> None:
    if not condition:
        raise Refused.one("check-crashed", "the child's answer", "It has an unknown form.", "Tell the operators.")


def _whole(untrusted: Any, low: int = 0, high: int = _LARGEST) -> int:
    _require(type(untrusted) is int and low <= untrusted <= high)
    return int(untrusted)


def _text(untrusted: Any) -> str:
    """Printable and bounded. Control characters would let a file name or a token forge a log line or a page."""
    _require(isinstance(untrusted, str) and len(untrusted) <= 4 * _LONGEST)
    kept = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in untrusted)
    return kept if len(kept) <= _LONGEST else kept[:_LONGEST] + "…"


def _findings(untrusted: Any, limits: Limits) -> tuple[Finding, ...]:
    _require(isinstance(untrusted, list) and len(untrusted) <= limits.findings)
    found = []
    for item in untrusted:
        _require(isinstance(item, dict) and item.keys() == {"code", "where", "problem", "remedy"})
        code = _text(item["code"])
        _require(_CODE.match(code) is not None)
        found.append(Finding(code, *(_text(item[key]) for key in ("where", "problem", "remedy"))))
    return tuple(found)


def _notes(untrusted: Any) -> tuple[str, ...]:
    _require(isinstance(untrusted, list) and len(untrusted) <= _NOTES)
    return tuple(_text(note) for note in untrusted)


def _parsed(untrusted: Any, files: set[str]) -> dict[str, tuple[int, str]]:
    _require(isinstance(untrusted, dict) and untrusted.keys() <= files)
    parsed = {}
    for name, pair in untrusted.items():
        _require(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str) and bool(_HEX.match(pair[1])))
        parsed[name] = (_whole(pair[0]), pair[1])
    return parsed


def _confined(untrusted: Any) -> dict[str, bool]:
    _require(isinstance(untrusted, dict) and untrusted.keys() == {"network", "files"})
    _require(all(isinstance(value, bool) for value in untrusted.values()))
    return dict(untrusted)


def _facts(untrusted: Any) -> dict[str, Any]:
    _require(isinstance(untrusted, dict))
    vocabulary = _whole(untrusted.get("vocabulary"), 1)
    _require(untrusted.get("architecture") in FAMILIES)
    _require(untrusted.get("dtype") in ("float32", "bfloat16", "float16"))
    template = untrusted.get("template")
    _require(template is None or (isinstance(template, str) and bool(_DIGEST.match(template))))
    ends = untrusted.get("eos")
    _require(isinstance(ends, list) and len(ends) <= 100)
    bos = untrusted.get("bos")
    completion = {"prompt": controls.PROMPT} | _digests(untrusted.get("completion"))
    messages = {"messages": [dict(message) for message in controls.MESSAGES]}
    return {
        "architecture": untrusted["architecture"],
        "parameters": _whole(untrusted.get("parameters"), 1),
        "dtype": untrusted["dtype"],
        "vocabulary": vocabulary,
        "context": _whole(untrusted.get("context"), 1),
        "bos": None if bos is None else _whole(bos, 0, vocabulary - 1),
        "eos": [_whole(end, 0, vocabulary - 1) for end in ends],
        "template": template,
        "control": completion if template is None else messages | _digests(untrusted.get("control")),
        "completion": completion,
    }


def _digests(untrusted: Any) -> dict[str, Any]:
    _require(isinstance(untrusted, dict))
    hexes = {key: untrusted.get(key) for key in ("text_sha256", "ids_sha256")}
    _require(all(isinstance(value, str) and _HEX.match(value) for value in hexes.values()))
    return {**hexes, "ids": _whole(untrusted.get("ids"), 1)}
