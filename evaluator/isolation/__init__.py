"""The launcher and its client: the only way to a running container.

The launcher is its own process and the only one that may talk to the container engine. It is told a run and an
attempt, reads everything else itself, builds one fixed specification, compares what the engine really made of it,
and relays bytes. It never parses what a guest says.
"""
