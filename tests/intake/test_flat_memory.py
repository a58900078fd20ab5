"""A checkpoint of two gigabytes is admitted in flat memory."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

from fixtures.hostile import headers
from tests.checkpoints import tiny_checkpoint

_VOCABULARY, _HIDDEN = 131_072, 2_048
_PROGRAM = """
import sys
from pathlib import Path
from evaluator.intake import admit, judge
judged = judge.judge
peaks = []
def listening(*arguments, **options):
    verdict = judged(*arguments, **options)
    peaks.append(verdict.peak_kib)
    return verdict
import evaluator.intake.admission as admission
admission.judge = listening
admitted = admit(Path(sys.argv[1]))
own = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(admitted.facts["parameters"], own, *peaks)
"""


def _grow(folder: Path) -> None:
    """Gives embedding and head two gigabytes of holes, with something written at the start."""
    header, data = headers.parts(folder)
    end, size = 0, _VOCABULARY * _HIDDEN * 4
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        wide = name in ("lm_head.weight", "model.embed_tokens.weight")
        entry["shape"] = [_VOCABULARY, _HIDDEN] if wide else [_widened(length) for length in entry["shape"]]
        length = size if wide else 4 * entry["shape"][0] * (entry["shape"] + [1])[1]
        entry["data_offsets"], end = [end, end + length], end + length
    body = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(body)) + body + struct.pack("<f", 1.0) * 1024)
        file.truncate(8 + len(body) + end)
    del data


def _widened(length: int) -> int:
    return _HIDDEN if length == 64 else length


def test_two_gigabytes_need_no_two_hundred_megabytes(tmp_path: Path) -> None:
    sizes = {"vocab_size": _VOCABULARY, "hidden_size": _HIDDEN, "num_attention_heads": 64, "num_key_value_heads": 1}
    folder = tiny_checkpoint(tmp_path / "c")
    _grow(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **sizes}), encoding="utf-8")

    done = subprocess.run([sys.executable, "-c", _PROGRAM, str(folder)], capture_output=True, text=True, check=True)

    parameters, own, child = map(int, done.stdout.split())
    assert (folder / "model.safetensors").stat().st_size > 2 * 10**9
    assert parameters > 5 * 10**8
    assert own < 200 * 1024
    assert child < 200 * 1024
