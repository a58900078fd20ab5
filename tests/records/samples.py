"""Small records that are right, for tests to break one thing at a time."""

from __future__ import annotations

from typing import Any

from evaluator.records.packs import Pack, read_answers, read_outputs, write_answers, write_outputs
from evaluator.records.runspec import (
    Batch,
    CheckpointRef,
    Code,
    Engine,
    Harness,
    Host,
    Isolation,
    Limits,
    Preset,
    ReleaseRef,
    RunSpec,
)

RUN = "0193b2c1-0000-4000-8000-000000000001"
RELEASE = "0193b2c1-0000-4000-8000-000000000002"


def digest(letter: str) -> str:
    return "sha256:" + letter * 64


def output(index: int, text: str = "18", **other: Any) -> dict[str, Any]:
    return {
        "index": index, "outcome": "answered", "detail": "eos", "text": text, "tokens": [1, 2, 3], "logprob": -1500,
        "prompt_tokens": 9, "prompt_sha256": "a" * 64, "prompt_ids_sha256": "b" * 64, "batch": 0, "ms": 12, **other,
    }  # fmt: skip


def fault(index: int, detail: str = "engine/oom") -> dict[str, Any]:
    return output(index, "", outcome="fault", detail=detail, tokens=[], logprob=None)


def answer(index: int, gold: str = "18", **other: Any) -> dict[str, Any]:
    return {
        "index": index, "kind": "numeric", "answer": [gold], "checker": {}, "group": f"g{index}", "category": "sums",
        "split": "active", **other,
    }  # fmt: skip


def outputs(records: list[dict[str, Any]]) -> Pack:
    return read_outputs(write_outputs(RUN, digest("c"), records))


def answers(records: list[dict[str, Any]]) -> Pack:
    return read_answers(write_answers(RELEASE, records))


def preset(**other: Any) -> Preset:
    fields: dict[str, Any] = {
        "name": "greedy", "version": "1", "mode": "chat", "max_tokens": 64, "stop": ["\n\n"],
        "batch": Batch(policy="length-sorted", size=16), **other,
    }  # fmt: skip
    return Preset(**fields)


def runspec(**other: Any) -> RunSpec:
    fields: dict[str, Any] = {
        "checkpoint": CheckpointRef(
            manifest=digest("1"), files=[{"name": "model.safetensors", "size": 9, "sha256": "2" * 64}],
            tokenizer=digest("3"), template=digest("4"), weights=digest("5"),
        ),
        "release": ReleaseRef(
            id=RELEASE, benchmark="demo", version="1", items=300, prompts=digest("6"), answers=digest("7")
        ),
        "preset": preset(), "seeds": {"sampling": 0}, "harness": Harness(version="0.1.0"),
        "engine": Engine(name="transformers", versions={"torch": "2.13.0"}, flags={"threads": 2, "compile": False}),
        "dtype": "float32", "image": digest("8"),
        "code": Code(commit="f" * 40, source=digest("9"), locks={"web": digest("a")}),
        "host": Host(
            kernel="6.1", machine="x86_64", cpu="a processor", cores=2, memory=8 << 30, python="3.11.2",
            runtime={"docker": "20.10.24"},
        ),
        "isolation": Isolation(network="none", seccomp=digest("b"), separate_users=True, spec=digest("d")),
        "limits": Limits(guaranteed={"memory": 1 << 30}, maximum={"memory": 4 << 30, "cpus": "2"}),
        **other,
    }  # fmt: skip
    return RunSpec(**fields)
