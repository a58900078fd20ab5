"""The safetensors library's own opinion of a file whose header our parser has passed: the two must agree.

Guests load with this library. A file that it reads otherwise than we do would be another model than the one judged.
"""

from __future__ import annotations

import numpy as np  # noqa: F401 - the library loads it on first use, when no file can be opened by name any more
from safetensors import SafetensorError, safe_open

from evaluator.errors import Finding
from evaluator.intake.report import OpenFile
from evaluator.intake.safetensors_header import AGAIN, Header


def check(file: OpenFile, header: Header) -> list[Finding]:
    """Needs as much address space as the file is long; touches only its header."""
    try:
        with safe_open(f"/proc/self/fd/{file.fd}", framework="np") as library:
            theirs = {name: _described(library.get_slice(name)) for name in library.keys()}  # noqa: SIM118 - no mapping
    except SafetensorError as error:
        problem = f"The safetensors library does not read it: {ascii(str(error))[1:-1][:200]}."
        return [Finding("library-disagrees", file.name, problem, AGAIN)]
    if theirs != {tensor.name: (tensor.dtype, tensor.shape) for tensor in header.tensors}:
        problem = "The safetensors library reads other tensors from it than stand in its header."
        return [Finding("library-disagrees", file.name, problem, AGAIN)]
    return []


def _described(tensor: object) -> tuple[str, tuple[int, ...]]:
    return tensor.get_dtype(), tuple(tensor.get_shape())  # type: ignore[attr-defined]  # the library has no types
