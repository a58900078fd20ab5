"""Compares sealed outputs with sealed answers and signs the grade. Never sees a prompt, a checkpoint or a container."""
