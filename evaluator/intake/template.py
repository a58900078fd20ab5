"""Renders a chat template the way transformers does, in the child only, and tests that it only frames what it is given.

A template is a program. It may add text around messages; it may not answer, choose, rewrite or repeat them. The test
is metamorphic: the same role structure is rendered with different random contents, each content must stand in the
result once and verbatim, and everything around must be equal. (A template that reacts to one particular prompt passes
this; that is why every prompt of a run is checked again.)
"""

from __future__ import annotations

import contextlib
import json
import random
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jinja2
import jinja2.debug
import jinja2.exceptions
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

from evaluator.errors import Refused
from evaluator.records import controls

STRUCTURES: tuple[tuple[str, ...], ...] = (
    ("user",),
    ("system", "user"),
    ("user", "assistant", "user"),
    ("system", "user", "assistant", "user"),
)
"""The first must be supported; of the others a template may refuse some."""

LONGEST_RENDERED = 2**21
_FRAME = "Use the template that the model was trained with; a template may only put text around messages."


class Unsupported(Refused):
    """The template itself refuses these messages (``raise_exception``); for some role structures it may."""


class _Generation(jinja2.ext.Extension):
    """``{% generation %}`` marks the assistant's text for training; for prompts it means nothing."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own declaration

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Refuses at once what the sandbox would only make undefined: no honest template looks for such attributes."""

    def unsafe_undefined(self, obj: Any, attribute: str) -> jinja2.Undefined:
        raise jinja2.exceptions.SecurityError(f"the attribute {attribute[:60]!r} of a {type(obj).__name__}")


