"""Pages as people see them: light, dark, narrow, by keyboard, and with hostile names in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from leaderboard.models import Benchmark, Checkpoint, PracticeResult, Team
from tests import cast as casting
from tests.browser.conftest import DESK, PHONE, Enter, shoot
from tests.cast import Cast

pytestmark = pytest.mark.browser

MODELS = (
    ("aurora-distilled-0.3b", "aurora", "0.523", "0.060", {}),
    ("smollm2-practice-tuned", "aurora", "0.438", "0.062", {}),
    ("northern-base", "borealis", "0.438", "0.060", {}),
    ("smollm2-135m-instruct", "aurora", "0.412", "0.061", {}),
    ("smollm2-perturbed", "borealis", "0.271", "0.055",
     {"faults": {"engine": 2}, "valid": 198, "coverage": Decimal("0.99"), "worst": Decimal("0.268")}),
    ("tiny-random", "borealis", "0.043", "0.024", {}),
)  # fmt: skip


@pytest.fixture
def board(cast: Cast) -> Cast:
    """A board with something on it."""
    Benchmark.objects.update(
        title="Small reasoning",
        description="Numeric word problems, multiple choice, short answers: from generators with a secret seed.",
    )
    for name, team, score, half, extra in MODELS:
        cast.scored(score, getattr(cast, team), name=name, half=half, **extra)
    cast.scored(None, cast.borealis, name="half-broken", valid=150, coverage=Decimal("0.75"), faults={"engine": 50})
    failed = cast.queued(checkpoint=cast.checkpoint(name="does-not-load"))
    with casting.unguarded("leaderboard_run"):
        casting.move(failed, "failed", reason="checkpoint.load")
    return cast


def fits(page: Page) -> None:
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1], width


def addresses(cast: Cast) -> Iterator[tuple[str, str]]:
    run = casting.Run.objects.filter(submission__team=cast.aurora, state="scored").first()
    assert run is not None
    if not run.practice_results.exists():
        casting.practise(run, 5)
    upload = casting.admissions.open_upload(cast.aurora, cast.competitor, "half", casting.admissions.Declaration())
    checkpoint = run.submission.checkpoint_id
    yield from (
        ("board", "/boards/small/"), ("benchmarks", "/benchmarks/"), ("benchmark", "/benchmarks/small/"),
        ("submit", "/submit/"), ("runs", "/runs/"), ("run", f"/runs/{run.pk}/"),
        ("provenance", f"/runs/{run.pk}/provenance"), ("checkpoints", "/checkpoints/"),
        ("checkpoint", f"/checkpoints/{checkpoint}/"), ("preset", f"/checkpoints/{checkpoint}/submit"),
        ("teams", "/teams/"), ("team", "/teams/aurora/"), ("upload", f"/uploads/{upload.pk}/"),
    )  # fmt: skip


def test_every_page_is_photographed_and_fits(board: Cast, enter: Enter) -> None:
    page = enter("captain")
    for name, path in addresses(board):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 200, path
        fits(page)
        shoot(page, name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone(board: Cast, enter: Enter, scheme: str) -> None:
    page = enter("captain", viewport=PHONE, color_scheme=scheme)
    for name, path in addresses(board):
        page.goto(path)
        fits(page)
        if name in {"board", "run"}:
            shoot(page, f"{name}-phone-{scheme}")


def test_the_board_in_the_dark(board: Cast, enter: Enter) -> None:
    page = enter("captain", color_scheme="dark")
    page.goto("/boards/small/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 24)"
    shoot(page, "board-dark")


def test_the_colours_can_be_chosen_and_stay(board: Cast, enter: Enter) -> None:
    page = enter("captain")
    page.goto("/boards/small/")
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto("/runs/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 21, 24)"


def test_text_stands_out_from_its_background(board: Cast, enter: Enter) -> None:
    for scheme in ("light", "dark"):
        page = enter("captain", color_scheme=scheme)
        page.goto("/boards/small/")
        low = page.evaluate(CONTRAST)
        assert low == [], (scheme, low)


CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const node of document.querySelectorAll("main *, header *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.offsetParent || node.closest("svg")) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${node.tagName} ${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return low;
}"""


def test_filters_change_the_table_and_the_address(board: Cast, enter: Enter) -> None:
    page = enter("stranger")
    page.goto("/boards/small/")
    page.select_option("#team", "borealis")
    expect(page.locator("#board .board").first.locator("tbody tr")).to_have_count(3)
    page.wait_for_url(re.compile("team=borealis"))
    page.reload()
    expect(page.locator("#board .board").first.locator("tbody tr")).to_have_count(3)
    page.fill("#q", "northern")
    expect(page.locator("#board .board").first.locator("tbody tr")).to_have_count(1)
    page.go_back()
    expect(page.locator("h1")).to_have_text("Small reasoning")


def test_everything_is_reached_by_keyboard(board: Cast, enter: Enter) -> None:
    page = enter("competitor")
    page.goto("/boards/small/")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert {
        "To the content",
        "Board",
        "Submit",
        "theme",
        "team",
        "q",
        "CSV",
        "Model",
        "smollm2-135m-instruct",
    } <= reached
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") is not None


def test_sign_in_says_what_is_wrong(cast: Cast, enter: Enter) -> None:
    page = enter(None)
    page.goto("/runs/")
    shoot(page, "sign-in")
    page.fill("#id_login", "competitor")
    page.fill("#id_password", "wrong")
    page.click("main button[type=submit]")
    expect(page.locator(".errorlist")).to_be_visible()
    page.fill("#id_password", casting.PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url("**/runs/")


PAYLOADS = (
    "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>",
    "{{ 7|add:7 }}{% debug %}", "javascript:window.hit=1", "</title><script>window.hit=1</script>",
    "'-window.hit=1-'",
)  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_text_is_only_text(cast: Cast, enter: Enter, payload: str) -> None:
    run = cast.scored("0.5", name="m")
    Team.objects.filter(pk=cast.aurora.pk).update(name=payload)
    Benchmark.objects.update(title=payload, description=payload)
    declared = {"base_model": payload, "training_data": payload, "notes": payload}
    Checkpoint.objects.update(
        name=payload[:120], declaration=declared, facts={"architecture": payload, payload: payload}
    )
    casting.practise(run, 1)
    with casting.unguarded("leaderboard_practiceresult", "leaderboard_submission", "leaderboard_attempt"):
        PracticeResult.objects.update(
            prompt=[{"role": payload, "content": payload}], completion=payload, expected=[payload], reason=payload[:80],
            category=payload, kind="<b>",
        )  # fmt: skip
        casting.Submission.objects.update(declaration=declared)
        casting.Attempt.objects.update(runspec={payload: payload, "engine": {payload: payload}})
    page = enter("captain")
    for name, path in addresses(cast):
        page.goto(path)
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("window.hit") is None, name
        assert "14" not in page.title()


def test_a_page_that_is_not_there(cast: Cast, enter: Enter) -> None:
    page = enter("stranger")
    page.goto("/runs/00000000-0000-0000-0000-000000000000/")
    expect(page.locator("h1")).to_have_text("Nothing here")
    shoot(page, "not-found")
    assert DESK["width"] > PHONE["width"]
