"""The images that the tests of this folder run."""

from __future__ import annotations

import pytest

from tests.isolation.launching import image


@pytest.fixture(scope="session")
def transformers_image() -> str:
    return image("heldout-guest-transformers")


@pytest.fixture(scope="session")
def vllm_image() -> str:
    return image("heldout-guest-vllm")
