"""The content-addressed store: names from digests, whole files, verified reads, no links."""

from __future__ import annotations

import io
import os
import resource
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evaluator import blobs
from evaluator.errors import IntegrityError, Misuse
from evaluator.records.canonical import digest_of_bytes

ABSENT = digest_of_bytes(b"never stored")


@pytest.fixture
def store(tmp_path: Path) -> blobs.Blobs:
    return blobs.packs(tmp_path / "store")


def overwrite(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def test_it_returns_what_was_stored_under_its_digest(store: blobs.Blobs) -> None:
    digest = store.put(b"sealed")
    assert digest == digest_of_bytes(b"sealed")
    assert store.get(digest) == b"sealed"
    assert b"".join(store.chunks(digest)) == b"sealed"


def test_it_lays_files_out_as_agreed(store: blobs.Blobs) -> None:
    name = store.put(b"sealed").removeprefix("sha256:")
    path = store.folder / name[:2] / f"{name}.age"
    assert store.path(f"sha256:{name}") == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o1777
    assert blobs.practice(Path("x")).path(f"sha256:{name}") == Path("x/practice") / name[:2] / f"{name}.jsonl"


def test_storing_twice_changes_nothing_and_leaves_no_leftovers(store: blobs.Blobs) -> None:
    digest = store.put(b"sealed")
    before = store.path(digest).stat().st_ino
    assert store.put(b"sealed") == digest
    assert store.put_stream(io.BytesIO(b"sealed")) == digest
    assert store.path(digest).stat().st_ino == before
    assert [path for path in store.folder.rglob("*") if path.is_file()] == [store.path(digest)]


def test_one_flipped_byte_is_refused_on_every_way_of_reading(store: blobs.Blobs) -> None:
    digest = store.put(b"sealed")
    overwrite(store.path(digest), b"sealeD")
    with pytest.raises(IntegrityError):
        store.get(digest)
    with pytest.raises(IntegrityError):
        next(store.chunks(digest))


def test_it_refuses_to_store_over_a_false_file(store: blobs.Blobs) -> None:
    digest = store.put(b"sealed")
    overwrite(store.path(digest), b"false")
    for again in (lambda: store.put(b"sealed"), lambda: store.put_stream(io.BytesIO(b"sealed"))):
        with pytest.raises(IntegrityError):
            again()
    assert store.path(digest).read_bytes() == b"false"


def test_a_file_that_changes_while_it_is_read_is_refused(store: blobs.Blobs) -> None:
    digest = store.put(bytes(3 * blobs.CHUNK))
    pieces = store.chunks(digest)
    next(pieces)
    overwrite(store.path(digest), b"\1" * (3 * blobs.CHUNK))
    with pytest.raises(IntegrityError):
        list(pieces)


@pytest.mark.parametrize(
    "name", ["", "sha256:", ABSENT.upper(), ABSENT + "0", "../../../etc/passwd", "sha256:" + "../" * 21 + "x"]
)
def test_only_a_digest_becomes_a_name(store: blobs.Blobs, name: str) -> None:
    for ask in (store.get, store.path, store.has):
        with pytest.raises(Misuse):
            ask(name)


def test_what_is_absent_is_a_lookup_error(store: blobs.Blobs) -> None:
    assert not store.has(ABSENT)
    with pytest.raises(LookupError):
        store.get(ABSENT)


def test_a_link_in_place_of_the_file_is_not_followed(store: blobs.Blobs, tmp_path: Path) -> None:
    digest = store.put(b"sealed")
    (tmp_path / "elsewhere").write_bytes(b"sealed")
    store.path(digest).unlink()
    store.path(digest).symlink_to(tmp_path / "elsewhere")
    assert not store.has(digest)
    with pytest.raises(IntegrityError):
        store.get(digest)


def test_a_link_in_place_of_the_folder_is_not_followed(store: blobs.Blobs, tmp_path: Path) -> None:
    digest = store.put(b"sealed")
    folder = store.path(digest).parent
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(IntegrityError):
        store.get(digest)


def test_a_pipe_or_folder_in_place_of_the_file_is_refused_without_waiting(store: blobs.Blobs) -> None:
    digest = store.put(b"sealed")
    store.path(digest).unlink()
    os.mkfifo(store.path(digest))
    with pytest.raises(IntegrityError):
        store.get(digest)


def test_a_source_that_breaks_leaves_nothing(store: blobs.Blobs) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        store.put_stream(Broken())  # type: ignore[arg-type]
    assert not [path for path in store.folder.rglob("*") if path.is_file()]


def test_get_is_bounded(store: blobs.Blobs) -> None:
    digest = store.put(b"four")
    assert store.get(digest, limit=4) == b"four"
    with pytest.raises(IntegrityError):
        store.get(digest, limit=3)


def test_a_prepared_store_gives_no_identity_a_folder_of_its_own(store: blobs.Blobs) -> None:
    store.prepare()
    folders = [path for path in store.folder.iterdir() if path.is_dir()]
    assert len(folders) == 256
    assert {stat.S_IMODE(path.stat().st_mode) for path in [store.folder, *folders]} == {0o1777}


def test_streaming_holds_one_chunk_in_memory(store: blobs.Blobs, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(300 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with large.open("rb") as file:
        digest = store.put_stream(file)
    assert sum(len(piece) for piece in store.chunks(digest)) == 300 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


@pytest.fixture
def shared() -> Iterator[blobs.Blobs]:
    """A prepared store in a place that another user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        store = blobs.packs(Path(folder))
        store.prepare()
        yield store


def as_another_user(act: Callable[[], bool]) -> bool:
    child = os.fork()
    if child == 0:
        os.setgid(62999)
        os.setuid(62999)
        os._exit(0 if act() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def denied(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    return False


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two identities")
def test_one_identity_adds_but_neither_replaces_nor_removes_anothers_file(shared: blobs.Blobs) -> None:
    digest = shared.put(b"sealed by the first")
    path = shared.path(digest)
    assert as_another_user(lambda: denied(path.unlink))
    assert as_another_user(lambda: denied(lambda: path.write_bytes(b"")))
    assert as_another_user(lambda: denied(lambda: path.rename(path.with_suffix(".old"))))
    assert as_another_user(lambda: shared.get(shared.put(b"its own")) == b"its own")
    assert shared.get(digest) == b"sealed by the first"
