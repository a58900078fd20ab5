"""The inside of a pack: canonical JSON Lines, a header first, then records by ascending index.

    {"count":2,"format":"heldout.prompts/1","release":"…"}
    {"index":0,…}
    {"index":1,…}

Only what this code base has written is ever read here (the content digest is checked before); what people send is
read by ``evaluator.curator.importing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

from evaluator.errors import IntegrityError, Misuse
from evaluator.records.canonical import canonical, lines

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Pack:
    """The header, and the records in order of their index."""

    header: dict[str, Any]
    records: list[dict[str, Any]]


@dataclass(frozen=True)
class Form:
    """What may stand in one kind of pack: its name and version, and the only keys a record may have."""

    name: str
    keys: frozenset[str]


def write(form: Form, header: Record, records: Iterable[Record]) -> bytes:
    """The plaintext of a pack. Records may come in any order; the bytes are the same.

    A key that the form does not name stops the writing: no answer slips into a pack of prompts.
    """
    ordered = sorted(records, key=lambda record: record["index"])
    if _disorder(ordered):
        raise Misuse("two records of a pack have one index")
    for record in ordered:
        if not record.keys() <= form.keys:
            raise Misuse(f"{', '.join(sorted(record.keys() - form.keys))}: no key of {form.name}")
    return canonical({**header, "format": form.name, "count": len(ordered)}) + b"\n" + lines(ordered)


def read(form: Form, plaintext: bytes) -> Pack:
    """What ``write`` wrote. ``IntegrityError`` for another format, count or order."""
    try:
        # Split at line feeds alone: other separators may stand inside a text.
        header, *records = [orjson.loads(line) for line in plaintext.removesuffix(b"\n").split(b"\n")]
    except ValueError:
        raise IntegrityError(f"the pack is not {form.name}: a line is no JSON") from None
    if not isinstance(header, dict) or header.get("format") != form.name:
        raise IntegrityError(f"the pack is not {form.name}")
    if header.get("count") != len(records):
        raise IntegrityError(f"the pack declares {header.get('count')} records and holds {len(records)}")
    if _disorder(records):
        raise IntegrityError("the records of the pack are not in order of their index")
    return Pack(header, records)


def _disorder(records: Sequence[Record]) -> bool:
    """Whether two neighbours have one index or stand in the wrong order."""
    indexes = [record["index"] for record in records]
    return any(before >= after for before, after in pairwise(indexes))
