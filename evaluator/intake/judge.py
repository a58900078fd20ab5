"""Starts the child, waits for it within limits, and believes only what it can check.

Request, answer, complaints and progress are memory files: nothing is buffered without a bound, no pipe can block, and
the kernel stops the child at ``report_bytes``.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import evaluator
from evaluator.errors import Finding, Refused
from evaluator.intake import confine, names, verdict
from evaluator.intake.limits import MIB, Limits
from evaluator.intake.report import OpenFile

_ROOT = Path(evaluator.__file__).resolve().parent.parent
_COMMAND = (sys.executable, "-E", "-s", "-B", "-m", "evaluator.intake.child")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ending:
    """How the child ended: its exit code, None where we ended it for taking too long."""

    code: int | None
    answer: bytes
    progress: bytes
    complaints: str


def judge(files: Mapping[str, OpenFile], limits: Limits, *, needs_chat_template: bool) -> verdict.Verdict:
    """The child's verdict about these open files; a child that dies gives a verdict with one more finding."""
    ending = _run(files, limits, needs_chat_template)
    if ending.code == 0:
        with contextlib.suppress(Refused):
            return verdict.read(ending.answer, set(files), limits)
    file, findings = verdict.read_progress(ending.progress, set(files), limits)
    _log.warning("intake child ended with %s at %s: %s", ending.code, names.shown(file), ending.complaints[-2000:])
    return verdict.Verdict(findings=(*findings, _death(ending.code, file, limits)))


def _run(files: Mapping[str, OpenFile], limits: Limits, needs_chat_template: bool) -> Ending:
    with contextlib.ExitStack() as stack:
        request, answer, complaints, progress = (stack.enter_context(_memory()) for _ in range(4))
        asked = {
            "files": [asdict(file) for file in files.values()],
            "limits": asdict(limits),
            "needs_chat_template": needs_chat_template,
            "progress": progress,
        }
        os.pwrite(request, json.dumps(asked).encode(), 0)
        process = subprocess.Popen(
            _COMMAND,
            stdin=request,
            stdout=answer,
            stderr=complaints,
            env={},
            cwd=_ROOT,
            pass_fds=[progress, *(file.fd for file in files.values())],
        )
        code = _wait(process, limits.wall_s)
        said = _content(complaints, 64 * 1024).decode("utf-8", "replace")
        return Ending(code, _content(answer, limits.report_bytes), _content(progress, limits.report_bytes), said)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _memory() -> Iterator[int]:
    fd = os.memfd_create("intake")
    try:
        yield fd
    finally:
        os.close(fd)


def _content(fd: int, cap: int) -> bytes:
    return OpenFile("", fd, 0).read(cap)


def _death(code: int | None, file: str, limits: Limits) -> Finding:
    """What a submitter can do about it; the operators find the rest in the log."""
    again = "Export it again with a released version of transformers. If it stays so, tell the operators."
    if code is None or code == -signal.SIGXCPU:
        problem = "Reading this file took too long and was stopped."
        return Finding("check-timeout", file, problem, f"Simplify it. {again}")
    if code in (confine.OUT_OF_MEMORY, -signal.SIGKILL):
        problem = f"Reading this file needed more than {limits.memory_bytes // MIB} MiB of memory and was stopped."
        if file in (names.TOKENIZER, names.VOCABULARY):
            problem = problem.replace(str(limits.memory_bytes // MIB), str(limits.tokenizer_memory_bytes // MIB))
        return Finding("check-memory", file, problem, f"Make it smaller. {again}")
    return Finding("check-crashed", file, "Reading this file made the library that reads it fail.", again)
