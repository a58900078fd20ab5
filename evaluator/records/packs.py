"""The packs: JSON Lines files that cross from one identity to another, sealed. One header line, then the records.

    prompts   curator -> runner    {"index", "messages"} or {"index", "prompt"}
    answers   curator -> grader    {"index", "kind", "answer", "checker", "group", "category", "split", "choices"?}
    outputs   runner  -> grader    {"index", "outcome", "detail", "text", "tokens", "logprob", ...}
    verdicts  grader  -> auditor   see ``evaluator.records.verdicts``

A pack's content digest is the SHA-256 of its bytes, so there is one way to write a pack: canonical JSON, one line
feed after each line, records by ascending index, the header's count right. The reader takes nothing else: a missing or
repeated index, an unknown key, a key written twice, a float or one space too many is refused with its line number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from evaluator.errors import Finding, Refused
from evaluator.records.canonical import canonical_of_checked, digest_of_bytes
from evaluator.records.outcomes import Outcome
from evaluator.records.shapes import (
    Check,
    digest_text,
    fits,
    hex_digest,
    integer,
    integers,
    list_of,
    mapping_of,
    mistakes,
    nullable,
    object_of,
    one_of,
    scalar,
    text,
    uuid_text,
)

MOST_FINDINGS = 20
"""More mistakes than this in one pack are counted, not listed."""

_BROKEN = object()
_INDEX = integer(0, 2**31 - 1)
_MESSAGE = object_of({"role": one_of("system", "user", "assistant"), "content": text()})


@dataclass(frozen=True)
class PackFormat:
    """One kind of pack: its name, the header's fields, and the records' fields in each variant that exists."""

    name: str
    header: Mapping[str, Check]
    variants: Sequence[Mapping[str, Check]]

    def nearest(self, record: object) -> Mapping[str, Check]:
        """The variant that ``record`` seems to be meant as."""
        keys = record.keys() if isinstance(record, dict) else set()
        return min(self.variants, key=lambda variant: len(variant.keys() ^ keys))


@dataclass(frozen=True)
class Pack:
    """A pack that was read or written: ``records`` by ascending index, ``digest`` of the very bytes."""

    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]
    digest: str


def make_format(name: str, header: Mapping[str, Check], *variants: Mapping[str, Check]) -> PackFormat:
    return PackFormat(name, {"format": one_of(name), **header, "count": integer(0)}, variants)


_ANSWER = {
    "index": _INDEX, "kind": text(40, 1), "answer": list_of(text(), least=1),
    "checker": mapping_of(Check(lambda value: scalar.test(value) or list_of(scalar).test(value), "a scalar or a list")),
    "group": text(200, 1), "category": text(200), "split": one_of("practice", "active"),
}  # fmt: skip

PROMPTS = make_format(
    "heldout.prompts/1", {"release": uuid_text},
    {"index": _INDEX, "messages": list_of(_MESSAGE, least=1)}, {"index": _INDEX, "prompt": text()},
)  # fmt: skip
ANSWERS = make_format(
    "heldout.answers/1", {"release": uuid_text}, _ANSWER, {**_ANSWER, "choices": list_of(text(), least=2)}
)
OUTPUTS = make_format(
    "heldout.outputs/1", {"run": uuid_text, "runspec": digest_text},
    {
        "index": _INDEX, "outcome": one_of(*Outcome), "detail": text(120), "text": text(),
        "tokens": integers(0, 2**32 - 1), "logprob": nullable(integer()), "prompt_tokens": integer(0),
        "prompt_sha256": nullable(hex_digest), "prompt_ids_sha256": nullable(hex_digest),
        "batch": integer(0), "ms": integer(0),
    },
)  # fmt: skip


def write_prompts(release: str, records: Iterable[Mapping[str, Any]]) -> bytes:
    return write(PROMPTS, {"release": release}, records)


def write_answers(release: str, records: Iterable[Mapping[str, Any]]) -> bytes:
    return write(ANSWERS, {"release": release}, records)


def write_outputs(run: str, runspec: str, records: Iterable[Mapping[str, Any]]) -> bytes:
    return write(OUTPUTS, {"run": run, "runspec": runspec}, records)


def read_prompts(data: bytes) -> Pack:
    return read(PROMPTS, data)


def read_answers(data: bytes) -> Pack:
    return read(ANSWERS, data)


def read_outputs(data: bytes) -> Pack:
    return read(OUTPUTS, data)


def write(kind: PackFormat, header: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> bytes:
    """The pack's bytes, whatever order ``records`` come in. Raises ``Refused`` where the reader would refuse them."""
    ordered = sorted(records, key=_index)
    whole = [{"format": kind.name, **header, "count": len(ordered)}, *ordered]
    if found := list(_findings(kind, whole)):
        raise Refused(_capped(found))
    return b"".join([_line(kind, number, record) for number, record in enumerate(whole, 1)])


