"""The grader's digest is the same wherever the same source lies, and another as soon as anything in it differs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evaluator.checkers import identity
from evaluator.errors import Fault

PACKAGE = Path(identity.__file__).resolve().parents[1]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    target = tmp_path / "somewhere" / "else"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__", "curator", "runner", "intake"))
    return target


def test_a_copy_in_another_folder_has_the_same_digest(copy: Path) -> None:
    assert identity.digest_of_grader(copy) == identity.grader_digest()


def test_windows_line_ends_and_compiled_files_change_nothing(copy: Path) -> None:
    file = copy / "checkers" / "exact.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    (copy / "checkers" / "exact.cpython-311.pyc").write_bytes(b"x")
    assert identity.digest_of_grader(copy) == identity.grader_digest()


@pytest.mark.parametrize("name", ["checkers/exact.py", "checkers/numerals.py", "estimates.py", "records/packs.py"])
def test_a_changed_line_in_any_part_changes_it(copy: Path, name: str) -> None:
    (copy / name).write_bytes((copy / name).read_bytes() + b"# \n")
    assert identity.digest_of_grader(copy) != identity.grader_digest()


def test_a_new_and_a_renamed_file_change_it(copy: Path) -> None:
    (copy / "checkers" / "exact.py").rename(copy / "checkers" / "exactly.py")
    assert identity.digest_of_grader(copy) != identity.grader_digest()


def test_code_that_does_not_grade_is_no_part_of_it(copy: Path) -> None:
    (copy / "blobs.py").write_text("")
    assert identity.digest_of_grader(copy) == identity.grader_digest()


def test_another_version_and_another_unicode_are_another_grader(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "VERSION", "other")
    by_version = identity.digest_of_grader(copy)
    monkeypatch.setattr(identity.unicodedata, "unidata_version", "1.0")
    assert len({identity.grader_digest(), by_version, identity.digest_of_grader(copy)}) == 3


def test_a_grader_without_its_source_refuses_to_name_itself(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="source"):
        identity.digest_of_grader(tmp_path)


def test_grades_can_be_made_again_from_what_is_stored() -> None:
    assert identity.REPLAY == "stateless"
