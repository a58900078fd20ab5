"""Pure checkers: an output and an item's gold in, a verdict out. No file, clock, network or random number.

>>> check("numeric", "The answer is $18.00.", ["18"]).right
True
"""

from evaluator.checkers.table import KINDS, Checker, check, checker, right_output, validate_options
from evaluator.records.verdicts import Verdict

__all__ = ["KINDS", "Checker", "Verdict", "check", "checker", "right_output", "validate_options"]
