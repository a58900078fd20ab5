"""What the child gives up before it reads a stranger's byte: memory, time, files, network. Linux only.

- address space, CPU time, file size and descriptors: resource limits, enforced by the kernel everywhere;
- opening any file but those of the upload: Landlock, from Linux 5.13;
- network: a network namespace of its own with nothing in it, or Landlock's TCP rules from Linux 6.7.

The last two depend on the kernel and on what it allows an ordinary user. What was had is reported, not assumed.
Not covered: the child keeps its user id, so signals to the same user's processes are possible on old kernels.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
from collections.abc import Iterable

OUT_OF_MEMORY = 3
"""The child's exit code where it noticed by itself that the memory is used up."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULESET_VERSION, _PATH_BENEATH, _READ_FILE = 1, 1, 4


def die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def bound(*, cpu_s: int, memory_bytes: int, written_bytes: int, descriptors: int) -> None:
    """Hard limits for the whole process; ``stage`` sets tighter ones."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written_bytes, written_bytes))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


def stage(*, cpu_s: int, memory_bytes: int) -> None:
    """From now on ``cpu_s`` more seconds and ``memory_bytes`` in all. At the end of the seconds the kernel kills."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + cpu_s
    for kind, wanted in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory_bytes)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (min(wanted, hard), hard))


def close_network() -> bool:
    """True where this process has no network any more."""
    return any(_LIBC.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def close_files(still_readable: Iterable[int]) -> bool:
    """True where only these open files can be opened again (and, on newer kernels, no TCP connection made)."""
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version = _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _RULESET_VERSION)
    if version < 1:
        return False
    files = {1: 2**13 - 1, 2: 2**14 - 1}.get(version, 2**15 - 1)
    attributes = struct.pack("<QQ", files, 3) if version >= 4 else struct.pack("<Q", files)
    ruleset = _LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return False
    try:
        for fd in still_readable:
            rule = struct.pack("<Qi", _READ_FILE, fd)
            _LIBC.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        return bool(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


class Peak:
    """The process's own peak memory in KiB. Opened before files are closed, read after."""

    def __init__(self) -> None:
        self._fd = -1
        with contextlib.suppress(OSError):
            self._fd = os.open("/proc/self/status", os.O_RDONLY)

    def kib(self) -> int:
        if self._fd < 0:
            return 0
        for line in os.pread(self._fd, 8192, 0).splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1])
        return 0
