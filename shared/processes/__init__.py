"""Child processes: started warm or cold, limited, and gone with all their descendants."""

from .launcher import Launcher, Program
from .supervisor import Child, Limits, SupervisorDied

__all__ = ["Child", "Launcher", "Limits", "Program", "SupervisorDied"]
