"""Everything that can go wrong, in two families: what we *refused* and what *broke*.

``Refused`` is the other side's mistake (a bad file, a bad pack, a bad request). It carries findings that name
where the mistake is and what to change. Trying again without a change is pointless.

``Fault`` is ours (engine, launcher, sandbox, tool, node, grader). It is never counted against a model. ``retry``
says whether the same step may be tried again.

``Misuse`` is a programming error of a caller inside this code base; it is neither and is never caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Misuse(RuntimeError):
    """A caller broke a function's contract. Fix the caller."""


@dataclass(frozen=True)
class Finding:
    """One mistake: a stable code, where it is, what is wrong and what to change."""

    code: str
    where: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.remedy}".strip()

    def as_json(self) -> dict[str, str]:
        return {"code": self.code, "where": self.where, "problem": self.problem, "remedy": self.remedy}


class Refused(Exception):
    """Input that we do not take. ``findings`` is never empty."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        if not findings:
            raise Misuse("a refusal without findings helps nobody")
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in findings))

    @classmethod
    def one(cls, code: str, where: str, problem: str, remedy: str) -> Refused:
        return cls([Finding(code, where, problem, remedy)])


class Stale(Exception):
    """A guarded write found another state, owner or fencing token than it expected. Stop; another worker has it."""


class FaultKind(StrEnum):
    """Which part of ours broke. The value stands in records and on pages."""

    ENGINE = "engine"
    LAUNCHER = "launcher"
    SANDBOX = "sandbox"
    TOOL = "tool"
    NODE = "node"
    GRADER = "grader"


class Fault(Exception):
    """Something of ours broke. ``code`` is stable; ``detail`` is for operators and never holds hidden content."""

    def __init__(self, kind: FaultKind, code: str, detail: str = "", *, retry: bool = True) -> None:
        self.kind = kind
        self.code = code
        self.detail = detail
        self.retry = retry
        super().__init__(f"{kind}/{code}: {detail}" if detail else f"{kind}/{code}")


class IntegrityError(Exception):
    """Bytes are not what their digest, seal or signature says. Never retried, always an incident."""
