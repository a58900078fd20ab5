"""Secrets: the ones of the table, each for its owner alone, made once."""

from __future__ import annotations

import os
import stat

import pytest

from box import keys, layout
from box.state import State
from leaderboard.identities import IDENTITIES


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_has_the_secrets_of_its_row_and_no_other(state: State, name: str) -> None:
    assert {path.name for path in (state.secrets / name).iterdir()} == IDENTITIES[name].secrets()


@pytest.mark.parametrize("name", IDENTITIES)
def test_each_secret_is_read_by_one_user_only(state: State, name: str) -> None:
    for path in [*(state.secrets / name).iterdir(), state.secrets / name]:
        found = path.stat()
        assert found.st_uid == layout.uid(state, name)
        assert stat.S_IMODE(found.st_mode) == (0o700 if path.is_dir() else 0o400)


def test_no_two_secrets_are_equal(state: State) -> None:
    texts = [path.read_text() for path in state.secrets.glob("*/*") if path.name != "pgpass"]
    assert len(set(texts)) == len(texts)


def test_making_keys_again_changes_nothing(state: State) -> None:
    before = {path: path.read_bytes() for path in [*state.secrets.glob("*/*"), *state.public.iterdir()]}
    keys.ensure(state)
    assert before == {path: path.read_bytes() for path in before}


def test_a_lost_public_key_never_costs_the_private_one(state: State) -> None:
    public, private = state.public / "grader.age", state.secret("grader", "vault.key")
    kept, text = public.read_text(), private.read_text()
    public.unlink()
    with pytest.raises(RuntimeError, match="the private one is kept"):
        keys.ensure(state)
    assert private.read_text() == text
    public.write_text(kept)


@pytest.mark.root
def test_the_users_of_identities_are_all_different(state: State) -> None:
    names = [*IDENTITIES, *layout.SERVICES]
    assert len({layout.uid(state, name) for name in names}) == len(names)
    assert os.geteuid() not in {layout.uid(state, name) for name in names}
