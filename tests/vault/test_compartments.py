"""The four compartments: their readers are those of the table of identities, cell by cell."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evaluator.errors import Refused
from evaluator.vault import answers, items, journal, outputs, prompts, sealing, verdicts
from evaluator.vault.keyring import NoKey
from leaderboard.identities import IDENTITIES, PACKS, readers
from tests.keyrings import Keys
from tests.vault.records import answer_record, output_record, verdict_record

MODULES = {"prompts": prompts, "answers": answers, "outputs": outputs, "verdicts": verdicts}
RELEASE = "8c4e3f2a-0000-4000-8000-000000000001"
DIGEST = "sha256:" + "0" * 64

PROMPT = {"index": 0, "prompt": "2 + 2 ="}
HEADER = {"run": RELEASE, "runspec": DIGEST, "outputs": DIGEST, "answers": DIGEST, "grader": DIGEST}

SEAL: dict[str, Callable[[Keys], sealing.Sealed]] = {
    "prompts": lambda keys: prompts.seal(RELEASE, [PROMPT], keys.ring("curator")),
    "answers": lambda keys: answers.seal(RELEASE, [answer_record(0)], keys.ring("curator")),
    "outputs": lambda keys: outputs.seal(RELEASE, DIGEST, [output_record(0)], keys.ring("runner")),
    "verdicts": lambda keys: verdicts.seal(HEADER, [verdict_record(0)], keys.ring("grader")),
}


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("identity", IDENTITIES)
def test_a_pack_opens_exactly_for_the_readers_of_the_table(keys: Keys, pack: str, identity: str) -> None:
    sealed = SEAL[pack](keys)
    if IDENTITIES[identity] in readers(pack):
        assert len(MODULES[pack].unseal(sealed.ref, sealed.data, keys.ring(identity)).records) == 1
    else:
        with pytest.raises(NoKey):
            MODULES[pack].unseal(sealed.ref, sealed.data, keys.ring(identity))


@pytest.mark.parametrize("pack", PACKS)
def test_recipients_are_those_of_the_table(pack: str) -> None:
    assert tuple(identity.name for identity in readers(pack)) == MODULES[pack].READERS


def test_whole_items_are_for_those_who_may_read_prompts_and_answers() -> None:
    both = set(readers("prompts")) & set(readers("answers"))
    assert set(items.READERS) == {identity.name for identity in both}


def test_the_journal_is_for_its_writer_alone() -> None:
    assert journal.READERS == ("runner",)


def test_the_runner_cannot_read_back_the_outputs_it_sealed(keys: Keys) -> None:
    sealed = SEAL["outputs"](keys)
    with pytest.raises(NoKey):
        outputs.unseal(sealed.ref, sealed.data, keys.ring("runner"))


def test_an_uploaded_file_comes_back_byte_for_byte_but_not_to_the_web(keys: Keys) -> None:
    upload = items.seal_upload(b"\xef\xbb\xbfnot\r\neven json", keys.ring("web"))
    assert items.unseal_upload(upload.ref, upload.data, keys.ring("curator")) == b"\xef\xbb\xbfnot\r\neven json"
    with pytest.raises(NoKey):
        items.unseal_upload(upload.ref, upload.data, keys.ring("web"))


def test_no_answer_slips_into_a_pack_of_prompts(keys: Keys) -> None:
    with pytest.raises(Refused, match='"answer" is no field'):
        prompts.seal(RELEASE, [{**PROMPT, "answer": ["4"]}], keys.ring("curator"))


@pytest.mark.parametrize(("pack", "other"), [(one, two) for one in PACKS for two in PACKS if one != two])
def test_one_kind_of_pack_is_never_read_as_another(keys: Keys, pack: str, other: str) -> None:
    sealed = SEAL[pack](keys)
    with pytest.raises(Refused, match=f"heldout.{other}/1, line 1"):
        MODULES[other].unseal(sealed.ref, sealed.data, keys.ring("auditor"))


def test_whole_items_come_back_as_they_were(keys: Keys) -> None:
    item = {"index": 0, "position": None, "uuid": RELEASE, "group": RELEASE, "item": {"id": "a", "answer": ["4"]}}
    sealed = items.seal(RELEASE, bytes(32), [item], keys.ring("curator"))
    for reader in IDENTITIES:
        if reader in items.READERS:
            assert items.unseal(sealed.ref, sealed.data, keys.ring(reader)).records == [item]
        else:
            with pytest.raises(NoKey):
                items.unseal(sealed.ref, sealed.data, keys.ring(reader))
