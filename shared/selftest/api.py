"""What a lab's `checks.py` and `diagnoses.py` are written with."""

from shared.i18n import Text

from .checks import Checks
from .diagnoses import Diagnosis
from .lab import AgentRun, Asked, Lab
from .result import Evidence
from .script import script

__all__ = ["AgentRun", "Asked", "Checks", "Diagnosis", "Evidence", "Lab", "Text", "script"]
