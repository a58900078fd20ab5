"""What a run is made of, fixed and hashed before it starts: the RunSpec. Everything later cites its digest.

Two runs with one RunSpec digest used the same checkpoint, items, preset, engine, image, code and hardware, so their
outputs should agree; where digests differ, the first differing field says why scores may. There is no run id, no time
and no name of a machine in it. The same text from a checkout, a wheel and an image gives the same digest.

``Preset`` is the part that a curator writes: how to ask. Sampling is always sent whole, so that the defaults of a
checkpoint never apply silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from evaluator.errors import Finding
from evaluator.records.canonical import digest
from evaluator.records.shapes import (
    Shape,
    boolean,
    decimal,
    digest_text,
    hex_digest,
    integer,
    list_of,
    mapping_of,
    nullable,
    object_of,
    one_of,
    scalar,
    shaped,
    text,
    uuid_text,
)

FORMAT = "heldout.runspec/1"

_NAME = text(120, 1)
_FILE = object_of({"name": text(300, 1), "size": integer(0), "sha256": hex_digest})


@dataclass(frozen=True, kw_only=True)
class Batch(Shape):
    """How items are put together. Part of the preset, because it changes results on some engines."""

    policy: str = shaped(one_of("length-sorted", "in-order"))
    size: int = shaped(integer(1, 65536))


@dataclass(frozen=True, kw_only=True)
class Preset(Shape):
    """How to ask: template mode, system prompt, sampling whole, limits and the gate below which a run isn't ranked."""

    name: str = shaped(text(60, 1))
    version: str = shaped(text(20, 1))
    mode: str = shaped(one_of("chat", "completion"))
    system: str | None = shaped(nullable(text(20_000)), default=None)
    temperature: str = shaped(decimal("0", "10"), default="0")
    top_p: str = shaped(decimal("0", "1"), default="1")
    top_k: int = shaped(integer(0, 1_000_000), default=0)
    max_tokens: int = shaped(integer(1, 1_000_000))
    stop: Sequence[str] = shaped(list_of(text(200, 1), most=16), default=())
    seed: int = shaped(integer(0, 2**32 - 1), default=0)
    dtype: str = shaped(one_of("float32", "bfloat16", "float16"), default="float32")
    batch: Batch
    context: int | None = shaped(nullable(integer(1, 100_000_000)), default=None)
    coverage_gate: str = shaped(decimal("0", "1"), default="0.95")

    def further_findings(self, where: str) -> list[Finding]:
        found = []
        if self.system is not None and self.mode == "completion":
            found.append(Finding("preset.system", where, "A system prompt needs a chat template.",
                                 'Set "mode" to "chat", or put the text into each prompt.'))  # fmt: skip
        if self.top_p in {"0", "0.0"}:
            found.append(Finding("preset.top_p", where, "A top_p of 0 leaves no token.", 'Use "temperature": "0".'))
        if self.context is not None and self.max_tokens >= self.context:
            found.append(Finding("preset.context", where, "The token allowance leaves no room for a prompt.",
                                 'Lower "max_tokens" or raise "context".'))  # fmt: skip
        return found

    @property
    def greedy(self) -> bool:
        return float(self.temperature) == 0

    @property
    def digest(self) -> str:
        return digest(self.as_json())


@dataclass(frozen=True, kw_only=True)
class CheckpointRef(Shape):
    """The checkpoint by its manifest, and the parts by which two checkpoints can differ, apart."""

    manifest: str = shaped(digest_text)
    files: Sequence[Mapping[str, Any]] = shaped(list_of(_FILE, least=1))
    tokenizer: str = shaped(digest_text)
    template: str | None = shaped(nullable(digest_text), default=None)
    weights: str = shaped(digest_text)
    generation_config: str | None = shaped(nullable(digest_text), default=None)


@dataclass(frozen=True, kw_only=True)
class ReleaseRef(Shape):
    """The items by the content digests of their packs. ``commitment`` binds each item apart where there is one."""

    id: str = shaped(uuid_text)
    benchmark: str = shaped(_NAME)
    version: str = shaped(text(40, 1))
    items: int = shaped(integer(1))
    prompts: str = shaped(digest_text)
    answers: str = shaped(digest_text)
    commitment: str | None = shaped(nullable(digest_text), default=None)


@dataclass(frozen=True, kw_only=True)
class Harness(Shape):
    """Which program asked. A board never compares rows of different harnesses without saying so."""

    name: str = shaped(_NAME, default="heldout")
    version: str = shaped(_NAME)


@dataclass(frozen=True, kw_only=True)
class Engine(Shape):
    """What ran the model: libraries with versions, and every switch that was set."""

    name: str = shaped(_NAME)
    versions: Mapping[str, str] = shaped(mapping_of(text(200)))
    flags: Mapping[str, Any] = shaped(mapping_of(scalar))


