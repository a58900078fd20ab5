"""A hostile guest in the real container: what it can't do, and how each of its ends is told."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from evaluator.errors import Fault, IntegrityError
from evaluator.isolation import spec
from evaluator.isolation.client import GuestStream
from evaluator.isolation.docker_tier import DockerTier
from evaluator.isolation.engine_api import EngineApi
from tests.isolation.launching import MIB, launching, wait_for

pytestmark = pytest.mark.engine

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
HOG = "x = []\nwhile True: x.append(bytearray(16 << 20))"


def drained(guest: GuestStream) -> int:
    total = 0
    while data := guest.receive(60):
        total += len(data)
    return total


def containers(name: str) -> str:
    return subprocess.check_output(["docker", "ps", "--all", "--quiet", f"--filter=name={name}"], text=True)


def test_it_tells_the_exit_code_and_the_last_words(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench, bench.running("print('hello'); 1 / 0") as guest:
        assert guest.receive(30) == b"hello\n"
        ended = guest.exit()
        assert (ended.ended, ended.code, ended.oom, ended.unchanged) == ("exit", 1, False, True)
        assert "ZeroDivisionError" in ended.stderr_tail


def test_nothing_is_left_after_the_end(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        with bench.running("pass") as guest:
            guest.exit()
        assert containers(bench.facts.run) == ""


NETWORK = """
import socket, os, errno
print(sorted(os.listdir('/sys/class/net')))
for family, address in ((socket.AF_INET, ('1.1.1.1', 53)), (socket.AF_INET6, ('2606:4700:4700::1111', 53))):
    try: socket.socket(family, socket.SOCK_STREAM).connect(address); print('open')
    except OSError as error: print(errno.errorcode[error.errno])
try: socket.getaddrinfo('example.org', 443); print('resolved')
except OSError: print('no names')
"""


def test_there_is_no_network(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        said = bench.output(NETWORK).splitlines()
    assert said[0] == "['lo']"
    assert set(said[1:]) <= {"ENETUNREACH", "EADDRNOTAVAIL", "no names"}


SELF = """
import os, json
status = dict(line.rstrip().split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)
keys = ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp', 'Uid')
print(json.dumps({'env': dict(os.environ), **{key: status[key].strip() for key in keys}, 'host': os.uname().nodename}))
"""


def test_it_has_no_rights_and_only_its_own_variables(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        found = json.loads(bench.output(SELF))
        wanted = dict(each.split("=", 1) for each in spec.environment(bench.facts))
    variables = {key: value for key, value in found["env"].items() if key != "HOSTNAME"}
    assert variables == wanted
    assert {found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (found["NoNewPrivs"], found["Seccomp"], found["Uid"].split("\t")[0]) == ("1", "2", str(spec.GUEST_UID))
    assert found["host"] == f"run-{bench.facts.run[:8]}-1"


WRITES = """
import os, errno
for path in ('/x', '/model/x', '/usr/x', '/opt/x', '/dev/x', '/proc/sys/kernel/core_pattern', '/sys/x', '/tmp/x'):
    try: open(path, 'w').write('x'); print(path, 'written')
    except OSError as error: print(path, errno.errorcode[error.errno])
os.chmod('/tmp/x', 0o755)
open('/tmp/x', 'w').write('#!/usr/bin/python3.11')
try: os.execv('/tmp/x', ['/tmp/x'])
except OSError as error: print('exec', errno.errorcode[error.errno])
"""


def test_only_its_temporary_folder_is_writable_and_runs_nothing(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        said = dict(line.split() for line in bench.output(WRITES).splitlines())
    assert [path for path, result in said.items() if result == "written"] == ["/tmp/x"]
    assert said["exec"] == "EACCES"


CALLS = """
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(name, *arguments):
    ctypes.set_errno(0)
    done = libc.syscall(*[ctypes.c_long(each) for each in arguments])
    print(name, 'done' if done >= 0 else errno.errorcode[ctypes.get_errno()])
