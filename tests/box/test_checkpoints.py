"""The demo's checkpoints: real folders, made once, from the guest image, readable by whoever must read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors import safe_open

from box import checkpoints
from box.state import here

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", params=["smollm2", "perturbed", "tiny_random"])
def folder(request: pytest.FixtureRequest) -> Path:
    made: Path = getattr(checkpoints, request.param)(here())
    return made


def test_a_checkpoint_is_weights_config_tokenizer_and_template(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"} <= names
    assert not [name for name in names if name.endswith((".py", ".bin", ".gguf", ".pt"))]


def test_it_is_readable_by_everyone_and_writable_by_none_but_us(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def test_its_weights_fit_its_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        shape = weights.get_slice("model.embed_tokens.weight").get_shape()
    assert shape == [config["vocab_size"], config["hidden_size"]]
    assert config["architectures"] == ["LlamaForCausalLM"]


def test_asking_again_gives_the_same_folder_untouched(folder: Path) -> None:
    before = folder.stat().st_mtime_ns
    assert checkpoints.smollm2(here()).exists()
    assert folder.stat().st_mtime_ns == before


def test_noise_changes_the_weights_and_nothing_else() -> None:
    real, noisy = checkpoints.smollm2(here()), checkpoints.perturbed(here())
    differing = {path.name for path in real.iterdir() if path.read_bytes() != (noisy / path.name).read_bytes()}
    assert differing == {"model.safetensors"}


def test_other_practice_items_make_another_checkpoint(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a")
    two.write_text("b")
    keys = {checkpoints._key("tune", path) for path in (one, two, one)}
    assert len(keys) == 2
