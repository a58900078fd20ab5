"""New keys: in pairs, through a pipe, never twice the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pyrage import x25519

from evaluator.vault import keys


def made(kind: str) -> dict[str, str]:
    done = subprocess.run([sys.executable, "-m", "evaluator.vault.keys", kind], capture_output=True, check=True)
    pair: dict[str, str] = json.loads(done.stdout)
    return pair


@pytest.mark.parametrize("kind", ["age", "ed25519"])
def test_each_key_is_new(kind: str) -> None:
    assert made(kind)["private"] != made(kind)["private"]


def test_the_halves_belong_together() -> None:
    pair = keys.new_vault_key()
    assert f"{x25519.Identity.from_str(pair.private.strip()).to_public()}\n" == pair.public


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert keys.main(["rsa"]) == 2
    assert "age or ed25519" in capsys.readouterr().err


def test_a_terminal_gets_no_private_key(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert keys.main(["age"]) == 2
    assert "AGE-SECRET" not in capsys.readouterr().out
