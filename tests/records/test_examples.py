"""The examples in the docstrings of the pure floors are right."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import evaluator.checkers
import evaluator.records

MODULES = [
    "evaluator.estimates",
    *(module.name for package in (evaluator.checkers, evaluator.records)
      for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")),
    "evaluator.checkers",
]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_docstring_are_right(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("kind", sorted(evaluator.checkers.KINDS))
def test_each_checker_shows_two_examples(kind: str) -> None:
    module = importlib.import_module(f"evaluator.checkers.{kind}")
    examples = doctest.DocTestParser().get_examples(module.__doc__ or "")
    assert sum(example.source.startswith("check(") for example in examples) == 2
