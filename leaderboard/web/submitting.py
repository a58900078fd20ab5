"""What a submission needs, read and checked for page, endpoint and command line alike."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.errors import Finding, Refused
from leaderboard.ledger import admissions, quota
from leaderboard.ledger.admissions import Declaration
from leaderboard.ledger.quota import Allowance
from leaderboard.models import Benchmark, Checkpoint, Preset, Release, Submission, Team, Upload, User
from leaderboard.web import access

_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,120}")
_TEXT_LIMIT = 4000
OPEN_UPLOADS = 10
"""Of one team at a time: each may hold as many bytes as an upload may have."""
_FIELDS = (("base_model", 200), ("training_data", _TEXT_LIMIT), ("notes", _TEXT_LIMIT))


@dataclass(frozen=True)
class Offer:
    """One way to submit: the active release of a benchmark with one of its presets."""

    release: Release
    preset: Preset


def offers() -> list[Offer]:
    releases = Release.objects.filter(state=Release.State.ACTIVE).select_related("benchmark")
    presets: dict[uuid.UUID, list[Preset]] = {}
    for preset in Preset.objects.order_by("created_at", "pk"):
        presets.setdefault(preset.benchmark_id, []).append(preset)
    ordered = sorted(releases, key=lambda release: (release.benchmark.title, str(release.pk)))
    return [Offer(release, preset) for release in ordered for preset in presets.get(release.benchmark_id, [])]


def allowances(team: Team) -> list[tuple[Benchmark, Allowance]]:
    """Today's allowance for each benchmark, by the very function that enforces it."""
    benchmarks = Benchmark.objects.filter(releases__state=Release.State.ACTIVE).distinct().order_by("title", "pk")
    return [(benchmark, quota.allowance(team, benchmark)) for benchmark in benchmarks]


def declaration(untrusted: Mapping[str, object]) -> Declaration:
    values = {}
    findings = []
    for name, limit in _FIELDS:
        text = untrusted.get(name, "")
        if not isinstance(text, str) or len(text) > limit or "\x00" in text:
            findings.append(Finding("declaration", name, f"Text of at most {limit} characters.", "Shorten it."))
        else:
            values[name] = text.strip()
    if findings:
        raise Refused(findings)
    return Declaration(**values)


def open_upload(user: User, untrusted: Mapping[str, object]) -> Upload:
    """A new upload for a team the person acts for."""
    name = untrusted.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        raise Refused.one("name", "name", "A checkpoint needs a name of 1 to 120 characters.", "Name it.")
    team = access.acting_teams(user).filter(slug=str(untrusted.get("team", ""))).first()
    if team is None:
        raise Refused.one("team", "team", "You can't upload for this team.", "Choose one of your own teams.")
    if team.uploads.filter(state=Upload.State.RECEIVING).count() >= OPEN_UPLOADS:
        raise Refused.one(
            "open-uploads", "team", f"{OPEN_UPLOADS} uploads of the team wait for their bytes.",
            "Finish one of them, or give it up on its page.",
        )  # fmt: skip
    return admissions.open_upload(team, user, name.strip(), declaration(untrusted))


def submit(user: User, checkpoint: Checkpoint, untrusted: Mapping[str, object]) -> Submission:
    """Submit under the offer that release and preset name. The checkpoint must be able to do what the preset asks."""
    releases = Release.objects.select_related("benchmark")
    release = releases.filter(pk__in=keys(untrusted.get("release"))).first()
    preset = Preset.objects.filter(pk__in=keys(untrusted.get("preset"))).first()
    if release is None or preset is None:
        raise Refused.one("offer", "preset", "There is no such release or preset.", "Choose one from the list.")
    fits(checkpoint, preset)
    return admissions.submit(user, checkpoint, release, preset, declaration(untrusted))


def fits(checkpoint: Checkpoint, preset: Preset) -> None:
    """Answered before anything runs, with both sides named."""
    findings = []
    if preset.body.get("mode") == "chat" and not checkpoint.facts.get("template"):
        findings.append(
            Finding(
                "no-chat-template", str(preset), "The preset asks in chat form; the checkpoint has no chat template.",
                "Choose a completion preset, or upload the checkpoint with chat_template.jinja.",
            )
        )  # fmt: skip
    wanted, has = preset.body.get("context"), checkpoint.facts.get("context")
    if isinstance(wanted, int) and isinstance(has, int) and wanted > has:
        findings.append(
            Finding(
                "context", str(preset), f"The preset needs a context of {wanted} tokens; the checkpoint allows {has}.",
                "Choose a preset with a shorter context.",
            )
        )  # fmt: skip
    if findings:
        raise Refused(findings)


def keys(untrusted: object) -> list[uuid.UUID]:
    """The key that a text is, or none."""
    try:
        return [uuid.UUID(str(untrusted))]
    except ValueError:
        return []
