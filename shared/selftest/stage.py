"""The folders that a run works in: copies of the learner's files and of the untouched starter.

Nothing that learner code does to its own folder reaches the learner's files, and a message can name
the file that the learner knows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.authoring.build import starter_tree
from shared.processes.supervisor import ROOT

Files = Literal["learner", "starter", "client"]
FILES: tuple[Files, ...] = ("learner", "starter", "client")

CLIENT = "mcp_client.py"  # of the learner, in `client`, where all else is as it came

MAX_FILE_BYTES = 2 << 20  # what is larger is no source file of a lab
MAX_FILES = 500  # nor are there so many of these
SKIP = ("__pycache__", ".git", ".venv", "node_modules")


@dataclass(frozen=True)
class Stage:
    """`learner/labs/LAB`, `starter/labs/LAB` and `client/labs/LAB` under one temporary folder.

    `shown_as` is how messages name the learner's folder, `source` where it really is.
    """

    folder: Path
    lab: str
    source: Path
    shown_as: str

    def package_root(self, files: Files) -> Path:
        """The folder from which `labs.LAB` can be imported."""
        return self.folder / files

    def lab_folder(self, files: Files) -> Path:
        """The folder of the lab's files."""
        return self.package_root(files) / "labs" / self.lab


def make_stage(folder: Path, source: Path, lab: str, shown_as: str) -> Stage:
    """Copy the learner's files (`source`, whatever that folder is called) as this lab, and generate
    the starter. Raises OSError."""
    stage = Stage(folder, lab, source, shown_as)
    _copy(source, stage.lab_folder("learner"))
    for path, content in starter_tree(ROOT / "solutions").items():
        for files in ("starter", "client"):
            target = stage.folder / files / "labs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    if (client := stage.lab_folder("learner") / CLIENT).is_file():
        shutil.copyfile(client, stage.lab_folder("client") / CLIENT)
    for files in FILES:
        package = stage.package_root(files) / "labs" / "__init__.py"
        package.touch()
        (stage.lab_folder(files) / "__init__.py").touch()
    return stage


def _copy(source: Path, target: Path) -> None:
    """Copy the source files of a lab. What is no file, cannot be read, is too large, or is one too
    many is left out: what a lab needs of it will be missed, and be said to be missing."""
    copied = 0
    for parent, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in SKIP]
        into = target / Path(parent).relative_to(source)
        into.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = Path(parent, name)
            if copied < MAX_FILES and path.suffix != ".pyc" and _is_small_file(path):
                with contextlib.suppress(PermissionError):
                    shutil.copyfile(path, into / name)
                    copied += 1


def _is_small_file(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False  # a link that leads nowhere
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_FILE_BYTES
