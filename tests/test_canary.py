"""The canary search finds what is planted, in each spelling and place, and nothing where nothing is."""

from __future__ import annotations

import base64
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import canary

WORD = canary.make()
OTHER = canary.make()


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd"])
@pytest.mark.parametrize(
    "spell",
    [str.encode, lambda text: text.encode("utf-16-le"), lambda text: text.encode().hex().upper().encode(),
     lambda text: base64.b64encode(text.encode()), lambda text: base64.urlsafe_b64encode(text.encode())],
)  # fmt: skip
def test_each_spelling_is_found_wherever_it_begins(spell: Callable[[str], bytes], before: str) -> None:
    data = spell(f"{before}{WORD} and more")
    assert canary.in_bytes(WORD, data)
    assert not canary.in_bytes(OTHER, data)


def test_files_and_their_names_are_searched(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "log").write_bytes(b"x" * 100 + WORD.encode())
    (tmp_path / f"{WORD}.txt").write_bytes(b"")
    (tmp_path / "clean").write_bytes(b"nothing")
    places = {found.place for found in canary.in_files(WORD, [tmp_path])}
    assert places == {str(tmp_path / "deep" / "er" / "log"), f"name of {tmp_path / f'{WORD}.txt'}"}
    assert canary.in_files(OTHER, [tmp_path]) == []


def test_a_word_across_two_chunks_is_found(tmp_path: Path) -> None:
    for shift in (1, len(WORD) // 2, len(WORD) - 1):
        (tmp_path / "file").write_bytes(b"x" * (canary.CHUNK - shift) + WORD.encode())
        assert canary.in_files(WORD, [tmp_path / "file"])


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(WORD.encode() * 3))
    assert [found.place for found in canary.in_files(WORD, [tmp_path])] == [f"{tmp_path / 'log.gz'} unpacked"]
    (tmp_path / "log.gz").write_bytes(b"\x1f\x8bbroken")
    assert canary.in_files(WORD, [tmp_path]) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text(WORD)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "target")
    assert canary.in_files(WORD, [tmp_path / "folder"]) == []


def test_the_output_of_a_command_is_searched_and_its_failure_is_no_clean_bill() -> None:
    assert canary.in_output(WORD, [sys.executable, "-c", f"print('{WORD}')"])
    assert canary.in_output(OTHER, [sys.executable, "-c", "print('clean')"]) == []
    with pytest.raises(AssertionError, match="nothing can be said"):
        canary.in_output(OTHER, [sys.executable, "-c", "raise SystemExit(1)"])


@pytest.mark.parametrize("place", ["cmdline", "environ"])
def test_arguments_and_environments_of_processes_are_searched(place: str) -> None:
    word = canary.make()
    arguments, env = ([word], {}) if place == "cmdline" else ([], {"SECRET": word})
    with subprocess.Popen([sys.executable, "-c", "input()", *arguments], env=env, stdin=subprocess.PIPE) as child:
        try:
            assert [found.place for found in canary.in_processes(word)] == [f"/proc/{child.pid}/{place}"]
        finally:
            child.kill()
    assert canary.in_processes(word) == []
