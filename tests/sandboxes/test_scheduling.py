"""The order of work depends on the set of items alone, and its memory is bounded."""

from __future__ import annotations

import random

from sandboxes.model.engine import Prompt
from sandboxes.model.scheduling import PADDED_TOKENS, batches, ordered


def prompts(*lengths: int) -> list[Prompt]:
    return [Prompt(index, [1] * length, 4) for index, length in enumerate(lengths)]


def test_the_longest_prompt_comes_first_and_ties_go_by_index() -> None:
    assert [each.index for each in ordered(prompts(3, 5, 3, 5))] == [1, 3, 0, 2]


def test_the_order_of_arrival_does_not_matter() -> None:
    arrived = prompts(*[7, 3, 3, 9, 1] * 4)
    wanted = ordered(arrived)
    random.Random(1).shuffle(arrived)
    assert ordered(arrived) == wanted


def test_batches_hold_each_prompt_once_and_no_more_than_allowed() -> None:
    schedule = ordered(prompts(*range(1, 12)))
    cut = batches(schedule, 4)
    assert [len(batch) for batch in cut] == [4, 4, 3]
    assert [each for batch in cut for each in batch] == schedule


def test_a_batch_of_long_prompts_is_narrower() -> None:
    cut = batches(ordered(prompts(*[PADDED_TOKENS // 2] * 3, 10)), 4)
    assert [len(batch) for batch in cut] == [2, 2]


def test_a_prompt_longer_than_any_budget_goes_alone() -> None:
    assert [len(batch) for batch in batches(ordered(prompts(PADDED_TOKENS * 2, 5)), 4)] == [1, 1]
