"""The one container specification. Nothing in it comes from a request; each flag stands with its reason.

What is **not** covered: a hole in the kernel itself (the tier shares it; gVisor and virtual machines are other tiers),
hidden channels through shared caches, and a GPU's memory between two runs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluator.isolation.base import LaunchFacts
from evaluator.records.canonical import digest, digest_of_bytes
from leaderboard.identities import GUEST_UID_OFFSET, UID_BASE

PROFILES = Path(__file__).resolve().parents[2] / "sandboxes" / "profiles"
GUEST_UID = UID_BASE + GUEST_UID_OFFSET
MODEL = "/model"

LABEL_INSTALLATION, LABEL_RUN, LABEL_ATTEMPT = "heldout.installation", "heldout.run", "heldout.attempt"
IMAGE_LABEL = "heldout.inputs"
"""The one label the images bring along."""

MASKED = (
    "/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kallsyms", "/proc/kcore", "/proc/keys",
    "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats",
    "/sys/devices/virtual/powercap", "/sys/firmware",
)  # fmt: skip
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def name_of(facts: LaunchFacts, installation: str) -> str:
    """Run and attempt are in the name, so that a leftover can never take the place of another attempt."""
    return f"heldout-{installation[:12]}-{facts.run}-{facts.attempt}"


def container(facts: LaunchFacts, checkpoint: Path, installation: str) -> dict[str, Any]:
    """The body of the engine's create call.

    - ``Image``: by digest; the create call never pulls.
    - ``Entrypoint``, ``WorkingDir``: fixed here too, so that an image can't choose what runs.
    - ``User``: a uid that no identity and no other service has; never root.
    - ``Env``: exactly this list: no proxy, no credentials, no ``LD_*`` or ``PYTHON*``. Hubs and telemetry are off.
    - ``Hostname``: says the run and nothing about the machine.
    - ``OpenStdin``, ``StdinOnce``: the guest's input ends when the launcher dies, so that it ends as well.
    - ``Labels``: leftovers of this installation are found by them, and only those.
    """
    return {
        "Image": facts.image_digest,
        "Entrypoint": ["/usr/bin/python3.11", "-I", "-B", "-m", "sandboxes.model"],
        "Cmd": ["--engine", facts.engine, "--model", MODEL],
        "WorkingDir": "/tmp",  # noqa: S108  # the guest's own, and empty
        "User": f"{GUEST_UID}:{GUEST_UID}",
        "Env": environment(facts),
        "Hostname": f"run-{facts.run[:8]}-{facts.attempt}",
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "Tty": False,
        "Labels": {
            LABEL_INSTALLATION: installation,
            LABEL_RUN: facts.run,
            LABEL_ATTEMPT: str(facts.attempt),
        },
        "HostConfig": host(facts, checkpoint),
    }


def host(facts: LaunchFacts, checkpoint: Path) -> dict[str, Any]:
    """The host's side of the specification.

    - ``NetworkMode`` none: loopback is all there is; bytes cross by standard input and output alone.
    - ``ReadonlyRootfs``; ``Tmpfs``: the one writable place is small, in memory, and runs and owns nothing.
    - ``CapDrop`` ALL, ``no-new-privileges``: nothing to use and no way to gain it.
    - ``seccomp``: our own list of allowed calls. The engine's default lets vsock and io_uring through.
    - ``CgroupnsMode``, ``IpcMode`` private; ``PidMode``, ``UTSMode`` left private: no view of the host or a neighbour.
    - ``Memory`` equals ``MemorySwap``: no swap. ``OomScoreAdj``: under pressure the guest dies before any service.
    - ``PidsLimit``, ``NanoCpus``, ``ShmSize``, ``Ulimits``: exhaustion stays inside. No core dumps: they hold prompts.
    - ``LogConfig`` none: the engine would otherwise store prompts and answers on the host's disk, without a cap.
    - ``Mounts``: the checkpoint, read-only, not recursive (a mount below it would not be read-only), and nothing else.
    - ``MaskedPaths``, ``ReadonlyPaths``: named here, so that an engine's own list can't be shorter.
    - ``RestartPolicy`` no; ``AutoRemove`` off: we remove after collecting, or the last lines and the code are lost.
    - ``Runtime`` named, not left to the engine's default.
    """
    limits = facts.limits
    return {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "Tmpfs": {"/tmp": f"rw,noexec,nosuid,nodev,mode=1777,size={limits.scratch}"},  # noqa: S108  # the guest's own
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={seccomp_profile()}"],
        "CgroupnsMode": "private",
        "IpcMode": "private",
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "OomScoreAdj": 500,
        "PidsLimit": limits.pids,
        "NanoCpus": int(Decimal(limits.cpus) * 1_000_000_000),
        "ShmSize": limits.shm,
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}, {"Name": "nofile", "Soft": 4096, "Hard": 4096}],
        "LogConfig": {"Type": "none", "Config": {}},
        "Mounts": [_checkpoint_mount(checkpoint)],
        "MaskedPaths": list(MASKED),
        "ReadonlyPaths": list(READ_ONLY),
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "Runtime": "runc",
        **({"DeviceRequests": [_gpu(facts.gpu)]} if facts.gpu else {}),
    }


def environment(facts: LaunchFacts) -> list[str]:
    """Every variable the guest gets, sorted."""
    variables = {
        "DO_NOT_TRACK": "1",
        "HF_HOME": "/tmp/huggingface",  # noqa: S108  # the guest's own
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "HOME": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": str(facts.limits.threads),
        "PATH": "/usr/bin:/bin",
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_OFFLINE": "1",
        "USER": "guest",
    }
    if facts.engine == "vllm":
        variables |= {
            "VLLM_CACHE_ROOT": "/tmp/vllm",  # noqa: S108  # per run: what lies in a cache of vLLM's is executable
            "VLLM_CPU_KVCACHE_SPACE": str(max(1, facts.limits.memory // (4 << 30))),
            "VLLM_DO_NOT_TRACK": "1",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "VLLM_NO_USAGE_STATS": "1",
        }
    if facts.gpu:
        variables |= {"NVIDIA_DRIVER_CAPABILITIES": "compute", "VLLM_BATCH_INVARIANT": "1"}
    return [f"{key}={value}" for key, value in sorted(variables.items())]


def seccomp_profile() -> str:
    """The profile as the engine wants it: the JSON itself, not a path. Comments for readers are left out."""
    profile = json.loads((PROFILES / "model.json").read_text(encoding="utf-8"))
    profile.pop("comment", None)
    for rule in profile["syscalls"]:
        rule.pop("comment", None)
    return json.dumps(profile, separators=(",", ":"), sort_keys=True)


def flags(facts: LaunchFacts) -> dict[str, str | int | bool]:
    """The switches by which the container steers its engine, for the record."""
    switches = dict(variable.split("=", 1) for variable in environment(facts) if variable.startswith("VLLM_"))
    return {"threads": facts.limits.threads, **switches}


def spec_digest(facts: LaunchFacts) -> str:
    """Digest of the specification without what differs from run to run: two equal runs have one."""
    nameless = replace(facts, run="", attempt=0, fence=0)
    return digest(container(nameless, Path("/checkpoint"), ""))


def seccomp_digest() -> str:
    return digest_of_bytes(seccomp_profile().encode())


def maximum(facts: LaunchFacts) -> dict[str, str | int | bool]:
    """What the guest can't pass. Bytes, counts, seconds; cores as decimal text."""
    return {key: value for key, value in asdict(facts.limits).items() if key != "threads"}


def _checkpoint_mount(checkpoint: Path) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": str(checkpoint),
        "Target": MODEL,
        "ReadOnly": True,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }


def _gpu(uuid: str) -> dict[str, Any]:
    """One whole GPU by its UUID through the engine's CDI driver; never ``all``."""
    return {"Driver": "cdi", "DeviceIDs": [f"nvidia.com/gpu={uuid}"]}
