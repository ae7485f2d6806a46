"""The self-test: checks of a lab, judged over recorded wires, outside the learner's processes.

What a lab's `checks.py` needs is importable from here.
"""

from shared.i18n import Text

from .checks import Checks
from .diagnoses import Diagnosis
from .lab import AgentRun, Lab
from .result import Evidence

__all__ = ["AgentRun", "Checks", "Diagnosis", "Evidence", "Lab", "Text"]
