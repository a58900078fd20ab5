"""Resident memory of every process while a checkpoint of 2 GB is uploaded and checked, through the web application.

The peak since the upload began, per process, as the kernel counts it (VmHWM, reset before).
"""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

from bench.report import Aim, Comparison, Figure
from box import demo, processes
from box.state import State, here

HIDDEN, LAYERS, VOCABULARY = 2048, 17, 8192
LIMIT = 200.0


def compare(rounds: int) -> Comparison:  # noqa: ARG001  # one upload: the kernel's peak has no noise worth a second one
    state = here()
    folder = state.root / "bench" / "two-gigabytes"
    size = _checkpoint(folder, state)
    pids = {name: pid for name, pid in processes.status(state).items() if pid is not None}
    for pid in pids.values():
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    client = demo.Client(state)
    client.login()
    told = client.call("upload", str(folder), "--name=two-gigabytes", "--json")
    peaks = [Figure(name, "MB", (_peak(pid),)) for name, pid in pids.items()]
    shutil.rmtree(folder)
    return Comparison(
        "memory", f"uploading and checking {size / 1e9:.2f} GB", peaks,
        [Aim(f"{figure.name}, peak MB", figure.median, LIMIT) for figure in peaks],
        {"checkpoint": json.loads(told[told.index("{") :])["checkpoint"]},
    )  # fmt: skip


def _peak(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise LookupError(f"process {pid} is gone")


def _checkpoint(folder: Path, state: State) -> int:
    """A valid Llama of zeros in bfloat16, with the small model's tokenizer; written in flat memory."""
    source = next(path for path in sorted((state.root / "checkpoints-source").glob("tiny-random-*")) if path.is_dir())
    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = json.loads((source / "config.json").read_text())
    rows = max(VOCABULARY, config["vocab_size"])
    config |= {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "intermediate_size": 4 * HIDDEN,
               "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": HIDDEN // 16, "vocab_size": rows,
               "tie_word_embeddings": False, "dtype": "bfloat16"}  # fmt: skip
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"):
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)
    (folder / "config.json").write_text(json.dumps(config))
    return _weights(folder / "model.safetensors", _shapes(rows))


def _shapes(rows: int) -> dict[str, list[int]]:
    inner = 4 * HIDDEN
    shapes = {
        "model.embed_tokens.weight": [rows, HIDDEN],
        "lm_head.weight": [rows, HIDDEN],
        "model.norm.weight": [HIDDEN],
    }
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        shapes |= {f"{at}self_attn.{name}_proj.weight": [HIDDEN, HIDDEN] for name in "qkvo"}
        shapes |= {f"{at}mlp.{name}_proj.weight": [inner, HIDDEN] for name in ("gate", "up")}
        shapes |= {f"{at}mlp.down_proj.weight": [HIDDEN, inner]}
        shapes |= {f"{at}{name}.weight": [HIDDEN] for name in ("input_layernorm", "post_attention_layernorm")}
    return shapes


def _weights(path: Path, shapes: dict[str, list[int]]) -> int:
    header, offset = {}, 0
    for name, shape in sorted(shapes.items()):
        end = offset + 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        file.truncate(8 + len(head) + offset)  # a hole reads as zeros
    return path.stat().st_size
