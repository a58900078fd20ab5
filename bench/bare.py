"""The bare engine: one process, the library's own loop, none of our code. What the guest is compared with.

Reads ``{"engine", "model", "prompts": [[message...]...], "max_tokens", "batch", "threads"}`` from standard input and
prints ``{"load_s", "work_s", "cpu_s", "answers"}``. It is a script of its own, so that it runs in the same image as
the guest: ``bare.source()`` is what to give to ``python3.11 -c`` there.

It does what a careful user of the library would: prompts sorted by length, padded on the left, greedy, float32, no
gradients, stopped at the end of a turn.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def source() -> str:
    """This file's text."""
    return Path(__file__).read_text(encoding="utf-8")


def transformers(job: dict[str, Any]) -> dict[str, float]:
    import torch  # noqa: PLC0415  # each image has one engine
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    torch.set_num_threads(job["threads"])
    began = time.monotonic()
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    loaded, cpu = time.monotonic(), time.process_time()
    texts = [tokenizer.apply_chat_template(each, tokenize=False, add_generation_prompt=True) for each in job["prompts"]]
    encoded = sorted(tokenizer(texts, add_special_tokens=False).input_ids, key=len, reverse=True)
    pad, answers = tokenizer.eos_token_id, 0
    with torch.inference_mode():
        for start in range(0, len(encoded), job["batch"]):
            rows = encoded[start : start + job["batch"]]
            width = len(rows[0])
            ids = torch.tensor([[pad] * (width - len(row)) + row for row in rows])
            mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
            made = model.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=job["max_tokens"], do_sample=False, pad_token_id=pad
            )
            answers += sum(len(tokenizer.decode(row[width:], skip_special_tokens=True)) > 0 for row in made)
    done = time.monotonic()
    return {"load_s": loaded - began, "work_s": done - loaded, "cpu_s": time.process_time() - cpu, "answers": answers}


def vllm(job: dict[str, Any]) -> dict[str, float]:
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from vllm import LLM, SamplingParams  # noqa: PLC0415

    began = time.monotonic()
    model = LLM(model=job["model"], dtype="float32", enforce_eager=True, max_num_seqs=job["batch"], max_model_len=2048)
    loaded, cpu = time.monotonic(), time.process_time()
    parameters = SamplingParams(temperature=0, max_tokens=job["max_tokens"])
    made = model.chat(job["prompts"], parameters, use_tqdm=False)
    answers = sum(len(each.outputs[0].text) > 0 for each in made)
    done = time.monotonic()
    return {"load_s": loaded - began, "work_s": done - loaded, "cpu_s": time.process_time() - cpu, "answers": answers}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.stdout.write(json.dumps({"transformers": transformers, "vllm": vllm}[asked["engine"]](asked)))
