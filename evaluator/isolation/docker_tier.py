"""The tier of hardened containers: Docker Engine with runc, the specification of ``spec`` and nothing else."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluator.errors import Fault, FaultKind
from evaluator.isolation import effective, spec
from evaluator.isolation.base import ExitFacts, LaunchFacts, Offer
from evaluator.isolation.engine_api import EngineApi, EngineError
from evaluator.isolation.memory import MemoryEvents

CHUNK = 256 << 10
GRACE = 10.0
"""Seconds a killed or ended container has to be really gone."""

BELATED = 2.0
"""Seconds that the engine's word of a kill for want of memory may come after the guest's end."""

SIGKILLED = 137
CONFLICT = 409


class DockerTier:
    """See ``evaluator.isolation.base.Tier``. ``installation`` keeps two installations on one engine apart."""

    name = "docker-runc"

    def __init__(self, installation: str, api: EngineApi | None = None) -> None:
        self._installation = installation
        self._api = api or EngineApi()

    def offer(self, facts: LaunchFacts) -> Offer:
        return Offer(
            image=facts.image_digest,
            engine_flags=spec.flags(facts),
            runtime=self._runtime(),
            network="none",
            seccomp=spec.seccomp_digest(),
            spec=spec.spec_digest(facts),
            guaranteed={},
            maximum=spec.maximum(facts),
        )

    def _runtime(self) -> dict[str, str]:
        version, info = self._api.version(), self._api.info()
        parts = {each["Name"]: each["Version"] for each in version.get("Components") or []}
        return {
            "tier": self.name,
            "engine": str(version.get("Version", "")),
            "containerd": str(parts.get("containerd", "")),
            "runc": str(parts.get("runc", "")),
            "cgroup": str(info.get("CgroupVersion", "")),
            "security": ", ".join(sorted(info.get("SecurityOptions") or [])),
        }

    def prepare(self, facts: LaunchFacts, checkpoint: Path) -> DockerGuest:
        name = spec.name_of(facts, self._installation)
        asked = spec.container(facts, checkpoint, self._installation)
        guest = DockerGuest(self._api, name, self._create(name, asked))
        try:
            effective.assert_effective(asked, self._api.inspect(guest.container))
            guest.attach()
        except BaseException:
            guest.remove()
            raise
        return guest

    def _create(self, name: str, asked: dict[str, Any]) -> str:
        try:
            return self._api.create(name, asked)
        except EngineError as error:
            if error.status != CONFLICT:
                raise
        self._api.remove(name)  # a crash left it between create and start
        return self._api.create(name, asked)

    def reap(self, living: Sequence[str] = ()) -> list[str]:
        removed = []
        for found in self._api.labelled(spec.LABEL_INSTALLATION, self._installation):
            name = str(found["Names"][0]).lstrip("/")
            if name not in living:
                self._api.remove(found["Id"])
                removed.append(name)
        return removed


class DockerGuest:
    """One created container. See ``evaluator.isolation.base.Guest``."""

    def __init__(self, api: EngineApi, name: str, container: str) -> None:
        self._api, self.name, self.container = api, name, container
        self._streams = Demultiplexer()
        self._attached: socket.socket | None = None
        self._memory = MemoryEvents(None)
        self._started = time.time()
        self._killed = False

    def attach(self) -> None:
        self._attached = self._api.attach(self.container)

    def start(self) -> None:
        self._started = time.time()
        self._api.start(self.container)
        self._memory = MemoryEvents(self._api.inspect(self.container)["State"]["Pid"])
        self._memory.read()

    def fileno(self) -> int:
        return self._socket().fileno()

    def receive(self) -> list[tuple[int, bytes]] | None:
        try:
            data = self._socket().recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return []
        except ConnectionError:
            return None
        return self._streams.feed(data) if data else None

    def send(self, data: bytes | memoryview) -> int:
        try:
            return self._socket().send(data)
        except (BlockingIOError, InterruptedError):
            return 0

    def close_input(self) -> None:
        try:
            self._socket().shutdown(socket.SHUT_WR)
        except OSError:
            return  # it has ended already

    def observe(self) -> None:
        self._memory.read()

    def kill(self) -> None:
        """Hang up first: the engine can't end a guest that floods a connection which nobody reads."""
        self._killed = True
        self._hang_up()
        self._api.kill(self.container)

    def exit_facts(self) -> ExitFacts:
        state = self._ended_state()
        code = int(state["ExitCode"])
        evidence = self._evidence(state)
        deadline = time.monotonic() + BELATED
        while code == SIGKILLED and not evidence and not self._killed and time.monotonic() < deadline:
            time.sleep(0.1)
            evidence = self._evidence(self._api.inspect(self.container)["State"])
        return ExitFacts(code, bool(evidence), evidence, self._memory.peak)

    def _evidence(self, state: dict[str, Any]) -> tuple[str, ...]:
        """Where a kill for want of memory shows."""
        places = {
            "cgroup": self._memory.kills > 0,
            "events": self._api.memory_kills(self.container, self._started, time.time()) > 0,
            "flag": bool(state.get("OOMKilled")),
        }
        return tuple(name for name, seen in places.items() if seen)

    def remove(self) -> None:
        self._hang_up()
        self._api.remove(self.container)

    def _hang_up(self) -> None:
        if self._attached is not None:
            self._attached.close()
            self._attached = None

    def _ended_state(self) -> dict[str, Any]:
        """The engine's word once nothing runs; kills what lingers after its output has ended."""
        deadline = time.monotonic() + GRACE
        while (state := self._api.inspect(self.container)["State"])["Running"]:
            if time.monotonic() > deadline - GRACE / 2:
                self.kill()
            if time.monotonic() > deadline:
                raise Fault(FaultKind.LAUNCHER, "unkillable", self.name, retry=False)
            time.sleep(0.05)
        found: dict[str, Any] = state
        return found

    def _socket(self) -> socket.socket:
        if self._attached is None:
            raise Fault(FaultKind.LAUNCHER, "not_attached", self.name, retry=False)
        return self._attached


class Demultiplexer:
    """The engine sends both outputs through one connection: 1 byte stream, 3 unused, 4 bytes length, the bytes."""

    HEAD = 8

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._stream = self._missing = 0

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """What ``data`` holds of each stream; a part may come in any number of pieces."""
        self._buffer += data
        parts: list[tuple[int, bytes]] = []
        while self._buffer:
            if not self._missing:
                if len(self._buffer) < self.HEAD:
                    break
                self._stream, self._missing = self._buffer[0], int.from_bytes(self._buffer[4:8], "big")
                del self._buffer[: self.HEAD]
                continue
            part = bytes(self._buffer[: self._missing])
            del self._buffer[: len(part)]
            self._missing -= len(part)
            parts.append((self._stream, part))
        return parts
