"""One attempt, step by step, from claim to seal.

1. Read the rows (``planning.load``).
2. Ask the launcher what it will create; fix the RunSpec and hash it. Nothing hidden has been opened so far.
3. Start the guest and load the model. A checkpoint that can't be loaded is refused here.
4. Open the prompts. Take over what an earlier attempt under the same RunSpec has journalled.
5. Ask: canary alone, then controls, then the items, then the canary again (``evaluator.inference``). Each answer goes
   to the journal within seconds; practice items are judged and shown at once.
6. Seal the outputs, put them into the store, hand the run over. Only then drop the journal.

What the guest says after step 4 may hold hidden text, so no detail of a later fault is kept: its code alone is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator import blobs
from evaluator.checkers.table import check
from evaluator.errors import Fault
from evaluator.inference.conversation import Conversation, Patience
from evaluator.inference.session import Session
from evaluator.isolation.client import GuestStream, open_guest
from evaluator.records.lifecycle import State
from evaluator.records.outcomes import Outcome
from evaluator.records.runspec import RunSpec
from evaluator.runner import planning
from evaluator.runner.planning import Plan
from evaluator.vault import outputs
from evaluator.vault.journal import Journal
from evaluator.vault.keyring import Keyring
from leaderboard.ledger import runs
from leaderboard.ledger.guard import Claim
from leaderboard.ledger.heartbeat import Cancelled, Heartbeat
from leaderboard.ledger.patience import patiently
from sandboxes.wire import Caps

__all__ = ["Cancelled", "evaluate"]

JOURNAL_RECORDS, JOURNAL_SECONDS = 256, 2.0
"""A chunk of the journal is written when so many answers wait, or the oldest has waited so long."""

CAPS = Caps(frame=8 << 20, frames=4 << 20, total=1 << 30)


@dataclass
class Answers:
    """What is known so far: all records by index, and those that the journal doesn't have yet."""

    journal: Journal
    by_index: dict[int, dict[str, Any]] = field(default_factory=dict)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    since: float = 0.0

    def add(self, record: dict[str, Any]) -> list[dict[str, Any]]:
        """Take one answer. Returns the answers that became durable with it, often none."""
        self.by_index[record["index"]] = record
        self.waiting.append(record)
        if len(self.waiting) == 1:
            self.since = time.monotonic()
        due = len(self.waiting) >= JOURNAL_RECORDS or time.monotonic() - self.since >= JOURNAL_SECONDS
        return self.flush() if due else []

    def flush(self) -> list[dict[str, Any]]:
        kept, self.waiting = self.waiting, []
        if kept:
            self.journal.append(kept)
        return kept


def keyring() -> Keyring:
    return Keyring(settings.PUBLIC_KEYS, settings.SECRETS / "vault.key")


def evaluate(claim: Claim) -> None:
    """Run the attempt and hand the run to the grader. What it raises says where the run goes (``tasks``)."""
    with Heartbeat(claim, State.RUNNING, seconds=settings.HEARTBEAT_SECONDS) as beat:
        plan = planning.load(claim)
        with open_guest(Path(settings.LAUNCHER_SOCKET), str(plan.run_id), claim.attempt) as guest:
            spec = planning.runspec(plan, guest.offer)
            patiently(runs.fix_runspec, claim, spec.as_json(), spec.digest)
            guest.start()
            answers, session = _ask_all(plan, spec, guest, beat)
        facts = _facts(session, guest)
        beat.raise_if_stopped()
        _seal(plan, spec, answers, facts)


