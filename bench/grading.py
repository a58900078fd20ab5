"""How fast sealed outputs become a sealed, signed grade, beside a plain loop with the same checkers.

Ours: unseal outputs and answers, grade, write and seal the verdicts, sign the scorecard. The plain loop: read two JSONL
files, check, write a JSONL line for each item. Both in one process, CPU seconds, in turn.
"""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from bench.report import Aim, Comparison, Figure, ratio
from box import state as box_state
from evaluator.checkers.table import checker
from evaluator.grader.steps import Packs, grade_run
from evaluator.records.scorecard import GradingConfig
from evaluator.vault import answers, outputs
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import Sealed

ITEMS = 20_000
D = "sha256:" + "0" * 64


def items(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Answers and outputs of the three kinds, two thirds of them right."""
    random, known, said = Random(7), [], []
    for index in range(count):
        kind = ("numeric", "choice", "exact")[index % 3]
        gold = {"numeric": str(random.randrange(10_000)), "choice": random.choice("ABCD"), "exact": f"word{index}"}[
            kind
        ]
        answer = {"index": index, "kind": kind, "answer": [gold], "checker": {}, "group": f"g{index // 3}",
                  "category": kind, "split": "active"}  # fmt: skip
        known.append(answer | ({"choices": ["one", "two", "three", "four"]} if kind == "choice" else {}))
        text = gold if random.random() < 2 / 3 else "12345"
        said.append(
            {"index": index, "outcome": "answered", "detail": "eos", "text": f"The answer is {text}.",
             "tokens": [random.randrange(50_000) for _ in range(8)], "logprob": -random.randrange(10**7),
             "prompt_tokens": 60, "prompt_sha256": f"{random.getrandbits(256):064x}",
             "prompt_ids_sha256": f"{random.getrandbits(256):064x}", "batch": index // 16, "ms": 100}
        )  # fmt: skip
    return known, said


def compare(rounds: int) -> Comparison:
    root = box_state.here().root
    known, said = items(ITEMS)
    run, release = str(uuid.uuid4()), str(uuid.uuid4())
    seal = Keyring(root / "public")
    given, expected = outputs.seal(run, D, said, seal), answers.seal(release, known, seal)
    packs = Packs(run, D, release, given.ref, given.data, expected.ref, expected.data)
    keyring = Keyring(root / "public", root / "secrets" / "grader" / "vault.key")
    key = root / "secrets" / "grader" / "signing.key"
    seconds: dict[str, list[float]] = {"plain": [], "ours": []}
    sealed: Sealed | None = None
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder), known, said)
        for _ in range(max(rounds, 3)):
            seconds["plain"].append(_cpu(lambda: _plain(Path(folder))))
            began = time.process_time()
            sealed = grade_run(packs, GradingConfig(), keyring, key).verdicts
            seconds["ours"].append(time.process_time() - began)
    assert sealed is not None
    plain, ours = (Figure(f"{name}, CPU-seconds", "s", tuple(values)) for name, values in seconds.items())
    per_second = Figure("items per CPU-second", "1/s", tuple(ITEMS / value for value in ours.values))
    return Comparison(
        "grading", f"{ITEMS} exact, choice and numeric items", [plain, ours, per_second],
        [Aim("items per CPU-second", per_second.median, 10_000, at_most=False)],
        {
            "plain loop over ours": round(ratio(ours, plain), 2),
            "sealed verdicts, bytes per 1,000": round(len(sealed.data) / ITEMS * 1000),
            "sealed outputs, bytes per 1,000": round(len(given.data) / ITEMS * 1000),
        },
    )  # fmt: skip


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _write(folder: Path, known: list[dict[str, Any]], said: list[dict[str, Any]]) -> None:
    for name, records in (("answers", known), ("outputs", said)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))


def _plain(folder: Path) -> None:
    with (folder / "answers").open() as known, (folder / "outputs").open() as said, (folder / "out").open("w") as out:
        for answer_line, output_line in zip(known, said, strict=True):
            answer, output = json.loads(answer_line), json.loads(output_line)
            judge = checker(answer["kind"], answer["answer"], answer["checker"], answer.get("choices"))
            verdict = judge.check(output["text"])
            out.write(json.dumps({"index": output["index"], "score": verdict.score}) + "\n")
