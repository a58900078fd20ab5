"""What templates may call: formats of numbers and digests, the address of the same page with one thing changed."""

from __future__ import annotations

import json

from django import template
from django.template.context import Context

from leaderboard.web import figures, words

register = template.Library()

register.filter("percent", figures.percent)
register.filter("file_size", figures.size)
register.filter("thin", figures.number)
register.filter("short_number", figures.short_number)
register.filter("state_label", words.label)


@register.filter
def short(digest: str) -> str:
    """The first twelve hexadecimal digits; the whole stands beside it for copying."""
    return digest.removeprefix("sha256:")[:12] or figures.MISSING


@register.filter
def is_digest(value: object) -> bool:
    return isinstance(value, str) and value.startswith("sha256:") and len(value) == 71


@register.filter
def outcome(code: str) -> str:
    return words.OUTCOMES.get(code, code)


@register.filter
def pretty(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


@register.simple_tag(takes_context=True)
def here_with(context: Context, **changes: object) -> str:
    """This page's query with some parameters changed; an empty value takes a parameter out."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in ("", None):
            query[name] = str(value)
    return f"?{query.urlencode()}"
