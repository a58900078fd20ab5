"""Seal and open: who can, what is checked, and that nothing leaks into a message."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from pathlib import Path

import pyrage
import pytest

from evaluator.errors import IntegrityError, Misuse
from evaluator.records.canonical import digest_of_bytes
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring, NoKey
from evaluator.vault.sealing import PackRef
from tests.keyrings import Keys

TEXT = b"CANARY-in-plain-sight " * 50


def age(keys: Keys, body: bytes, reader: str = "grader") -> tuple[PackRef, bytes]:
    """A validly sealed file with any body, as only an attacker with the public keys would write it."""
    data = pyrage.encrypt(body, keys.ring("web").recipients([reader]))
    return PackRef(digest_of_bytes(data), digest_of_bytes(TEXT)), data


def test_a_reader_gets_the_bytes_back(keys: Keys) -> None:
    sealed = sealing.seal(TEXT, ["grader", "auditor"], keys.ring("runner"))
    for reader in ("grader", "auditor"):
        assert sealing.unseal(sealed.ref, sealed.data, keys.ring(reader)) == TEXT
    assert sealed.ref.content == digest_of_bytes(TEXT)
    assert sealed.size == len(TEXT)


def test_sealing_twice_gives_other_bytes_and_the_same_content_digest(keys: Keys) -> None:
    first, second = (sealing.seal(TEXT, ["grader"], keys.ring("web")).ref for _ in range(2))
    assert first.sealed != second.sealed
    assert first.content == second.content


def test_who_is_no_recipient_gets_age_s_refusal_and_no_text(keys: Keys) -> None:
    sealed = sealing.seal(TEXT, ["grader"], keys.ring("web"))
    assert b"CANARY" not in sealed.data
    for stranger in ("runner", "curator"):
        with pytest.raises(NoKey, match="sealed to other identities"):
            sealing.unseal(sealed.ref, sealed.data, keys.ring(stranger))


def test_who_seals_without_a_key_cannot_read_it_back(keys: Keys) -> None:
    sealed = sealing.seal(TEXT, ["grader"], keys.ring("web"))
    with pytest.raises(NoKey, match="holds no private key"):
        sealing.unseal(sealed.ref, sealed.data, keys.ring("web"))


def test_any_flipped_byte_is_refused(keys: Keys) -> None:
    sealed = sealing.seal(TEXT, ["grader"], keys.ring("web"))
    for place in range(0, len(sealed.data), 7):
        damaged = bytearray(sealed.data)
        damaged[place] ^= 1
        with pytest.raises(IntegrityError, match="is not sha256"):
            sealing.unseal(sealed.ref, bytes(damaged), keys.ring("grader"))
        honest = PackRef(digest_of_bytes(bytes(damaged)), sealed.ref.content)
        with pytest.raises((IntegrityError, NoKey)):
            sealing.unseal(honest, bytes(damaged), keys.ring("grader"))


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_file_cut_short_is_refused(keys: Keys, keep: int) -> None:
    sealed = sealing.seal(TEXT, ["grader"], keys.ring("web"))
    cut = sealed.data[:keep]
    with pytest.raises(IntegrityError):
        sealing.unseal_unnamed(cut, keys.ring("grader"))


def test_another_content_under_a_true_seal_is_refused(keys: Keys) -> None:
    sealed = sealing.seal(b"another text", ["grader"], keys.ring("web"))
    with pytest.raises(IntegrityError, match="its content is not"):
        sealing.unseal(PackRef(sealed.ref.sealed, digest_of_bytes(TEXT)), sealed.data, keys.ring("grader"))


def test_a_bomb_that_declares_its_size_is_not_inflated(keys: Keys) -> None:
    bomb = struct.pack(">8sQ", b"HELDOUT1", 1 << 40) + zlib.compress(bytes(1 << 20))
    ref, data = age(keys, bomb)
    with pytest.raises(IntegrityError, match="at most"):
        sealing.unseal(ref, data, keys.ring("grader"))


@pytest.mark.parametrize(("declared", "real"), [(10, 10 << 20), (10, 9)])
def test_a_bomb_that_lies_about_its_size_is_stopped_at_that_size(keys: Keys, declared: int, real: int) -> None:
    ref, data = age(keys, struct.pack(">8sQ", b"HELDOUT1", declared) + zlib.compress(bytes(real)))
    with pytest.raises(IntegrityError, match="another length"):
        sealing.unseal(ref, data, keys.ring("grader"))


def test_a_bomb_is_stopped_before_its_bytes_are_in_memory(keys: Keys) -> None:
    ref, data = age(keys, struct.pack(">8sQ", b"HELDOUT1", 10) + zlib.compress(bytes(100 << 20)))
    tracemalloc.start()
    with pytest.raises(IntegrityError, match="another length"):
        sealing.unseal(ref, data, keys.ring("grader"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_another_version_of_the_form_is_refused(keys: Keys) -> None:
    ref, data = age(keys, struct.pack(">8sQ", b"HELDOUT2", len(TEXT)) + zlib.compress(TEXT))
    with pytest.raises(IntegrityError, match="what this version seals"):
        sealing.unseal(ref, data, keys.ring("grader"))


@pytest.mark.parametrize(
    "body", [b"", b"HELDOUT1", b"OTHER000" + bytes(8), struct.pack(">8sQ", b"HELDOUT1", 4) + b"no zlib"]
)
def test_a_body_of_another_form_is_refused(keys: Keys, body: bytes) -> None:
    ref, data = age(keys, body)
    with pytest.raises(IntegrityError):
        sealing.unseal(ref, data, keys.ring("grader"))


def test_bytes_behind_the_end_are_refused(keys: Keys) -> None:
    body = struct.pack(">8sQ", b"HELDOUT1", len(TEXT)) + zlib.compress(TEXT) + b"more"
    ref, data = age(keys, body)
    with pytest.raises(IntegrityError, match="another length"):
        sealing.unseal(ref, data, keys.ring("grader"))


def test_no_message_holds_content(keys: Keys) -> None:
    sealed = sealing.seal(TEXT, ["grader"], keys.ring("web"))
    wrong = PackRef(sealed.ref.sealed, digest_of_bytes(b""))
    with pytest.raises(IntegrityError) as caught:
        sealing.unseal(wrong, sealed.data, keys.ring("grader"))
    assert "CANARY" not in f"{caught.value}{caught.value.__cause__}"


def test_a_missing_public_key_stops_the_sealing(keys: Keys) -> None:
    with pytest.raises(NoKey, match=r"clock\.age"):
        sealing.seal(TEXT, ["grader", "clock"], keys.ring("web"))
    with pytest.raises(Misuse):
        sealing.seal(TEXT, [], keys.ring("web"))


def test_a_private_key_that_others_can_read_is_not_used(keys: Keys, tmp_path: Path) -> None:
    private = tmp_path / "vault.key"
    private.write_bytes((keys.folder / "secrets" / "grader" / "vault.key").read_bytes())
    private.chmod(0o440)
    with pytest.raises(NoKey, match="0400"):
        Keyring(keys.public, private).identity()


@pytest.mark.parametrize("text", ["", "AGE-SECRET-KEY-1NOT", "\xff"])
def test_a_broken_key_file_is_named_and_not_shown(tmp_path: Path, text: str) -> None:
    for name in ("vault.key", "grader.age"):
        (tmp_path / name).touch(mode=0o600)
        (tmp_path / name).write_text(text, "latin-1")
    ring = Keyring(tmp_path, tmp_path / "vault.key")
    with pytest.raises(NoKey, match=r"vault\.key holds no age private key$"):
        ring.identity()
    with pytest.raises(NoKey, match=r"grader\.age holds no age public key$"):
        ring.recipients(["grader"])
