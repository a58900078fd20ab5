"""The model guest: renders prompts with the checkpoint's own template, generates, and answers over the wire.

Runs inside a container without a network, as ``python3.11 -m sandboxes.model --engine transformers --model /model``.
It imports ``sandboxes.wire`` and nothing else of ours, and it never sees an answer.
"""
