"""An installation of its own for the tests, below var/test: real services, real keys, real uids where we are root.

Started once and left running when the tests end, so that the next run begins at once; ``make down`` stops it. Its
database doesn't wait for the disk: a test that kills processes loses nothing by that, only a power cut would.
"""

from __future__ import annotations

import os
from functools import lru_cache

from box import daemons, keys, layout, postgres, services, valkey
from box.state import State, alone, folder, here

_ROOT = here().root
# A process that pytest starts for itself has our settings' environment already, and is already at home.
STATE = State(root=_ROOT if _ROOT.name == "test" else _ROOT / "test", separate=os.geteuid() == 0)


@lru_cache(maxsize=1)
def ensure() -> State:
    """Services up, database prepared. Once per process."""
    folder(STATE.root)
    with alone(STATE.root / "up.lock"):
        _environments()
        layout.ensure(STATE)
        keys.ensure(STATE)
        postgres.start(STATE)
        postgres.sql(STATE, "ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();")
        valkey.start(STATE)
        if daemons.pid(STATE, "web") is None:
            STATE.configure(web={})  # another installation may have taken the port since: choose a free one
        services.configure(STATE, "transformers")
        STATE.configure(**FAST)
        services.prepare(STATE)
    return STATE


FAST = {"lease_seconds": 6, "heartbeat_seconds": 1, "retry_seconds": 1}
"""Lost workers are noticed soon. The proportions are those of production."""


def _environments() -> None:
    """The same environments as the installation beside: they hold no state."""
    for name in ("env", "checkpoints-source"):
        folder(STATE.root.parent / name)
        link = STATE.root / name
        if not link.is_symlink():
            link.symlink_to(STATE.root.parent / name)
