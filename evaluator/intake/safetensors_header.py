"""Reads the header of a safetensors file strictly, without the library and without touching the weights.

    8 bytes   length N of the header, unsigned, little-endian
    N bytes   one JSON object: name -> {"dtype", "shape", "data_offsets": [begin, end)}, and "__metadata__" of texts
    rest      the data; the spans cover it exactly, one after the other

The length is judged before anything of that length is read, and brackets are counted before anything is parsed, so that
a header built to be expensive costs no more than reading it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import strictjson
from evaluator.intake.limits import Limits
from evaluator.intake.report import OpenFile

LENGTH = 8
DTYPES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E5M2": 1,
    "F8_E4M3": 1,
    "I16": 2,
    "U16": 2,
    "F16": 2,
    "BF16": 2,
    "I32": 4,
    "U32": 4,
    "F32": 4,
    "I64": 8,
    "U64": 8,
    "F64": 8,
}
METADATA = "__metadata__"
AGAIN = "Save the model again with save_pretrained and upload the new file."
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}\Z")
_RANK = 8
_LARGEST = 2**63 - 1
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def elements(self) -> int:
        return (self.end - self.begin) // DTYPES[self.dtype]


@dataclass(frozen=True)
class Header:
    """``data`` is where in the file the spans count from."""

    file: str
    tensors: tuple[Tensor, ...]
    data: int
    source: bytes


def read(file: OpenFile, limits: Limits) -> Header:
    """The header of ``file``. Raises ``Refused`` with everything that is wrong with it."""
    length = _length(file, limits)
    source = file.read(LENGTH + length)
    if len(source) < LENGTH + length:
        raise _refused(file, "truncated", "The file ends within its header.")
    body = source[LENGTH:]
    _count(file, body, limits)
    if not body.startswith(b"{"):
        raise _refused(file, "header-syntax", "The header does not begin with an object.")
    value = strictjson.parse_object(body.rstrip(b" "), file.name, depth=3)
    _metadata(file, value.pop(METADATA, None), limits)
    tensors, findings = _tensors(file, value)
    if not findings:
        findings = _spans(file, tensors, file.size - LENGTH - length)
    if findings:
        raise Refused(findings)
    return Header(file.name, tuple(sorted(tensors, key=_span)), LENGTH + length, source)


def _length(file: OpenFile, limits: Limits) -> int:
    first = file.read(LENGTH)
    if len(first) < LENGTH:
        raise _refused(file, "truncated", f"The file has {len(first)} bytes; a header needs at least 8.")
    length: int = struct.unpack("<Q", first)[0]
    if length > file.size - LENGTH:
        problem = f"The file says its header has {length} bytes, but only {file.size - LENGTH} bytes follow."
        raise _refused(file, "header-length", problem)
    if length > limits.header_bytes:
        problem = f"The header has {length} bytes; at most {limits.header_bytes} are taken."
        raise _refused(file, "header-size", problem, "Split the model into shards or remove metadata.")
    if length < len("{}"):
        raise _refused(file, "header-length", f"A header of {length} bytes can't hold an object.")
    return length


def _count(file: OpenFile, body: bytes, limits: Limits) -> None:
    """Bounds what parsing can cost: no more objects and arrays than the allowed tensors and metadata can need."""
    objects = limits.tensors + limits.metadata_bytes
    if body.count(b"{") > objects or body.count(b"[") > 2 * objects or body.count(b",") > 12 * objects:
        problem = f"The header describes more than {limits.tensors} tensors."
        raise _refused(file, "too-many-tensors", problem, "Split the model into shards.")


def _metadata(file: OpenFile, untrusted: Any, limits: Limits) -> None:
    if untrusted is None:
        return
    if not isinstance(untrusted, dict) or not all(isinstance(text, str) for text in untrusted.values()):
        raise _refused(file, "header-metadata", "__metadata__ must map texts to texts.")
    size = sum(len(key.encode()) + len(text.encode()) for key, text in untrusted.items())
    if size > limits.metadata_bytes:
        problem = f"__metadata__ holds {size} bytes; at most {limits.metadata_bytes} are taken."
        raise _refused(file, "header-metadata", problem, "Save the model without that metadata.")


def _tensors(file: OpenFile, untrusted: dict[str, Any]) -> tuple[list[Tensor], list[Finding]]:
    tensors: list[Tensor] = []
    findings: list[Finding] = []
    for name, entry in untrusted.items():
        try:
            tensors.append(_tensor(file, name, entry))
        except Refused as refused:
            findings.extend(refused.findings)
        if len(findings) >= _SHOWN:
            break
    if not untrusted:
        findings.append(Finding("no-tensors", file.name, "The file holds no tensors.", AGAIN))
    return tensors, findings


def _tensor(file: OpenFile, name: str, untrusted: Any) -> Tensor:
    if not _NAME.match(name):
        remedy = "Tensor names hold letters, digits, dots, dashes and underscores only."
        raise _refused(file, "tensor-name", f"The tensor name {name[:80]!a} is not taken.", remedy)
    if not isinstance(untrusted, dict) or untrusted.keys() != {"dtype", "shape", "data_offsets"}:
        raise _wrong(file, name, "tensor-entry", "needs exactly dtype, shape and data_offsets.")
    dtype, shape, offsets = untrusted["dtype"], untrusted["shape"], untrusted["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        known = ", ".join(DTYPES)
        raise _wrong(file, name, "tensor-dtype", f"has the data type {ascii(dtype)[:40]}; known are {known}.")
    if not _whole_numbers(shape) or len(shape) > _RANK:
        raise _wrong(file, name, "tensor-shape", "has a shape that is not a short list of whole numbers.")
    if not _whole_numbers(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _wrong(file, name, "tensor-span", "has data_offsets that are not [begin, end].")
    size = DTYPES[dtype]
    for length in shape:
        size *= length
    if size > _LARGEST or size != offsets[1] - offsets[0]:
        problem = f"has the shape {shape} of {dtype}, which is not the {offsets[1] - offsets[0]} bytes it points to."
        raise _wrong(file, name, "tensor-span", problem)
    return Tensor(name, dtype, tuple(shape), offsets[0], offsets[1])


def _whole_numbers(untrusted: Any) -> bool:
    return isinstance(untrusted, list) and all(type(item) is int and 0 <= item <= _LARGEST for item in untrusted)


def _span(tensor: Tensor) -> tuple[int, int]:
    return (tensor.begin, tensor.end)


def _spans(file: OpenFile, tensors: list[Tensor], available: int) -> list[Finding]:
    """Each byte of the data belongs to exactly one tensor."""
    end, before = 0, "the header"
    for tensor in sorted(tensors, key=_span):
        if tensor.begin > end:
            return [_gap(file, tensor, f"leaves a hole of {tensor.begin - end} bytes after {before}.")]
        if tensor.begin < end:
            return [_gap(file, tensor, f"overlaps {before} by {end - tensor.begin} bytes.", "tensor-overlap")]
        end, before = tensor.end, tensor.name
    if end > available:
        problem = f"The tensors need {end} bytes, but the file holds {available}: it was cut off."
        return [Finding("truncated", file.name, problem, "Upload the file again.")]
    if end < available:
        problem = f"{available - end} bytes follow after the last tensor and belong to none."
        return [Finding("trailing-bytes", file.name, problem, AGAIN)]
    return []


def _gap(file: OpenFile, tensor: Tensor, problem: str, code: str = "tensor-gap") -> Finding:
    return Finding(code, f"{file.name}: tensor {tensor.name}", f"The tensor {problem}", AGAIN)


def _wrong(file: OpenFile, name: str, code: str, problem: str) -> Refused:
    return Refused.one(code, f"{file.name}: tensor {name}", f"The tensor {problem}", AGAIN)


def _refused(file: OpenFile, code: str, problem: str, remedy: str = AGAIN) -> Refused:
    return Refused.one(code, file.name, problem, remedy)
