"""Demo families with a short exact answer: facts, word forms, copying, and reading a short sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from evaluator.curator import demo_words as words
from evaluator.curator.demo_families import Draft, Family, facts

_ANY = tuple(sorted({*words.NOUNS, *(word for kind in words.KINDS.values() for word in kind)}))
_COLORS = words.KINDS["color"]
_KEEP_CASE = {"case": "keep"}


def _one(wording: str, answer: Callable[[str], str]) -> Callable[[Random], Draft]:
    """A question about one word."""

    def draw(random: Random) -> Draft:
        word = random.choice(_ANY)
        return Draft(word, wording.format(word), (answer(word),))

    return draw


def _some(lead: str, number: int, answer: Callable[[Sequence[str]], str]) -> Callable[[Random], Draft]:
    """A question about several words in a row."""

    def draw(random: Random) -> Draft:
        several = random.sample(_ANY, number)
        return Draft(" ".join(several), f"{lead}: {' '.join(several)}", (answer(several),))

    return draw


def _sentence(wording: str, others: Sequence[str], asked: int) -> Callable[[Random], Draft]:
    """A sentence with a name and another word; ``asked`` says which of the two is the answer."""

    def draw(random: Random) -> Draft:
        pair = (random.choice(words.NAMES), random.choice(others))
        return Draft(" ".join(pair), wording.format(*pair), (pair[asked],))

    return draw


def _color_of(random: Random) -> Draft:
    color, thing = random.choice(_COLORS), random.choice(words.NOUNS)
    return Draft(f"{color} {thing}", f"The {thing} is {color}. Color of the {thing}?", (color,))


def _color_of_two(random: Random) -> Draft:
    one, two = random.sample(words.NOUNS, 2)
    first, second = random.sample(_COLORS, 2)
    asked, answer = random.choice([(one, first), (two, second)])
    text = f"The {one} is {first}, the {two} {second}. Color of the {asked}?"
    return Draft(f"{one} {first} {two} {second}", text, (answer,))


_CITIES = {city: country for country, city in words.CAPITALS.items()}
_AFTER = {month: words.MONTHS[(place + 1) % 12] for place, month in enumerate(words.MONTHS)}
_SPELLED = {str(number): word for number, word in enumerate(words.NUMBERS)}

_PLACES, _FORMS, _COPYING, _READING = "places", "word forms", "copying", "reading"

EXACT: tuple[Family, ...] = (
    *facts("capital", _PLACES, ["What is the capital of {}?", "{}: capital city?"], words.CAPITALS, "Spain"),
    *facts("country", _PLACES, ["{} is in which country?"], _CITIES, "Madrid"),
    *facts("language", _PLACES, ["Language of {}?", "Language spoken in {}?"], words.LANGUAGES, "Spain"),
    *facts("continent", _PLACES, ["Continent of {}?"], words.CONTINENTS, "Spain"),
    *facts("opposite", _FORMS, ["Opposite of {}?"], words.OPPOSITES, "big"),
    *facts("plural", _FORMS, ["Plural of {}?", "one {}, two"], words.PLURALS, "dog"),
    *facts("past", _FORMS, ["Past tense of {}?"], words.PASTS, "talk"),
    *facts("comparative", _FORMS, ["Comparative of {}?"], words.COMPARATIVES, "tall"),
    *facts("adverb", _FORMS, ["Adverb of {}?"], words.ADVERBS, "slow"),
    *facts("doer", _FORMS, ["One who {}?"], words.DOERS, "paints"),
    *facts("compound", _FORMS, ["Join: {}"], words.COMPOUNDS, "sun + flower"),
    *facts("spelled", _FORMS, ["Word for {}?"], _SPELLED, "3"),
    *facts("month", "knowledge", ["Month after {}?"], _AFTER, "May"),
    *facts("symbol", "knowledge", ["Symbol of {}?"], words.SYMBOLS, "iron", checker=_KEEP_CASE),
    Family("uppercase", _COPYING, "exact", ("Uppercase: dog", "DOG"), _one("Uppercase: {}", str.upper),
           checker=_KEEP_CASE),
    Family("lowercase", _COPYING, "exact", ("Lowercase: DOG", "dog"),
           lambda random: _lowercase(random.choice(_ANY)), checker=_KEEP_CASE),
    Family("repeat", _COPYING, "exact", ("Repeat: red moon", "red moon"), _some("Repeat", 2, " ".join)),
    Family("swap", _COPYING, "exact", ("Swap: red moon", "moon red"),
           _some("Swap", 2, lambda two: f"{two[1]} {two[0]}")),
    Family("first-word", _COPYING, "exact", ("First word: moon tree hill", "moon"),
           _some("First word", 3, lambda three: three[0])),
    Family("last-word", _COPYING, "exact", ("Last word: moon tree hill", "hill"),
           _some("Last word", 3, lambda three: three[-1])),
    Family("lives", _READING, "exact", ("Otto lives in Bonn. Where does Otto live?", "Bonn"),
           _sentence("{0} lives in {1}. Where does {0} live?", words.CITIES, asked=1)),
    Family("bought", _READING, "exact", ("Otto bought a kite. What did Otto buy?", "kite"),
           _sentence("{0} bought a {1}. What did {0} buy?", words.NOUNS, asked=1)),
    Family("who", _READING, "exact", ("Otto has a hill. Who has a hill?", "Otto"),
           _sentence("{0} has a {1}. Who has a {1}?", words.NOUNS, asked=0)),
    Family("color", _READING, "exact", ("The moon is gray. Color of the moon?", "gray"), _color_of),
    Family("color-of-two", _READING, "exact", ("The moon is gray, the kite tan. Color of the kite?", "tan"),
           _color_of_two),
)  # fmt: skip


def _lowercase(word: str) -> Draft:
    return Draft(word, f"Lowercase: {word.upper()}", (word.lower(),))
