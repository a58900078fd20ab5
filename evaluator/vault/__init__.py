"""Sealed packs: who may read which is decided by the key that is missing, not by Python. See README.md."""
