"""Judges tokenizer.json as data: a closed list of component types, each within what an honest tokenizer needs.

A tokenizer is a program in disguise: a normaliser can rewrite a prompt, a post-processor can add text, a decoder can
alter an answer. Only components that keep the text, and the two spellings of a space, are taken. What passes here is
then run on a fixed corpus (``tokenizer_run``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import names

SPACE = "▁"
"""How SentencePiece-like tokenizers write a space."""

_SHOWN = 5
_LONGEST_TOKEN = 1024
_DECLARED = "Export the tokenizer again from its published form; text may not be rewritten on the way to the model."


@dataclass(frozen=True)
class Vocabulary:
    """``ids`` holds every token of the model and of ``added``; ``special`` the contents flagged as such."""

    ids: Mapping[str, int]
    added: Mapping[str, int]
    special: frozenset[str]
    unknown: str | None
    unicode_forms: tuple[str, ...]
    notes: tuple[str, ...]


def read(untrusted: Mapping[str, Any]) -> Vocabulary:
    """Raises ``Refused`` with every component that is not taken."""
    findings = _keys(untrusted)
    for part, rules in _RULES.items():
        findings += _component(untrusted.get(part), part, rules)
    findings += _model(untrusted.get("model"))
    if findings:
        raise Refused(findings[: 4 * _SHOWN])
    ids, unknown = _model_vocabulary(untrusted["model"])
    added, special = _added(untrusted.get("added_tokens") or [])
    _agree(ids, added)
    _frames(untrusted.get("post_processor"), {**ids, **added}, special)
    return Vocabulary({**ids, **added}, added, special, unknown, tuple(_forms(untrusted)), tuple(_notes(untrusted)))


def _keys(untrusted: Mapping[str, Any]) -> list[Finding]:
    known = {"version", "truncation", "padding", "added_tokens", "model", *_RULES}
    extra = sorted(untrusted.keys() - known)[:_SHOWN]
    problem = "The key is not one that tokenizer.json has."
    return [_finding("tokenizer-component", ascii(key[:60])[1:-1], problem, _DECLARED) for key in extra]


Rule = Callable[[Mapping[str, Any]], str | None]
"""Says what is wrong with one component's settings, or None."""


def _anything(_: Mapping[str, Any]) -> str | None:
    return None


def _only_space(replaced: str, by: str) -> Rule:
    """A Replace that turns one spelling of a space into the other, and nothing else."""

    def rule(component: Mapping[str, Any]) -> str | None:
        if component.get("pattern") == {"String": replaced} and component.get("content") == by:
            return None
        return f"replaces other text than {replaced!a} by {by!a}"

    return rule


def _prepend(component: Mapping[str, Any]) -> str | None:
    return None if component.get("prepend") == SPACE else "puts text before the prompt"


def _strip(component: Mapping[str, Any]) -> str | None:
    one_space = component.get("content") == " " and component.get("start") in (0, 1) and component.get("stop") == 0
    return None if one_space else "strips more than one leading space"


def _metaspace(component: Mapping[str, Any]) -> str | None:
    return None if component.get("replacement") == SPACE else "writes spaces in its own way"


def _split(component: Mapping[str, Any]) -> str | None:
    return "removes what it splits at" if component.get("behavior") == "Removed" else None


_RULES: Mapping[str, Mapping[str, Rule]] = {
    "normalizer": {
        **dict.fromkeys(("NFC", "NFD", "NFKC", "NFKD"), _anything),
        "Replace": _only_space(" ", SPACE),
        "Prepend": _prepend,
    },
    "pre_tokenizer": {
        **dict.fromkeys(("ByteLevel", "Digits", "Punctuation"), _anything),
        "Split": _split,
        "Metaspace": _metaspace,
    },
    "post_processor": dict.fromkeys(("ByteLevel", "TemplateProcessing"), _anything),
    "decoder": {
        **dict.fromkeys(("ByteLevel", "ByteFallback", "Fuse"), _anything),
        "Replace": _only_space(SPACE, " "),
        "Strip": _strip,
        "Metaspace": _metaspace,
    },
}
_PARTS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}


def _component(untrusted: Any, part: str, rules: Mapping[str, Rule], depth: int = 0) -> list[Finding]:
    if untrusted is None:
        return []
    if not isinstance(untrusted, dict) or not isinstance(untrusted.get("type"), str) or depth > 3:
        return [_finding("tokenizer-component", part, "The component has no type.", _DECLARED)]
    kind = untrusted["type"]
    if kind == "Sequence":
        children = untrusted.get(_PARTS[part])
        if not isinstance(children, list) or len(children) > 20:
            return [_finding("tokenizer-component", part, "The sequence does not list its components.", _DECLARED)]
        return [finding for child in children for finding in _component(child, part, rules, depth + 1)]
    if kind not in rules:
        problem = f"The component {kind[:60]!a} is not taken; allowed are {', '.join(sorted(rules))} and Sequence."
        return [_finding("tokenizer-component", part, problem, _DECLARED)]
    wrong = rules[kind](untrusted)
    return [_finding("tokenizer-rewrites", part, f"The component {kind} {wrong}.", _DECLARED)] if wrong else []


def _model(untrusted: Any) -> list[Finding]:
    if not isinstance(untrusted, dict):
        return [_finding("tokenizer-component", "model", "The tokenizer has no model.", _DECLARED)]
    if untrusted.get("type") not in ("BPE", "Unigram"):
        problem = f"The model type {ascii(untrusted.get('type'))[:60]} is not taken; allowed are BPE and Unigram."
        return [_finding("tokenizer-component", "model", problem, _DECLARED)]
    if untrusted.get("dropout") not in (None, 0, 0.0):
        problem = "Dropout makes tokens random."
        return [_finding("tokenizer-component", "model.dropout", problem, 'Set "dropout": null.')]
    affixes = [key for key in ("continuing_subword_prefix", "end_of_word_suffix") if untrusted.get(key)]
    problem = "Texts added to parts of words are not taken."
    return [_finding("tokenizer-component", f"model.{key}", problem, f'Set "{key}": null.') for key in affixes]


