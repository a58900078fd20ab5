"""From valid items to a frozen release: an order that tells nothing, sealed packs, and the rows that describe them.

1. Every name drawn here comes from one secret key: the order of the items, the ids of items and groups. The same
   items, release id and key give the same contents, so a freeze that was interrupted is repeated, not doubled.
2. ``index`` runs over practice and active items together, by a keyed hash: neither the index nor a neighbour's tells
   the split, the category or the place in the curator's file.
3. The prompts pack goes to the runner and holds no more than is asked; the answers pack goes to the grader. Reserve
   items are in neither: they lie in the items pack alone, which curator and auditor can open.
4. Practice items are open: once more, whole, in a pack that is not sealed.
5. Packs are in the store before the caller writes a row. Packs without a row are rubbish; a row without packs
   would be a release that can't run.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.blobs import Blobs
from evaluator.curator.item import SPLITS, Item
from evaluator.errors import Misuse, Refused
from evaluator.records.canonical import canonical, lines
from evaluator.vault import answers, items, prompts
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef

PRACTICE_FORMAT = "heldout.practice/1"

Counts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class FrozenItem:
    """One item as the database may know it: no text. ``index`` is its place in the packs, ``None`` for reserve."""

    id: uuid.UUID
    index: int | None
    split: str
    kind: str
    category: str
    group: uuid.UUID


@dataclass(frozen=True)
class FrozenRelease:
    """Everything that the ledger writes about a release, in one transaction."""

    release: uuid.UUID
    prompts: PackRef
    answers: PackRef
    items_pack: PackRef
    practice: str
    counts: Counts
    items: tuple[FrozenItem, ...]


@dataclass(frozen=True)
class Stores:
    """Where packs go: sealed ones and open ones."""

    packs: Blobs
    practice: Blobs


def new_key() -> bytes:
    """The secret of a benchmark. It is kept inside the sealed items pack of each release, and nowhere else."""
    return secrets.token_bytes(32)


def key_of(items_pack: PackRef, *, keyring: Keyring, stores: Stores) -> bytes:
    """The key of the release that ``items_pack`` records, so that its groups keep their names in the next one."""
    pack = items.unseal(items_pack, stores.packs.get(items_pack.sealed), keyring)
    return bytes.fromhex(pack.header["key"])


def freeze(tasks: Sequence[Item], *, release: uuid.UUID, key: bytes, keyring: Keyring, stores: Stores) -> FrozenRelease:
    """Seal ``tasks`` as ``release``. ``key`` comes from ``new_key`` or from the items pack of an earlier release."""
    if len(key) < 32:
        raise Misuse("the key of a benchmark has at least 32 bytes")
    placed = _placed(tasks, release, key)
    shown = [(item, row) for item, row in placed if row.index is not None]
    if not any(row.split == "active" for _, row in shown):
        raise Refused.one("release.empty", "release", "No item is active.", 'Give some items the split "active".')
    name = str(release)
    packs = {
        "prompts": prompts.seal(name, [{"index": row.index, **item.asked()} for item, row in shown], keyring),
        "answers": answers.seal(name, [_answer(item, row) for item, row in shown], keyring),
        "items": items.seal(name, key, [_whole(number, *pair) for number, pair in enumerate(placed)], keyring),
    }
    for sealed in packs.values():
        stores.packs.put(sealed.data)
    practice = stores.practice.put(_practice_pack(name, shown))
    return FrozenRelease(
        release, packs["prompts"].ref, packs["answers"].ref, packs["items"].ref, practice,
        _counts(row for _, row in placed), tuple(row for _, row in placed),
    )  # fmt: skip


def _placed(tasks: Sequence[Item], release: uuid.UUID, key: bytes) -> list[tuple[Item, FrozenItem]]:
    """Each item with its row, in the order of the curator's file."""
    order = sorted(
        (item for item in tasks if item.split != "reserve"),
        key=lambda item: _keyed(key, "order", release.bytes, item.id.encode()),
    )
    index = {item.id: place for place, item in enumerate(order)}
    if len({item.id for item in tasks}) != len(tasks):
        raise Misuse("two items have one id; the import would have refused them")
    return [(item, _row(item, index.get(item.id), release, key)) for item in tasks]


def _row(item: Item, index: int | None, release: uuid.UUID, key: bytes) -> FrozenItem:
    own = _uuid(_keyed(key, "item", release.bytes, item.id.encode()))
    group = _uuid(_keyed(key, "group", item.group))  # without the release: a group keeps its name in the next one
    return FrozenItem(own, index, item.split, item.kind, item.category, group)


def _answer(item: Item, row: FrozenItem) -> dict[str, Any]:
    return {"index": row.index, **item.gold(), "group": str(row.group)}


def _whole(number: int, item: Item, row: FrozenItem) -> dict[str, Any]:
    names = {"uuid": str(row.id), "group": str(row.group)}
    return {"index": number, "position": row.index, **names, "item": dict(item.record)}


def _practice_pack(release: str, shown: Iterable[tuple[Item, FrozenItem]]) -> bytes:
    """Practice items whole, by ascending index, in the form of the other packs."""
    records = [
        {"index": row.index, **item.asked(), **item.gold(), "group": str(row.group)}
        for item, row in sorted(shown, key=lambda pair: pair[1].index or 0) if row.split == "practice"
    ]  # fmt: skip
    header = {"format": PRACTICE_FORMAT, "release": release, "count": len(records)}
    return canonical(header) + b"\n" + lines(records)


def _counts(rows: Iterable[FrozenItem]) -> Counts:
    """How many items and groups, by split, kind and category."""
    by_split: dict[str, list[FrozenItem]] = {split: [] for split in SPLITS}
    for row in rows:
        by_split[row.split].append(row)
    return {
        split: {
            "items": len(found),
            "groups": len({row.group for row in found}),
            "kinds": dict(sorted(Counter(row.kind for row in found).items())),
            "categories": dict(sorted(Counter(row.category for row in found).items())),
        }
        for split, found in by_split.items()
    }


def _keyed(key: bytes, purpose: str, *parts: bytes) -> bytes:
    message = b"".join(len(part).to_bytes(8, "big") + part for part in (purpose.encode(), *parts))
    return hmac.new(key, message, hashlib.sha256).digest()


def _uuid(digest: bytes) -> uuid.UUID:
    """A version 8 UUID: its bits are whatever its maker says they are."""
    bits = bytearray(digest[:16])
    bits[6] = bits[6] & 0x0F | 0x80
    bits[8] = bits[8] & 0x3F | 0x80
    return uuid.UUID(bytes=bytes(bits))
