"""What a good checkpoint is told: identity, facts, notes; and that all mistakes of a bad one are told at once."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from evaluator.errors import Refused
from evaluator.intake import admit
from evaluator.records import controls
from evaluator.records.canonical import digest
from fixtures.hostile import shards
from fixtures.hostile.lie import edit
from tests.checkpoints import CHATML, END, START, Tensors, tiny_checkpoint
from tests.intake.conftest import QUICK, admitted, refused


def test_it_identifies_a_checkpoint_by_names_sizes_and_digests_of_its_files(good: Path) -> None:
    admission = admitted(good)

    files = {path.name: path.read_bytes() for path in sorted(good.iterdir())}
    assert admission.manifest == {
        "format": "heldout.checkpoint/1",
        "files": [
            {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        ],
    }
    assert admission.digest == digest(admission.manifest)


def test_it_states_what_the_model_is(good: Path) -> None:
    facts = admitted(good).facts

    stated = {key: facts[key] for key in ("architecture", "dtype", "vocabulary", "context", "bos", "eos")}
    assert stated == {
        "architecture": "LlamaForCausalLM",
        "dtype": "float32",
        "vocabulary": 320,
        "context": 256,
        "bos": 256,
        "eos": [256, 258],
    }
    assert facts["parameters"] == 2 * 320 * 64 + 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 128 * 64)


def test_it_says_the_same_twice(good: Path) -> None:
    first, second = admitted(good), admitted(good)

    assert (first.manifest, first.facts, first.notes) == (second.manifest, second.facts, second.notes)


def test_the_control_prompt_is_what_template_and_tokenizer_make_of_it(good: Path) -> None:
    text = f"<|im_start|>user\n{controls.TEXT}<|im_end|>\n<|im_start|>assistant\n"
    ids = [START, *b"user\n", *controls.TEXT.encode(), END, *b"\n", START, *b"assistant\n"]

    packed = b"".join(number.to_bytes(4, "little") for number in ids)
    assert admitted(good).facts["control"] == {
        "messages": [{"role": "user", "content": controls.TEXT}],
        "text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "ids_sha256": hashlib.sha256(packed).hexdigest(),
        "ids": len(ids),
    }


def test_the_control_prompt_in_completion_form_is_plain_text(good: Path) -> None:
    packed = b"".join(byte.to_bytes(4, "little") for byte in controls.PROMPT.encode())

    completion = admitted(good).facts["completion"]

    assert completion["prompt"] == controls.PROMPT
    assert completion["ids_sha256"] == hashlib.sha256(packed).hexdigest()


def test_a_checkpoint_without_template_is_admitted_for_completion(tmp_path: Path) -> None:
    facts = admitted(tiny_checkpoint(tmp_path / "c", template=None)).facts

    assert facts["template"] is None
    assert facts["control"] == facts["completion"]


def test_a_template_in_the_tokenizer_configuration_counts(tmp_path: Path) -> None:
    beside = admitted(tiny_checkpoint(tmp_path / "a")).facts
    inside = tiny_checkpoint(tmp_path / "b", template=None, tokenizer_config={"chat_template": CHATML})

    facts = admitted(inside).facts

    assert (facts["template"], facts["control"]) == (beside["template"], beside["control"])


def test_shards_are_one_checkpoint(good: Path) -> None:
    whole = admitted(good).facts
    shards.three(good)

    facts = admitted(good).facts

    assert facts["parameters"] == whole["parameters"]
    assert facts["tokenizer"] == whole["tokenizer"]
    assert facts["weights"] != whole["weights"]


def test_the_stored_type_is_stated_and_another_declaration_noted(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "c", dtype="bfloat16", config={"dtype": "float16"})

    admission = admitted(folder)

    assert admission.facts["dtype"] == "bfloat16"
    assert "config.json: declares float16, but most weights are stored as bfloat16." in admission.notes


def test_sampling_values_of_the_checkpoint_are_a_note(good: Path) -> None:
    edit(good, "generation_config.json", temperature=1.5, top_k=5, do_sample=True)

    (note,) = admitted(good).notes

    assert "do_sample True, temperature 1.5, top_k 5" in note


def test_an_embedding_larger_than_the_tokenizer_is_fine(tmp_path: Path) -> None:
    assert admitted(tiny_checkpoint(tmp_path / "c", vocab=384)).facts["vocabulary"] == 384


def test_where_it_was_once_loaded_from_is_a_note(good: Path) -> None:
    edit(good, "config.json", _name_or_path="org/base")

    assert admitted(good).notes == (
        "config.json: _name_or_path names 'org/base'; it is ignored, only this folder is loaded.",
    )


def test_settings_that_would_cut_prompts_are_switched_off_and_noted(good: Path) -> None:
    cut = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    before = admitted(good).facts["control"]
    edit(good, "tokenizer.json", truncation=cut)

    admission = admitted(good)

    assert admission.facts["control"] == before
    assert any("truncation is set" in note for note in admission.notes)


def test_a_tied_head_that_is_stored_all_the_same_must_be_the_embedding(tmp_path: Path) -> None:
    def same(tensors: Tensors) -> None:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]

    folder = tiny_checkpoint(tmp_path / "c", config={"tie_word_embeddings": True}, tensors=same)

    assert admitted(folder).facts["parameters"] == 115008 - 320 * 64


def test_a_tied_head_need_not_be_stored(tmp_path: Path) -> None:
    folder = tiny_checkpoint(
        tmp_path / "c", config={"tie_word_embeddings": True}, tensors=lambda tensors: tensors.pop("lm_head.weight")
    )

    assert admitted(folder).facts["parameters"] == 115008 - 320 * 64


def test_all_mistakes_are_told_at_once(good: Path) -> None:
    (good / "modeling_x.py").write_text("pass", encoding="utf-8")
    (good / "README.md").symlink_to("/etc/passwd")
    edit(good, "config.json", auto_map={}, num_hidden_layers=3)
    edit(good, "generation_config.json", source="https://example.org")
    edit(good, "tokenizer.json", normalizer={"type": "Lowercase"})
    (good / "chat_template.jinja").write_text("{{ 'Say 42.' }}", encoding="utf-8")

    told = refused(good)

    assert told.keys() == {
        "python-file",
        "symlink",
        "remote-code",
        "tensor-missing",
        "outside-reference",
        "tokenizer-component",
        "template-rewrites",
    }


def test_findings_are_capped(good: Path) -> None:
    for number in range(60):
        (good / f"file-{number}.txt").write_text("x", encoding="utf-8")

    with pytest.raises(Refused) as refusal:
        admit(good, limits=QUICK)

    assert len(refusal.value.findings) == 50


def test_a_stray_pickle_is_told_once_as_what_it_is(good: Path) -> None:
    (good / "training_args.bin").write_bytes(b"\x80\x02cos\nsystem\nX\x01\x00\x00\x00x\x85R.")

    assert refused(good) == {"pickle": "training_args.bin"}


def test_it_refuses_an_empty_folder(tmp_path: Path) -> None:
    assert refused(tmp_path) == {"empty-folder": tmp_path.name}


def test_it_refuses_what_is_no_folder(good: Path) -> None:
    assert refused(good / "config.json") == {"not-a-folder": "config.json"}
    assert refused(good / "nothing") == {"not-a-folder": "nothing"}


def test_it_refuses_a_folder_behind_a_link(good: Path) -> None:
    (good.parent / "link").symlink_to(good)

    assert refused(good.parent / "link") == {"not-a-folder": "link"}


def test_it_refuses_a_checkpoint_above_the_size_limit(good: Path) -> None:
    assert refused(good, total_bytes=100_000) == {"too-large": "model.safetensors"}
