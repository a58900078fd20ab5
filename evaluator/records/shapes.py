"""Strict reading of records: exactly the keys that are named, each of its kind, every mistake told at once.

A *check* is a test with words for what it wants. An *object* is a table of keys and checks:

>>> fields = {"name": text(20), "size": integer(0, 100)}
>>> [str(finding) for finding in mistakes({"name": "a", "size": -1, "x": 1}, fields, "line 3")]
['line 3: "x" is no field of this record. Remove it.', 'line 3: "size" must be an integer from 0 to 100.']

A ``Shape`` is a frozen dataclass whose fields carry their checks, for records that code builds and reads back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, NamedTuple, Self, get_args, get_type_hints

from evaluator.errors import Finding, Refused

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HEX_DIGITS = "0123456789abcdef"
_INTEGERS = frozenset({int})
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,18})?")
_LARGEST = 2**53 - 1


class Check(NamedTuple):
    """``test`` says whether a value is right, ``wanted`` what a right one is: "must be <wanted>"."""

    test: Callable[[Any], bool]
    wanted: str


def text(most: int = _LARGEST, least: int = 0) -> Check:
    wanted = "text" if most == _LARGEST and not least else f"text of {least} to {most} characters"
    return Check(lambda value: isinstance(value, str) and least <= len(value) <= most, wanted)


def integer(least: int = -_LARGEST, most: int = _LARGEST) -> Check:
    wanted = "an integer" if (least, most) == (-_LARGEST, _LARGEST) else f"an integer from {least} to {most}"
    return Check(lambda value: type(value) is int and least <= value <= most, wanted)


def decimal(least: str = "-1e15", most: str = "1e15") -> Check:
    """Decimal text such as "0.25"; the bounds are compared as numbers."""

    def test(value: object) -> bool:
        # Sixteen digits before the point fit a float well enough to compare with round bounds.
        return (
            isinstance(value, str)
            and _DECIMAL.fullmatch(value) is not None
            and float(least) <= float(value) <= float(most)
        )

    return Check(test, f'decimal text such as "0.25", from {least} to {most}')


def integers(least: int = -_LARGEST, most: int = _LARGEST) -> Check:
    """A list of integers, checked by calls that loop in C: token ids come by the million."""

    def test(value: object) -> bool:
        if not value or type(value) is not list:
            return value == []
        return _INTEGERS.issuperset(map(type, value)) and min(value) >= least and max(value) <= most

    return Check(test, f"a list of integers from {least} to {most}")


def one_of(*values: str) -> Check:
    known = frozenset(values)
    return Check(lambda value: isinstance(value, str) and value in known, "one of " + ", ".join(sorted(known)))


def nullable(check: Check) -> Check:
    return Check(lambda value: value is None or check.test(value), f"{check.wanted}, or null")


def list_of(check: Check, *, least: int = 0, most: int = _LARGEST) -> Check:
    def test(value: object) -> bool:
        return isinstance(value, list) and least <= len(value) <= most and all(map(check.test, value))

    size = f"at least {least} of: " if least else ""
    return Check(test, f"a list of {size}{check.wanted}")


def mapping_of(check: Check) -> Check:
    def test(value: object) -> bool:
        return isinstance(value, dict) and all(map(_is_name, value)) and all(map(check.test, value.values()))

    return Check(test, f"an object with plain (ASCII) names and values that are {check.wanted}")


def object_of(table: Mapping[str, Check]) -> Check:
    def test(value: object) -> bool:
        return isinstance(value, dict) and fits(value, table)

    return Check(test, "an object with exactly the keys " + ", ".join(table))


def _exact(value: object) -> bool:
    return type(value) is int and -_LARGEST <= value <= _LARGEST


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isascii()


boolean = Check(lambda value: value is True or value is False, "true or false")
digest_text = Check(lambda value: isinstance(value, str) and _DIGEST.fullmatch(value) is not None,
                    '"sha256:" and 64 lower-case hexadecimal digits')  # fmt: skip
hex_digest = Check(lambda value: isinstance(value, str) and len(value) == 64 and not value.strip(_HEX_DIGITS),
                   "64 lower-case hexadecimal digits")  # fmt: skip
uuid_text = Check(lambda value: isinstance(value, str) and _UUID.fullmatch(value) is not None, "a lower-case UUID")
_OBJECT = Check(lambda value: isinstance(value, dict), "an object")
scalar = Check(lambda value: value is None or type(value) in (str, bool) or _exact(value),
               "text, an integer, true, false or null")  # fmt: skip


def fits(value: Mapping[str, Any], table: Mapping[str, Check]) -> bool:
    """Whether ``value`` has exactly the keys of ``table`` and each is right. The fast answer; ``mistakes`` says why."""
    if value.keys() != table.keys():
        return False
    return all([test(value[name]) for name, (test, _) in table.items()])


def mistakes(
    value: object, table: Mapping[str, Check], where: str, optional: frozenset[str] = frozenset()
) -> list[Finding]:
    """What is wrong with ``value``: keys too many, keys too few, values that fail their check."""
    if not isinstance(value, dict):
        return [Finding("record.object", where, f"must be an object, not {_json_name(value)}.", "")]
    unknown = [
        Finding("record.unknown", where, f'"{_short(name)}" is no field of this record.', "Remove it.")
        for name in value if name not in table
    ]  # fmt: skip
    missing = [
        Finding("record.missing", where, f'"{name}" is missing.', f"It must be {check.wanted}.")
        for name, check in table.items() if name not in value and name not in optional
    ]  # fmt: skip
    wrong = [
        Finding("record.field", where, f'"{name}" must be {check.wanted}.', "")
        for name, check in table.items() if name in value and not check.test(value[name])
    ]  # fmt: skip
    return unknown + missing + wrong


def _json_name(value: object) -> str:
    if value is None:
        return "null"
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _short(name: object) -> str:
    shown = str(name).encode("unicode_escape").decode("ascii")
    return shown if len(shown) <= 40 else shown[:37] + "..."


def shaped(check: Check, *, default: Any = MISSING) -> Any:
    """A dataclass field with its check. A field that holds a ``Shape`` needs none: its type says it."""
    if default is MISSING:
        return field(metadata={"check": check})
    return field(default=default, metadata={"check": check})


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Base of records that code builds. ``from_json`` is as strict as can be; ``findings`` checks what code built."""

    def as_json(self) -> dict[str, Any]:
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    def findings(self, where: str) -> list[Finding]:
        """Every mistake in this record; ``where`` names it."""
        found = mistakes(self.as_json(), _table(type(self)), where)
        for item in fields(self):
            inner = getattr(self, item.name)
            if isinstance(inner, Shape):
                found += inner.findings(f"{where}, {item.name}")
        return found or self.further_findings(where)

    def further_findings(self, where: str) -> list[Finding]:  # noqa: ARG002 - subclasses use it
        """Rules that concern several fields at once. Asked only when each field is right by itself."""
        return []

    def checked(self, where: str) -> Self:
        """This record, or ``Refused`` with all that is wrong with it."""
        if found := self.findings(where):
            raise Refused(found)
        return self

    @classmethod
    def from_json(cls, value: object, where: str) -> Self:
        """The record that ``value`` describes. Raises ``Refused`` with every mistake found on one level."""
        if found := mistakes(value, _table(cls), where):
            raise Refused(found)
        assert isinstance(value, dict)
        inner = {
            name: shape.from_json(value[name], f"{where}, {name}")
            for name, (shape, _) in _inner(cls).items() if value[name] is not None
        }  # fmt: skip
        return cls(**{**value, **inner}).checked(where)


def _plain(value: Any) -> Any:
    if isinstance(value, Shape):
        return value.as_json()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _table(shape: type[Any]) -> dict[str, Check]:
    inner = {name: nullable(_OBJECT) if optional else _OBJECT for name, (_, optional) in _inner(shape).items()}
    return {item.name: inner.get(item.name) or item.metadata["check"] for item in fields(shape)}


def _inner(shape: type[Any]) -> dict[str, tuple[type[Shape], bool]]:
    """The fields that are records themselves: their type, and whether there may be none."""
    hints = get_type_hints(shape)
    named = {item.name: hints[item.name] for item in fields(shape) if "check" not in item.metadata}
    return {name: (get_args(hint)[0], True) if get_args(hint) else (hint, False) for name, hint in named.items()}
