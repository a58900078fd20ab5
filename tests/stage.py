"""A small benchmark with sealed packs, and checkpoints whose score is known: what real runs of the suite run on."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from box import layout, services
from box.state import REPOSITORY
from evaluator import blobs, intake
from evaluator.records.canonical import canonical, digest_of_bytes
from evaluator.vault import answers, prompts
from evaluator.vault.keyring import Keyring
from leaderboard.ledger import admissions, releases
from leaderboard.models import Benchmark, Checkpoint, Preset, Release, Run, Team, User
from tests import factories
from tests.checkpoints import tiny_checkpoint
from tests.installation import STATE

CHECKPOINTS = STATE.root / "store" / "checkpoints"


def item(index: int, answer: str, *, split: str = "active", text: str | None = None) -> dict[str, Any]:
    """A numeric item. A model that says 42 solves it where ``answer`` is 42."""
    return {
        "index": index, "kind": "numeric", "answer": [answer], "checker": {}, "group": f"g{index // 2}",
        "category": "sums", "split": split,
        "messages": [{"role": "user", "content": text or f"Question {index}: how many?"}],
    }  # fmt: skip


ASKED = ("messages", "prompt")


def bare(whole: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same items as bare prompts, for presets that use no template."""
    kept = [{key: value for key, value in each.items() if key != "messages"} for each in whole]
    return [each | {"prompt": f"Question {each['index']}:"} for each in kept]


def items(right: int, wrong: int, *, practice: int = 2) -> list[dict[str, Any]]:
    """``practice`` practice items, all right, then ``right`` hidden items whose answer is 42 and ``wrong`` others."""
    made = [item(index, "42", split="practice") for index in range(practice)]
    made += [item(practice + index, "42") for index in range(right)]
    return made + [item(practice + right + index, "7") for index in range(wrong)]


def a_release(benchmark: Benchmark, whole: Iterable[dict[str, Any]], version: str = "1.0.0") -> Release:
    """Seal ``whole`` into packs in the store and freeze and activate the release, as a curator's import would."""
    listed, ring, release_id = list(whole), Keyring(STATE.public), uuid.uuid4()
    asked = prompts.seal(str(release_id), [{k: i[k] for k in ("index", *ASKED) if k in i} for i in listed], ring)
    known = answers.seal(str(release_id), [{k: v for k, v in i.items() if k not in ASKED} for i in listed], ring)
    practice = [i for i in listed if i["split"] == "practice"]
    header = {"format": "heldout.practice/1", "release": str(release_id), "count": len(practice)}
    opened = b"".join(canonical(line) + b"\n" for line in [header, *practice])
    store = STATE.root / "store"
    columns = {
        "version": version, "prompts_digest": asked.ref.content, "prompts_sealed": blobs.packs(store).put(asked.data),
        "answers_digest": known.ref.content, "answers_sealed": blobs.packs(store).put(known.data),
        "practice_digest": blobs.practice(store).put(opened), "counts": _counts(listed),
    }  # fmt: skip
    assert columns["practice_digest"] == digest_of_bytes(opened)
    rows = [{"index": i["index"], "split": i["split"], "kind": i["kind"], "category": i["category"],
             "group": uuid.uuid5(release_id, i["group"])} for i in listed]  # fmt: skip
    release = releases.freeze(benchmark, release_id, columns, rows)
    releases.activate(release)
    release.refresh_from_db()
    return release


def _counts(listed: list[dict[str, Any]]) -> dict[str, Any]:
    splits = ("practice", "active")
    return {split: {"items": sum(each["split"] == split for each in listed)} for split in splits}


def a_checkpoint(team: Team, user: User, folder: Path, **lies: Any) -> Checkpoint:
    """A tiny checkpoint, through the real intake and into the store."""
    tiny_checkpoint(folder, **lies)
    return admitted(team, user, folder)


def admitted(team: Team, user: User, folder: Path) -> Checkpoint:
    admission = intake.admit(folder)
    _give_to_web(intake.store(folder, admission, CHECKPOINTS))
    return Checkpoint.objects.create(
        team=team, created_by=user, name=folder.name, manifest=json.loads(canonical(admission.manifest)),
        manifest_digest=admission.digest, facts=json.loads(canonical(admission.facts)),
        size=sum(file["size"] for file in admission.manifest["files"]),
    )  # fmt: skip


def _give_to_web(folder: Path) -> None:
    for path in (folder, *folder.iterdir()):
        if STATE.separate:
            os.chown(path, *layout.owner(STATE, "web"))


def folder_of(checkpoint: Checkpoint) -> Path:
    return CHECKPOINTS / checkpoint.manifest_digest.removeprefix("sha256:")


def a_run(
    folder: Path,
    whole: Iterable[dict[str, Any]],
    *,
    says: str | None = "42",
    lies: Mapping[str, Any] | None = None,
    **preset: Any,
) -> Run:
    """A queued run of a checkpoint that answers every question with ``says``; random weights, which talk until they
    are stopped, where that is ``None``."""
    user, team = factories.a_user(), factories.a_team()
    benchmark = factories.a_benchmark()
    checkpoint = a_checkpoint(team, user, folder, says=says, **(lies or {}))
    return submit(user, checkpoint, a_release(benchmark, whole), factories.a_preset(benchmark, **preset))


def submit(user: User, checkpoint: Checkpoint, release: Release, preset: Preset) -> Run:
    return admissions.submit(user, checkpoint, release, preset, admissions.Declaration()).run


def again_for(run: Run) -> Run:
    """Another submission of the same."""
    before = run.submission
    return submit(before.submitted_by, before.checkpoint, before.release, before.preset)


def replay(run: Run) -> subprocess.CompletedProcess[str]:
    """As the auditor, in a process of its own."""
    uid, gid = layout.owner(STATE, "auditor")
    drop = {"user": uid, "group": gid, "extra_groups": []} if STATE.separate else {}
    command = [str(STATE.python("dev")), "manage.py", "replay", str(run.pk)]
    return subprocess.run(
        command, cwd=REPOSITORY, env=services.environment(STATE, "auditor"), capture_output=True, text=True,
        timeout=60, check=False, **drop,
    )  # type: ignore[call-overload]  # fmt: skip


def pack_path(sealed: str) -> Path:
    return blobs.packs(STATE.root / "store").path(sealed)


@contextmanager
def flipped(path: Path) -> Iterator[None]:
    """One bit in the middle of a file turned over, as root could; turned back afterwards."""
    _flip(path)
    try:
        yield
    finally:
        _flip(path)


def _flip(path: Path) -> None:
    data, mode = bytearray(path.read_bytes()), path.stat().st_mode
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(mode)
