"""What tokenizer and template do when they are run, and what they make of the control prompt. In the child only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from evaluator.intake import tokenizer_run
from evaluator.intake.report import Report
from evaluator.intake.template import Template, check, frame_around
from evaluator.intake.tokenizer_settings import Settings
from evaluator.records import controls
from evaluator.records.canonical import digest_of_bytes

_SHORT_FRAME = 60


@dataclass(frozen=True)
class Source:
    """A chat template and the file it stands in."""

    text: str
    where: str

    @property
    def digest(self) -> str:
        return digest_of_bytes(self.text.encode("utf-8"))


def template(report: Report, source: Source, settings: Settings) -> Template | None:
    """The tested template, or None and findings in ``report``."""
    compiled = report.attempt(Template, source.text, source.where, settings.tokens)
    if compiled is None or (supported := report.attempt(check, compiled)) is None:
        return None
    report.notes.extend(report.attempt(_notes, source, settings, compiled, supported) or [])
    return compiled


def _notes(source: Source, settings: Settings, compiled: Template, supported: list[tuple[str, ...]]) -> list[str]:
    notes = []
    frame = frame_around(compiled)
    if len(frame[0]) > _SHORT_FRAME:
        notes.append(f"{source.where}: before a first message the template writes of its own {frame[0][:300]!r}.")
    elsewhen = Template(source.text, source.where, settings.tokens, clock=lambda form: f"another day ({form})")
    if frame_around(elsewhen) != frame:
        day = controls.TODAY.date().isoformat()
        notes.append(f"{source.where}: the template writes today's date; each run is told {day}, so that it replays.")
    if not any("system" in structure for structure in supported):
        notes.append(f"{source.where}: the template takes no system message.")
    return notes


def control(compiled: Template, runner: Tokenizer) -> dict[str, Any]:
    """The control messages as this template and tokenizer render them. No special token is added to rendered text."""
    text = compiled.render(controls.MESSAGES)
    ids = tokenizer_run.ids(runner, text, special=False)
    return {"messages": [dict(message) for message in controls.MESSAGES], **controls.prompt_digests(text, ids)}


def completion(runner: Tokenizer) -> dict[str, Any]:
    """The control prompt as plain text, with the special tokens that tokenizer.json adds to a text."""
    ids = tokenizer_run.ids(runner, controls.PROMPT, special=True)
    return {"prompt": controls.PROMPT, **controls.prompt_digests(controls.PROMPT, ids)}
