"""What a model said in one run. Written by the runner, which can't read it back; read by grader and auditor."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.vault import jsonl, sealing
from evaluator.vault.keyring import Keyring

READERS = ("grader", "auditor")

KEYS = frozenset(
    {"index", "outcome", "detail", "text", "tokens", "logprob", "prompt_tokens", "prompt_sha256", "prompt_ids_sha256"}
    | {"batch", "ms"}
)

FORM = jsonl.Form("heldout.outputs/1", KEYS)


def seal(run: str, runspec: str, outputs: Iterable[jsonl.Record], keyring: Keyring) -> sealing.Sealed:
    """``runspec`` is the digest that everything of the run cites."""
    header = {"run": run, "runspec": runspec}
    return sealing.seal(jsonl.write(FORM, header, outputs), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> jsonl.Pack:
    """The header with ``run``, ``runspec`` and ``count``, and the outputs by ascending index."""
    return jsonl.read(FORM, sealing.unseal(ref, data, keyring))
