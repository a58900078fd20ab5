"""Runs the tokenizer, in the child only: it must know what tokenizer.json says, and give back what it was given.

The library is native code reading what a stranger wrote. It may hang, panic or abort; then the child dies, within its
limits, and the parent says which file it died of.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

from tokenizers import Tokenizer

from evaluator.errors import Finding, Refused
from evaluator.intake import names
from evaluator.intake.tokenizer_file import Vocabulary

_EXPORT = "Export the tokenizer again from its published form."
_LONG = 2**16

PLAIN = (
    "The quick brown fox jumps over the lazy dog.",
    "What is 12 + 30? Answer with a number.",
    "A) Mars B) Venus C) Earth D) Jupiter",
    "def add(a, b):\n    return a + b  # comment\n",
    'x = {"key": [1, 2.50, -3e-7], "other": null}',
    "It's 3,000,000 dollars; isn't it? We'll see...  two  spaces",
    "tab\tand line\nand two\n\nand Windows\r\nend",
    "http://example.org/a_b-c?d=e&f=%20#g",
    "0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "CamelCase snake_case kebab-case SHOUTING",
)
FOREIGN = (
    "naïve café façade – “quotes” … €5",
    "Übergrößenträger straße",
    "Привет, как дела?",
    "東京は日本の首都です。",
    "今天天气很好，我们去公园。",
    "مرحبا بالعالم",
    "नमस्ते दुनिया",
    "🙂👩‍👩‍👧‍👦🇪🇺",
    "e\u0301 a\u0308 \u212b ² ﬁ",
    "x² + y² ≤ 1 ⇒ ∑ 1/n²",
)


def load(data: bytes) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(data)
    except Exception as error:  # noqa: BLE001 - the library raises plain Exception for every parse error
        problem = f"The tokenizers library can't read it: {ascii(str(error))[1:200]}."
        raise Refused.one("tokenizer-unreadable", names.TOKENIZER, problem, _EXPORT) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def check(tokenizer: Tokenizer, vocabulary: Vocabulary) -> list[str]:
    """Notes. Raises ``Refused`` where the tokenizer does something else than its file says, or loses text."""
    if tokenizer.get_vocab(with_added_tokens=True) != vocabulary.ids:
        problem = "The tokenizers library reads other tokens or ids from it than the file states."
        raise Refused.one("tokenizer-vocabulary", names.TOKENIZER, problem, _EXPORT)
    findings = [finding for text in (*PLAIN, *_words(40)) if (finding := _round_trip(tokenizer, vocabulary, text))]
    if findings:
        raise Refused(findings[:3])
    unknown = _foreign(tokenizer, vocabulary)
    _stress(tokenizer)
    if not unknown:
        return []
    return [f"{names.TOKENIZER}: {unknown} of {len(FOREIGN)} test texts hold characters that it can't express."]


def ids(tokenizer: Tokenizer, text: str, *, special: bool) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=special).ids)


def _foreign(tokenizer: Tokenizer, vocabulary: Vocabulary) -> int:
    """How many texts hold characters that the tokenizer has no token for; the others must come back as they were."""
    unknown, findings = 0, []
    for text in FOREIGN:
        if _has_unknown(ids(tokenizer, text, special=False), vocabulary):
            unknown += 1
        elif finding := _round_trip(tokenizer, vocabulary, text):
            findings.append(finding)
    if findings:
        raise Refused(findings[:3])
    return unknown


def _has_unknown(found: Sequence[int], vocabulary: Vocabulary) -> bool:
    return vocabulary.unknown is not None and vocabulary.ids[vocabulary.unknown] in found


def _round_trip(tokenizer: Tokenizer, vocabulary: Vocabulary, text: str) -> Finding | None:
    back = tokenizer.decode(ids(tokenizer, text, special=False), skip_special_tokens=False)
    expected = text
    for form in vocabulary.unicode_forms:
        expected = unicodedata.normalize(form, expected)  # type: ignore[arg-type]  # one of four, by tokenizer_file
    if back in (expected, expected.removeprefix(" "), " " + expected):
        return None  # tokenizers of SentencePiece's kind add or drop one leading space
    problem = f"Encoding and decoding {text[:60]!a} gives {back[:60]!a}: text is rewritten or lost."
    remedy = "Upload a tokenizer that keeps the text as it is (up to Unicode normalisation)."
    return Finding("tokenizer-rewrites", names.TOKENIZER, problem, remedy)


def _words(count: int) -> list[str]:
    """Random made-up sentences, new each time: no fixed corpus that a tokenizer could be made to pass."""
    source = random.SystemRandom()
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(source.choices(letters, k=source.randint(1, 10))) for _ in range(count * 8)]
    return [" ".join(words[start : start + 8]) + f" {source.randint(0, 10**6)}." for start in range(0, count * 8, 8)]


def _stress(tokenizer: Tokenizer) -> None:
    """Long texts of the shapes that make regular expressions and merging slow. Too slow means the child is ended."""
    for pattern in ("a", "a ", "0", " ", "\n", "ab!", "é東"):
        text = pattern * (_LONG // len(pattern))
        tokenizer.encode(text, add_special_tokens=False)
