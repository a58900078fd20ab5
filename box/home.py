"""Where the code runs from: the clone, or as root a copy of it where the clone is closed to other Unix users.

Identities are Unix users of their own when we are root, and each must be able to read the code and the environments.
A clone below /root, or one made with a strict umask, can't be read by them. Its tracked files are then copied to
/var/lib/heldout/NAME, everything runs there, and ``var`` in the clone becomes a link to the copy's.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from box.progress import Missing, say

SHELF = Path("/var/lib/heldout")


def readable(clone: Path) -> bool:
    """Whether every other Unix user can reach and read every file of this clone."""
    if any(not folder.stat().st_mode & 0o001 for folder in clone.parents):
        return False
    files = [clone / name for name in tracked(clone)]
    folders = {clone, *(parent for file in files for parent in file.parents if clone in parent.parents)}
    return all(path.stat().st_mode & 0o005 == 0o005 for path in folders) and all(
        path.stat().st_mode & 0o004 for path in files
    )


def tracked(clone: Path) -> list[str]:
    """Names of the files that belong to the product: tracked ones and new ones that git does not ignore."""
    command = ("git", "-c", "safe.directory=*", "-C", str(clone), "ls-files", "-z", "--cached", "--others",
               "--exclude-standard")  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return [str(path.relative_to(clone)) for path in sorted(clone.rglob("*")) if _plain(path, clone)]
    return [name for name in sorted(set(done.stdout.split("\0"))) if name and (clone / name).is_file()]


def settle(clone: Path) -> Path:
    """The folder to run from: the clone itself, or its copy, brought up to date."""
    if os.geteuid() != 0 or readable(clone):
        return clone
    copy = SHELF / hashlib.sha256(str(clone).encode()).hexdigest()[:12]
    say(f"  Other Unix users can't read {clone}, so everything runs from a copy of it in {copy}.")
    refresh(clone, copy)
    _remember_commit(clone, copy)
    _link(clone / "var", copy / "var")
    return copy


def refresh(clone: Path, copy: Path) -> None:
    """Copy what changed, remove what is gone. The copy's own ``var`` is never touched."""
    names = tracked(clone)
    for name in names:
        source, target = clone / name, copy / name
        if not target.exists() or not filecmp.cmp(source, target, shallow=False):
            _make_folders(copy, target.parent)
            shutil.copyfile(source, target)
        target.chmod(0o755 if os.access(source, os.X_OK) and source.stat().st_mode & 0o100 else 0o644)
    wanted = {copy / name for name in names}
    for path in [path for path in copy.rglob("*") if _plain(path, copy) and path not in wanted]:
        path.unlink()


def _remember_commit(clone: Path, copy: Path) -> None:
    """Give the copy the clone's last commit, without its history: provenance of a run names it."""
    if not (clone / ".git").exists():
        return
    git = ("git", "-c", "safe.directory=*", "-C", str(copy))
    for words in (
        ("init", "--quiet"),
        ("fetch", "--quiet", "--depth=1", str(clone), "HEAD"),
        ("reset", "--quiet", "FETCH_HEAD"),
    ):
        subprocess.run((*git, *words), umask=0o022, capture_output=True, check=False)


def _make_folders(copy: Path, folder: Path) -> None:
    for path in [SHELF, copy, *reversed([p for p in folder.parents if copy in p.parents]), folder]:
        path.mkdir(exist_ok=True)
        path.chmod(0o755)


def _link(var: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    target.chmod(0o755)
    if var.is_symlink():
        var.unlink()
    if var.exists():
        raise Missing(f"{var} holds another state; move it away, or open {var.parent} to other users (chmod o+rx).")
    var.symlink_to(target)


def _plain(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return path.is_file() and parts[0] not in {"var", ".git"} and "__pycache__" not in parts
