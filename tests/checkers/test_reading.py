"""Which part of an output is read, which markers are seen, and that no pattern hangs on many of them."""

from __future__ import annotations

from evaluator.checkers.marks import LABELS, LONGEST_CLAIM, MOST_MARKS, claims
from evaluator.checkers.reading import LONGEST, MOST_TAGS, answer_part


def test_thinking_is_taken_out_wherever_it_stands() -> None:
    part = answer_part("a<think>b</think>c<thinking>d</thinking>e")
    assert part is not None
    assert part.text == "ace"


def test_what_stands_before_a_lone_closing_tag_was_thinking() -> None:
    for text in ("let me see</think>5", "4<think>so</think>no, 6</think>5"):
        part = answer_part(text)
        assert part is not None
        assert part.text == "5"


def test_more_tags_than_anybody_could_follow_are_unfinished_thinking() -> None:
    assert answer_part("</think>" * MOST_TAGS + "5") is not None
    assert answer_part("</think>" * (MOST_TAGS + 1) + "5") is None


def test_the_first_characters_are_read_and_the_cut_is_told() -> None:
    part = answer_part("5" + "x" * LONGEST)
    assert part is not None
    assert part.cut
    assert part.text.startswith("5")
    assert len(part.text) == LONGEST


def test_every_label_marks_a_claim_with_a_colon() -> None:
    for label in LABELS:
        assert next(claim.text for claim in claims(f"{label.capitalize()}: 5")) == "5", label


def test_a_label_within_a_word_is_no_marker() -> None:
    assert list(claims("unanswer: 5 and answers: 6")) == []


def test_a_label_in_a_script_without_spaces_needs_no_border() -> None:
    assert [claim.text for claim in claims("私の答え：５")] == ["５"]


def test_markers_and_the_length_of_a_claim_are_capped() -> None:
    found = list(claims("answer: " + "x" * 2000 + "\nanswer: 1" * 500))
    assert len(found) == MOST_MARKS
    assert len(found[0].text) == LONGEST_CLAIM


def test_a_letter_whose_small_form_is_longer_does_not_shift_claims() -> None:
    assert [claim.text for claim in claims("İİİİ answer: 42")] == ["42"]
