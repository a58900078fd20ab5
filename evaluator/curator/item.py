"""One item of a task file: which keys it may have, what each must be, and which go together.

id          text, unique in the file
kind        a kind that a checker exists for
messages    [{"role", "content"}, …]: perhaps a system message, then user and assistant in turn, a user's last
prompt      text, for presets that complete; an item has either messages or a prompt
answer      text, or a list of texts any of which is right
checker     options of the kind's checker (optional)
choices     texts to choose from, for the kind "choice"
category    text; scores are shown by it
split       "practice", "reserve" or "active" (optional, default "active")
group       text (optional): items that are versions of each other; always whole on one side
difficulty, tags, reference    kept with the release, never shown to a model (optional)
"""

from __future__ import annotations

import difflib
import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluator.curator.lines import shown
from evaluator.records.shapes import Check, list_of, mapping_of, one_of, scalar, text

SPLITS = ("practice", "reserve", "active")

_ROLES = frozenset({"system", "user", "assistant"})
_MESSAGE_KEYS = {"role", "content"}


def _is_plain(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() != "" and len(value) <= 200


def _are_messages(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_message, value))


def _is_message(value: object) -> bool:
    """Plain tests in a row, not checks in checks: it runs several times for each item of each file."""
    if not isinstance(value, dict) or value.keys() != _MESSAGE_KEYS or not isinstance(value["role"], str):
        return False
    return value["role"] in _ROLES and _is_plain(value["content"])


_NAME = Check(_is_name, "text of 1 to 200 characters, not blank")
_PLAIN = Check(_is_plain, "text that is not blank")
_TEXTS = list_of(_PLAIN, least=1)
_OPTION = Check(lambda value: scalar.test(value) or list_of(scalar).test(value),
                "text, a whole number, true, false, null or a list of these")  # fmt: skip

FIELDS: Mapping[str, Check] = {
    "id": _NAME,
    "kind": text(40, 1),
    "messages": Check(_are_messages, 'a list of {"role": "system", "user" or "assistant", "content": text}'),
    "prompt": _PLAIN,
    "answer": Check(lambda value: _is_plain(value) or _TEXTS.test(value), "text, or a list of texts, none blank"),
    "checker": mapping_of(_OPTION),
    "choices": list_of(_PLAIN, least=2, most=26),
    "category": _NAME,
    "split": one_of(*SPLITS),
    "group": _NAME,
    "difficulty": Check(lambda value: type(value) in (str, int, float), "text or a number"),
    "tags": list_of(_NAME, most=50),
    "reference": text(),
}
REQUIRED = ("id", "kind", "answer", "category")


class Problem(NamedTuple):
    """What is wrong with an item, and the key to point at ("" for the item as a whole)."""

    code: str
    key: str
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Item:
    """A valid item: where it stood, what tells its group from others, and the item without anything left open."""

    line: int
    group: bytes
    record: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.record["id"])

    @property
    def kind(self) -> str:
        return str(self.record["kind"])

    @property
    def category(self) -> str:
        return str(self.record["category"])

    @property
    def split(self) -> str:
        return str(self.record["split"])

    def asked(self) -> dict[str, Any]:
        """What the model is given, and nothing else of the item."""
        return {key: self.record[key] for key in ("messages", "prompt") if key in self.record}

    def gold(self) -> dict[str, Any]:
        """What the grader needs, and nothing else of the item."""
        record = self.record
        choices = {"choices": record["choices"]} if "choices" in record else {}
        return {
            "kind": self.kind, "answer": record["answer"], "checker": record.get("checker", {}),
            "category": self.category, "split": self.split, **choices,
        }  # fmt: skip


def build(line: int, record: Mapping[str, Any]) -> Item:
    """The item in a record that ``problems`` found nothing wrong with. Answers become a list, the split is named."""
    made = {**record, "split": record.get("split", "active")}
    if isinstance(record["answer"], str):
        made["answer"] = [record["answer"]]
    if "difficulty" in record:
        made["difficulty"] = str(record["difficulty"])
    return Item(line, _group_label(record), made)


def problems(record: Mapping[str, Any]) -> list[Problem]:
    """All that is wrong with the keys of ``record``; empty for a record that ``build`` takes."""
    found = [_unfit(name) for name, value in record.items() if name not in FIELDS or not FIELDS[name].test(value)]
    found += [Problem("missing", "", f'"{name}" is missing.', f"Give {FIELDS[name].wanted}.")
              for name in REQUIRED if name not in record]  # fmt: skip
    return found or list(_together(record))


def _unfit(name: str) -> Problem:
    if name in FIELDS:
        return Problem("field", name, f'"{name}" must be {FIELDS[name].wanted}.', "")
    close = difflib.get_close_matches(name[:40], FIELDS, n=1)
    remedy = f'Did you mean "{close[0]}"?' if close else "Remove it."
    return Problem("unknown-key", name, f'"{shown(name)}" is no key of an item.', remedy)


def _group_label(record: Mapping[str, Any]) -> bytes:
    """What tells groups apart: the group the curator named, else the text that is asked, case and spaces aside."""
    if "group" in record:
        return hashlib.sha256(b"group\0" + record["group"].encode()).digest()
    asked = record.get("prompt") or [message["content"] for message in record["messages"]]
    text = asked if isinstance(asked, str) else "\0".join(asked)
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = " ".join(plain.casefold().split())
    return hashlib.sha256(b"text\0" + folded.encode()).digest()


def _together(record: Mapping[str, Any]) -> Iterator[Problem]:
    """Rules that concern several keys, asked once each is right by itself."""
    if ("messages" in record) == ("prompt" in record):
        yield Problem("missing", "", 'An item has either "messages" or a "prompt".', "Give exactly one of them.")
    elif "messages" in record and not _in_turn([message["role"] for message in record["messages"]]):
        remedy = 'Begin with "system" or "user", then "user" and "assistant" in turn, and end with "user".'
        yield Problem("field", "messages", "The roles of the messages are out of turn.", remedy)


def _in_turn(roles: list[str]) -> bool:
    spoken = roles[1:] if roles[0] == "system" else roles
    return spoken == ["user", "assistant"] * (len(spoken) // 2) + ["user"]