def _model_vocabulary(model: Mapping[str, Any]) -> tuple[dict[str, int], str | None]:
    """Tokens to ids and the unknown token, of either model type."""
    vocabulary = model.get("vocab")
    if model["type"] == "BPE" and isinstance(vocabulary, dict):
        ids, unknown = vocabulary, model.get("unk_token")
    elif model["type"] == "Unigram" and isinstance(vocabulary, list) and all(_is_piece(piece) for piece in vocabulary):
        ids = {piece[0]: number for number, piece in enumerate(vocabulary)}
        unknown = dict(enumerate(ids)).get(model.get("unk_id", -1))
        if len(ids) != len(vocabulary):
            raise _refused("model.vocab", "A token stands twice in the vocabulary.")
    else:
        raise _refused("model.vocab", "The vocabulary is missing or has a form that is not known.")
    if not ids or not all(type(number) is int and number >= 0 for number in ids.values()):
        raise _refused("model.vocab", "Token ids must be whole numbers from 0.")
    if len(set(ids.values())) != len(ids):
        raise _refused("model.vocab", "Two tokens have the same id.")
    if unknown is not None and unknown not in ids:
        raise _refused("model.unk_token", f"The unknown token {ascii(unknown)[:60]} is not in the vocabulary.")
    return ids, unknown


def _is_piece(untrusted: Any) -> bool:
    return isinstance(untrusted, list) and len(untrusted) == 2 and isinstance(untrusted[0], str)


def _added(untrusted: Any) -> tuple[dict[str, int], frozenset[str]]:
    ids: dict[str, int] = {}
    taken: set[int] = set()
    special = set()
    for number, token in enumerate(untrusted if isinstance(untrusted, list) else [None]):
        if not isinstance(token, dict) or type(token.get("id")) is not int or token["id"] < 0:
            raise _refused(f"added_tokens[{number}]", "An added token needs an id and a content.")
        content = token.get("content")
        if not isinstance(content, str) or not 0 < len(content) <= _LONGEST_TOKEN:
            raise _refused(f"added_tokens[{number}]", f"An added token's content has 1 to {_LONGEST_TOKEN} characters.")
        if content in ids or token["id"] in taken:
            raise _refused(f"added_tokens[{number}]", f"The added token {content[:60]!a} stands twice.")
        ids[content] = token["id"]
        taken.add(token["id"])
        if token.get("special") is True:
            special.add(content)
    return ids, frozenset(special)


def _agree(ids: Mapping[str, int], added: Mapping[str, int]) -> None:
    by_id = {number: token for token, number in ids.items()}
    for content, number in added.items():
        if ids.get(content, number) != number or by_id.get(number, content) != content:
            problem = f"The added token {content[:60]!a} and the vocabulary disagree about the id {number}."
            raise _refused("added_tokens", problem)


def _frames(untrusted: Any, ids: Mapping[str, int], special: frozenset[str]) -> None:
    """A template may put one special token before the text and one after it, by its own id; nothing else."""
    for component in _flat(untrusted):
        if component.get("type") != "TemplateProcessing":
            continue
        pieces = component.get("single") or []
        kinds = [next(iter(piece), "") if isinstance(piece, dict) else "" for piece in pieces]
        if kinds not in (["Sequence"], ["SpecialToken", "Sequence"], ["Sequence", "SpecialToken"], _BOTH):
            raise _rewrites("puts more around a text than one special token before and one after it")
        declared = component.get("special_tokens") or {}
        for piece in pieces:
            if "SpecialToken" in piece and not _is_itself(piece["SpecialToken"].get("id"), declared, ids, special):
                raise _rewrites("adds a token that is not one special token by its own id")


_BOTH = ["SpecialToken", "Sequence", "SpecialToken"]


def _is_itself(token: Any, declared: Mapping[str, Any], ids: Mapping[str, int], special: frozenset[str]) -> bool:
    entry = declared.get(token) if isinstance(token, str) else None
    return isinstance(entry, dict) and token in special and entry.get("ids") == [ids[token]]


def _flat(untrusted: Any) -> list[dict[str, Any]]:
    if not isinstance(untrusted, dict):
        return []
    nested = untrusted.get("processors") or untrusted.get("normalizers")
    return [untrusted] if not nested else [part for child in nested for part in _flat(child)]


def _forms(untrusted: Mapping[str, Any]) -> list[str]:
    """The Unicode normal forms that the normaliser declares, in order."""
    return [part["type"] for part in _flat(untrusted.get("normalizer")) if part.get("type", "").startswith("NF")]


def _notes(untrusted: Mapping[str, Any]) -> list[str]:
    left = [key for key in ("truncation", "padding") if untrusted.get(key) is not None]
    return [f"{names.TOKENIZER}: {key} is set; it is switched off, prompts are never cut or padded." for key in left]


def _rewrites(problem: str) -> Refused:
    return Refused([_finding("tokenizer-rewrites", "post_processor", f"The template {problem}.", _DECLARED)])


def _refused(path: str, problem: str) -> Refused:
    return Refused([_finding("tokenizer-vocabulary", path, problem, _DECLARED)])


def _finding(code: str, path: str, problem: str, remedy: str) -> Finding:
    return Finding(code, f"{names.TOKENIZER}: at {path}", problem, remedy)
