"""Decides whether an uploaded folder is a checkpoint that we take.

The checkpoint's identity is the digest of its manifest: the names, sizes and SHA-256 of its files. The facts stand
beside it; they are what the child computed from exactly those bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import Finding, Refused
from evaluator.intake import folder, names
from evaluator.intake.judge import judge
from evaluator.intake.limits import Limits
from evaluator.intake.report import OpenFile
from evaluator.intake.verdict import Verdict
from evaluator.records.canonical import digest

FORMAT = "heldout.checkpoint/1"


@dataclass(frozen=True)
class Admission:
    """``manifest`` is hashed, ``facts`` are not, ``notes`` are sentences for the submitter."""

    manifest: Mapping[str, Any]
    facts: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The checkpoint's identity."""
        return digest(self.manifest)


def admit(path: Path, *, limits: Limits | None = None, needs_chat_template: bool = False) -> Admission:
    """Judge the folder at ``path``, which nobody may write to any more. Raises ``Refused`` with all findings.

    1. Every plain file is opened once; names, kinds and sizes are judged.
    2. A confined child judges the open files (``examine`` lists what).
    3. The same descriptors are hashed; bytes that differ from those the child read, or a file that was written to
       meanwhile, are refused.
    """
    limits = limits or Limits()
    with folder.opened(path, limits) as listing:
        if not listing.files:
            raise Refused(listing.findings[: limits.findings])
        stamps = {name: folder.stamp(file) for name, file in listing.files.items()}
        verdict = judge(listing.files, limits, needs_chat_template=needs_chat_template)
        findings = _together(listing.findings, verdict.findings)
        if findings or verdict.facts is None:
            raise Refused(findings[: limits.findings])
        entries = [_entry(file, verdict) for _, file in sorted(listing.files.items())]
        changed = [name for name, file in listing.files.items() if folder.stamp(file) != stamps[name]]
        if changed:
            raise Refused([_changed(name) for name in changed])
    manifest = {"format": FORMAT, "files": entries}
    return Admission(manifest, _with_digests(verdict.facts, entries), verdict.notes)


def _together(of_names: list[Finding], of_contents: tuple[Finding, ...]) -> list[Finding]:
    """One finding about a stray file is enough: what it really is tells more than that its name is unknown."""
    told = {finding.where for finding in of_contents}
    return [found for found in of_names if found.code != "unexpected-file" or found.where not in told] + [*of_contents]


def _entry(file: OpenFile, verdict: Verdict) -> dict[str, Any]:
    length, expected = verdict.parsed.get(file.name, (0, None))
    whole, first = folder.digests(file, length)
    if first != expected:
        raise Refused([_changed(file.name)])
    return {"name": file.name, "size": file.size, "sha256": whole}


def _changed(name: str) -> Finding:
    problem = "The file changed while it was checked."
    return Finding("changed", names.shown(name), problem, "Upload it again and wait until the upload is complete.")


def _with_digests(facts: Mapping[str, Any], entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Digests of the parts, from the manifest: equal tokenizers or weights under other folders are seen at once."""
    whole = {entry["name"]: entry["sha256"] for entry in entries}
    if names.TEMPLATE in whole and facts["template"] != f"sha256:{whole[names.TEMPLATE]}":
        raise Refused([_changed(names.TEMPLATE)])
    return {
        **facts,
        "tokenizer": _part(whole, lambda role: role.of_tokenizer),
        "weights": _part(whole, lambda role: role is names.Role.WEIGHTS),
    }


def _part(whole: Mapping[str, str], belongs: Any) -> str:
    chosen = {name: value for name, value in whole.items() if (role := names.role(name)) and belongs(role)}
    return digest(chosen)