def _index(record: Mapping[str, Any]) -> int:
    index = record.get("index")
    return index if isinstance(index, int) else -1


def _line(kind: PackFormat, number: int, record: Mapping[str, Any]) -> bytes:
    try:
        return canonical_of_checked(record) + b"\n"
    except ValueError:
        raise Refused([_finding(kind, number, "text", "holds a lone surrogate.")]) from None


def read(kind: PackFormat, data: bytes) -> Pack:
    """The pack in ``data``. Raises ``Refused`` with every mistake by line; ``data`` may be anything at all."""
    written = data.split(b"\n")
    if written.pop() != b"":
        raise Refused.one("pack.truncated", f"{kind.name}, last line", "The last line is not ended.",
                          "The file was cut; take it again from its source.")  # fmt: skip
    values, found = _parsed(kind, written)
    found += _findings(kind, values)
    if not found:
        # Only now is the shape known, and with it that the quick encoder writes the one canonical form.
        found += [
            _finding(kind, number, "canonical", "is not written canonically (a repeated key, a space, an escape).")
            for number, (value, line) in enumerate(zip(values, written, strict=True), 1)
            if canonical_of_checked(value) != line
        ]
    if found:
        raise Refused(_capped(found))
    return Pack(values[0], values[1:], digest_of_bytes(data))


def _parsed(kind: PackFormat, written: Sequence[bytes]) -> tuple[list[Any], list[Finding]]:
    """Each line's value; ``_BROKEN`` for a line that is no JSON, which is a finding."""
    values, found = [], []
    for number, line in enumerate(written, 1):
        try:
            values.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            found.append(_finding(kind, number, "json", f"is not JSON: {error.msg} at column {error.colno}."))
            values.append(_BROKEN)
    return values, found


def _findings(kind: PackFormat, values: Sequence[Any]) -> Iterator[Finding]:
    """Mistakes of header and records. A line that was no JSON has its finding already."""
    if not values or not _has_shape(values[0], (kind.header,)):
        yield from mistakes(values[0] if values else None, kind.header, _where(kind, 1))
        return
    if values[0]["count"] != len(values) - 1:
        yield _finding(kind, 1, "count", f"says {values[0]['count']} records, but there are {len(values) - 1}.")
    last = -1
    for number, record in enumerate(values[1:], 2):
        if record is _BROKEN:
            continue
        if not _has_shape(record, kind.variants):
            yield from mistakes(record, kind.nearest(record), _where(kind, number))
        elif record["index"] <= last:
            yield _finding(kind, number, "index", f"has index {record['index']} after {last}; they must ascend.")
        else:
            last = record["index"]


def _has_shape(value: object, variants: Sequence[Mapping[str, Check]]) -> bool:
    if not isinstance(value, dict):
        return False
    for variant in variants:  # noqa: SIM110 - a loop, because this runs for each line of each pack
        if fits(value, variant):
            return True
    return False


def _where(kind: PackFormat, number: int) -> str:
    return f"{kind.name}, line {number}"


def _finding(kind: PackFormat, number: int, code: str, problem: str) -> Finding:
    return Finding(f"pack.{code}", _where(kind, number), problem, "Write it with evaluator.records.packs.")


def _capped(found: Sequence[Finding]) -> Sequence[Finding]:
    if len(found) <= MOST_FINDINGS:
        return found
    rest = Finding("pack.more", "", f"and {len(found) - MOST_FINDINGS} more mistakes.", "")
    return [*found[:MOST_FINDINGS], rest]
