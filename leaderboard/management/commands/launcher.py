"""``manage.py launcher``: the only process that talks to the container engine. Reads the claimed row itself."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
from pathlib import Path

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.db import close_old_connections
from django.db.models.functions import Now

from evaluator.errors import Fault, FaultKind, Stale
from evaluator.isolation.base import LaunchFacts, Limits
from evaluator.isolation.docker_tier import DockerTier
from evaluator.isolation.launcher import Launcher
from evaluator.records.lifecycle import State
from leaderboard.identities import IDENTITIES
from leaderboard.models import Checkpoint, Run

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Start containers for claimed runs (IDENTITY=launcher)."

    def handle(self, *args: object, **options: object) -> None:
        if settings.IDENTITY != "launcher":
            raise CommandError("the launcher runs as itself: set IDENTITY=launcher")
        tier, checkpoints = DockerTier(installation_name(settings.STATE)), settings.STORE / "checkpoints"
        launcher = Launcher(Path(settings.LAUNCHER_SOCKET), tier, lookup, checkpoints, _peers())
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: launcher.stop())
        launcher.serve_forever()


def lookup(run_id: str) -> LaunchFacts:
    """What the claimed row says about the container. Raises ``Stale`` where nobody holds a live claim."""
    close_old_connections()
    try:
        rows = Run.objects.filter(pk=run_id, state=State.RUNNING, lease_until__gt=Now())
        run = rows.values("attempt", "fence", "submission__checkpoint_id").first()
        if run is None:
            raise Stale(f"run {run_id} is not claimed")
        manifest = Checkpoint.objects.values_list("manifest", flat=True).get(pk=run["submission__checkpoint_id"])
    finally:
        close_old_connections()
    return LaunchFacts(
        run=run_id, attempt=run["attempt"], fence=run["fence"], manifest=manifest, engine=settings.ENGINE,
        image_digest=_image(settings.ENGINE), limits=_limits(), gpu=settings.CONFIG.get("gpu"),
    )  # fmt: skip


def _image(engine: str) -> str:
    """The digest of the guest image as it was built or pulled on this host."""
    path = settings.STATE / "images.json"
    try:
        return str(json.loads(path.read_text())[engine]["id"])
    except (OSError, KeyError, ValueError) as error:
        raise Fault(FaultKind.LAUNCHER, "no_image", f"{path} names no image for {engine}", retry=False) from error


def _limits() -> Limits:
    """One thread fewer than the cores, all cores as the ceiling; memory as configured."""
    cores = len(os.sched_getaffinity(0))
    own = settings.CONFIG.get("guest_limits", {})
    return Limits(**{"cpus": str(cores), "threads": max(1, cores - 1)} | own)


def installation_name(state: Path) -> str:
    """Keeps two installations on one engine apart: a digest of where this one's state lies."""
    return hashlib.sha256(str(state).encode()).hexdigest()[:32]


def _peers() -> frozenset[int]:
    """The uids that may ask: of each identity that the table allows to, or our own where all share one."""
    base = settings.CONFIG.get("uid_base")
    if base is None:
        return frozenset({os.getuid()})
    return frozenset(base + row.uid_offset for row in IDENTITIES.values() if row.uses_launcher)
