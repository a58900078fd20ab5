"""The table of identities: one row each. Everything else is made from this table or tested against it.

An identity is, under one name: a Celery queue, a PostgreSQL role, a Valkey user, an operating-system uid, a set of
keys in files only it may read, and (for the workers) a package of ``evaluator``. The question it answers: who may
see what?

    identity   prompts  answers  raw outputs  exact scores  container engine
    web        no       no       no           no            no
    curator    yes      yes      no           no            no
    runner     yes      no       writes       no            through the launcher
    grader     no       yes      yes          writes        no
    auditor    yes      yes      yes          yes           no
    launcher   no       no       no           no            yes
    clock      no       no       no           no            no

``launcher`` and ``clock`` are helpers: the only process that talks to the container engine, and the one that returns
expired leases. ``owner`` is no identity but the database role that owns the tables and runs migrations.
"""

from __future__ import annotations

from dataclasses import dataclass

OWNER_ROLE = "heldout_owner"

PACKS = ("prompts", "answers", "outputs", "verdicts")


@dataclass(frozen=True)
class Identity:
    """One row. ``reads`` and ``writes`` name compartments of sealed packs; ``sends_to`` names queues it may fill."""

    name: str
    uid_offset: int
    purpose: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    consumes: bool = False
    sends_to: frozenset[str] = frozenset()
    signs: bool = False
    uses_launcher: bool = False
    uses_engine: bool = False

    @property
    def role(self) -> str:
        return f"heldout_{self.name}"

    @property
    def broker_user(self) -> str:
        return self.name

    @property
    def queue(self) -> str:
        return self.name

    @property
    def has_vault_key(self) -> bool:
        """Whether an age private key exists for it: only for who opens packs."""
        return bool(self.reads)

    def secrets(self) -> frozenset[str]:
        """Names of the files in its secret folder. Nothing else may lie there, and no one else may hold these."""
        names = {"database.password"}
        if self.consumes or self.sends_to:
            names.add("broker.password")
        if self.has_vault_key:
            names.add("vault.key")
        if self.signs:
            names.add("signing.key")
        if self.name == "web":
            names.add("django.key")
        return frozenset(names)


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


_TABLE = (
    Identity("web", 1, "serves pages, takes uploads, checks checkpoints",
             writes=_names("prompts", "answers"), consumes=True, sends_to=_names("web", "runner")),
    Identity("curator", 2, "imports, groups and freezes task sets",
             reads=_names("prompts", "answers"), writes=_names("prompts", "answers"), signs=True),
    Identity("runner", 3, "runs checkpoints on prompts and seals their outputs",
             reads=_names("prompts"), writes=_names("outputs"), consumes=True, sends_to=_names("grader"),
             signs=True, uses_launcher=True),
    Identity("grader", 4, "compares sealed outputs with answers and signs the grade",
             reads=_names("answers", "outputs", "verdicts"), writes=_names("verdicts"), consumes=True, signs=True),
    Identity("auditor", 5, "replays grades and keeps the log",
             reads=_names("prompts", "answers", "outputs", "verdicts"), signs=True),
    Identity("launcher", 6, "the only process that talks to the container engine", uses_engine=True),
    Identity("clock", 7, "returns expired leases and repeats hints",
             sends_to=_names("runner", "grader", "web")),
)  # fmt: skip

IDENTITIES: dict[str, Identity] = {identity.name: identity for identity in _TABLE}

GUEST_UID_OFFSET = 65
"""Containers run as this uid: no identity's, and nobody else's."""

UID_BASE = 62000
"""Uids are ``UID_BASE`` + offset when started as root. A number is enough: no accounts are created."""


def readers(pack: str) -> tuple[Identity, ...]:
    """The recipients of a sealed pack, in the table's order."""
    return tuple(identity for identity in _TABLE if pack in identity.reads)


def by_role(role: str) -> Identity:
    """The identity behind a database role. Raises ``LookupError`` for any other role."""
    for identity in _TABLE:
        if identity.role == role:
            return identity
    raise LookupError(f"{role} is no identity's database role")
