"""Child processes: started warm or cold, limited, and gone with all their descendants."""

from .launcher import Cancelled, Launcher, Program
from .supervisor import Child, Limits, SupervisorDied

__all__ = ["Cancelled", "Child", "Launcher", "Limits", "Program", "SupervisorDied"]
