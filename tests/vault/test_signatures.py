"""Statements in envelopes: what is signed can't be changed, and only the named key counts."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import IntegrityError
from evaluator.vault import signatures
from evaluator.vault.keyring import NoKey
from tests.keyrings import Keys

BODY = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": "outputs", "digest": {"sha256": "ab" * 32}}],
    "predicateType": "https://example.org/scorecard/v1",
    "predicate": {"score": "0.734000"},
}


def altered(envelope: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**json.loads(json.dumps(envelope)), **fields}


def b64(value: object) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


@pytest.fixture
def envelope(keys: Keys) -> dict[str, Any]:
    return signatures.sign(BODY, keys.signing("grader"))


def test_a_statement_comes_back_from_its_envelope(keys: Keys, envelope: dict[str, Any]) -> None:
    assert signatures.verify(envelope, keys.verifying("grader")) == BODY


def test_verifying_leaves_the_envelope_as_it_was(keys: Keys, envelope: dict[str, Any]) -> None:
    before = json.dumps(envelope)
    signatures.verify(envelope, keys.verifying("grader"))
    assert json.dumps(envelope) == before


def test_equal_statement_and_key_give_an_equal_envelope(keys: Keys, envelope: dict[str, Any]) -> None:
    assert signatures.sign(BODY, keys.signing("grader")) == envelope


def test_another_identitys_signature_does_not_count(keys: Keys, envelope: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=r"auditor\.ed25519"):
        signatures.verify(envelope, keys.verifying("auditor"))


def test_a_changed_payload_is_refused(keys: Keys, envelope: dict[str, Any]) -> None:
    lie = b64({**BODY, "predicate": {"score": "1.000000"}})
    with pytest.raises(IntegrityError, match="not valid"):
        signatures.verify(altered(envelope, payload=lie), keys.verifying("grader"))


def test_a_changed_payload_type_is_refused(keys: Keys, envelope: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="type"):
        signatures.verify(altered(envelope, payloadType="text/plain"), keys.verifying("grader"))


def test_a_flipped_bit_of_the_signature_is_refused(keys: Keys, envelope: dict[str, Any]) -> None:
    [signature] = envelope["signatures"]
    raw = bytearray(base64.b64decode(signature["sig"]))
    raw[0] ^= 1
    changed = [{**signature, "sig": base64.b64encode(bytes(raw)).decode()}]
    with pytest.raises(IntegrityError, match="not valid"):
        signatures.verify(altered(envelope, signatures=changed), keys.verifying("grader"))


def test_none_or_more_signatures_than_one_are_refused(keys: Keys, envelope: dict[str, Any]) -> None:
    [signature] = envelope["signatures"]
    for several in ([], [signature, {**signature, "keyid": "other"}]):
        with pytest.raises(IntegrityError, match="exactly one"):
            signatures.verify(altered(envelope, signatures=several), keys.verifying("grader"))


@pytest.mark.parametrize("broken", [{}, {"payload": 1}, {"payload": "%%", "payloadType": "x", "signatures": []}])
def test_what_is_no_envelope_is_refused(keys: Keys, broken: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="not a DSSE envelope"):
        signatures.verify(broken, keys.verifying("grader"))


def test_a_signed_payload_that_is_no_statement_is_refused(keys: Keys) -> None:
    envelope = signatures.sign({"_type": "https://in-toto.io/Statement/v0.1"}, keys.signing("grader"))
    with pytest.raises(IntegrityError, match="Statement v1"):
        signatures.verify(envelope, keys.verifying("grader"))


def test_broken_key_files_are_named(keys: Keys, envelope: dict[str, Any], tmp_path: Path) -> None:
    broken = tmp_path / "signing.key"
    broken.touch(mode=0o600)
    with pytest.raises(NoKey, match="PEM"):
        signatures.sign(BODY, broken)
    with pytest.raises(NoKey, match="64 hexadecimal"):
        signatures.verify(envelope, broken)
    with pytest.raises(NoKey, match="no public key"):
        signatures.verify(envelope, tmp_path / "absent.ed25519")


def test_a_signing_key_that_others_can_read_is_not_used(keys: Keys, tmp_path: Path) -> None:
    loose = tmp_path / "signing.key"
    loose.write_bytes(keys.signing("grader").read_bytes())
    loose.chmod(0o444)
    with pytest.raises(NoKey, match="0400"):
        signatures.sign(BODY, loose)
