"""The few calls of the container engine's HTTP API that the launcher makes, each with a deadline.

Standard library over the engine's Unix socket. This is the most privileged process of the product, so it holds as
little foreign code as possible, and there is no call here to pull, build, copy, execute or attach a network.
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from evaluator.errors import Fault, FaultKind

DEFAULT_SOCKET = Path("/var/run/docker.sock")
PREFERRED = (1, 41)
"""The API version this was written for: Debian 12's engine. A newer one is spoken to in the oldest it still knows."""

CALL = 30.0
"""Seconds for a call. Creating and starting wait for a disk, so this is patience and no pace."""

_HEAD_LIMIT = 64 << 10


class EngineError(Fault):
    """The engine refused a call. ``status`` is the HTTP status."""

    def __init__(self, what: str, status: int, message: str) -> None:
        self.status = status
        super().__init__(FaultKind.LAUNCHER, f"engine_{status}", f"{what}: {message}")


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("engine", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = _connected(self._path, self.timeout)


class EngineApi:
    """One engine, found by its socket. Holds no connection between calls, so that an engine's restart is survived."""

    def __init__(self, path: Path = DEFAULT_SOCKET) -> None:
        self._path = path
        self._version: str | None = None

    def version(self) -> dict[str, Any]:
        found: dict[str, Any] = self._call("GET", "/version", versioned=False)
        return found

    def info(self) -> dict[str, Any]:
        found: dict[str, Any] = self._call("GET", "/info")
        return found

    def create(self, name: str, body: Mapping[str, Any]) -> str:
        """The id of a new container. Never pulls."""
        made = self._call("POST", f"/containers/create?{urlencode({'name': name})}", body)
        return str(made["Id"])

    def inspect(self, container: str) -> dict[str, Any]:
        found: dict[str, Any] = self._call("GET", f"/containers/{container}/json")
        return found

    def start(self, container: str) -> None:
        self._call("POST", f"/containers/{container}/start")

    def kill(self, container: str) -> None:
        """SIGKILL to everything in it. One that has ended or is gone is no error."""
        self._call("POST", f"/containers/{container}/kill?signal=KILL", tolerated=(404, 409))

    def remove(self, container: str) -> None:
        self._call("DELETE", f"/containers/{container}?force=true&v=true", tolerated=(404, 409))

    def labelled(self, label: str, value: str) -> list[dict[str, Any]]:
        """Containers in any state that carry a label."""
        query = urlencode({"all": "true", "filters": json.dumps({"label": [f"{label}={value}"]})})
        found: list[dict[str, Any]] = self._call("GET", f"/containers/json?{query}")
        return found

    def memory_kills(self, container: str, since: float, until: float) -> int:
        """How often the kernel killed in this container for want of memory, by the engine's record of events.

        ``until`` must not lie ahead, or the engine waits for it.
        """
        filters = json.dumps({"container": [container], "event": ["oom"]})
        query = urlencode({"since": f"{since:.9f}", "until": f"{until:.9f}", "filters": filters})
        return len(self._raw("GET", f"/events?{query}").splitlines())

    def attach(self, container: str) -> socket.socket:
        """A raw connection to all three streams. Attach before the start: then nothing is missed."""
        connection = _connected(self._path, CALL)
        target = f"{self._prefix()}/containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        head = f"POST {target} HTTP/1.1\r\nHost: engine\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n"
        connection.sendall(head.encode("ascii"))
        status = _read_head(connection)
        if status not in {101, 200}:
            connection.close()
            raise EngineError("attach", status, "no stream")
        connection.setblocking(False)
        return connection

    def _call(
        self,
        method: str,
        target: str,
        body: Mapping[str, Any] | None = None,
        *,
        tolerated: tuple[int, ...] = (),
        versioned: bool = True,
    ) -> Any:
        data = self._raw(method, target, body, tolerated=tolerated, versioned=versioned)
        return json.loads(data) if data else None

    def _raw(
        self,
        method: str,
        target: str,
        body: Mapping[str, Any] | None = None,
        *,
        tolerated: tuple[int, ...] = (),
        versioned: bool = True,
    ) -> bytes:
        prefix = self._prefix() if versioned else ""
        connection = _Connection(self._path, CALL)
        try:
            payload = None if body is None else json.dumps(body).encode()
            connection.request(method, prefix + target, payload, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Fault(FaultKind.LAUNCHER, "engine_unreachable", f"{method}: {error}") from error
        finally:
            connection.close()
        if response.status >= 400 and response.status not in tolerated:
            raise EngineError(
                f"{method} {target.split('?', maxsplit=1)[0]}", response.status, data.decode("utf-8", "replace")[:500]
            )
        return data if response.status < 400 else b""

    def _prefix(self) -> str:
        if self._version is None:
            oldest = tuple(int(part) for part in self.version().get("MinAPIVersion", "1.12").split("."))
            self._version = ".".join(map(str, max(oldest, PREFERRED)))
        return f"/v{self._version}"


def _connected(path: Path, timeout: float | None) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        raise Fault(FaultKind.LAUNCHER, "engine_unreachable", f"{path}: {error}") from error
    return connection


def _read_head(connection: socket.socket) -> int:
    """Read up to the end of the response's head and no further; the status."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte or len(head) > _HEAD_LIMIT:
            raise Fault(FaultKind.LAUNCHER, "engine_unreachable", "attach: the answer broke off")
        head += byte
    return int(head.split(b" ", maxsplit=2)[1])
