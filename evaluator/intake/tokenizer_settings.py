"""The small files beside tokenizer.json must say the same as it does: loaders differ in which of them they believe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import names
from evaluator.intake.tokenizer_file import Vocabulary

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_SHOWN = 5
_ONE_TRUTH = "Make it agree with tokenizer.json, or save the tokenizer again with save_pretrained."


@dataclass(frozen=True)
class Settings:
    """``tokens`` are the named special tokens by their names; the template sees them as variables."""

    tokens: Mapping[str, str]
    template: str | None
    longest: int | None


def read(config: Mapping[str, Any]) -> Settings:
    """What tokenizer_config.json says by itself. Raises ``Refused``."""
    template = config.get("chat_template")
    if template is not None and not isinstance(template, str):
        problem = "chat_template is not one text; which of several templates is used would be a guess."
        remedy = "Keep the one template in chat_template.jinja and delete the key."
        raise Refused.one("template-conflict", names.TOKENIZER_CONFIG, problem, remedy)
    longest = config.get("model_max_length")
    tokens = {key: text for key in NAMED if (text := _text(config.get(key))) is not None}
    return Settings(tokens, template, longest if type(longest) is int else None)


def compare(files: Mapping[str, Mapping[str, Any]], merges: str | None, vocabulary: Vocabulary) -> list[Finding]:
    """Where the files beside it disagree with tokenizer.json. ``files`` are the parsed JSON files by name."""
    config = files.get(names.TOKENIZER_CONFIG, {})
    return [
        *_named(config, vocabulary),
        *_map(files.get(names.SPECIAL_TOKENS, {}), config),
        *_decoder(config, vocabulary),
        *_ids(files, vocabulary),
        *_merges(files.get(names.TOKENIZER, {}), merges),
    ]


def _text(untrusted: Any) -> str | None:
    content = untrusted.get("content") if isinstance(untrusted, dict) else untrusted
    return content if isinstance(content, str) else None


def _named(config: Mapping[str, Any], vocabulary: Vocabulary) -> Iterator[Finding]:
    """A loader adds each unknown token with an id of its own, which has no row in the embedding."""
    stated = [(key, text) for key, item in config.items() if key.endswith("_token") and (text := _text(item))]
    for key in ("additional_special_tokens", "extra_special_tokens"):
        several = config.get(key) or []
        several = several.values() if isinstance(several, dict) else several
        if not isinstance(several, list | type({}.values())):
            yield _finding(names.TOKENIZER_CONFIG, key, "The value must be a list of tokens.")
            continue
        stated += [(key, text) for item in several if (text := _text(item))]
    unknown = [(key, text) for key, text in stated if text not in vocabulary.ids]
    for key, text in unknown[:_SHOWN]:
        yield _finding(names.TOKENIZER_CONFIG, key, f"The token {text[:60]!a} is not in tokenizer.json.")


def _map(special: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Finding]:
    for key, item in special.items():
        if key in NAMED and _text(item) != _text(config.get(key)):
            other = ascii(_text(config.get(key)))[:60]
            problem = f"It says {ascii(_text(item))[:60]}, tokenizer_config.json says {other}."
            yield _finding(names.SPECIAL_TOKENS, key, problem)


def _decoder(config: Mapping[str, Any], vocabulary: Vocabulary) -> Iterator[Finding]:
    listed = config.get("added_tokens_decoder") or {}
    if not isinstance(listed, dict):
        yield _finding(names.TOKENIZER_CONFIG, "added_tokens_decoder", "The value must map ids to tokens.")
        return
    wrong = [(key, _text(item)) for key, item in listed.items() if str(vocabulary.ids.get(_text(item) or "")) != key]
    for key, text in wrong[:_SHOWN]:
        problem = f"The token {ascii(text)[:60]} does not have the id {key[:20]} in tokenizer.json."
        yield _finding(names.TOKENIZER_CONFIG, f"added_tokens_decoder.{key[:20]}", problem)


def _ids(files: Mapping[str, Mapping[str, Any]], vocabulary: Vocabulary) -> Iterator[Finding]:
    for name in (names.ADDED_TOKENS, names.VOCABULARY):
        wrong = [(text, item) for text, item in files.get(name, {}).items() if vocabulary.ids.get(text) != item]
        for text, item in wrong[:_SHOWN]:
            problem = f"The token {text[:60]!a} does not have the id {ascii(item)[:20]} in tokenizer.json."
            yield Finding("tokenizer-conflict", name, problem, "Delete this file; tokenizer.json is what is used.")


def _merges(tokenizer: Mapping[str, Any], merges: str | None) -> Iterator[Finding]:
    if merges is None:
        return
    lines = [line for line in merges.split("\n") if line and not line.startswith("#version")]
    stated = tokenizer.get("model", {}).get("merges", [])
    if lines != [item if isinstance(item, str) else " ".join(item) for item in stated]:
        problem = "The merges differ from those in tokenizer.json."
        yield Finding("tokenizer-conflict", "merges.txt", problem, "Delete this file; tokenizer.json is what is used.")


def _finding(file: str, key: str, problem: str) -> Finding:
    return Finding("tokenizer-conflict", f"{file}: at {key[:80]}", problem, _ONE_TRUTH)
