"""Whether a checkpoint suits a preset, told from its facts before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.errors import Finding
from evaluator.intake import names


def check(facts: Mapping[str, Any], *, chat: bool, context: int | None = None) -> list[Finding]:
    """What stands against running a checkpoint with these ``facts`` in this form and with this context."""
    findings = [no_template()] if chat and facts["template"] is None else []
    if context is not None and facts["context"] is not None and context > facts["context"]:
        problem = f"The preset needs a context of {context} tokens; this checkpoint declares {facts['context']}."
        remedy = "Choose a preset with a shorter context, or a checkpoint with a longer one."
        findings.append(Finding("context-too-short", names.CONFIG, problem, remedy))
    return findings


def no_template() -> Finding:
    """Where a preset needs a chat template and the folder has none."""
    problem = "The chosen preset asks in chat form, but this checkpoint has no chat template."
    remedy = (
        "Choose a preset in completion form (the prompt is given as plain text), or add the template that the model "
        "was trained with as chat_template.jinja. The choice and the template's digest go into the run's provenance."
    )
    return Finding("template-missing", names.TEMPLATE, problem, remedy)
