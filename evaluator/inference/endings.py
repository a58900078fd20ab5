"""How a conversation with a guest can end badly, each as one of the families of ``evaluator.errors``.

Refused        the checkpoint can't be loaded, now or ever: the submission's doing
Incident       a prompt did not reach the model as it was sent: void, and a matter for people
Fault          ours: the guest died, ran out of memory or time, broke the wire, or failed its controls
"""

from __future__ import annotations

from typing import NoReturn, Protocol

from evaluator.errors import Fault, FaultKind, IntegrityError, Refused


class Incident(IntegrityError):
    """The checkpoint's template did something to a prompt that it did not do to its neighbours."""

    def __init__(self, code: str, index: int | None, detail: str) -> None:
        self.code, self.index = code, index
        where = "" if index is None else f" of item {index}"
        super().__init__(f"{code}{where}: {detail}")


class Ended(Protocol):
    """What whoever ran the guest says about its end; ``evaluator.isolation.client.Ended`` is one."""

    @property
    def ended(self) -> str: ...
    @property
    def code(self) -> int | None: ...
    @property
    def oom(self) -> bool: ...
    @property
    def unchanged(self) -> bool: ...


_CUT_SHORT = {"deadline": "wall_clock", "output": "output_cap", "input": "input_cap", "kill": "killed"}


def raise_for(ended: Ended) -> NoReturn:
    """A guest that ended before its work was done."""
    if not ended.unchanged:
        raise IntegrityError("the checkpoint's files changed during the run")
    if ended.oom:
        raise Fault(FaultKind.SANDBOX, "oom", "the guest ran out of memory")
    if ended.ended in _CUT_SHORT:
        raise Fault(FaultKind.SANDBOX, _CUT_SHORT[ended.ended], "the guest was ended from outside")
    raise Fault(FaultKind.ENGINE, "died", f"the guest ended with exit code {ended.code}")


def raise_reported(code: str, detail: str) -> NoReturn:
    """A FAULT frame. The guest's own word decides only between ours and the submission's."""
    if code == "load":
        raise Refused.one(
            "checkpoint.load",
            "checkpoint",
            f"The engine can't load it: {detail[:300]}",
            "Load it with the engine named in the run's provenance, correct it, and submit it again.",
        )
    if code == "unreadable":
        raise Fault(FaultKind.LAUNCHER, "unreadable", detail[:300], retry=False)
    raise Fault(FaultKind.ENGINE, "reported", f"{code[:40]}: {detail[:300]}")


def broken_wire(detail: str) -> Fault:
    return Fault(FaultKind.ENGINE, "wire", detail)
