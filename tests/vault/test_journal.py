"""A killed worker goes on with what was answered."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from evaluator.errors import IntegrityError, Stale
from evaluator.vault.journal import Journal
from evaluator.vault.keyring import NoKey
from tests.keyrings import Keys
from tests.vault.records import output_record

RUN = uuid.UUID("8c4e3f2a-0000-4000-8000-000000000001")
SPEC, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64


def output(index: int) -> dict[str, object]:
    return output_record(index, f"CANARY {index}")


@pytest.fixture
def written(keys: Keys, tmp_path: Path) -> Journal:
    journal = Journal(tmp_path, RUN, SPEC, keys.ring("runner"))
    journal.append([output(5), output(3)])
    journal.append([output(1)])
    return journal


def indexes(journal: Journal) -> list[int]:
    return [record["index"] for record in journal.read()]


def test_another_worker_reads_what_the_first_one_kept(written: Journal, keys: Keys, tmp_path: Path) -> None:
    again = Journal(tmp_path, RUN, SPEC, keys.ring("runner"))
    assert indexes(again) == [3, 5, 1]
    assert again.append([output(7)]) == 3
    assert indexes(written) == [3, 5, 1, 7]


def test_a_new_journal_is_empty(keys: Keys, tmp_path: Path) -> None:
    assert Journal(tmp_path, RUN, SPEC, keys.ring("runner")).read() == []


def test_nobody_else_can_read_it(written: Journal, keys: Keys, tmp_path: Path) -> None:
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert not any(b"CANARY" in path.read_bytes() for path in files)
    for stranger in ("grader", "auditor", "web"):
        with pytest.raises(NoKey):
            Journal(tmp_path, RUN, SPEC, keys.ring(stranger)).read()
    assert len(list(written.folder.glob("*.age"))) == 2


@pytest.mark.parametrize("keep", [0, 40, -1])
def test_a_torn_last_chunk_is_set_aside_and_written_anew(written: Journal, keep: int) -> None:
    last = written.folder / "00000002.age"
    torn = last.read_bytes()[:keep]
    last.unlink()
    last.write_bytes(torn)
    assert indexes(written) == [3, 5]
    assert written.append([output(1)]) == 2
    assert indexes(written) == [3, 5, 1]


def test_a_torn_chunk_in_the_middle_is_an_incident(written: Journal) -> None:
    first = written.folder / "00000001.age"
    torn = first.read_bytes()[:-1]
    first.unlink()
    first.write_bytes(torn)
    with pytest.raises(IntegrityError):
        written.read()


def test_a_missing_chunk_is_an_incident(written: Journal) -> None:
    (written.folder / "00000001.age").unlink()
    with pytest.raises(IntegrityError, match="missing"):
        written.read()


def test_swapped_chunks_are_an_incident(written: Journal) -> None:
    one, two = written.folder / "00000001.age", written.folder / "00000002.age"
    one.rename(written.folder / "aside")
    two.rename(one)
    (written.folder / "aside").rename(two)
    with pytest.raises(IntegrityError, match="belongs elsewhere"):
        written.read()


def test_a_last_chunk_from_another_run_is_an_incident(written: Journal, keys: Keys, tmp_path: Path) -> None:
    other = Journal(tmp_path, uuid.UUID(int=1), SPEC, keys.ring("runner"))
    for number in range(3):
        other.append([output(number)])
    (other.folder / "00000003.age").rename(written.folder / "00000003.age")
    with pytest.raises(IntegrityError, match="belongs elsewhere"):
        written.read()


def test_another_runspec_starts_anew(written: Journal, keys: Keys, tmp_path: Path) -> None:
    assert Journal(tmp_path, RUN, OTHER, keys.ring("runner")).read() == []
    assert indexes(written) == [3, 5, 1]


def test_the_late_one_of_two_workers_is_stopped(written: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = list(written._chunks())[:1]
    monkeypatch.setattr(written, "_chunks", lambda: stale)
    with pytest.raises(Stale):
        written.append([output(9)])
    monkeypatch.undo()
    assert indexes(written) == [3, 5, 1]
    assert not list(written.folder.glob("*.part"))


def test_discarding_leaves_nothing_and_may_be_repeated(written: Journal, tmp_path: Path) -> None:
    written.discard()
    written.discard()
    assert list(tmp_path.iterdir()) == []