for name, number in (('ptrace', 101), ('unshare', 272), ('mount', 165), ('setns', 308), ('keyctl', 250), ('bpf', 321),
                     ('userfaultfd', 323), ('perf_event_open', 298), ('memfd_create', 319), ('io_uring_setup', 425),
                     ('process_vm_readv', 310), ('open_by_handle_at', 304), ('chroot', 161), ('add_key', 248)):
    call(name, number, 0, 0, 0, 0, 0)
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    call('clone', 56, flag | 17, 0, 0, 0, 0)
call('clone3', 435, 0, 0)
call('personality', 135, 0x0040000)
for family, protocol in ((16, 12), (16, 16), (17, 0), (38, 0), (40, 0), (31, 0), (44, 0)):
    call(f'socket-{family}-{protocol}', 41, family, 3, protocol)
"""


def test_the_kernel_refuses_what_no_model_needs(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        said = [line.split() for line in bench.output(CALLS).splitlines()]
    assert len(said) == 30
    assert {result for _, result in said} == {"EPERM", "ENOSYS"}
    assert [result for name, result in said if name in {"clone3", "io_uring_setup"}] == ["ENOSYS", "ENOSYS"]


COMPATIBILITY = """
import ctypes, mmap
code = bytes.fromhex('b814000000cd80c3')  # mov eax, 20 (getpid); int 0x80; ret
pages = mmap.mmap(-1, 4096, prot=7)
pages.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
print('before', flush=True)
print(ctypes.CFUNCTYPE(ctypes.c_long)(address)(), flush=True)
"""


def test_a_32_bit_call_ends_the_guest(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench, bench.running(COMPATIBILITY) as guest:
        assert guest.receive(30) == b"before\n"
        assert guest.receive(30) == b""
        assert guest.exit().code not in {0, 1}


def test_memory_beyond_the_limit_is_told_as_such(hostile_image: str) -> None:
    with launching(image_digest=hostile_image, memory=64 * MIB) as bench, bench.running(HOG) as guest:
        ended = guest.exit(60)
        assert (ended.oom, ended.code) == (True, 137)


def test_memory_is_told_even_when_only_a_child_was_killed(hostile_image: str) -> None:
    code = f"import os, time\npid = os.fork()\nif pid == 0:\n exec({HOG!r})\nos.waitpid(pid, 0)\ntime.sleep(1)"
    with launching(image_digest=hostile_image, memory=64 * MIB) as bench, bench.running(code) as guest:
        ended = guest.exit(60)
        assert (ended.oom, ended.code) == (True, 0)
        assert "cgroup" in ended.evidence or "events" in ended.evidence


FORKS = """
import os, time
try:
    while os.fork(): pass
    time.sleep(20)
except OSError as error: print(error.errno)
"""


def test_processes_are_limited(hostile_image: str) -> None:
    with launching(image_digest=hostile_image, pids=20) as bench, bench.running(FORKS) as guest:
        assert guest.receive(30) == b"11\n"


def test_a_kill_ends_it_within_ten_seconds(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench, bench.running(SLEEP) as guest:
        assert guest.receive(30) == b"up\n"
        began = time.monotonic()
        guest.kill()
        assert guest.exit().ended == "kill"
        assert time.monotonic() - began < 10
        assert containers(bench.facts.run) == ""


STUBBORN = """
import os, signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
for _ in range(5):
    if os.fork() == 0: break
