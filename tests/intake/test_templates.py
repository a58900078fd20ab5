"""Honest chat templates pass, and render as transformers renders them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.intake.template import Template, Unsupported, check, frame_around
from tests.checkpoints import CHATML, tiny_checkpoint
from tests.intake.conftest import admitted

_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
_TURNS = "{% for message in messages %}{{ message.role }}: {{ message.content }}{{ eos_token }}\n{% endfor %}"

HONEST = {
    "the usual": CHATML,
    "with a first token": "{{ bos_token }}" + _TURNS,
    "trimming": _TURNS.replace("message.content", "message.content | trim"),
    "a default system message": ("{% if messages[0].role != 'system' %}system: Be brief.\n{% endif %}" + _TURNS),
    "system folded into the first user message": (
        "{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + '\\n\\n' %}"
        "{% set rest = messages[1:] %}{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}"
        "{% for m in rest %}{% if loop.first %}[I] {{ first + m['content'] }} [/I]"
        "{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
    ),
    "system message before the last turn": (
        "{% if messages[0].role == 'system' %}{% set first = messages[0].content + '\\n' %}"
        "{% set rest = messages[1:] %}{% else %}{% set first = '' %}{% set rest = messages %}{% endif %}"
        "{% for m in rest %}<{{ m.role }}>{% if loop.last %}{{ first }}{% endif %}{{ m.content }}{% endfor %}"
    ),
    "without system messages": (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + _TURNS
    ),
    "with strict turns": (
        "{% for m in messages %}{% if m.role == 'user' and loop.index0 % 2 != 0 %}"
        "{{ raise_exception('turns must alternate') }}{% endif %}{{ m.content }}\n{% endfor %}"
    ),
    "with a macro and a namespace": (
        "{% macro turn(m) %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endmacro %}"
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ turn(m) }}{% endfor %}"
    ),
    "marking what was generated": (
        "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}|{% endfor %}"
    ),
    "with loop controls": "{% for m in messages %}{{ m.content }}|{% if loop.last %}{% break %}{% endif %}{% endfor %}",
    "with today's date": "Today is {{ strftime_now('%d %b %Y') }}.\n" + _TURNS,
    "looking for tools": "{% if tools %}{{ tools | tojson }}{% endif %}" + _TURNS,
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_an_honest_template_passes(source: str) -> None:
    assert ("user",) in check(Template(source, "t", _TOKENS))


def test_it_tells_which_roles_a_template_takes() -> None:
    assert ("system", "user") not in check(Template(HONEST["without system messages"], "t", _TOKENS))


def test_blocks_take_their_line_with_them() -> None:
    source = "  {% for m in messages %}\n{{ m.content }}\n  {% endfor %}\nend"

    assert Template(source, "t", {}).render([{"role": "user", "content": "a"}]) == "a\nend"


def test_json_is_written_as_it_is() -> None:
    source = "{{ messages[0] | tojson }} {{ messages | tojson(indent=1) | length > 0 }}"

    rendered = Template(source, "t", {}).render([{"role": "user", "content": "<é> & 'x'"}])

    assert rendered == '{"role": "user", "content": "<é> & \'x\'"} True'


def test_the_date_is_always_the_same() -> None:
    assert frame_around(Template(HONEST["with today's date"], "t", _TOKENS))[0].startswith("Today is 15 Jan 2025.")


def test_a_refusal_by_the_template_is_told_apart() -> None:
    with pytest.raises(Unsupported, match="turns must alternate"):
        Template(HONEST["with strict turns"], "t", {}).render([{"role": "user", "content": "a"}] * 2)


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("with today's date", "the template writes today's date; each run is told 2025-01-15"),
        ("without system messages", "the template takes no system message"),
    ],
)
def test_what_is_peculiar_is_noted(tmp_path: Path, kind: str, note: str) -> None:
    notes = admitted(tiny_checkpoint(tmp_path / "c", template=HONEST[kind])).notes

    assert any(note in told for told in notes)


def test_text_of_the_templates_own_is_noted(tmp_path: Path) -> None:
    source = "system: You are a helpful assistant who answers briefly and correctly.\n" + CHATML

    (note,) = admitted(tiny_checkpoint(tmp_path / "c", template=source)).notes

    assert "You are a helpful assistant" in note
