"""Comparisons, each measured in one run on the same work. See README.md."""
