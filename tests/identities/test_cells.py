"""One test per cell of the table of identities: who sees what, tried as that identity in a process of its own.

A "no" must come from the missing key, the file system, PostgreSQL or Valkey: the code that tries is the real code with
nothing in its way.
"""

from __future__ import annotations

import uuid

import psycopg
import pytest

from evaluator import blobs
from evaluator.vault import answers, outputs, prompts, verdicts
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import Sealed
from leaderboard.identities import IDENTITIES
from tests.identities.processes import run_as
from tests.installation import STATE
from tests.services import connect

pytestmark = pytest.mark.usefixtures("schema")

SECRET = "the-hidden-word"
RUN = str(uuid.uuid4())
D = "sha256:" + "0" * 64

MAY_READ = {
    "prompts": {"curator", "runner", "auditor"},
    "answers": {"curator", "grader", "auditor"},
    "outputs": {"grader", "auditor"},
    "verdicts": {"grader", "auditor"},
}

OPEN = """
    import sys
    from pathlib import Path
    from evaluator import blobs
    from evaluator.vault import {pack}
    from evaluator.vault.keyring import Keyring
    from evaluator.vault.sealing import PackRef
    state, sealed, content = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    key = state / "secrets" / sys.argv[4] / "vault.key"
    ring = Keyring(state / "public", key if sys.argv[4] in {readers} else None)
    print({pack}.unseal(PackRef(sealed, content), blobs.packs(state / "store").get(sealed), ring).records)
"""


@pytest.fixture(scope="module")
def sealed() -> dict[str, Sealed]:
    """One pack of each kind in the store, sealed with public keys alone."""
    ring = Keyring(STATE.public)
    packs = {
        "prompts": prompts.seal(RUN, [{"index": 0, "prompt": SECRET}], ring),
        "answers": answers.seal(RUN, [{"index": 0, "kind": "exact", "answer": [SECRET], "checker": {}, "group": "g",
                                       "category": "c", "split": "active"}], ring),
        "outputs": outputs.seal(RUN, D, [{"index": 0, "outcome": "answered", "detail": "eos", "text": SECRET,
                                          "tokens": [], "logprob": None, "prompt_tokens": 1, "prompt_sha256": "0" * 64,
                                          "prompt_ids_sha256": "0" * 64, "batch": 0, "ms": 1}], ring),
        "verdicts": verdicts.seal({"run": RUN, "runspec": D, "outputs": D, "answers": D, "grader": D},
                                  [{"index": 0, "outcome": "answered", "score": "1", "reason": "equal",
                                    "found": SECRET}], ring),
    }  # fmt: skip
    for pack in packs.values():
        blobs.packs(STATE.root / "store").put(pack.data)
    return packs


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("pack", MAY_READ)
def test_a_pack_opens_for_its_readers_alone(identity: str, pack: str, sealed: dict[str, Sealed]) -> None:
    holders = {name for name, row in IDENTITIES.items() if row.has_vault_key}
    code = OPEN.format(pack=pack, readers=repr(holders))
    ref = sealed[pack].ref
    done = run_as(identity, code, str(STATE.root), ref.sealed, ref.content, identity)
    if identity in MAY_READ[pack]:
        assert SECRET in done.stdout, done.stderr
    else:
        assert done.returncode != 0
        assert "NoKey" in done.stderr
        assert SECRET not in done.stdout + done.stderr


@pytest.mark.root
@pytest.mark.parametrize("thief", IDENTITIES)
@pytest.mark.parametrize("owner", [*IDENTITIES, "owner"])
def test_the_file_system_keeps_every_secret_from_every_other_identity(thief: str, owner: str) -> None:
    if thief == owner:
        return
    code = """
        import sys
        from pathlib import Path
        folder = Path(sys.argv[1])
        for name in ("database.password", "broker.password", "vault.key", "signing.key", "django.key"):
            try:
                print((folder / name).read_bytes())
            except PermissionError:
                print("refused")
    """
    done = run_as(thief, code, str(STATE.secrets / owner))
    assert done.stdout.split() == ["refused"] * 5, done.stderr


EXACT = "SELECT count(*) FROM leaderboard_grade"
RAW = "SELECT count(*) FROM leaderboard_practiceresult"


@pytest.mark.parametrize("identity", IDENTITIES)
def test_exact_scores_are_for_grader_and_auditor(identity: str) -> None:
    with connect(identity) as session:
        if identity in {"grader", "auditor"}:
            session.execute(EXACT)
        else:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(EXACT)


WRITES = {
    "leaderboard_submission": {"web"}, "leaderboard_checkpoint": {"web"}, "leaderboard_release": {"curator"},
    "leaderboard_item": {"curator"}, "leaderboard_practiceresult": {"runner"}, "leaderboard_grade": {"grader"},
    "leaderboard_releasedscore": {"grader"},
}  # fmt: skip


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("table", WRITES)
def test_each_table_is_written_by_its_identity_alone(identity: str, table: str) -> None:
    with connect(identity) as session:
        allowed = session.execute("SELECT has_table_privilege(%s, 'INSERT')", [table]).fetchone()
        assert allowed == (identity in WRITES[table],)
        if identity not in WRITES[table]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"INSERT INTO {table} DEFAULT VALUES")


@pytest.mark.root
@pytest.mark.parametrize("identity", [name for name, row in IDENTITIES.items() if not row.uses_engine])
def test_the_engine_s_socket_is_closed_to_every_identity_but_the_launcher(identity: str) -> None:
    code = """
        import socket
        for path in ("/var/run/docker.sock", "/run/docker.sock", "/var/run/docker/containerd/containerd.sock"):
            try:
                socket.socket(socket.AF_UNIX).connect(path)
                print("CONNECTED", path)
            except (PermissionError, FileNotFoundError) as error:
                print(type(error).__name__)
    """
    done = run_as(identity, code)
    assert "CONNECTED" not in done.stdout, done.stdout
    assert "PermissionError" in done.stdout, done.stderr


@pytest.mark.root
@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize(("folder", "owner"), [("journal", "runner"), ("intake", "web")])
def test_quarantine_and_journal_are_their_owner_s(identity: str, folder: str, owner: str) -> None:
    code = "import os, sys; print(os.listdir(sys.argv[1]))"
    done = run_as(identity, code, str(STATE.root / folder))
    assert (done.returncode == 0) == (identity == owner), done.stderr


@pytest.mark.root
@pytest.mark.parametrize("identity", IDENTITIES)
def test_a_sealed_pack_can_not_be_replaced_or_removed(identity: str, sealed: dict[str, Sealed]) -> None:
    path = blobs.packs(STATE.root / "store").path(sealed["prompts"].ref.sealed)
    code = """
        import os, sys
        for attempt in (lambda: open(sys.argv[1], "ab"), lambda: os.unlink(sys.argv[1]),
                        lambda: os.rename(sys.argv[1], sys.argv[1] + ".x")):
            try:
                attempt()
                print("DONE")
            except PermissionError:
                print("refused")
    """
    assert run_as(identity, code, str(path)).stdout.split() == ["refused"] * 3
