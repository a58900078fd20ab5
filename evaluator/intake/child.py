"""The child that reads what a stranger sent: ``python -m evaluator.intake.child``, started by ``judge``.

It gets everything from its parent: a request on standard input, open files by descriptor, and a memory file in which it
notes what it is about to do. It answers with one JSON object on standard output and is believed in nothing else.
Exit codes: 0 answered, 3 out of memory; anything else, and any signal, is a death that the parent explains.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

# Threads of native libraries would each reserve address space of their own. Read when they are first used.
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from evaluator.intake import confine, template
from evaluator.intake.examine import Upload, examine
from evaluator.intake.limits import Limits
from evaluator.intake.report import OpenFile, Report

_SPARE_DESCRIPTORS = 16
_NOTES = 20


def main() -> int:
    request = json.load(sys.stdin)
    limits = Limits(**request["limits"])
    confine.die_with_parent()
    peak = confine.Peak()
    template.warm_up()
    files = {entry["name"]: OpenFile(**entry) for entry in request["files"]}
    confined = {"network": confine.close_network(), "files": confine.close_files([file.fd for file in files.values()])}
    confine.bound(
        cpu_s=int(limits.wall_s) + 1,
        memory_bytes=limits.tokenizer_memory_bytes + max(file.size for file in files.values()),
        written_bytes=limits.report_bytes,
        descriptors=max([request["progress"], *(file.fd for file in files.values())]) + _SPARE_DESCRIPTORS,
    )
    report = Report(limits.findings)
    progress = _Progress(request["progress"], limits, report, files)
    upload = Upload(files, limits, request["needs_chat_template"], report, progress.stage)
    try:
        facts = examine(upload)
        answer = _answer(report, facts, confined, peak.kib())
    except MemoryError:
        return confine.OUT_OF_MEMORY
    sys.stdout.write(json.dumps(answer))
    return 0


class _Progress:
    """Tells the parent what it will have died of, and sets the limits of the step."""

    def __init__(self, fd: int, limits: Limits, report: Report, files: Mapping[str, OpenFile]) -> None:
        self._fd, self._limits, self._report, self._files = fd, limits, report, files
        self._tokenizer = False

    def stage(self, file: str, step: str) -> None:
        limits = self._limits
        self._tokenizer = self._tokenizer or (step != "content" and file in _LARGE)
        cpu_s = limits.tokenizer_cpu_s if self._tokenizer else limits.cpu_s
        if step == "template":
            cpu_s = limits.template_cpu_s
        note = {"file": file, "step": step, "findings": [finding.as_json() for finding in self._report.findings]}
        data = json.dumps(note).encode()
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)
        memory = limits.tokenizer_memory_bytes if self._tokenizer else limits.memory_bytes
        if step == "library":
            memory += self._files[file].size  # it maps the file, without reading it
        confine.stage(cpu_s=cpu_s, memory_bytes=memory)


_LARGE = frozenset({"tokenizer.json", "vocab.json", "merges.txt"})


def _answer(report: Report, facts: dict[str, Any] | None, confined: dict[str, bool], peak: int) -> dict[str, Any]:
    return {
        "findings": [finding.as_json() for finding in report.findings],
        "notes": report.notes[:_NOTES],
        "parsed": {name: [length, hexadecimal] for name, (length, hexadecimal) in report.parsed.items()},
        "facts": None if report.findings else facts,
        "confined": confined,
        "peak_kib": peak,
    }


if __name__ == "__main__":
    sys.exit(main())
