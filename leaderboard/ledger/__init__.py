"""The only writer of state.

Every change of a run is a guarded update: it names the state, the owner and the fencing token it expects, and its
count must be 1. Its log entry is written in the same transaction, and the hint to a worker is sent when that
transaction has committed. A function that finds the row elsewhere raises ``evaluator.errors.Stale`` and has changed
nothing.
"""
