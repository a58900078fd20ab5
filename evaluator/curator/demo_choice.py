"""Demo families of multiple choice: two or three words to choose from, asked in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from evaluator.curator import demo_words as words
from evaluator.curator.demo_families import Draft, Family

_EXAMPLES = {
    "animal": ("cup, bee or pen", "bee"), "fruit": ("fig, run or hill", "fig"), "color": ("shoe, door or gray", "gray"),
    "drink": ("rum, door or hill", "rum"), "planet": ("hill, Earth or fig", "Earth"),
    "furniture": ("cup, shelf or bee", "shelf"), "metal": ("tin, bee or cup", "tin"),
}  # fmt: skip


def _which(kind: str) -> Family:
    """Which of three words is of a kind? The wrong ones come from kinds that can't be taken for it."""
    others = sorted(set(words.KINDS) - {kind} - words.LOOK_ALIKE.get(kind, set()))

    def draw(random: Random) -> Draft:
        wrong = [random.choice(words.KINDS[other]) for other in random.sample(others, 2)]
        return _pick(random, f"{kind.capitalize()}:", random.choice(words.KINDS[kind]), wrong)

    shown, answer = _EXAMPLES[kind]
    return Family(kind, "choosing", "choice", (f"{kind.capitalize()}: {shown}?", answer), draw)


def _larger(lead: str, *, largest: bool) -> Family:
    def draw(random: Random) -> Draft:
        pair = sorted(random.sample(range(2, 100), 2))
        right, wrong = (pair[1], pair[0]) if largest else (pair[0], pair[1])
        return _pick(random, f"{lead}:", str(right), [str(wrong)])

    return Family(lead.lower(), "comparing", "choice", (f"{lead}: 5 or 9?", "9" if largest else "5"), draw)


def _pick(random: Random, lead: str, answer: str, wrong: Sequence[str]) -> Draft:
    options = [answer, *wrong]
    random.shuffle(options)
    listed = f"{', '.join(options[:-1])} or {options[-1]}"
    return Draft(" ".join(sorted(options)), f"{lead} {listed}?", (answer,), tuple(options))


def _yes_or_no(name: str, wording: str, table: Mapping[str, str], example: str) -> Family:
    asked = sorted(set(table) - {example})

    def draw(random: Random) -> Draft:
        key = random.choice(asked)
        return Draft(key, wording.format(key), (table[key],), ("yes", "no"))

    return Family(name, "comparing", "choice", (wording.format(example), table[example]), draw)


def _true_or_false(random: Random) -> Draft:
    kind, other = random.sample(["animal", "fruit", "flower", "sport", "metal"], 2)
    word, asked = random.choice(words.KINDS[kind]), random.choice([kind, other])
    answer = "true" if asked == kind else "false"
    return Draft(f"{word} {asked}", f"{word} is a kind of {asked}. true or false?", (answer,), ("true", "false"))


def _is_it(random: Random) -> Draft:
    thing, (right, wrong) = random.choice(words.NOUNS), random.sample(words.KINDS["color"], 2)
    options = random.sample([right, wrong], 2)
    question = f"The {thing} is {right}. Is it {options[0]} or {options[1]}?"
    return Draft(f"{thing} {right} {wrong}", question, (right,), tuple(options))


def _lives(random: Random) -> Draft:
    name, (right, wrong) = random.choice(words.NAMES), random.sample(words.CITIES, 2)
    options = random.sample([right, wrong], 2)
    question = f"{name} lives in {right}. In {options[0]} or {options[1]}?"
    return Draft(f"{name} {right} {wrong}", question, (right,), tuple(options))


CHOICE: tuple[Family, ...] = (
    *(_which(kind) for kind in _EXAMPLES),
    _larger("Larger", largest=True),
    _larger("Smaller", largest=False),
    _yes_or_no("can", "Can {}? yes or no", words.CAN, "birds fly"),
    Family("is-it", "reading", "choice", ("The moon is gray. Is it tan or gray?", "gray"), _is_it),
    Family("lives-in", "reading", "choice", ("Otto lives in Bonn. In Bonn or Bern?", "Bonn"), _lives),
    Family("kind-of", "comparing", "choice", ("bee is a kind of animal. true or false?", "true"), _true_or_false),
)
