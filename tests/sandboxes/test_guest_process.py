"""The guest as a process, up to the point where an engine would be needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sandboxes import wire
from sandboxes.model import checkpoint

ROOT = Path(__file__).resolve().parents[2]


def guest(code: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, input=data, capture_output=True, cwd=ROOT, timeout=60, check=False)


def frames(data: bytes) -> list[wire.Frame]:
    return list(wire.Decoder(wire.FROM_GUEST, wire.Caps()).feed(data))


def test_it_says_hello_before_it_loads_anything_and_goes_when_its_input_ends() -> None:
    start = "main(['--engine', 'transformers', '--model', '/m'])"
    done = guest(f"from sandboxes.model.__main__ import main; raise SystemExit({start})")
    (hello,) = frames(done.stdout)
    message = wire.parse(hello.untrusted_payload)
    assert (done.returncode, hello.kind) == (0, wire.HELLO)
    assert (message["wire"], message["engine"]) == (wire.VERSION, "transformers")


def test_no_library_can_write_into_the_wire() -> None:
    code = (
        "import os; from sandboxes.model.__main__ import Output, private_output; from sandboxes import wire\n"
        "output = Output(private_output())\n"
        "print('noise', flush=True); os.write(1, b'noise'); os.system('echo noise')\n"
        "output.send(wire.DONE, {})"
    )
    done = guest(code)
    assert [frame.kind for frame in frames(done.stdout)] == [wire.DONE]
    assert done.stderr.count(b"noise") == 3


def test_importing_the_guest_brings_nothing_of_ours_but_the_wire() -> None:
    code = (
        "import sys, sandboxes.model.serving, sandboxes.model.checkpoint, sandboxes.model.__main__\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'evaluator', 'leaderboard', 'box'}))"
    )
    assert guest(code).stdout == b"[]\n"


class Tokenizer:
    eos_token_id = 2


def endings(config: Mapping[str, Any], generation: Mapping[str, Any]) -> Sequence[int]:
    return checkpoint.ending_ids(config, generation, Tokenizer())


def test_every_declared_end_of_turn_counts() -> None:
    assert endings({"eos_token_id": 7}, {"eos_token_id": [9, 7]}) == [2, 7, 9]
    assert endings({"eos_token_id": None}, {}) == [2]
    assert endings({"eos_token_id": True}, {"eos_token_id": "x"}) == [2]


def test_the_context_is_what_the_configuration_declares() -> None:
    assert checkpoint.context_of({"max_position_embeddings": 10}) == 10
    assert checkpoint.context_of({"text_config": {"n_positions": 11}}) == 11
    assert checkpoint.context_of({"max_position_embeddings": -1}) is None
    assert checkpoint.narrowest([None, 5, 3]) == 3
    assert checkpoint.narrowest([None]) is None
