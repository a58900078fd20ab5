"""A canary in every hidden prompt and answer is nowhere but in its sealed packs, during and after a full run.

The canary stands in the database's dump, the broker, every log and file of the installation, process arguments and
environments, the guest image and every page, or it does not. The search proves itself on a file where it does.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from box import daemons, images, postgres, valkey
from evaluator import blobs
from evaluator.vault import prompts
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef
from leaderboard.models import Membership, Release, Run
from tests import canary, services, stage
from tests.installation import STATE
from tests.processes import EVALUATING, reaches, start

pytestmark = [pytest.mark.usefixtures("schema"), pytest.mark.engine]

NAMES = ("hidden prompt", "hidden answer", "practice")


def planted(words: dict[str, str]) -> list[dict[str, object]]:
    """Hidden items whose prompt and answer hold a canary each; practice items with one that may be seen."""
    whole = stage.items(right=4, wrong=2, practice=1)
    for item in whole:
        hidden = item["split"] == "active"
        word = words["hidden prompt"] if hidden else words["practice"]
        item["messages"] = [{"role": "user", "content": f"{word} {item['index']}: how many?"}]
        if hidden and item["answer"] == ["7"]:
            item |= {"kind": "exact", "answer": [words["hidden answer"]]}
    return whole


@pytest.fixture(scope="module")
def scored(django_db_blocker: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, dict[str, str]]]:
    words = {name: canary.make() for name in NAMES}
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        services.empty()
        start(*EVALUATING, "web")
        run = stage.a_run(tmp_path_factory.mktemp("c") / "says-42", planted(words))
        Membership.objects.create(team=run.submission.team, user=run.submission.submitted_by)
        assert reaches(run, "scored", "void", "failed") == "scored"
        yield Run.objects.get(pk=run.pk), words


@pytest.fixture
def hidden(scored: tuple[Run, dict[str, str]]) -> list[str]:
    return [word for name, word in scored[1].items() if name.startswith("hidden")]


def test_the_search_finds_what_is_there(scored: tuple[Run, dict[str, str]]) -> None:
    run, words = scored
    release = Release.objects.get(pk=run.submission.release_id)
    ref = PackRef(release.prompts_sealed, release.prompts_digest)
    ring = Keyring(STATE.public, STATE.secret("auditor", "vault.key"))
    pack = prompts.unseal(ref, blobs.packs(STATE.root / "store").get(ref.sealed), ring)
    assert canary.in_bytes(words["hidden prompt"], repr(pack.records).encode())
    assert canary.in_files(words["practice"], [STATE.root / "store" / "practice"])


def test_no_file_of_the_installation_holds_it(hidden: list[str]) -> None:
    roots = [path for path in STATE.root.iterdir() if path.name != "env"]
    assert [found for word in hidden for found in canary.in_files(word, roots)] == []


def test_no_dump_of_the_database_holds_it(hidden: list[str]) -> None:
    command = [postgres._program(STATE, "pg_dump"), "--host", str(postgres._socket(STATE)), "-U", "postgres", "heldout"]
    secret = STATE.secret("owner", "superuser.password").read_text().strip()
    environment = {"PGPASSWORD": secret, "PATH": os.environ["PATH"]}
    assert [found for word in hidden for found in canary.in_output(word, command, environment)] == []


def test_the_broker_does_not_hold_it(hidden: list[str]) -> None:
    keys = valkey.ask(STATE, "KEYS", "*")
    told = keys + "".join(valkey.ask(STATE, "LRANGE", f"heldout:{queue}", "0", "-1") for queue in ("web", "runner"))
    assert [found for word in hidden for found in canary.in_bytes(word, told.encode())] == []


def test_no_argument_and_no_environment_holds_it(hidden: list[str]) -> None:
    assert daemons.pid(STATE, "runner") is not None
    assert [found for word in hidden for found in canary.in_processes(word)] == []


def test_the_engine_keeps_nothing_of_it(hidden: list[str]) -> None:
    image = images.recorded(STATE)["transformers"]["id"]
    shown = subprocess.run(["docker", "inspect", image], capture_output=True, check=True).stdout
    shown += subprocess.run(["docker", "ps", "--all", "--no-trunc"], capture_output=True, check=True).stdout
    assert [found for word in hidden for found in canary.in_bytes(word, shown)] == []
    engine_files = [Path("/var/lib/docker/containers")]
    assert [found for word in hidden for found in canary.in_files(word, engine_files)] == []


def test_no_page_shows_it(scored: tuple[Run, dict[str, str]], hidden: list[str]) -> None:
    run, words = scored
    client = Client()
    client.force_login(run.submission.submitted_by)
    pages = [client.get(url, follow=True) for url in _urls(run)]
    assert {page.status_code for page in pages} == {200}
    assert not [page.request["PATH_INFO"] for page in pages if "login" in page.request["PATH_INFO"]]
    told = b"".join(page.content for page in pages)
    assert [found for word in hidden for found in canary.in_bytes(word, told)] == []
    assert canary.in_bytes(words["practice"], told)


def _urls(run: Run) -> list[str]:
    of_run = ("run", "run-poll", "provenance", "provenance-json", "api-run")
    slug = run.submission.release.benchmark.slug
    return [
        *(reverse(name, args=[run.pk]) for name in of_run),
        *(reverse(name, args=[slug]) for name in ("board", "board-csv", "board-json", "benchmark")),
        reverse("checkpoint", args=[run.submission.checkpoint_id]),
        *(reverse(name) for name in ("home", "runs", "checkpoints", "benchmarks")),
    ]
