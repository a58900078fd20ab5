"""The child: bounded, confined, and its death is a refusal that names the file."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import Finding
from evaluator.intake import Limits, folder, judge, verdict
from evaluator.intake.limits import MIB
from evaluator.intake.report import OpenFile
from evaluator.intake.verdict import Verdict
from fixtures.hostile import ALL
from fixtures.hostile.lie import Lie
from tests.intake.conftest import QUICK


def _judged(path: Path, limits: Limits = QUICK) -> Verdict:
    with folder.opened(path, limits) as listing:
        return judge.judge(listing.files, limits, needs_chat_template=False)


@pytest.mark.parametrize("lie", [lie for lie in ALL if lie.row == "B5"], ids=lambda lie: lie.name)
def test_a_bomb_of_a_configuration_costs_nothing(lie: Lie, good: Path) -> None:
    _judged(good)  # reads the code into the page cache, so that the clock sees the check alone
    lie.tell(good)
    began = time.monotonic()

    judged = _judged(good)

    assert judged.findings
    assert time.monotonic() - began < 1 or _cpu_of_a_child(good) < 1
    assert judged.peak_kib < 256 * 1024


def _cpu_of_a_child(path: Path) -> float:
    """On a machine that is busy with other work the clock says little; the CPU time still does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _judged(path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("lie", [lie for lie in ALL if lie.row == "B6"], ids=lambda lie: lie.name)
def test_a_bomb_of_a_header_is_bounded(lie: Lie, good: Path) -> None:
    lie.tell(good)
    began = time.monotonic()

    judged = _judged(good)

    assert judged.findings
    assert time.monotonic() - began < 5 or _cpu_of_a_child(good) < 5
    assert judged.peak_kib < 512 * 1024


_DEATHS = {
    "import os; os.abort()": "check-crashed",
    "import sys; sys.exit(1)": "check-crashed",
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "check-crashed",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "check-memory",
    "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)": "check-timeout",
    "import sys; sys.exit(3)": "check-memory",
    "import time; time.sleep(60)": "check-timeout",
    "print('not JSON')": "check-crashed",
    "print('{}')": "check-crashed",
    "print('[' * 10**6)": "check-crashed",
    "print('x' * 10**8)": "check-crashed",
    'print(\'{"findings": [], "notes": [], "parsed": {}, "facts": null, "confined": {}, "peak_kib": 0}\')': (
        "check-crashed"
    ),
}
_NOTES_FILE = (
    "import json, sys, os; request = json.load(sys.stdin);"
    "os.pwrite(request['progress'], json.dumps({'file': 'tokenizer.json', 'step': 'x', 'findings': []}).encode(), 0);"
)


@pytest.mark.parametrize("program", _DEATHS, ids=lambda program: program[:50].replace("/", " "))
def test_each_death_is_a_refusal_that_names_the_file(good: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(judge, "_COMMAND", (sys.executable, "-c", _NOTES_FILE + program))

    judged = _judged(good, Limits(wall_s=5.0))

    assert [(finding.code, finding.where) for finding in judged.findings] == [(_DEATHS[program], "tokenizer.json")]
    assert judged.facts is None


@pytest.mark.parametrize("note", ["", "no JSON", '{"file": "/etc/passwd"}', '{"file": 1}', "[]"])
def test_what_it_was_doing_is_not_believed_unchecked(good: Path, monkeypatch: pytest.MonkeyPatch, note: str) -> None:
    program = f"import json, sys, os; os.pwrite(json.load(sys.stdin)['progress'], {note!r}.encode(), 0); os.abort()"
    monkeypatch.setattr(judge, "_COMMAND", (sys.executable, "-c", program))

    (finding,) = _judged(good).findings

    assert (finding.code, finding.where) == ("check-crashed", "the folder")


def test_findings_before_the_death_are_told_too(good: Path) -> None:
    (good / "config.json").write_text("{}", encoding="utf-8")
    (good / "chat_template.jinja").write_text("{{ 'x' * 10**10 }}", encoding="utf-8")

    found = {finding.code: finding.where for finding in _judged(good).findings}

    assert found == {"architecture": "config.json", "check-memory": "chat_template.jinja"}


def test_the_parent_loads_no_library_that_parses_uploads() -> None:
    program = "import sys, evaluator.intake; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not {"tokenizers", "safetensors", "jinja2", "numpy", "django", "torch"} & set(done.stdout.split())


def test_it_sees_no_environment_and_no_other_descriptor(
    good: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    out = tmp_path / "seen.json"
    program = (
        "import os, json, sys; request = json.load(sys.stdin); fds = set(map(int, os.listdir('/proc/self/fd')));"
        "known = {0, 1, 2, request['progress'], *(f['fd'] for f in request['files'])};"
        f"open({str(out)!r}, 'w').write(json.dumps([dict(os.environ), sorted(fds - known)]))"
    )
    monkeypatch.setattr(judge, "_COMMAND", (sys.executable, "-E", "-s", "-c", program))
    with (tmp_path / "open").open("w") as held:
        _judged(good)
        environment, others = json.loads(out.read_text(encoding="utf-8"))
        assert held.fileno() not in others

    assert "SECRET" not in environment
    assert len(others) <= 1  # the listing's own


def _confined(program: str) -> subprocess.CompletedProcess[str]:
    prepared = "from evaluator.intake import confine; import socket, os, subprocess, sys; "
    return subprocess.run([sys.executable, "-c", prepared + program], capture_output=True, text=True, check=False)


def test_no_file_can_be_opened_by_name() -> None:
    done = _confined("print(confine.close_files([])); open('/etc/passwd')")

    assert done.stdout == "True\n"
    assert "PermissionError" in done.stderr


def test_no_file_can_be_made(tmp_path: Path) -> None:
    done = _confined(f"confine.close_files([]); os.mkdir({str(tmp_path / 'made')!r})")

    assert "PermissionError" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_program_can_be_started() -> None:
    done = _confined("confine.close_files([]); os.execv('/bin/true', ['true'])")

    assert "PermissionError" in done.stderr


def test_the_upload_stays_readable(good: Path) -> None:
    done = _confined(
        f"fd = os.open({str(good / 'config.json')!r}, os.O_RDONLY); confine.close_files([fd]);"
        "print(len(open(f'/proc/self/fd/{fd}').read()))"
    )

    assert int(done.stdout) == (good / "config.json").stat().st_size


def test_no_connection_can_be_made() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = _confined(f"print(confine.close_network()); socket.create_connection(('127.0.0.1', {port}), timeout=5)")

    assert done.stdout == "True\n"
    assert "OSError" in done.stderr or "Error" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("bytearray(10**9)", "MemoryError"),
        ("open('/dev/null'); [os.dup(0) for _ in range(100)]", "Too many open files"),
        ("os.write(os.memfd_create('x'), bytes(10**7)); os.pwrite(os.memfd_create('y'), b'x', 10**7)", "too large"),
    ],
)
def test_limits_hold(program: str, says: str) -> None:
    bounds = f"cpu_s=5, memory_bytes={512 * MIB}, written_bytes={MIB}, descriptors=64"

    assert says in _confined(f"confine.bound({bounds}); {program}").stderr


def test_time_is_up_when_the_cpu_seconds_are() -> None:
    began = time.monotonic()
    bounds = f"cpu_s=60, memory_bytes={512 * MIB}, written_bytes={MIB}, descriptors=64"
    stage = f"confine.stage(cpu_s=1, memory_bytes={512 * MIB})"

    done = _confined(f"confine.bound({bounds}); {stage}\nwhile True: pass")

    assert done.returncode == -24  # SIGXCPU
    assert time.monotonic() - began < 30


def test_what_was_had_of_confinement_is_a_fact(good: Path) -> None:
    facts = _judged(good).facts

    assert facts is not None
    assert facts["confinement"] == {"network": True, "files": True}


def _answer(good: Path, monkeypatch: pytest.MonkeyPatch, **lies: Any) -> Verdict:
    """The verdict where the child gives an honest answer with some lies in its facts."""
    honest = judge._run

    def run(files: dict[str, OpenFile], limits: Limits, needs: bool) -> judge.Ending:
        ending = honest(files, limits, needs)
        answer = json.loads(ending.answer)
        answer["facts"].update(lies)
        return judge.Ending(ending.code, json.dumps(answer).encode(), ending.progress, "")

    monkeypatch.setattr(judge, "_run", run)
    return _judged(good)


@pytest.mark.parametrize(
    "lie",
    [
        {"architecture": "<script>"},
        {"parameters": -1},
        {"parameters": "many"},
        {"dtype": "float8"},
        {"context": 0},
        {"bos": 320},
        {"eos": [-1]},
        {"eos": "258"},
        {"template": "sha256:xyz"},
        {"control": {"text_sha256": "0" * 63, "ids_sha256": "0" * 64, "ids": 1}},
        {"control": None},
    ],
    ids=str,
)
def test_facts_are_not_believed_unchecked(good: Path, monkeypatch: pytest.MonkeyPatch, lie: dict[str, Any]) -> None:
    judged = _answer(good, monkeypatch, **lie)

    assert [finding.code for finding in judged.findings] == ["check-crashed"]


def test_facts_that_nobody_asked_for_are_dropped(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = _answer(good, monkeypatch, evil="<script>").facts

    assert facts is not None
    assert "evil" not in facts


def test_what_it_says_is_made_printable() -> None:
    finding = {"code": "x", "where": "a\x1b[2Jb", "problem": "c\u202ed\n", "remedy": "é 東"}
    answer: dict[str, Any] = {"findings": [finding], "notes": [], "parsed": {}, "facts": None, "peak_kib": 0}
    confined = {"network": True, "files": True}

    (told,) = verdict.read(json.dumps({**answer, "confined": confined}).encode(), set(), QUICK).findings

    assert told == Finding("x", "a\ufffd[2Jb", "c\ufffdd\ufffd", "é 東")


@pytest.mark.parametrize("code", ["", "Upper", "with space", "x" * 50, "<b>"])
def test_a_code_is_a_code(code: str) -> None:
    note = {"file": "config.json", "findings": [{"code": code, "where": "", "problem": "", "remedy": ""}]}

    assert verdict.read_progress(json.dumps(note).encode(), {"config.json"}, QUICK) == ("the folder", ())


def test_more_findings_than_agreed_are_no_answer() -> None:
    finding = {"code": "x", "where": "", "problem": "", "remedy": ""}
    note = {"file": "config.json", "findings": [finding] * 51}

    assert verdict.read_progress(json.dumps(note).encode(), {"config.json"}, QUICK) == ("the folder", ())
