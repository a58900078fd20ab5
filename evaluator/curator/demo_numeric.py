"""Demo families with a number as the answer: sums, comparisons and one-line word problems.

Sums show their working in the example ("4 + 3 = 7"), which a small model copies: the checker reads what stands after
the last equals sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul, sub
from random import Random

from evaluator.curator import demo_words as words
from evaluator.curator.demo_families import Draft, Family

_THINGS = ("apples", "books", "coins", "cups", "eggs", "keys", "nuts", "pears", "shells", "stamps", "toys")
_FEW = range(2, 10)

Work = Callable[[int, int], int]


def _first(a: int, _: int) -> int:
    return a


def _second(_: int, b: int) -> int:
    return b


def _figures(wording: str, work: Work, a: Sequence[int], b: Sequence[int] = (0,)) -> Callable[[Random], Draft]:
    """A question about two numbers."""

    def draw(random: Random) -> Draft:
        one, two = random.choice(a), random.choice(b)
        return Draft(f"{one} {two}", wording.format(a=one, b=two), (str(work(one, two)),))

    return draw


def _story(wording: str, work: Work, a: Sequence[int], b: Sequence[int] = (0,)) -> Callable[[Random], Draft]:
    """A word problem about somebody, a thing and two numbers."""

    def draw(random: Random) -> Draft:
        name, thing = random.choice(words.NAMES), random.choice(_THINGS)
        one, two = random.choice(a), random.choice(b)
        answer = work(one, two)
        question = wording.format(name=name, thing=thing, a=one, b=two)
        return Draft(f"{thing} {one} {two}", question, (str(answer),), reference=f"From {one} and {two}: {answer}.")

    return draw


def _thing(wording: str, numbers: Sequence[int]) -> Callable[[Random], Draft]:
    """A number that only has to be found in the sentence."""

    def draw(random: Random) -> Draft:
        thing, number = random.choice(words.NOUNS), random.choice(numbers)
        return Draft(f"{thing} {number}", wording.format(thing=thing, a=number), (str(number),))

    return draw


def _extreme(lead: str, best: Callable[[list[int]], int]) -> Callable[[Random], Draft]:
    def draw(random: Random) -> Draft:
        three = random.sample(range(1, 100), 3)
        return Draft(" ".join(map(str, sorted(three))), f"{lead} {', '.join(map(str, three))}?", (str(best(three)),))

    return draw


def _digits(random: Random) -> Draft:
    number = random.choice([number for number in range(len(words.NUMBERS)) if number != 3])
    return Draft(str(number), f"Digits for {words.NUMBERS[number]}?", (str(number),))


def _shared(random: Random) -> Draft:
    thing, people, each = random.choice(_THINGS), random.randrange(2, 6), random.randrange(2, 11)
    question = f"{people * each} {thing} for {people} people. Each?"
    return Draft(f"{thing} {people} {each}", question, (str(each),), reference=f"{people * each} / {people} = {each}")


_SUMS, _STORIES, _NUMBERS = "arithmetic", "word problems", "numbers"

NUMERIC: tuple[Family, ...] = (
    Family("add", _SUMS, "numeric", ("What is 4 + 3?", "4 + 3 = 7"), _figures("What is {a} + {b}?", add, _FEW, _FEW)),
    Family("add-large", _SUMS, "numeric", ("What is 21 + 13?", "21 + 13 = 34"),
           _figures("What is {a} + {b}?", add, range(11, 60), range(11, 40))),
    Family("subtract", _SUMS, "numeric", ("9 - 4", "9 - 4 = 5"), _figures("{a} - {b}", sub, range(10, 20), _FEW)),
    Family("times", _SUMS, "numeric", ("2 x 3", "2 x 3 = 6"), _figures("{a} x {b}", mul, _FEW, range(3, 13))),
    Family("times-ten", _SUMS, "numeric", ("3 x 10 =", "30"), _figures("{a} x 10 =", mul, range(4, 99), (10,))),
    Family("double", _SUMS, "numeric", ("Double 4", "4 + 4 = 8"), _figures("Double {a}", mul, range(5, 60), (2,))),
    Family("add-nothing", _SUMS, "numeric", ("4 + 0 =", "4"), _figures("{a} + 0 =", _first, range(5, 100))),
    Family("largest", _NUMBERS, "numeric", ("Largest of 3, 9, 5?", "9"), _extreme("Largest of", max)),
    Family("smallest", _NUMBERS, "numeric", ("Smallest of 3, 9, 5?", "3"), _extreme("Smallest of", min)),
    Family("digits", _NUMBERS, "numeric", ("Digits for three?", "3"), _digits),
    Family("price", _NUMBERS, "numeric", ("A cap costs 6 coins. Price of a cap?", "6"),
           _thing("A {thing} costs {a} coins. Price of a {thing}?", range(2, 90))),
    Family("weight", _NUMBERS, "numeric", ("The cap weighs 6 grams. Weight of the cap?", "6"),
           _thing("The {thing} weighs {a} grams. Weight of the {thing}?", range(2, 90))),
    Family("has", _STORIES, "numeric", ("Otto has 4 caps. How many caps?", "4"),
           _story("{name} has {a} {thing}. How many {thing}?", _first, range(2, 40))),
    Family("loses-none", _STORIES, "numeric", ("Otto has 4 caps and loses none. How many?", "4"),
           _story("{name} has {a} {thing} and loses none. How many?", _first, range(2, 40))),
    Family("gets", _STORIES, "numeric", ("Otto: 4 caps, 3 more. Total?", "4 + 3 = 7"),
           _story("{name}: {a} {thing}, {b} more. Total?", add, range(2, 20), _FEW)),
    Family("loses", _STORIES, "numeric", ("Otto: 9 caps, 4 lost. Left?", "9 - 4 = 5"),
           _story("{name}: {a} {thing}, {b} lost. Left?", sub, range(6, 15), range(1, 6))),
    Family("of-two", _STORIES, "numeric", ("Otto: 4 caps, 7 kites. Kites?", "7"),
           _story("{name}: {a} {thing}, {b} pens. Pens?", _second, range(2, 30), range(2, 30))),
    Family("cost", _STORIES, "numeric", ("3 caps at 2 coins. Cost?", "3 x 2 = 6"),
           _story("{a} {thing} at {b} coins. Cost?", mul, range(2, 10), range(3, 10))),
    Family("shared", _STORIES, "numeric", ("8 caps for 2 people. Each?", "8 / 2 = 4"),
           _shared),
)  # fmt: skip