print('up', flush=True)
while True: os.write(2, b'x' * 65536)
"""


def test_a_hang_up_of_the_runner_ends_it_within_ten_seconds(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        with bench.running(STUBBORN) as guest:
            guest.receive(30)
            assert containers(bench.facts.run) != ""
        wait_for(lambda: containers(bench.facts.run) == "", 10)


def test_the_wall_clock_ends_it(hostile_image: str) -> None:
    with launching(image_digest=hostile_image, wall=1) as bench, bench.running(SLEEP) as guest:
        ended = guest.exit(20)
        assert ended.ended == "deadline"
        assert ended.wall_ms < 8000


def test_a_flood_of_output_is_cut(hostile_image: str) -> None:
    flood = "import os\nwhile True: os.write(1, b'x' * 65536)"
    with launching(image_digest=hostile_image, output_bytes=2 * MIB) as bench, bench.running(flood) as guest:
        assert drained(guest) <= 2 * MIB
        assert guest.exit().ended == "output"


def test_a_flood_of_errors_keeps_its_end_alone(hostile_image: str) -> None:
    flood = "import os\nfor _ in range(200): os.write(2, b'x' * 65536)\nos.write(2, b'the end')"
    with launching(image_digest=hostile_image) as bench, bench.running(flood) as guest:
        ended = guest.exit(60)
        assert ended.stderr_tail.endswith("the end")
        assert len(ended.stderr_tail) <= bench.facts.limits.stderr_kept < ended.stderr_bytes


def test_a_slow_runner_slows_the_guest_and_loses_nothing(hostile_image: str) -> None:
    flood = "import os\nfor _ in range(256): os.write(1, b'x' * 65536)"
    with launching(image_digest=hostile_image) as bench, bench.running(flood) as guest:
        time.sleep(1)
        assert drained(guest) == 256 * 65536


def test_input_has_a_cap(hostile_image: str) -> None:
    with launching(image_digest=hostile_image, input_bytes=MIB) as bench, bench.running(SLEEP) as guest:
        guest.send(b"x" * (MIB + 1))
        guest.receive(30)
        assert guest.exit().ended == "input"


def test_a_large_input_arrives_whole(hostile_image: str) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"
    with launching(image_digest=hostile_image) as bench, bench.running(code) as guest:
        guest.send(b"x" * (5 * MIB))
        guest.close_input()
        assert guest.receive(30) == b"%d\n" % (5 * MIB)


class Obliging(EngineApi):
    """An engine that adds a capability of its own accord."""

    def create(self, name: str, body: Mapping[str, Any]) -> str:
        return super().create(name, {**body, "HostConfig": {**body["HostConfig"], "CapAdd": ["SYS_PTRACE"]}})


def test_a_container_that_differs_is_never_started(hostile_image: str) -> None:
    with launching(DockerTier("differs", Obliging()), image_digest=hostile_image) as bench:
        with pytest.raises(Fault, match="CapAdd") as caught:
            bench.started()
        assert (caught.value.code, caught.value.retry) == ("effective", False)
        assert containers(bench.facts.run) == ""


def test_a_changed_checkpoint_is_never_started(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        (file,) = next(bench.root.iterdir()).iterdir()
        file.chmod(0o644)
        file.write_bytes(b"[]")
        with pytest.raises(IntegrityError, match=r"config\.json"):
            bench.started()


def test_a_checkpoint_touched_during_the_run_is_noticed(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench, bench.running(SLEEP) as guest:
        guest.receive(30)
        (file,) = next(bench.root.iterdir()).iterdir()
        data = file.read_bytes()
        file.chmod(0o644)
        file.write_bytes(data)
        guest.kill()
        assert not guest.exit().unchanged


def test_leftovers_of_this_installation_alone_are_removed(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as ours, launching(image_digest=hostile_image) as theirs:
        folder = next(ours.root.iterdir())
        left = [bench.tier.prepare(bench.facts, folder).name for bench in (ours, theirs)]
        assert ours.tier.reap() == left[:1]
        assert containers(left[1]) != ""
        theirs.tier.reap()


def test_a_leftover_of_a_crash_does_not_block_the_same_attempt(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        bench.tier.prepare(bench.facts, next(bench.root.iterdir()))
        assert bench.output("print('up')") == "up\n"


def test_the_end_of_the_launcher_ends_the_guest(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        guest = bench.tier.prepare(bench.facts, next(bench.root.iterdir()))
        guest.start()
        guest._hang_up()  # type: ignore[attr-defined]  # what the kernel does when the launcher dies
        running = ["docker", "ps", "--quiet", f"--filter=name={guest.name}"]
        wait_for(lambda: subprocess.check_output(running) == b"", 10)
        guest.remove()


def test_two_guests_run_at_once(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench:
        first = bench.facts
        with bench.running(SLEEP) as one:
            one.receive(30)
            bench.facts = replace(first, run="00000000-0000-4000-8000-000000000000")
            assert bench.output("print('second')") == "second\n"


def test_requests_do_not_wait_for_a_stuck_peer(hostile_image: str) -> None:
    with launching(image_digest=hostile_image) as bench, socket.socket(socket.AF_UNIX) as stuck:
        stuck.connect(str(bench.address))
        assert bench.output("print('served')") == "served\n"
