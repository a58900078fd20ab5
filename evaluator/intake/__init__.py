"""Whether an uploaded folder is a checkpoint that we take, and keeping it. See README.md."""

from evaluator.intake.admission import Admission, admit
from evaluator.intake.limits import Limits
from evaluator.intake.store import clear_leftovers, store, verify

__all__ = ["Admission", "Limits", "admit", "clear_leftovers", "store", "verify"]
