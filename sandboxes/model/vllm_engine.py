"""vLLM, offline and in one process: the production engine on a GPU, and its CPU build where there is none.

On the CPU it runs eagerly (compiling takes two minutes and a compiler) in the preset's dtype. On a GPU vLLM's own
defaults decide how it runs; the preset decides what it computes. Prefix caching is off: nothing of one item may speed
up or change another. The checkpoint's generation file is ignored but for the ids that end a turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # read at import: one process schedules in one order

import torch  # the setting above comes first
from vllm import LLM, SamplingParams
from vllm.model_executor.models import registry
from vllm.platforms import current_platform
from vllm.sampling_params import RequestOutputKind

from sandboxes.model import checkpoint
from sandboxes.model.engine import Completion, LoadError, Prompt, Sampling
from sandboxes.model.tokenizer import load_tokenizer

BAD_CHECKPOINT = (ValueError, LookupError, TypeError, AttributeError, AssertionError, NotImplementedError, OSError)
"""What vLLM raises for a checkpoint it can't take. A ``RuntimeError`` is as often the machine's, so it is ours."""


class VllmEngine:
    """See ``sandboxes.model.engine.Engine``."""

    name = "vllm"

    def __init__(self, folder: Path, preset: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._config = checkpoint.read_json(folder, "config.json")
        self._generation = checkpoint.read_json(folder, "generation_config.json")
        self._context = checkpoint.narrowest([preset.get("context"), checkpoint.context_of(self._config)])
        self._llm = _load(folder, preset, options, self._context)
        self.tokenizer = load_tokenizer(folder)
        self._endings = checkpoint.ending_ids(self._config, self._generation, self.tokenizer)
        self._model = self._llm.llm_engine.model_config
        self._allowed = _allowed(self.tokenizer, self._model.get_vocab_size())

    def facts(self) -> dict[str, Any]:
        vocabulary = self._model.get_vocab_size()
        return {
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "vocabulary": vocabulary,
            "barred": 0 if self._allowed is None else vocabulary - len(self._allowed),
            "context": min(self._model.max_model_len, self._context or self._model.max_model_len),
            "threads": torch.get_num_threads(),
            "endings": self._endings,
            "ignored": checkpoint.ignored_sampling(self._generation),
            "device": str(current_platform.device_type),
        }

    def generate(self, schedule: Sequence[Prompt], sampling: Sampling) -> Iterator[Completion]:
        engine = self._llm.llm_engine
        for place, prompt in enumerate(schedule):
            engine.add_request(str(place), {"prompt_token_ids": list(prompt.ids)}, self._parameters(prompt, sampling))
        while engine.has_unfinished_requests():
            for output in engine.step():
                if output.finished:
                    (only,) = output.outputs
                    logprob = float(only.cumulative_logprob or 0.0)
                    yield Completion(schedule[int(output.request_id)].index, list(only.token_ids), logprob)

    def _parameters(self, prompt: Prompt, sampling: Sampling) -> SamplingParams:
        """Whole: what is not named here is off."""
        return SamplingParams(
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            seed=None if sampling.greedy else sampling.item_seed(prompt.index),
            max_tokens=prompt.allowance,
            stop=list(sampling.stop),
            stop_token_ids=self._endings,
            allowed_token_ids=self._allowed,
            logprobs=0,
            detokenize=bool(sampling.stop),
            skip_special_tokens=True,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )


def _load(folder: Path, preset: Mapping[str, Any], options: Mapping[str, Any], context: int | None) -> LLM:
    checkpoint.require_readable(folder)
    on_cpu = current_platform.is_cpu()
    if on_cpu:
        _spare_the_cpu()
    try:
        return LLM(
            model=str(folder),
            dtype=preset["dtype"],
            seed=int(preset["seed"]),
            max_model_len=context,
            max_num_seqs=int(preset["batch"]["size"]),
            enforce_eager=bool(options.get("enforce_eager", on_cpu)),
            generation_config="vllm",
            load_format="safetensors",
            trust_remote_code=False,
            enable_prefix_caching=False,
            disable_log_stats=True,
        )
    except BAD_CHECKPOINT as error:
        raise LoadError(f"{type(error).__name__}: {error}"[:500]) from error


def _spare_the_cpu() -> None:
    """Two of vLLM's habits that cost this guest half its start and gain it nothing.

    The sampler would compile a helper, which takes half a minute and a compiler. And the model's class would be
    looked at in a second interpreter first, to keep a GPU untouched that isn't there.
    """
    torch._dynamo.config.disable = True
    if hasattr(registry, "_run_in_subprocess"):
        registry._run_in_subprocess = lambda look: look()


def _allowed(tokenizer: Any, vocabulary: int) -> list[int] | None:
    """Ids that have a token, where some rows of the output layer have none; else nothing to restrict."""
    known = sorted(number for number in tokenizer.get_vocab().values() if number < vocabulary)
    return None if len(known) == vocabulary else known