@dataclass(frozen=True, kw_only=True)
class Code(Shape):
    """Our own code. ``source`` covers what runs, wherever it lies; ``commit`` and ``dirty`` exist in a checkout."""

    commit: str | None = shaped(nullable(text(64, 7)), default=None)
    dirty: str | None = shaped(nullable(digest_text), default=None)
    source: str = shaped(digest_text)
    locks: Mapping[str, str] = shaped(mapping_of(digest_text))


@dataclass(frozen=True, kw_only=True)
class Host(Shape):
    """The hardware and kernel. A host's name says nothing about a score and is left out."""

    kernel: str = shaped(_NAME)
    machine: str = shaped(_NAME)
    cpu: str = shaped(text(200))
    cores: int = shaped(integer(1))
    memory: int = shaped(integer(1))
    python: str = shaped(_NAME)
    runtime: Mapping[str, str] = shaped(mapping_of(text(200)))
    gpu: Sequence[str] = shaped(list_of(text(200, 1)), default=())
    driver: str | None = shaped(nullable(text(120)), default=None)


@dataclass(frozen=True, kw_only=True)
class Isolation(Shape):
    """What the container may not do, and whether identities were Unix users of their own. Recorded, never assumed."""

    network: str = shaped(_NAME)
    seccomp: str | None = shaped(nullable(digest_text))
    separate_users: bool = shaped(boolean)
    spec: str = shaped(digest_text)
    self_audit: str | None = shaped(nullable(digest_text), default=None)


@dataclass(frozen=True, kw_only=True)
class Limits(Shape):
    """Resources: what the guest was promised and what it could not pass, apart (bytes, seconds, decimal CPUs)."""

    guaranteed: Mapping[str, Any] = shaped(mapping_of(scalar))
    maximum: Mapping[str, Any] = shaped(mapping_of(scalar))


@dataclass(frozen=True, kw_only=True)
class RunSpec(Shape):
    """The whole. Build it, call ``checked``, store ``as_json()`` and cite ``digest``."""

    format: str = shaped(one_of(FORMAT), default=FORMAT)
    checkpoint: CheckpointRef
    release: ReleaseRef
    preset: Preset
    seeds: Mapping[str, int] = shaped(mapping_of(integer(0)))
    harness: Harness
    engine: Engine
    dtype: str = shaped(_NAME)
    image: str = shaped(digest_text)
    code: Code
    host: Host
    isolation: Isolation
    limits: Limits

    def further_findings(self, where: str) -> list[Finding]:
        if self.dtype != self.preset.dtype:
            return [Finding("runspec.dtype", where,
                            f'The engine runs in {self.dtype}, the preset says {self.preset.dtype}.',
                            "Use a preset that names the type the engine really has.")]  # fmt: skip
        return []

    @cached_property
    def digest(self) -> str:
        return digest(self.as_json())


class Row(NamedTuple):
    """One line of a description. ``kind`` tells a page whether to offer it for copying."""

    label: str
    value: str
    kind: Literal["text", "digest"]


class Group(NamedTuple):
    """A titled part of a description."""

    title: str
    rows: tuple[Row, ...]


_TITLES = {
    "checkpoint": "Checkpoint", "release": "Release", "preset": "Preset", "seeds": "Seeds", "harness": "Harness",
    "engine": "Engine", "code": "Code", "host": "Host", "isolation": "Isolation", "limits": "Limits",
}  # fmt: skip


def describe(spec: RunSpec) -> tuple[Group, ...]:
    """The RunSpec in groups for a page: every field stands in exactly one row; nothing is left out."""
    body = spec.as_json()
    single = {name: value for name, value in body.items() if name not in _TITLES}
    groups = [Group("Run", (Row("digest", spec.digest, "digest"), *_rows(single)))]
    groups += [Group(title, tuple(_rows(body[name]))) for name, title in _TITLES.items()]
    return tuple(groups)


def _rows(value: Mapping[str, Any], prefix: str = "") -> list[Row]:
    rows: list[Row] = []
    for name, item in value.items():
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(item, dict) and item:
            rows += _rows(item, f"{label}: ")
        elif name == "files":
            rows += [Row(f"file {file['name']}", f"sha256:{file['sha256']}", "digest") for file in item]
        else:
            rows.append(_row(label, item))
    return rows


def _row(label: str, value: object) -> Row:
    if value is None:
        return Row(label, "–", "text")
    if isinstance(value, bool):
        return Row(label, "yes" if value else "no", "text")
    if isinstance(value, list | dict):
        return Row(label, ", ".join(map(repr, value)) or "–", "text")
    shown = str(value)
    return Row(label, shown, "digest" if digest_text.test(shown) else "text")
