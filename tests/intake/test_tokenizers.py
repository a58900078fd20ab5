"""Honest tokenizers of the usual kinds pass; what they can't do is noted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checkpoints import tiny_checkpoint
from tests.intake.conftest import admitted, refused

SPACE = "▁"
_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
_SPECIALS = ("<unk>", "<s>", "</s>")


def _replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def sentencepiece(*, bytes_too: bool = True, metaspace: bool = False) -> dict[str, Any]:
    """A tokenizer as SentencePiece models are converted to: spaces as ``▁``, bytes where a character is unknown."""
    pieces = [*_SPECIALS, *(f"<0x{byte:02X}>" for byte in range(256) if bytes_too), SPACE, "\n", "\t", "\r"]
    pieces += [chr(code) for code in range(33, 127)]
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE}, _replace(" ", SPACE)]}
    meta = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first", "split": False}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    first = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    single = [first, {"Sequence": {"id": "A", "type_id": 0}}]
    model = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": bytes_too}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": text, **_FLAGS} for number, text in enumerate(_SPECIALS)],
        "normalizer": None if metaspace else normalizer,
        "pre_tokenizer": meta if metaspace else None,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [_replace(SPACE, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, strip],
        },
        "model": {**model, "vocab": {piece: number for number, piece in enumerate(pieces)}, "merges": []},
    }


def _checkpoint(folder: Path, tokenizer: dict[str, Any]) -> Path:
    tiny_checkpoint(folder, vocab=384, config={"eos_token_id": 2, "bos_token_id": 1, "pad_token_id": None})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    settings = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": {"content": "<unk>"}, "tokenizer_class": "X"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "generation_config.json").unlink()
    return folder


@pytest.mark.parametrize("metaspace", [False, True])
def test_spaces_may_be_written_as_sentencepiece_does(tmp_path: Path, metaspace: bool) -> None:
    facts = admitted(_checkpoint(tmp_path / "c", sentencepiece(metaspace=metaspace))).facts

    assert (facts["bos"], facts["eos"]) == (1, [2])


def test_a_first_token_is_added_to_plain_text_and_not_to_what_a_template_wrote(tmp_path: Path) -> None:
    with_first = admitted(_checkpoint(tmp_path / "a", sentencepiece())).facts
    without = sentencepiece()
    without["post_processor"] = None
    plain = admitted(_checkpoint(tmp_path / "b", without)).facts

    assert with_first["completion"]["ids"] == plain["completion"]["ids"] + 1
    assert with_first["control"] == plain["control"]


def test_characters_it_can_not_express_are_noted(tmp_path: Path) -> None:
    notes = admitted(_checkpoint(tmp_path / "c", sentencepiece(bytes_too=False))).notes

    assert any("hold characters that it can't express" in note for note in notes)


def test_the_plain_alphabet_must_be_expressible(tmp_path: Path) -> None:
    tokenizer = sentencepiece(bytes_too=False)
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["qqq"] = vocabulary.pop("q")

    assert refused(_checkpoint(tmp_path / "c", tokenizer)) == {"tokenizer-rewrites": "tokenizer.json"}


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_declared_normal_form_is_no_rewriting(tmp_path: Path, form: str) -> None:
    folder = tiny_checkpoint(tmp_path / "c", tokenizer={"normalizer": {"type": form}})

    assert admitted(folder).facts["control"]["ids"] > 0


def test_siblings_that_say_the_same_are_welcome(good: Path) -> None:
    special = {"eos_token": {"content": "<|im_end|>", "lstrip": False}, "pad_token": "<|pad|>"}
    (good / "special_tokens_map.json").write_text(json.dumps(special), encoding="utf-8")
    (good / "added_tokens.json").write_text('{"<|im_end|>": 258}', encoding="utf-8")
    (good / "vocab.json").write_text('{"a": 97, "b": 98}', encoding="utf-8")
    (good / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")

    assert admitted(good).digest
