"""Python run as an identity: its uid where we are root, its environment, its own key, and nothing of ours in memory."""

from __future__ import annotations

import subprocess
import textwrap

from box import layout
from box.state import REPOSITORY
from tests.installation import STATE


def run_as(identity: str, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` as ``identity``. Its standard output and error come back as text."""
    uid, gid = layout.owner(STATE, identity)
    drop = {"user": uid, "group": gid, "extra_groups": []} if STATE.separate else {}
    return subprocess.run(
        [str(STATE.python("dev")), "-c", textwrap.dedent(code), *arguments],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False,
        env={"IDENTITY": identity, "HELDOUT_STATE": str(STATE.root), "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
             "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
        **drop,  # type: ignore[call-overload]
    )  # fmt: skip
