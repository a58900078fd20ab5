"""From a folder on somebody's disk to a run that is watched, clicked through."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from leaderboard.models import Benchmark, Checkpoint, Run, Upload
from tests import cast as casting
from tests.browser.conftest import Enter, shoot
from tests.cast import Cast
from tests.checkpoints import tiny_checkpoint

pytestmark = pytest.mark.browser


def choose(page: Page, folder: Path) -> None:
    page.goto("/submit/")
    page.set_input_files("#folder", folder)


def send(page: Page) -> None:
    expect(page.locator("#send")).to_be_enabled()
    page.click("#send")
    page.wait_for_url(re.compile("/uploads/[0-9a-f-]{36}/$"), wait_until="load")


def test_a_folder_becomes_a_run(cast: Cast, enter: Enter, tmp_path: Path) -> None:
    Benchmark.objects.update(title="Small reasoning")
    page = enter("competitor")
    choose(page, tiny_checkpoint(tmp_path / "tiny-llama", seed=11))
    expect(page.locator("#files li")).to_have_count(6)
    page.fill("#base_model", "none")
    page.fill("#training_data", "random weights")
    shoot(page, "submit-files", full=True)
    send(page)
    expect(page.locator("[data-state=admitted]")).to_be_visible(timeout=60_000)
    shoot(page, "upload-admitted")
    page.click("text=Choose how it is evaluated")
    expect(page.locator("#training_data")).to_have_value("random weights")
    shoot(page, "preset")
    page.click("main form button[type=submit]")
    page.wait_for_url("**/runs/**")
    expect(page.locator("#run-state")).to_contain_text("Number 1 in the queue")
    assert Run.objects.get().submission.checkpoint.name == "tiny-llama"


def test_a_refusal_lists_each_finding_with_its_remedy(cast: Cast, enter: Enter, tmp_path: Path) -> None:
    lies: dict[str, Any] = {"config": {"vocab_size": 999, "auto_map": {"AutoModel": "modeling.X"}},
                            "files": {"tokenizer.json": b"{", "generation_config.json": b""}}  # fmt: skip
    page = enter("competitor")
    choose(page, tiny_checkpoint(tmp_path / "broken", **lies))
    send(page)
    expect(page.locator("[data-state=refused]")).to_be_visible(timeout=60_000)
    expect(page.locator(".findings")).to_contain_text("config.json")
    expect(page.locator(".findings")).to_contain_text("tokenizer.json")
    expect(page.locator(".findings .remedy").first).not_to_be_empty()
    shoot(page, "upload-refused")
    assert Checkpoint.objects.count() == 0


def test_files_that_can_not_pass_are_left_out_and_say_why(cast: Cast, enter: Enter, tmp_path: Path) -> None:
    files = {"pytorch_model.bin": b"x", "modeling.py": b"x", ".gitattributes": b"x", "original/params.json": b"{}"}
    page = enter("competitor")
    choose(page, tiny_checkpoint(tmp_path / "mixed", seed=12, files=files))
    expect(page.locator("#files .why")).to_have_count(4)
    expect(page.locator("#files")).to_contain_text("code is never taken")
    send(page)
    expect(page.locator("[data-state=admitted]")).to_be_visible(timeout=60_000)
    names = {file["name"] for file in Checkpoint.objects.get().manifest["files"]}
    assert "modeling.py" not in names
    assert "model.safetensors" in names


def test_an_upload_pauses_goes_on_and_survives_the_window(cast: Cast, enter: Enter, tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "slow", seed=13)
    page = enter("competitor")
    held: list[Any] = []
    page.route("**/files/*", lambda route: held.append(route) if route.request.method == "PATCH" else route.continue_())
    choose(page, folder)
    page.click("#send")
    page.wait_for_url(re.compile("/uploads/[0-9a-f-]{36}/$"))
    page.click("#pause")
    expect(page.locator("#total-text")).to_contain_text("paused")
    expect(page.locator("#pause")).to_have_text("Go on")
    address = page.url
    page.close(run_before_unload=False)
    assert Upload.objects.get().state == "receiving"
    page = enter("competitor")
    page.goto(address)
    page.set_input_files("#folder", folder)
    expect(page.locator("[data-state=admitted]")).to_be_visible(timeout=60_000)


def test_a_broken_connection_is_tried_again(cast: Cast, enter: Enter, tmp_path: Path) -> None:
    page = enter("competitor")
    broken: list[str] = []

    def break_twice(route: Any) -> None:
        if route.request.method == "PATCH" and len(broken) < 2:
            broken.append(route.request.url)
            route.fulfill(status=503, body="away")
        else:
            route.continue_()

    page.route("**/files/*", break_twice)
    choose(page, tiny_checkpoint(tmp_path / "stubborn", seed=14))
    page.click("#send")
    expect(page.locator("[data-state=admitted]")).to_be_visible(timeout=60_000)
    assert len(broken) == 2


def started(cast: Cast) -> Run:
    run = cast.queued(checkpoint=cast.checkpoint(name="watched"))
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "running", progress_done=10)
    return run


def test_a_run_is_watched_live(cast: Cast, enter: Enter) -> None:
    run = started(cast)
    page = enter("competitor")
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#practice-empty")).to_be_visible()
    expect(page.locator("[data-live=stream]")).to_be_attached()
    casting.practise(run, 4)
    expect(page.locator("#practice li")).to_have_count(4)
    page.click("#practice li:nth-child(2) summary")
    expect(page.locator("#practice li:nth-child(2)")).to_contain_text("What is 1 + 1?")
    shoot(page, "run-live")
    finish(run)
    expect(page.locator("#run-state")).to_contain_text("62.5 %")
    expect(page.locator("#cancel")).to_have_count(0)
    expect(page.locator("#practice-count")).to_have_text("4")


def finish(run: Run) -> None:
    with casting.unguarded("leaderboard_run", "leaderboard_releasedscore"):
        casting.release(run, "0.625", casting.Decimal("0.05"), {})
        casting.move(run, "scored")


def test_without_a_stream_the_page_polls(cast: Cast, enter: Enter) -> None:
    run = started(cast)
    page = enter("competitor")
    page.route("**/events*", lambda route: route.fulfill(status=204))
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("[data-live=poll]")).to_be_attached(timeout=15_000)
    casting.practise(run, 2)
    expect(page.locator("#practice li")).to_have_count(2)
    finish(run)
    expect(page.locator("#run-state")).to_contain_text("62.5 %")


def test_a_run_is_cancelled_by_a_button(cast: Cast, enter: Enter) -> None:
    run = cast.queued()
    page = enter("competitor")
    page.goto(f"/runs/{run.pk}/")
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#cancel button")
    expect(page.locator("#run-state")).to_contain_text("Cancelled")


def test_a_digest_is_copied(cast: Cast, enter: Enter) -> None:
    run = cast.scored("0.5", name="m")
    page = enter("competitor", permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/runs/{run.pk}/provenance")
    page.click(".command button")
    assert page.evaluate("navigator.clipboard.readText()") == f"heldout replay {run.pk}"


def test_times_are_shown_in_the_reader_s_zone(cast: Cast, enter: Enter) -> None:
    checkpoint = cast.checkpoint()
    page = enter("competitor", timezone_id="Asia/Tokyo", locale="en-GB")
    page.goto(f"/checkpoints/{checkpoint.pk}/submit")
    text = page.locator("aside").inner_text()
    assert "09:00 your time" in text
    assert "00:00 UTC" in text
