"""Replays grades and keeps the log. See README.md."""
