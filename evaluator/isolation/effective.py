"""Compare what the engine made with what was asked, field by field, before anything runs.

Three rules, all by default closed:

1. every field of the specification has exactly its value in the created container;
2. every other field of the container's configuration says nothing (empty, zero, false), also fields that this code
   has never heard of, but for a short list of values that mean "private" or "default";
3. the mounts, networks and devices are exactly the expected ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluator.errors import Fault, FaultKind
from evaluator.isolation.spec import IMAGE_LABEL

HARMLESS: dict[str, tuple[Any, ...]] = {
    "ConsoleSize": ([0, 0],),
    "Isolation": ("default",),
    "MemorySwappiness": (-1,),
}
"""Values of unlisted ``HostConfig`` fields that change nothing, as some engines spell their defaults."""

OURS_ABOVE = ("HostConfig", "Image", "Labels")


def assert_effective(asked: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Raises ``Fault`` naming every difference between the create call's body and the engine's inspection."""
    problems = [*_differences(asked, found)]
    if problems:
        raise Fault(FaultKind.LAUNCHER, "effective", "; ".join(problems)[:2000], retry=False)


def _differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("Image") != asked["Image"]:
        yield f"image is {found.get('Image')!r}"
    configuration = found.get("Config", {})
    plain = {key: value for key, value in asked.items() if key not in OURS_ABOVE}
    yield from _compare("Config", plain, configuration, known=("Image", "Labels"))
    yield from _labels(asked["Labels"], configuration.get("Labels") or {})
    yield from _compare("HostConfig", asked["HostConfig"], found.get("HostConfig", {}))
    yield from _mounts(asked["HostConfig"]["Mounts"], found.get("Mounts"))
    networks = sorted((found.get("NetworkSettings") or {}).get("Networks") or {})
    if networks != ["none"]:
        yield f"networks are {networks}"
    if found.get("ExecIDs"):
        yield "something was executed in it"


def _compare(
    where: str, asked: Mapping[str, Any], found: Mapping[str, Any], known: tuple[str, ...] = ()
) -> Iterator[str]:
    for key, value in asked.items():
        if _normal(key, found.get(key)) != _normal(key, value):
            yield f"{where}.{key} is {_short(found.get(key))}"
    for key in sorted(set(found) - set(asked) - set(known)):
        if found[key] and found[key] not in HARMLESS.get(key, ()):
            yield f"{where}.{key} is {_short(found[key])}, not asked for"


def _normal(key: str, value: object) -> object:
    """Inside objects nothing and absent are one, as engines fill in or leave out; the environment has no order."""
    if isinstance(value, Mapping):
        return {name: _normal(name, item) for name, item in value.items() if item}
    if isinstance(value, list):
        items = [_normal("", item) for item in value]
        return sorted(items, key=str) if key == "Env" else items
    return value


def _labels(asked: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    others = {key: value for key, value in found.items() if key != IMAGE_LABEL}
    if others != asked:
        yield f"labels are {_short(others)}"


def _mounts(asked: list[dict[str, Any]], found: object) -> Iterator[str]:
    expected = [(mount["Type"], mount["Source"], mount["Target"], False) for mount in asked]
    mounts = found if isinstance(found, list) else []
    real = [(each.get("Type"), each.get("Source"), each.get("Destination"), each.get("RW")) for each in mounts]
    if real != expected:
        yield f"mounts are {_short(real)}"


def _short(value: object) -> str:
    return repr(value)[:200]
