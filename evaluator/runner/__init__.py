"""Runs checkpoints on prompts and seals their outputs. Sees prompts; never answers of hidden items."""
