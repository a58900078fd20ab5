"""Our reading of a safetensors header against the library's: whatever we pass, it reads in the same way."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.errors import Refused
from evaluator.intake import Limits, library, safetensors_header
from evaluator.intake.report import OpenFile

_SEED = 20250115


@pytest.fixture
def weights(good: Path) -> Iterator[tuple[Path, OpenFile]]:
    path = good / "model.safetensors"
    fd = os.open(path, os.O_RDONLY)
    yield path, OpenFile(path.name, fd, path.stat().st_size)
    os.close(fd)


def test_it_reads_names_types_shapes_and_spans(weights: tuple[Path, OpenFile]) -> None:
    header = safetensors_header.read(weights[1], Limits())

    assert (header.tensors[0].name, header.tensors[0].dtype, header.tensors[0].shape) == (
        "lm_head.weight",
        "F32",
        (320, 64),
    )
    assert header.data + header.tensors[-1].end == weights[1].size
    assert library.check(weights[1], header) == []


def test_no_flipped_byte_of_a_header_is_read_in_two_ways(weights: tuple[Path, OpenFile]) -> None:
    path, file = weights
    good = path.read_bytes()
    length = safetensors_header.read(file, Limits()).data
    source = random.Random(_SEED)
    passed = 0
    for _ in range(600):
        data = bytearray(good)
        data[source.randrange(length)] = source.randrange(256)
        path.write_bytes(data)
        try:
            header = safetensors_header.read(OpenFile(file.name, file.fd, path.stat().st_size), Limits())
        except Refused:
            continue
        passed += 1
        assert library.check(file, header) == []
    assert passed > 10  # a changed letter of a name is another name, no lie


def test_a_disagreement_of_the_library_is_told(weights: tuple[Path, OpenFile]) -> None:
    header = safetensors_header.read(weights[1], Limits())
    other = safetensors_header.Header(header.file, header.tensors[1:], header.data, header.source)

    (finding,) = library.check(weights[1], other)

    assert (finding.code, finding.where) == ("library-disagrees", "model.safetensors")
