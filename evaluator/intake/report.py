"""What the child saw: open files to read from, and findings gathered so that all mistakes are told at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from evaluator.errors import Finding, Refused

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class OpenFile:
    """One file of the upload, by descriptor: whatever happens to its name, these bytes are read, hashed and kept."""

    name: str
    fd: int
    size: int

    def read(self, length: int, offset: int = 0) -> bytes:
        """Up to ``length`` bytes; fewer only at the end of the file."""
        pieces = []
        while length > 0 and (piece := os.pread(self.fd, min(length, 1 << 20), offset)):
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)


@dataclass
class Report:
    """Findings, notes for the submitter, and the digest of each prefix that was parsed (``name -> (length, hex)``).

    The parent hashes the same descriptors afterwards and compares: what was judged is what is kept.
    """

    limit: int
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parsed: dict[str, tuple[int, str]] = field(default_factory=dict)

    def extend(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            if len(self.findings) < self.limit and finding not in self.findings:
                self.findings.append(finding)

    def attempt(self, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The step's value, or None and its findings gathered."""
        try:
            return step(*args, **kwargs)
        except Refused as refused:
            self.extend(refused.findings)
            return None

    def remember(self, name: str, data: bytes) -> bytes:
        self.parsed[name] = (len(data), hashlib.sha256(data).hexdigest())
        return data

    def blames(self, *names: str) -> bool:
        """True where a finding so far stands against one of these files."""
        return any(finding.where.split(":")[0] in names for finding in self.findings)