def _ask_all(plan: Plan, spec: RunSpec, guest: GuestStream, beat: Heartbeat) -> tuple[Answers, Session]:
    talk = Conversation(guest, patience=Patience(), caps=CAPS, tick=beat.raise_if_stopped)
    session = Session(talk, preset=plan.preset.as_json(), control=planning.control(plan))
    planning.check_guest(plan, session.open())
    prompts = planning.open_prompts(plan, keyring())
    answers = Answers(Journal(settings.JOURNAL, plan.run_id, spec.digest, keyring()))
    answers.by_index = {record["index"]: record for record in answers.journal.read()}
    open_items = [prompts[index] for index in sorted(prompts) if index not in answers.by_index]
    beat.progress(len(answers.by_index), len(prompts))
    try:
        with _without_hidden_detail():
            _ask(plan, session, open_items, answers, lambda done: beat.progress(done, len(prompts)))
    except Fault as fault:
        _settle_for_what_is_there(plan, fault, answers, prompts)
    return answers, session


def _ask(plan: Plan, session: Session, items: list[dict[str, Any]], answers: Answers, told: Any) -> None:
    practice = planning.open_practice(plan.release)
    _show(plan, practice, list(answers.by_index.values()))  # what an earlier worker journalled and may not have shown
    for record in session.outputs(items):
        _show(plan, practice, answers.add(record))
        told(len(answers.by_index))
    _show(plan, practice, answers.flush())


@contextmanager
def _without_hidden_detail() -> Iterator[None]:
    try:
        yield
    except Fault as fault:
        raise Fault(fault.kind, fault.code, retry=fault.retry) from None


def _settle_for_what_is_there(plan: Plan, fault: Fault, answers: Answers, prompts: Mapping[int, Any]) -> None:
    """After the last attempt: unanswered items are faults, the rest counts. Else the fault goes on up."""
    answers.flush()
    last = plan.claim.attempt >= settings.MAX_ATTEMPTS and fault.retry
    if not (last and answers.by_index):
        raise fault
    for index in prompts.keys() - answers.by_index.keys():
        answers.by_index[index] = _unanswered(index, f"{fault.kind}/{fault.code}")


def _unanswered(index: int, code: str) -> dict[str, Any]:
    return {
        "index": index, "outcome": Outcome.FAULT.value, "detail": code, "text": "", "tokens": [], "logprob": None,
        "prompt_tokens": 0, "prompt_sha256": None, "prompt_ids_sha256": None, "batch": 0, "ms": 0,
    }  # fmt: skip


def _show(plan: Plan, practice: Mapping[int, Mapping[str, Any]], records: list[dict[str, Any]]) -> None:
    """Judge and publish the practice items among ``records``: open data, shown to the team at once."""
    rows = [_practice_row(practice[record["index"]], record) for record in records if record["index"] in practice]
    if rows:
        patiently(runs.add_practice_results, plan.claim, rows)


def _practice_row(item: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    verdict = check(item["kind"], record["text"], item["answer"], item.get("checker", {}), item.get("choices"))
    return {
        "index": record["index"], "kind": item["kind"], "category": item["category"],
        "prompt": item["messages"] if "messages" in item else item["prompt"],
        "completion": record["text"], "outcome": record["outcome"], "score": verdict.score,
        "reason": verdict.reason, "expected": item["answer"],
    }  # fmt: skip


def _facts(session: Session, guest: GuestStream) -> dict[str, Any]:
    """For provenance: what engine and container reported. Never the guest's own words on its error output."""
    ended = guest.exit()
    return {
        "hello": session.report.hello, "ready": session.report.ready, "stats": session.report.stats,
        "controls": [verdict.as_json() for verdict in session.report.controls],
        "first_output_ms": session.report.first_output_ms, "wall_ms": ended.wall_ms,
        "peak_memory": ended.peak_memory, "exit_code": ended.code,
    }  # fmt: skip


def _seal(plan: Plan, spec: RunSpec, answers: Answers, facts: Mapping[str, Any]) -> None:
    sealed = outputs.seal(str(plan.run_id), spec.digest, answers.by_index.values(), keyring())
    stored = blobs.packs(settings.STORE).put(sealed.data)
    patiently(runs.seal, plan.claim, runspec=spec.digest, outputs=sealed.ref.content, sealed=stored, facts=facts)
    answers.journal.discard()
