"""The model guest in its container: what the engines promise, on checkpoints of a few kilobytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import Fault, FaultKind, Refused
from tests.checkpoints import CHATML, TOKENS, Tensors, tiny_checkpoint
from tests.inference.real import evaluate, ids_of, questions

pytestmark = [pytest.mark.engine]

HOT = {"eos_token_id": [258, 256], "do_sample": True, "temperature": 9.0, "top_k": 2}


def padded_rows_win(tensors: Tensors) -> None:
    """The rows of the output layer that have no token get the largest values, whatever the input."""
    head = tensors["lm_head.weight"]
    width = head.shape[1]
    for row in range(TOKENS, head.shape[0]):
        for column in range(width):
            head.values[row * width + column] *= 50


def test_it_answers_and_every_control_passes(tmp_path: Path, transformers_image: str) -> None:
    found = evaluate(tiny_checkpoint(tmp_path / "c", says="42"), transformers_image, questions(5))
    assert {(each["text"], each["outcome"], each["detail"]) for each in found.records.values()} == {
        ("42", "answered", "eos")
    }
    assert all(verdict.passed for verdict in found.report.controls)
    assert (found.ended.code, found.ended.unchanged) == (0, True)
    assert found.records[0]["tokens"] == [*b"42", 258]


def test_order_and_batch_do_not_change_an_answer(tmp_path: Path, transformers_image: str) -> None:
    folder, items = tiny_checkpoint(tmp_path / "c"), questions(24)
    one = evaluate(folder, transformers_image, items, batch={"policy": "length-sorted", "size": 1})
    many = evaluate(folder, transformers_image, items[::-1], batch={"policy": "length-sorted", "size": 16})
    for index, record in one.records.items():
        same = many.records[index]
        assert record["tokens"] == same["tokens"]
        assert abs(record["logprob"] - same["logprob"]) < 1000  # micronats
    assert len({tuple(each["tokens"]) for each in one.records.values()}) > 12


def test_ids_without_a_token_are_never_chosen(tmp_path: Path, transformers_image: str) -> None:
    folder = tiny_checkpoint(tmp_path / "c", tensors=padded_rows_win)
    found = evaluate(folder, transformers_image, questions(4))
    assert found.report.ready["barred"] == 320 - TOKENS
    assert max(token for each in found.records.values() for token in each["tokens"]) < TOKENS


def test_the_checkpoints_own_sampling_is_noted_and_ignored(tmp_path: Path, transformers_image: str) -> None:
    items = questions(4)
    plain = evaluate(tiny_checkpoint(tmp_path / "a"), transformers_image, items)
    hot = evaluate(tiny_checkpoint(tmp_path / "b", generation_config=HOT), transformers_image, items)
    assert hot.report.ready["ignored"]["temperature"] == "9.0"
    assert {n: each["tokens"] for n, each in plain.records.items()} == {
        n: each["tokens"] for n, each in hot.records.items()
    }


def test_a_stop_string_ends_an_answer_before_itself(tmp_path: Path, transformers_image: str) -> None:
    folder = tiny_checkpoint(tmp_path / "c", says="12;3")
    (record,) = evaluate(folder, transformers_image, questions(1), stop=["2;", ";"]).records.values()
    assert (record["text"], record["outcome"], record["detail"]) == ("1", "answered", "stop")
    assert record["tokens"] == list(b"12;")


def test_each_item_ends_for_its_own_reason(tmp_path: Path, transformers_image: str) -> None:
    refusing = CHATML.replace(
        "{% for", "{% if 'bad' in messages[0]['content'] %}{{ raise_exception('no') }}{% endif %}{% for", 1
    )
    folder = tiny_checkpoint(tmp_path / "c", says="abcdefghijkl", template=refusing)
    texts = ["short", "x" * 234, "y" * 300, "bad"]
    items = [{"index": n, "messages": [{"role": "user", "content": text}]} for n, text in enumerate(texts)]
    records = evaluate(folder, transformers_image, items).records
    ends = {index: (each["outcome"], each["detail"], each["text"]) for index, each in records.items()}
    assert ends == {
        0: ("limit", "length", "abcdefgh"),
        1: ("context", "context", "abc"),
        2: ("context", "context", ""),
        3: ("malformed", "template", ""),
    }


def test_prompts_are_rendered_as_the_template_says(tmp_path: Path, transformers_image: str) -> None:
    item = {"index": 0, "messages": [{"role": "user", "content": "näive"}]}
    (record,) = evaluate(tiny_checkpoint(tmp_path / "c"), transformers_image, [item]).records.values()
    assert record["prompt_tokens"] == len(ids_of("<|im_start|>user\nnäive<|im_end|>\n<|im_start|>assistant\n"))


@pytest.mark.parametrize(
    "lie", [{"num_hidden_layers": 3}, {"model_type": "nonesuch"}, {"intermediate_size": 96}, {"hidden_act": "nonesuch"}]
)
def test_a_checkpoint_that_does_not_load_is_the_submissions_doing(
    tmp_path: Path, transformers_image: str, lie: dict[str, object]
) -> None:
    with pytest.raises(Refused) as caught:
        evaluate(tiny_checkpoint(tmp_path / "c", config=lie), transformers_image, questions(1))
    assert caught.value.findings[0].code == "checkpoint.load"


def test_a_model_larger_than_its_memory_is_a_fault_of_the_sandbox(
    tmp_path: Path, transformers_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.inference.real.GIB", 1 << 25)  # 160 MiB in all: the libraries alone need more
    with pytest.raises(Fault) as caught:
        evaluate(tiny_checkpoint(tmp_path / "c"), transformers_image, questions(1))
    assert (caught.value.kind, caught.value.code) == (FaultKind.SANDBOX, "oom")


def test_sampling_repeats_by_its_seed_and_not_by_its_batch(tmp_path: Path, transformers_image: str) -> None:
    folder, items = tiny_checkpoint(tmp_path / "c"), questions(8)
    hot = {"temperature": "1.5", "top_p": "0.9", "top_k": 40}
    first = evaluate(folder, transformers_image, items, **hot, batch={"policy": "length-sorted", "size": 8}).records
    again = evaluate(folder, transformers_image, items, **hot, batch={"policy": "length-sorted", "size": 3}).records
    other = evaluate(folder, transformers_image, items, **hot, seed=1).records
    assert [first[n]["tokens"] for n in range(8)] == [again[n]["tokens"] for n in range(8)]
    assert [first[n]["tokens"] for n in range(8)] != [other[n]["tokens"] for n in range(8)]


@pytest.mark.vllm
@pytest.mark.slow
def test_both_engines_choose_the_same_tokens(tmp_path: Path, transformers_image: str, vllm_image: str) -> None:
    folder = tiny_checkpoint(tmp_path / "c", tensors=padded_rows_win, generation_config=HOT)
    items = questions(12)
    small = evaluate(folder, transformers_image, items).records
    large = evaluate(folder, vllm_image, items, engine="vllm")
    assert all(verdict.passed for verdict in large.report.controls)
    assert {n: each["tokens"] for n, each in small.items()} == {n: each["tokens"] for n, each in large.records.items()}
    assert {n: each["prompt_ids_sha256"] for n, each in small.items()} == {
        n: each["prompt_ids_sha256"] for n, each in large.records.items()
    }


@pytest.mark.vllm
@pytest.mark.slow
def test_vllm_ends_each_item_for_its_own_reason(tmp_path: Path, vllm_image: str) -> None:
    folder = tiny_checkpoint(tmp_path / "c", says="abc;defghijkl")
    texts = ["short", "x" * 234, "y" * 300]
    items = [{"index": n, "messages": [{"role": "user", "content": text}]} for n, text in enumerate(texts)]
    records = evaluate(folder, vllm_image, items, engine="vllm", stop=[";d"]).records
    ends = {index: (each["outcome"], each["detail"], each["text"]) for index, each in records.items()}
    assert ends == {0: ("answered", "stop", "abc"), 1: ("context", "context", "abc"), 2: ("context", "context", "")}
