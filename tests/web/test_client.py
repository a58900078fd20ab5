"""The command line against a real server and its real worker, from sign-in to submission."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import Checkpoint, Run, Upload
from leaderboard.web import quarantine
from tests import cast as casting
from tests.cast import Cast
from tests.checkpoints import tiny_checkpoint
from tests.installation import STATE

Heldout = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def heldout(site: str, real_passwords: None, tmp_path: Path) -> Heldout:
    """The program, with a home of its own."""
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    password = tmp_path / "password"
    password.write_text(casting.PASSWORD + "\n")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "leaderboard.client.main", *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)

    run.login = lambda name: run("login", site, "--user", name, "--password-file", password)  # type: ignore[attr-defined]
    return run


@pytest.fixture
def signed_in(heldout: Any) -> Heldout:
    done = heldout.login("competitor")
    assert done.returncode == 0, done.stderr
    return heldout


def test_help_is_quick() -> None:
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "leaderboard.client.main", "--help"], capture_output=True, check=True)
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.3


def test_it_imports_nothing_of_the_server() -> None:
    code = (
        "import sys, leaderboard.client.commands, leaderboard.client.main;"
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('django', 'celery', 'psycopg', 'evaluator', 'requests', 'httpx')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_session_is_for_its_owner_only(signed_in: Heldout, tmp_path: Path) -> None:
    for path in (tmp_path / "config" / "heldout").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert casting.PASSWORD not in path.read_text()


def test_a_wrong_password_ends_with_three(heldout: Heldout, site: str, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("not it")
    done = heldout("login", site, "--user", "competitor", "--password-file", tmp_path / "wrong")
    assert (done.returncode, done.stdout) == (3, "")
    assert heldout("board").returncode == 3


def test_a_checkpoint_goes_from_a_folder_into_the_queue(cast: Cast, signed_in: Heldout, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny", seed=1)
    done = signed_in("upload", folder, "--base-model", "none", "--json")
    assert done.returncode == 0, done.stderr
    checkpoint = Checkpoint.objects.get(pk=json.loads(done.stdout)["checkpoint"])
    assert (checkpoint.name, checkpoint.declaration["base_model"]) == ("tiny", "none")
    stored = STATE.root / "store" / "checkpoints" / checkpoint.manifest_digest.removeprefix("sha256:")
    assert (stored / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    done = signed_in("submit", checkpoint.pk)
    assert done.returncode == 0, done.stderr
    run = Run.objects.get()
    assert str(run.pk) in done.stdout
    assert json.loads(signed_in("status", run.pk, "--json").stdout)["state"] == "queued"
    assert signed_in("cancel", run.pk).returncode == 0
    assert signed_in("status", run.pk).returncode == 1  # over, and no score


def test_the_quarantine_is_gone_after_the_check(cast: Cast, signed_in: Heldout, tmp_path: Path) -> None:
    assert signed_in("upload", tiny_checkpoint(tmp_path / "tiny", seed=2)).returncode == 0
    assert not (STATE.root / "intake" / str(Upload.objects.get().pk)).exists()


@pytest.mark.parametrize(
    ("lie", "file"),
    [
        ({"files": {"model.safetensors": b"\x80\x04\x95pickle"}}, "model.safetensors"),
        ({"files": {"config.json": b""}}, "config.json"),
        ({"files": {"tokenizer.json": None}}, "tokenizer.json"),
        ({"config": {"auto_map": {"AutoModel": "modeling.X"}}}, "config.json"),
    ],
)
def test_a_refusal_names_the_file_and_what_to_change(
    cast: Cast, signed_in: Heldout, tmp_path: Path, lie: dict[str, Any], file: str
) -> None:
    done = signed_in("upload", tiny_checkpoint(tmp_path / "tiny", **lie))
    assert done.returncode == 4
    assert "Refused." in done.stderr
    assert file in done.stderr
    upload = Upload.objects.get()
    assert (upload.state, upload.checkpoint_id) == ("refused", None)
    assert all(finding["remedy"] for finding in upload.findings)


def test_names_that_can_not_pass_are_told_before_a_byte_is_sent(cast: Cast, signed_in: Heldout, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny", seed=3, files={"pytorch_model.bin": b"x", "modeling.py": b"x"})
    done = signed_in("upload", folder)
    assert done.returncode == 4
    assert "pytorch_model.bin" in done.stderr
    assert "modeling.py" in done.stderr
    assert Upload.objects.count() == 0
    assert signed_in("upload", folder, "--leave-out").returncode == 0


def test_a_name_with_a_way_out_is_refused_by_the_server_too(cast: Cast, site: str, sign_in: Any) -> None:
    session = sign_in("competitor")
    row = session.post("/api/uploads", {"team": "aurora", "name": "x"})
    metadata = "filename Li4vLi4veA=="  # ../../x
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Metadata": metadata}
    answer = session._send("POST", row["create"], b"", headers)
    assert answer.status == 422
    assert "flat folder" in answer.body.decode()


def test_an_upload_goes_on_where_it_stopped(cast: Cast, signed_in: Heldout, sign_in: Any, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "tiny", seed=4)
    session = sign_in("competitor")
    row = session.post("/api/uploads", {"team": "aurora", "name": "stopped"})
    part = (folder / "model.safetensors").read_bytes()
    from leaderboard.client import uploading

    location = uploading.create(session, row["create"], "model.safetensors", len(part))
    uploading._send_part(session, location, 0, part[: len(part) // 2])
    done = signed_in("upload", folder, "--resume", row["id"], "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "admitted"


def test_another_team_s_run_is_not_there(cast: Cast, signed_in: Heldout) -> None:
    run = cast.queued(cast.borealis)
    assert signed_in("status", run.pk).returncode == 5
    assert signed_in("cancel", run.pk).returncode == 5
    assert signed_in("status", "../../admin").returncode == 5


def test_the_board_is_readable_in_a_pipe(cast: Cast, signed_in: Heldout) -> None:
    cast.scored("0.734", name="shown")
    text = signed_in("board").stdout
    assert "73.4 %" in text
    assert "\x1b" not in text
    assert json.loads(signed_in("board", "--json").stdout)["rows"][0]["score"] == "0.734000"


def test_a_server_that_is_away_ends_with_six(heldout: Heldout, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("x")
    assert heldout("login", "http://127.0.0.1:9", "--user", "x", "--password-file", tmp_path / "p").returncode == 6


def test_forged_hints_change_nothing(cast: Cast, site: str) -> None:
    from leaderboard.web import tasks

    for untrusted in ("", "x", "../../etc", None, 7, ["a"], "0" * 36):
        tasks.look(untrusted)  # type: ignore[arg-type]
    assert quarantine.NAME.fullmatch("model-00001-of-00002.safetensors")
