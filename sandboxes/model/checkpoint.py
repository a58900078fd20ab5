"""What the guest reads from the checkpoint's small files: which ids end a turn, how long the context is.

Sampling values in ``generation_config.json`` are never used; they come back in READY as a note.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandboxes.model.engine import LoadError, UnreadableError

_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "do_sample", "num_beams")


def require_readable(folder: Path) -> None:
    """Libraries report a file without read permission as missing, so look first."""
    files = sorted(folder.iterdir())
    unreadable = [path.name for path in files if not os.access(path, os.R_OK)]
    if unreadable or not files:
        raise UnreadableError(f"not readable: {', '.join(unreadable) or 'empty folder'}")


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The object in a file, or an empty one where there is no such file."""
    path = folder / name
    if not path.exists():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LoadError(f"{name}: {error}") from None
    if not isinstance(value, dict):
        raise LoadError(f"{name}: not an object")
    return value


def ending_ids(config: Mapping[str, Any], generation: Mapping[str, Any], tokenizer: Any) -> list[int]:
    """Ids that end a turn: those of the tokenizer, the configuration and the generation file together."""
    found: set[int] = set()
    for source in (tokenizer.eos_token_id, config.get("eos_token_id"), generation.get("eos_token_id")):
        values = source if isinstance(source, list) else [source]
        found |= {value for value in values if isinstance(value, int) and not isinstance(value, bool)}
    return sorted(found)


def context_of(config: Mapping[str, Any]) -> int | None:
    """The longest sequence the configuration declares, or ``None`` where it declares none."""
    for source in (config, config.get("text_config")):
        for key in ("max_position_embeddings", "n_positions", "max_seq_len"):
            if isinstance(source, Mapping) and isinstance(source.get(key), int) and source[key] > 0:
                return int(source[key])
    return None


def narrowest(limits: Iterable[int | None]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def ignored_sampling(generation: Mapping[str, Any]) -> dict[str, str]:
    """The sampling values the checkpoint brought along, as text: a note, nothing more."""
    return {key: str(generation[key]) for key in _SAMPLING if generation.get(key) is not None}
