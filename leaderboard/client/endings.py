"""How a command ends when it does not end well: a message and an exit code by class."""

from __future__ import annotations


class Ending(Exception):
    code = 1


class SignInFirst(Ending):
    code = 3


class WasRefused(Ending):
    code = 4


class NothingThere(Ending):
    code = 5


class ServerTrouble(Ending):
    code = 6