class Template:
    """One compiled template. ``tokens`` are the special tokens that it sees as variables."""

    def __init__(
        self, source: str, where: str, tokens: Mapping[str, str], clock: Callable[[str], str] = controls.strftime_now
    ) -> None:
        self.where = where
        self._tokens = dict(tokens)
        environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, jinja2.ext.loopcontrols])
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = clock
        try:
            self._compiled = environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            problem = f"The template is not valid Jinja: {ascii(error.message or '')[1:160]}."
            raise Refused.one("template-syntax", f"{where}: line {error.lineno}", problem, "Correct it.") from None
        except RecursionError:
            raise Refused.one("template-syntax", where, "The template is nested too deeply.", _FRAME) from None

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Raises ``Unsupported`` where the template refuses the roles, ``Refused`` for everything else."""
        pieces: list[str] = []
        size = 0
        try:
            for piece in self._compiled.generate(
                messages=[dict(message) for message in messages],
                tools=None,
                documents=None,
                add_generation_prompt=True,
                **self._tokens,
            ):
                pieces.append(piece)
                size += len(piece)
                if size > LONGEST_RENDERED:
                    raise self._refused("template-output", f"It writes more than {LONGEST_RENDERED} characters.")
        except jinja2.exceptions.SecurityError as error:
            raise self._refused("template-unsafe", f"It tries what no template may: {_said(error)}.") from None
        except _Raised as error:
            problem = f"The chat template can't be used. It refuses the messages: {_said(error)}."
            raise Unsupported.one("template-fails", self.where, problem, _FRAME) from None
        except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._refused("template-fails", f"Rendering fails: {_said(error)}.") from None
        except RecursionError:
            raise self._refused("template-fails", "Rendering calls itself without end.") from None
        return "".join(pieces)

    def _refused(self, code: str, problem: str) -> Refused:
        return Refused.one(code, self.where, f"The chat template can't be used. {problem}", _FRAME)


class _Raised(jinja2.TemplateError):
    """What ``raise_exception`` in a template raises."""


def _raise(message: object) -> str:
    raise _Raised(str(message)[:200])


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _said(error: Exception) -> str:
    return ascii(str(error)[:160])[1:-1]


def check(template: Template) -> list[tuple[str, ...]]:
    """The role structures that the template supports. Raises ``Refused`` where it does more than frame messages."""
    supported = []
    for structure in STRUCTURES:
        try:
            _linear(template, structure)
        except Unsupported:
            if structure == STRUCTURES[0]:
                raise
            continue
        supported.append(structure)
    return supported


def _linear(template: Template, structure: tuple[str, ...]) -> None:
    """Seven renderings with other contents each: words, short, long, digits, a choice item, code, many scripts."""
    frames = {}
    for kind, payload in _PAYLOADS.items():
        contents = [payload() for _ in structure]
        rendered = template.render(
            [{"role": role, "content": content} for role, content in zip(structure, contents, strict=True)]
        )
        frames[kind] = _frame(template, rendered, structure, contents)
    if len(set(frames.values())) > 1:
        problem = "The text around the messages changes with what the messages say."
        raise Refused.one("template-rewrites", template.where, problem, _FRAME)


def _frame(template: Template, rendered: str, structure: tuple[str, ...], contents: list[str]) -> tuple[str, ...]:
    """The roles in their order and what stands before, between and after the contents.

    Each content must stand there once. The turns keep their order; a system message may stand anywhere: some honest
    templates put it before the last turn.
    """
    places = []
    for role, content in zip(structure, contents, strict=True):
        if rendered.count(content) != 1:
            how = "does not appear as it was written" if content not in rendered else "appears more than once"
            problem = f"In a conversation of {', '.join(structure)} the {role}'s message {how}."
            raise Refused.one("template-rewrites", template.where, problem, _FRAME)
        places.append((rendered.index(content), role, content))
    turns = [place for place in places if place[1] != "system"]
    if turns != sorted(turns):
        problem = f"In a conversation of {', '.join(structure)} the messages change their order."
        raise Refused.one("template-rewrites", template.where, problem, _FRAME)
    parts, rest = [], rendered
    for _, role, content in sorted(places):
        before, _, rest = rest.partition(content)
        parts += [before, role]
    return (*parts, rest)


def _random_words(count: int, letters: str = string.ascii_lowercase) -> str:
    return " ".join("".join(_SOURCE.choices(letters, k=_SOURCE.randint(3, 9))) for _ in range(count))


_SOURCE = random.SystemRandom()
_PAYLOADS: Mapping[str, Callable[[], str]] = {
    "words": lambda: _random_words(8),
    "one word": lambda: _random_words(1, string.ascii_letters) + "x" * 12,
    "long": lambda: _random_words(600),
    "sum": lambda: f"What is {_SOURCE.randint(10**6, 10**9)} + {_SOURCE.randint(10**6, 10**9)}? Show your work.",
    "choice": lambda: (
        f"Which {_random_words(2)}?\nA) {_random_words(1)}\nB) {_random_words(1)}\n\nAnswer with one letter."
    ),
    "code": lambda: f"```python\n{_random_words(1)} = {{'a': [1, 2]}}  # <b>&amp;</b> {{{{ x }}}} {{% if y %}}\n```",
    "scripts": lambda: f"«{_random_words(3, 'абвгдежз')}» {_random_words(2, '東京日本語学')} naïve 🙂",
}


def frame_around(template: Template) -> tuple[str, str]:
    """What the template writes before and after a single user message."""
    content = _random_words(8)
    before, _, after = template.render([{"role": "user", "content": content}]).partition(content)
    return before, after


_WARM_UP = """{% set x = namespace(a='é\\n') %}{% macro m(y) %}{{ y }}{% endmacro %}{% for message in messages -%}
{% generation %}{{ m(message['content']) | trim | tojson | upper }}{% endgeneration %}{% if loop.last %}{% break %}
{% endif %}{% endfor %}{{ x | pprint }}{{ strftime_now('%d %b %Y') }}{{ '%s' | format(1.5) }}{{ 'a,b'.split(',') }}"""


def warm_up() -> None:
    """Makes Python and jinja2 load what they load on first use, while files can still be opened by name."""
    Template(_WARM_UP, "warm-up", {}).render([{"role": "user", "content": "hello"}])
    for broken in ("{{ messages.x.y }}", "{{ 1 / 0 }}", "{{ raise_exception('no') }}", "{{ ''.__class__.__mro__ }}"):
        with contextlib.suppress(Refused, Unsupported):
            Template(broken, "warm-up", {}).render([])
    with contextlib.suppress(Refused):
        Template("{% if %}", "warm-up", {})
