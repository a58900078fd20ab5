"""The small default engine: transformers and torch on the CPU, float32 unless the preset says otherwise.

In float32 the chosen tokens were the same in every batch and order that was tried; that is an observation, not a
proof of equal bits. In bfloat16 they are not: the preset's dtype is recorded and the effective one reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from sandboxes.model import checkpoint
from sandboxes.model.engine import Completion, LoadError, Prompt, Sampling
from sandboxes.model.greedy import Generator
from sandboxes.model.rendering import text_of
from sandboxes.model.scheduling import batches
from sandboxes.model.tokenizer import load_tokenizer

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class TransformersEngine:
    """See ``sandboxes.model.engine.Engine``."""

    name = "transformers"

    def __init__(self, folder: Path, preset: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        torch.set_num_threads(int(options.get("threads") or granted_threads()))
        dtype = DTYPES[preset["dtype"]]
        self._batch = int(preset["batch"]["size"])
        self.tokenizer, self._model = _load(folder, dtype)
        self._config = checkpoint.read_json(folder, "config.json")
        self._generation = checkpoint.read_json(folder, "generation_config.json")
        self._endings = frozenset(checkpoint.ending_ids(self._config, self._generation, self.tokenizer))
        self._context = checkpoint.narrowest([preset.get("context"), checkpoint.context_of(self._config)])
        choosable = _choosable(self.tokenizer, self._model.config.get_text_config().vocab_size)
        self._barred = 0 if choosable is None else int((~choosable).sum())
        self._generator = Generator(self._model, choosable=choosable, pad=min(self._endings, default=0))

    def facts(self) -> dict[str, Any]:
        return {
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "parameters": self._model.num_parameters(),
            "vocabulary": self._model.config.get_text_config().vocab_size,
            "barred": self._barred,
            "context": self._context,
            "threads": torch.get_num_threads(),
            "endings": sorted(self._endings),
            "ignored": checkpoint.ignored_sampling(self._generation),
            "device": str(self._model.device),
        }

    def generate(self, schedule: Sequence[Prompt], sampling: Sampling) -> Iterator[Completion]:
        def ended(prompt: Prompt, ids: list[int]) -> bool:
            if ids[-1] in self._endings or len(ids) >= prompt.allowance:
                return True
            return bool(sampling.stop) and self._stopped(ids, sampling.stop)

        for number, batch in enumerate(batches(schedule, self._batch)):
            for completion in self._generator.run(batch, sampling, ended):
                completion.batch = number
                yield completion

    def _stopped(self, ids: list[int], stop: tuple[str, ...]) -> bool:
        """Whether a stop string stands at the end. Each was looked for at every step, so a tail is enough."""
        tail = ids[-(max(len(end.encode()) for end in stop) + 8) :]
        return text_of(self.tokenizer, tail, stop)[1]


def granted_threads() -> int:
    """What the launcher granted, else one fewer than the cores: OpenMP spins when another process wants its core."""
    granted = os.environ.get("OMP_NUM_THREADS", "")
    return int(granted) if granted.isdecimal() and int(granted) > 0 else max(1, (os.cpu_count() or 2) - 1)


def _load(folder: Path, dtype: Any) -> tuple[Any, Any]:
    checkpoint.require_readable(folder)
    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = load_tokenizer(folder)
        model, notes = AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, use_safetensors=True, output_loading_info=True, **local
        )
    except MemoryError:
        raise
    except Exception as error:  # the libraries raise a dozen types for a bad checkpoint, some their own
        raise LoadError(f"{type(error).__name__}: {error}"[:500]) from error
    absent = sorted([*notes["missing_keys"], *notes["mismatched_keys"]], key=str)
    if absent:  # the library would fill them with random numbers
        raise LoadError(f"tensors missing or of another shape: {', '.join(map(str, absent[:5]))}")
    return tokenizer, model.eval()


def _choosable(tokenizer: Any, vocabulary: int) -> Any | None:
    """Which rows of the output layer have a token; ``None`` where all have. The others are padding."""
    known = torch.zeros(vocabulary, dtype=torch.bool)
    ids = [number for number in tokenizer.get_vocab().values() if number < vocabulary]
    known[torch.tensor(ids)] = True
    return None if bool(known.all()) else known
