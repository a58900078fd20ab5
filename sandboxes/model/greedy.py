"""The generation loop of the transformers engine: left-padded batches that shrink as their rows finish.

It differs from the library's ``generate`` in what a benchmark needs: a row that has finished leaves the batch at
once, keys and values are written in place instead of being copied at every step, ids that have no token are never
chosen, and the log-probability of what was chosen is kept.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

from sandboxes.model.engine import Completion, Prompt, Sampling

Ended = Callable[[Prompt, list[int]], bool]
"""Whether a row with these new ids is finished."""


class RoomyLayer(DynamicLayer):  # type: ignore[misc]  # the guest's libraries come without types
    """Keys and values of one layer in a buffer with room for the next steps."""

    ROOM = 64

    def lazy_initialization(self, key_states: Any, value_states: Any) -> None:
        super().lazy_initialization(key_states, value_states)
        self._length = 0
        self._keys, self._values = _with_room(key_states, 0), _with_room(value_states, 0)

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start, self._length = self._length, self._length + key_states.shape[-2]
        if self._length > self._keys.shape[-2]:
            self._keys, self._values = (
                _grown(self._keys, start, self._length),
                _grown(self._values, start, self._length),
            )
        self._keys[:, :, start : self._length] = key_states
        self._values[:, :, start : self._length] = value_states
        self._expose()
        return self.keys, self.values

    def batch_select_indices(self, indices: Any) -> None:
        self._keys, self._values = self._keys[indices], self._values[indices]
        self._expose()

    def _expose(self) -> None:
        self.keys, self.values = self._keys[:, :, : self._length], self._values[:, :, : self._length]


def _with_room(states: Any, length: int) -> Any:
    rows, heads, _, width = states.shape
    return states.new_empty(rows, heads, length, width)


def _grown(buffer: Any, used: int, needed: int) -> Any:
    larger = _with_room(buffer, needed + RoomyLayer.ROOM)
    larger[:, :, :used] = buffer[:, :, :used]
    return larger


class Generator:
    """Binds a model to the ids it may choose."""

    def __init__(self, model: Any, *, choosable: Any | None, pad: int) -> None:
        self._model, self._pad = model, pad
        self._barred = None if choosable is None else ~choosable
        accepted = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in accepted else "past_key_values"
        self._optional = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        self._takes_positions = "position_ids" in accepted

    def run(self, batch: Sequence[Prompt], sampling: Sampling, ended: Ended) -> Iterator[Completion]:
        """Yield each row's completion in the step in which it ends."""
        ids, mask = self._padded(batch)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        cache = self._new_cache()
        rows = [(prompt, Completion(prompt.index), _source(sampling, prompt.index)) for prompt in batch]
        while rows:
            logits = self._forward(ids, mask, positions, cache)
            chosen = self._choose(logits, sampling, [source for _, _, source in rows])
            certain = logits.gather(1, chosen[:, None])[:, 0] - torch.logsumexp(logits, 1)
            alive = []
            for place, (token, logprob) in enumerate(zip(chosen.tolist(), certain.tolist(), strict=True)):
                prompt, completion, _ = rows[place]
                completion.ids.append(token)
                completion.logprob += logprob
                if ended(prompt, completion.ids):
                    yield completion
                else:
                    alive.append(place)
            if 0 < len(alive) < len(rows):
                kept = torch.tensor(alive)
                cache.batch_select_indices(kept)
                mask, positions, chosen = mask[kept], positions[kept], chosen[kept]
            rows = [rows[place] for place in alive]
            ids, positions = chosen[:, None], positions[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones(mask.shape[0], 1)], 1)

    def _padded(self, batch: Sequence[Prompt]) -> tuple[Any, Any]:
        width = max(len(prompt.ids) for prompt in batch)
        ids = [[self._pad] * (width - len(prompt.ids)) + list(prompt.ids) for prompt in batch]
        mask = [[0] * (width - len(prompt.ids)) + [1] * len(prompt.ids) for prompt in batch]
        return torch.tensor(ids), torch.tensor(mask)

    def _new_cache(self) -> Any:
        cache = DynamicCache(config=self._model.config)
        cache.layers = [RoomyLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
        return cache

    def _forward(self, ids: Any, mask: Any, positions: Any, cache: Any) -> Any:
        arguments = {"input_ids": ids, "attention_mask": mask, "use_cache": True, self._cache_name: cache}
        if self._takes_positions:
            arguments["position_ids"] = positions
        with torch.inference_mode():
            return self._model(**arguments, **self._optional).logits[:, -1].float()

    def _choose(self, logits: Any, sampling: Sampling, sources: Sequence[Any]) -> Any:
        allowed = logits if self._barred is None else logits.masked_fill(self._barred, -math.inf)
        if sampling.greedy:
            return allowed.argmax(1)
        chances = _filtered(allowed / sampling.temperature, sampling).softmax(1)
        drawn = [torch.multinomial(row, 1, generator=source) for row, source in zip(chances, sources, strict=True)]
        return torch.cat(drawn)


def _source(sampling: Sampling, index: int) -> Any:
    return torch.Generator().manual_seed(sampling.item_seed(index))


def _filtered(logits: Any, sampling: Sampling) -> Any:
    if sampling.top_k > 0:
        worst = logits.topk(min(sampling.top_k, logits.shape[1]), 1).values[:, -1:]
        logits = logits.masked_fill(logits < worst, -math.inf)
    if sampling.top_p < 1:
        ranked, order = logits.sort(1, descending=True)
        chances = ranked.softmax(1)
        beyond = (chances.cumsum(1) - chances) >= sampling.top_p
        logits = logits.masked_fill(torch.zeros_like(beyond).scatter(1, order, beyond), -math.inf)
    return logits
