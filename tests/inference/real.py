"""A whole evaluation of a small checkpoint in the real container."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluator.inference.conversation import Conversation, Patience
from evaluator.inference.session import Report, Session
from evaluator.isolation.client import Ended
from evaluator.records import controls
from sandboxes import wire
from tests import checkpoints
from tests.inference.guests import PRESET
from tests.isolation.launching import MIB, admitted_folder, launching

GIB = 1024 * MIB
SPECIAL = re.compile("(" + "|".join(map(re.escape, checkpoints.SPECIALS.values())) + ")")
IDS = {text: number for number, text in checkpoints.SPECIALS.items()}


@dataclass
class Evaluated:
    """What came back, by index."""

    records: dict[int, dict[str, Any]]
    report: Report
    ended: Ended


def evaluate(
    checkpoint: Path, image: str, items: Sequence[Mapping[str, Any]], *, engine: str = "transformers", **preset: Any
) -> Evaluated:
    with launching(image_digest=image, memory=5 * GIB, wall=110, shm=GIB, scratch=256 * MIB) as bench:
        bench.facts = replace(bench.facts, engine=engine, manifest=admitted_folder(bench.root, checkpoint))
        with bench.started() as guest:
            talk = Conversation(guest, patience=Patience(), caps=wire.Caps())
            session = Session(talk, preset=PRESET | {"context": 256} | preset, control=control())
            session.open()
            records = {record["index"]: record for record in session.outputs(items)}
            return Evaluated(records, session.report, guest.exit())


def control() -> dict[str, Any]:
    """What intake finds for the checkpoints of ``tests.checkpoints``, worked out by hand."""
    text = f"<|im_start|>user\n{controls.TEXT}<|im_end|>\n<|im_start|>assistant\n"
    return {"messages": list(controls.MESSAGES), **controls.prompt_digests(text, ids_of(text))}


def ids_of(text: str) -> list[int]:
    ids: list[int] = []
    for part in SPECIAL.split(text):
        ids += [IDS[part]] if part in IDS else list(part.encode())
    return ids


def questions(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Items of several lengths."""
    source = random.Random(seed)
    words = ["apple", "pear", "two", "seven", "market", "ride", "of", "and", "42", "ü"]
    texts = [" ".join(source.choices(words, k=source.randint(1, 12))) for _ in range(count)]
    return [{"index": number, "messages": [{"role": "user", "content": text}]} for number, text in enumerate(texts)]
