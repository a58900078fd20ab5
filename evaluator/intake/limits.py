"""How much of each thing a checkpoint may hold, and what the child that reads it may use up. Bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Limits:
    """Defaults fit dense models up to some 30 billion parameters. Raise ``total_bytes`` for larger ones."""

    files: int = 300
    total_bytes: int = 64 * GIB
    text_bytes: int = 4 * MIB
    """README, licence, merges."""
    json_bytes: int = MIB
    """Configurations. The two large kinds follow."""
    index_bytes: int = 8 * MIB
    tokenizer_bytes: int = 64 * MIB
    template_bytes: int = 64 * KIB
    header_bytes: int = 16 * MIB
    metadata_bytes: int = 64 * KIB
    tensors: int = 20_000
    """Tensors of one file and of the whole checkpoint."""

    memory_bytes: int = 512 * MIB
    """Address space while configurations, indexes and headers are read."""
    tokenizer_memory_bytes: int = 3 * GIB
    """Address space once the tokenizer is read: the largest published ones need about 1 GiB."""
    cpu_s: int = 5
    """CPU time for each file."""
    tokenizer_cpu_s: int = 40
    template_cpu_s: int = 8
    wall_s: float = 180.0
    """For the whole child."""
    report_bytes: int = MIB
    """What the child may say. The kernel enforces it as the largest file the child can write."""

    findings: int = 50
