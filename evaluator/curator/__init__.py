"""Imports, groups and freezes task sets. See README.md."""
