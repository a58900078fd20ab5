"""The tensors that are there against the tensors that config.json promises: every name, every shape, nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from evaluator.errors import Finding, Refused
from evaluator.intake import names
from evaluator.intake.config import Model
from evaluator.intake.safetensors_header import Header, Tensor

Found = Mapping[str, tuple[Tensor, Header]]

DTYPE_NAMES = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
_SHOWN = 5


@dataclass(frozen=True)
class Counted:
    """``dtype`` is that of most parameters. ``stored_head`` is the head of a tied model, if stored all the same."""

    parameters: int
    dtype: str
    mixed: bool
    embedding: str
    stored_head: str | None


def compare(model: Model, found: Found) -> Counted:
    """Raises ``Refused`` with what is missing, misshapen or unexpected."""
    prefix = _prefix(model, found)
    expected = {name.removeprefix(prefix): shape for name, shape in model.expected.items()}
    head, findings = _head(model, found)
    if head is not None:
        expected[head] = model.head_shape
    if model.family.head_bias is not None:
        expected[model.family.head_bias] = model.head_shape[:1]
    findings += _missing(expected, found) + _misshapen(expected, found) + _unexpected(model, expected, found)
    if findings:
        raise Refused(findings)
    stored_head = head if model.tied else None
    return _counted(expected, found, model.family.embedding.removeprefix(prefix), stored_head)


def _prefix(model: Model, found: Found) -> str:
    """The first part of the names where this family allows to leave it out and this checkpoint does."""
    part = model.family.embedding.split(".")[0] + "."
    return part if model.family.bare and not any(name.startswith(part) for name in found) else ""


def _head(model: Model, found: Found) -> tuple[str | None, list[Finding]]:
    present = [name for name in model.family.heads if name in found]
    if present or model.tied:
        return (present[0] if present else None), []
    problem = (
        f'config.json says that the output head is separate ("tie_word_embeddings": false), '
        f"but no tensor {model.family.heads[0]} is stored."
    )
    remedy = 'Save the model with its head, or write "tie_word_embeddings": true if it shares the embedding.'
    return None, [Finding("head-missing", names.CONFIG, problem, remedy)]


def _missing(expected: Mapping[str, tuple[int, ...]], found: Found) -> list[Finding]:
    absent = [name for name in expected if name not in found]
    return _listed(absent, "tensor-missing", "config.json promises this tensor, but no file holds it.")


def _unexpected(model: Model, expected: Mapping[str, tuple[int, ...]], found: Found) -> list[Finding]:
    extra = [name for name in found if name not in expected and not model.family.buffers.fullmatch(name)]
    problem = f"A {model.architecture} with this config.json has no such tensor."
    return _listed(extra, "tensor-unexpected", problem, found)


def _listed(listed: list[str], code: str, problem: str, found: Found | None = None) -> list[Finding]:
    remedy = "Make config.json and weights agree: save both together with save_pretrained."
    if len(listed) > _SHOWN:
        remedy += f" ({len(listed)} tensors in all.)"
    place = [f"{found[name][1].file if found else names.CONFIG}: tensor {name}" for name in listed[:_SHOWN]]
    return [Finding(code, where, problem, remedy) for where in place]


def _misshapen(expected: Mapping[str, tuple[int, ...]], found: Found) -> list[Finding]:
    findings: list[Finding] = []
    for name, shape in expected.items():
        if name not in found or len(findings) >= _SHOWN:
            continue
        tensor, header = found[name]
        where = f"{header.file}: tensor {name}"
        if tensor.shape != shape:
            problem = f"The tensor has the shape {list(tensor.shape)}, but config.json promises {list(shape)}."
            remedy = "Make config.json and weights agree: save both together with save_pretrained."
            findings.append(Finding("shape-mismatch", where, problem, remedy))
        elif tensor.dtype not in DTYPE_NAMES:
            problem = f"The weights are stored as {tensor.dtype}."
            remedy = "Upload them in float32, bfloat16 or float16."
            findings.append(Finding("quantised", where, problem, remedy))
    return findings


def _counted(expected: Mapping[str, tuple[int, ...]], found: Found, embedding: str, stored_head: str | None) -> Counted:
    dtypes: Counter[str] = Counter()
    for name in expected:
        if name != stored_head:
            dtypes[found[name][0].dtype] += found[name][0].elements
    most = max(dtypes, key=dtypes.__getitem__)
    return Counted(dtypes.total(), DTYPE_NAMES[most], len(dtypes) > 1, embedding, stored_head)
