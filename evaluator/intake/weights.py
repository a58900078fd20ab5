"""Shards, index and values: each tensor stands exactly once and where the index says, and its numbers are numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import names
from evaluator.intake.limits import Limits
from evaluator.intake.report import OpenFile
from evaluator.intake.safetensors_header import AGAIN, DTYPES, Header, Tensor

_SHOWN = 5
_RESAVE = "Save the model again with save_pretrained, which writes shards and index together."


def files(present: Iterable[str]) -> list[Finding]:
    """One file or one complete numbered set, and nothing beside it."""
    weights = sorted(name for name in present if names.role(name) is names.Role.WEIGHTS)
    shards = [name for name in weights if name != names.WEIGHTS]
    if not weights:
        problem = "The folder holds no weights."
        return [Finding("weights-missing", names.WEIGHTS, problem, "Upload model.safetensors or its shards.")]
    if not shards:
        return []
    if names.WEIGHTS in weights:
        problem = f"Beside model.safetensors there are shards ({shards[0]}); loaders would read only one of the two."
        return [Finding("stray-weights", shards[0], problem, "Delete the set that does not belong to this model.")]
    findings = _numbers(shards)
    if names.INDEX not in present:
        problem = "The weights are in shards, but their index is missing."
        findings.append(Finding("index-missing", names.INDEX, problem, f"Upload {names.INDEX} too."))
    return findings


def _numbers(shards: list[str]) -> list[Finding]:
    known = [number for name in shards if (number := names.shard(name))]
    counts = {count for _, count in known}
    if len(counts) > 1:
        pairs = list(zip(shards, known, strict=True))
        sets = [[name for name, (_, of) in pairs if of == count] for count in sorted(counts)]
        problem = f"There are shards of {len(counts)} different sets."
        stray = min(sets, key=len)
        return [Finding("stray-weights", name, problem, "Delete the shards of other sets.") for name in stray[:_SHOWN]]
    count = counts.pop()
    wrong = [name for name, (number, _) in zip(shards, known, strict=True) if not 1 <= number <= count]
    findings = [Finding("stray-weights", name, "The shard's number is outside its set.", _RESAVE) for name in wrong]
    return findings + _absent(count, {number for number, _ in known})


def _absent(count: int, present: set[int]) -> list[Finding]:
    if count > 10_000:
        return []  # the file limit has its own finding
    gone = [names.shard_name(number, count) for number in range(1, count + 1) if number not in present]
    problem = f"The shard is missing; {len(gone)} of {count} are."
    return [Finding("shard-missing", name, problem, f"Upload {name}.") for name in gone[:_SHOWN]]


def index(untrusted: Mapping[str, Any], headers: Mapping[str, Header]) -> list[Finding]:
    """The index against the headers of the files that are there."""
    where_is = untrusted.get("weight_map")
    if not isinstance(where_is, dict) or not all(isinstance(file, str) for file in where_is.values()):
        problem = "The index has no weight_map from tensor names to file names."
        raise Refused.one("index-shape", names.INDEX, problem, _RESAVE)
    findings = _listed_files(set(where_is.values()), headers)
    holds = {(tensor.name, file) for file, header in headers.items() for tensor in header.tensors}
    lists = {(name, file) for name, file in where_is.items() if file in headers}
    for name, file in sorted(lists - holds)[:_SHOWN]:
        problem = f"The index says that {file} holds {ascii(name[:120])[1:-1]}, but it does not."
        findings.append(Finding("index-absent-tensor", _place(names.INDEX, name), problem, _RESAVE))
    for name, file in sorted(holds - lists)[:_SHOWN]:
        elsewhere = where_is.get(name)
        problem = f"The tensor is in this file, but the index {_says(elsewhere)}."
        code = "index-unlisted-tensor" if elsewhere is None else "index-wrong-file"
        findings.append(Finding(code, _place(file, name), problem, _RESAVE))
    return findings


def _says(elsewhere: str | None) -> str:
    return "does not list it" if elsewhere is None else f"places it in {names.shown(elsewhere)}"


def _place(file: str, tensor: str) -> str:
    return f"{file}: tensor {ascii(tensor[:120])[1:-1]}"


def _listed_files(listed: set[str], headers: Mapping[str, Header]) -> list[Finding]:
    findings = []
    for file in sorted(listed - headers.keys())[:_SHOWN]:
        if names.role(file) is names.Role.WEIGHTS:
            problem = "The index lists this file, but it is not in the folder or could not be read."
            findings.append(Finding("shard-missing", file, problem, f"Upload {file}."))
        else:
            problem = f"The index names the file {file[:80]!a}, which no checkpoint may hold."
            findings.append(Finding("index-shape", names.INDEX, problem, _RESAVE))
    problem = "The index does not mention this file."
    stray = sorted(headers.keys() - listed)[:_SHOWN]
    return findings + [Finding("stray-weights", file, problem, "Delete it.") for file in stray]


def merged(headers: Iterable[Header], limits: Limits) -> dict[str, tuple[Tensor, Header]]:
    """All tensors by name. Raises ``Refused`` where one stands in two files or there are too many."""
    found: dict[str, tuple[Tensor, Header]] = {}
    twice = []
    for header in headers:
        for tensor in header.tensors:
            if tensor.name in found:
                problem = f"The tensor stands in {found[tensor.name][1].file} too."
                place = f"{header.file}: tensor {tensor.name}"
                twice.append(Finding("tensor-in-two-shards", place, problem, _RESAVE))
            found[tensor.name] = (tensor, header)
    if twice:
        raise Refused(twice[:_SHOWN])
    if len(found) > limits.tensors:
        problem = f"The checkpoint holds {len(found)} tensors; at most {limits.tensors} are taken."
        raise Refused.one("too-many-tensors", names.INDEX, problem, "Upload a model of a supported kind.")
    return found


_EXPONENT = {"F32": ("I", 0x7F800000), "BF16": ("H", 0x7F80), "F16": ("H", 0x7C00), "F64": ("Q", 0x7FF0000000000000)}
_WINDOW = 1024
_TENSORS_SAMPLED = 256


def sample(tensors: Mapping[str, tuple[Tensor, Header]], opened: Mapping[str, OpenFile]) -> list[Finding]:
    """Looks at the beginning, middle and end of up to 256 tensors: NaN or infinity anywhere, or zero everywhere.

    It reads a few megabytes, not the weights: it tells a broken export, it proves nothing about the rest.
    """
    chosen = list(tensors.values())[:: max(1, len(tensors) // _TENSORS_SAMPLED)]
    findings: list[Finding] = []
    only_zeros = True
    for tensor, header in chosen:
        for words, mask in _windows(tensor, header, opened[header.file]):
            only_zeros = only_zeros and not any(words)
            if any(word & mask == mask for word in words) and len(findings) < _SHOWN:
                problem = "The tensor holds values that are not finite (NaN or infinity)."
                remedy = "Train or convert the model again; with such weights it can't answer."
                findings.append(Finding("not-finite", f"{header.file}: tensor {tensor.name}", problem, remedy))
                break
    if only_zeros and chosen:
        problem = "All sampled weights are zero: the file was allocated but never written."
        findings.append(Finding("all-zero", chosen[0][1].file, problem, AGAIN))
    return findings


def _windows(tensor: Tensor, header: Header, file: OpenFile) -> Iterable[tuple[array[int], int]]:
    if tensor.dtype not in _EXPONENT or not tensor.elements:
        return
    code, mask = _EXPONENT[tensor.dtype]
    size = DTYPES[tensor.dtype]
    last = max(0, tensor.elements - _WINDOW)
    for first in sorted({0, last // 2, last}):
        words = array(code)
        words.frombytes(file.read(min(_WINDOW, tensor.elements) * size, header.data + tensor.begin + first * size))
        yield words, mask


def same(
    tensors: Mapping[str, tuple[Tensor, Header]], opened: Mapping[str, OpenFile], embedding: str, head: str
) -> list[Finding]:
    """A tied model may store its head all the same; then it must be the embedding, since some loaders use the one and
    some the other. Compared by sample."""
    pairs = [list(_windows(*tensors[name], opened[tensors[name][1].file])) for name in (embedding, head)]
    if pairs[0] == pairs[1]:
        return []
    place = f"{tensors[head][1].file}: tensor {head}"
    problem = 'config.json says that the output head is the embedding ("tie_word_embeddings": true), but they differ.'
    remedy = 'Write "tie_word_embeddings": false if the head is separate, or remove the tensor.'
    return [Finding("head-differs", place, problem, remedy)]
