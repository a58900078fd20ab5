"""Valkey's users, one line each, made from the table of identities.

Rights stand in selectors (the parentheses), so that a command allowed on one key is not allowed on another: with
plain rules, a user that may push into a foreign queue and delete in its own could delete the foreign one too.

    consumes       take from and put into its own queue, declare its own binding
    sends to       put into that queue and nothing else; read its binding
    default        off
    owner          looks: lengths, the log of refusals; reloads these rules. Kept by root, used by no process of ours
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from leaderboard.identities import IDENTITIES, Identity

KEY_PREFIX = "heldout:"
BINDING = f"{KEY_PREFIX}_kombu.binding."
PERMANENT = f"{KEY_PREFIX}_kombu.binding_permanent."
"""Where kombu 5.7 writes a queue's binding, and where it marks it as one that no sweep may take away."""

CONNECT = "+hello +auth +ping +select +multi +exec +discard +client|setname +client|setinfo"
OWNER = (
    f"user owner on #{{hash}} ~{KEY_PREFIX}* resetchannels -@all {CONNECT} +info +dbsize +keys +type +llen +lrange "
    "+lpush +del +smembers +acl|log +acl|load +acl|list +acl|whoami +config|get"
)


def lines(password: Callable[[str], str]) -> str:
    """The text of the file. ``password`` gives each name's password; only its hash is written."""
    users = ["user default off resetkeys resetchannels -@all", OWNER.format(hash=_hash(password("owner")))]
    for name, identity in IDENTITIES.items():
        if "broker.password" in identity.secrets():
            rights = " ".join(_selectors(identity))
            users.append(
                f"user {identity.broker_user} on #{_hash(password(name))} resetchannels -@all {CONNECT} {rights}"
            )
    return "\n".join(users) + "\n"


def _selectors(identity: Identity) -> Iterator[str]:
    if identity.consumes:
        yield f"(~{KEY_PREFIX}{identity.queue} +brpop +rpop +lpush +llen)"
        yield f"(~{BINDING}{identity.queue} +sadd +smembers)"
        yield f"(~{PERMANENT}{identity.queue} +sadd)"
    for queue in sorted(identity.sends_to - {identity.queue}):
        yield f"(%W~{KEY_PREFIX}{queue} +lpush)"
        yield f"(%R~{BINDING}{queue} +smembers)"


def _hash(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()
