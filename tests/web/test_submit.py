"""The submit page: what is offered, what is left, and what is refused before anything runs."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from leaderboard.ledger import quota
from leaderboard.models import Benchmark, Checkpoint, Release, Run, Submission
from tests import cast as casting
from tests import factories
from tests.cast import Cast
from tests.web.conftest import Visitor


def address(checkpoint: Checkpoint) -> str:
    return f"/checkpoints/{checkpoint.pk}/submit"


def offer(cast: Cast) -> str:
    return f"{cast.release.pk}:{cast.preset.pk}"


def test_a_submission_starts_a_run_and_keeps_the_declaration(cast: Cast) -> None:
    checkpoint = cast.checkpoint()
    values = {"offer": offer(cast), "base_model": "none", "training_data": "practice items"}
    answer = Visitor(cast.competitor).post(address(checkpoint), values)
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert run.submission.declaration["training_data"] == "practice items"


def test_the_next_free_slot_is_told_in_utc_and_equals_what_is_enforced(cast: Cast) -> None:
    Benchmark.objects.update(daily_limit=1)
    checkpoint = cast.checkpoint()
    cast.benchmark.refresh_from_db()
    visitor = Visitor(cast.competitor)
    assert "1 of 1 left" in visitor.text(address(checkpoint))
    visitor.post(address(checkpoint), {"offer": offer(cast)})
    resets = quota.allowance(cast.aurora, cast.benchmark).resets_at
    text = visitor.text(address(checkpoint))
    assert "Next free slot" in text
    assert f'datetime="{resets.isoformat()}" data-local' in text
    assert f"{resets.day} {resets:%b %Y} 00:00 UTC" in text
    refused = visitor.post(address(checkpoint), {"offer": offer(cast)})
    assert (refused.status_code, Submission.objects.count()) == (422, 1)
    assert f"{resets:%Y-%m-%d %H:%M} UTC" in refused.content.decode()


def test_a_chat_preset_needs_a_template(cast: Cast) -> None:
    checkpoint = cast.checkpoint(facts={"template": None, "context": 2048})
    visitor = Visitor(cast.competitor)
    assert "Choose a completion preset" in visitor.text(address(checkpoint))
    assert visitor.post(address(checkpoint), {"offer": offer(cast)}).status_code == 422
    completion = factories.a_preset(cast.benchmark, name="completion", mode="completion")
    answer = visitor.post(address(checkpoint), {"offer": f"{cast.release.pk}:{completion.pk}"})
    assert answer.status_code == 302


def test_a_preset_longer_than_the_context_names_both_numbers(cast: Cast) -> None:
    checkpoint = cast.checkpoint()
    long = factories.a_preset(cast.benchmark, name="long", context=32768)
    answer = Visitor(cast.competitor).post(address(checkpoint), {"offer": f"{cast.release.pk}:{long.pk}"})
    assert "context of 32768 tokens; the checkpoint allows 2048" in answer.content.decode()
    assert Run.objects.count() == 0


@pytest.mark.parametrize("wrong", ["", "x", ":", "1:2", "{release}:", ":{preset}", "{preset}:{release}"])
def test_an_offer_that_is_none_is_refused(cast: Cast, wrong: str) -> None:
    text = wrong.format(release=cast.release.pk, preset=cast.preset.pk)
    assert Visitor(cast.competitor).post(address(cast.checkpoint()), {"offer": text}).status_code == 422


def test_a_preset_of_another_benchmark_is_refused(cast: Cast) -> None:
    other = factories.a_preset(factories.a_benchmark(slug="other"))
    answer = Visitor(cast.competitor).post(address(cast.checkpoint()), {"offer": f"{cast.release.pk}:{other.pk}"})
    assert answer.status_code == 422
    assert Run.objects.count() == 0


@pytest.mark.parametrize("field", ["score", "state", "team", "submitted_by", "id", "created_at", "ranked"])
def test_fields_of_the_server_can_not_be_sent(cast: Cast, field: str) -> None:
    checkpoint = cast.checkpoint()
    body: dict[str, Any] = {"checkpoint": str(checkpoint.pk), "release": str(cast.release.pk),
                            "preset": str(cast.preset.pk), field: str(cast.borealis.pk)}  # fmt: skip
    answer = Visitor(cast.competitor).send("/api/submissions", body)
    assert answer.status_code == 201
    run = Run.objects.select_related("submission").get()
    assert (run.state, run.submission.team_id) == ("queued", cast.aurora.pk)
    assert run.submission.submitted_by_id == cast.competitor.pk
    assert run.submission.created_at > dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"x"', b"[" * 100_000, b"null"])
def test_a_body_that_is_no_object_is_refused(cast: Cast, body: bytes) -> None:
    answer = Visitor(cast.competitor).ask("POST", "/api/uploads", data=body, content_type="application/json")
    assert answer.status_code == 422


@pytest.mark.parametrize("values", [{"name": ""}, {"name": "x" * 121}, {"name": "a\nb"}, {"name": 7},
                                    {"name": "m", "team": "borealis"}, {"name": "m", "team": "nobody"},
                                    {"name": "m", "notes": "x" * 4001}, {"name": "m", "base_model": ["x"]},
                                    {"name": "m", "notes": "a\x00b"}])  # fmt: skip
def test_an_upload_with_a_wrong_field_is_refused(cast: Cast, values: dict[str, object]) -> None:
    answer = Visitor(cast.competitor).send("/api/uploads", {"team": "aurora"} | values)
    assert answer.status_code == 422
    assert answer.json()["findings"]


def test_an_upload_in_pieces_can_not_be_closed(cast: Cast) -> None:
    upload = casting.admissions.open_upload(cast.aurora, cast.competitor, "m", casting.admissions.Declaration())
    casting.admissions.add_file(upload, "config.json", 10)
    answer = Visitor(cast.competitor).send(f"/api/uploads/{upload.pk}/close", {})
    assert (answer.status_code, answer.json()["error"]) == (422, "file-incomplete")


def test_a_checkpoint_s_page_shows_manifest_and_facts(cast: Cast) -> None:
    run = cast.scored("0.5", name="shown")
    text = Visitor(cast.competitor).text(f"/checkpoints/{run.submission.checkpoint_id}/")
    for shown in ("config.json", "LlamaForCausalLM", "134.5 M", run.submission.checkpoint.manifest_digest, "50.0"):
        assert shown in text


def test_a_release_is_told_by_counts_and_digests(cast: Cast) -> None:
    counts = {
        "active": {"items": 150, "groups": 140, "kinds": {"exact": 90, "choice": 60}, "categories": {"sums": 150}}
    }
    with casting.unguarded("leaderboard_release"):
        Release.objects.update(counts=counts)
    text = Visitor(cast.stranger).text("/benchmarks/small/")
    for shown in ("<b>150</b> items in <b>140</b> groups", "choice 60 · exact 90", cast.release.prompts_digest):
        assert shown in text
    assert "{" not in text.split("<main")[1].replace("{&quot;", "").split("Presets")[0]


def test_practice_items_can_be_taken_along(cast: Cast, settings: Any, tmp_path: Any) -> None:
    settings.STORE = tmp_path
    digest = cast.release.practice_digest.removeprefix("sha256:")
    assert Visitor(cast.stranger).get("/benchmarks/small/1.0.0/practice.jsonl").status_code == 404
    (tmp_path / "practice" / digest[:2]).mkdir(parents=True)
    (tmp_path / "practice" / digest[:2] / f"{digest}.jsonl").write_bytes(b'{"index":1}\n')
    answer = Visitor(cast.stranger).get("/benchmarks/small/1.0.0/practice.jsonl")
    assert (answer.getvalue(), answer["X-Content-Type-Options"]) == (b'{"index":1}\n', "nosniff")
