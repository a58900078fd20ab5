"""``manage.py replay RUN``, as auditor: grade again from the sealed packs and compare every digest.

Ends with 0 where everything is equal, with 1 where something differs: the first bad place is named.
"""

from __future__ import annotations

import json
import sys
import uuid
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from evaluator import blobs
from evaluator.auditor.steps import RecordedGrade, Report, replay
from evaluator.records.scorecard import GradingConfig
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef
from leaderboard.ledger import entries
from leaderboard.models import Grade


class Command(BaseCommand):
    help = "Grade a run's sealed outputs again and compare (IDENTITY=auditor)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="Id of the run, or the beginning of one.")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: object, **options: Any) -> None:
        if settings.IDENTITY != "auditor":
            raise CommandError("replays are the auditor's: set IDENTITY=auditor")
        grade = _grade(options["run"])
        report = replay(
            recorded(grade), store=blobs.packs(settings.STORE),
            keyring=Keyring(settings.PUBLIC_KEYS, settings.SECRETS / "vault.key"),
            grader_key=settings.PUBLIC_KEYS / "grader.ed25519",
        )  # fmt: skip
        failure = report.failure.name if report.failure else ""
        entries.record(
            "run.replay", grade.run_id, equal=report.passed, failed=failure, scorecard=grade.scorecard_digest
        )
        self.stdout.write(json.dumps(_as_json(report)) if options["json"] else f"{report}\n{_score(grade)}")
        if not report.passed:
            sys.exit(1)


def _grade(text: str) -> Grade:
    """The newest grade of the run whose id begins with ``text``."""
    begin = text.lower()
    found = {row.run_id: row for row in Grade.objects.order_by("graded_at") if str(row.run_id).startswith(begin)}
    if len(found) != 1:
        problem = "no graded run" if not found else f"{len(found)} graded runs"
        raise CommandError(f"{problem} begins with {text!r}; the run's page shows its id")
    return next(iter(found.values()))


def recorded(grade: Grade) -> RecordedGrade:
    """The grade as the ledger has it, with the packs that the rows name."""
    run = grade.run
    release = run.submission.release
    config = GradingConfig(coverage_gate=run.submission.preset.body["coverage_gate"])
    return RecordedGrade(
        run=str(run.pk), runspec=run.runspec_digest, release=str(release.pk),
        outputs=PackRef(run.outputs_sealed, grade.outputs_digest),
        answers=PackRef(release.answers_sealed, grade.answers_digest),
        verdicts=PackRef(grade.verdicts_sealed, grade.verdicts_digest),
        grader=grade.grader_digest, config_digest=grade.config_digest, scorecard_digest=grade.scorecard_digest,
        config=config.as_json(), scorecard=grade.scorecard, envelope=grade.envelope,
    )  # fmt: skip


def _score(grade: Grade) -> str:
    hidden = grade.scorecard["hidden"] or {}
    return (
        f"score {hidden.get('score')}  interval {hidden.get('low')} to {hidden.get('high')}  {grade.scorecard_digest}"
    )


def _as_json(report: Report) -> dict[str, Any]:
    steps = [{"name": step.name, "passed": step.passed, "words": step.words} for step in report.steps]
    return {"run": str(uuid.UUID(report.run)), "equal": report.passed, "steps": steps}
