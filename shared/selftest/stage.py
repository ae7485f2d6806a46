"""The folders that a run works in: copies of the learner's files and of the untouched starter.

Nothing that learner code does to its own folder reaches the learner's files, and a message can name
the file that the learner knows.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from shared.authoring.build import starter_tree
from shared.processes.supervisor import ROOT

Files = Literal["learner", "starter"]
FILES: tuple[Files, ...] = ("learner", "starter")

MAX_FILE_BYTES = 2 << 20  # what is larger is no source file of a lab
SKIP = shutil.ignore_patterns("__pycache__", "*.pyc", ".git", ".DS_Store")


@dataclass(frozen=True)
class Stage:
    """`learner/labs/LAB` and `starter/labs/LAB` under one temporary folder.

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


def make_stage(folder: Path, source: Path, shown_as: str) -> Stage:
    """Copy the learner's lab (`source`) and generate the starter. Raises OSError."""
    lab = lab_name(source)
    stage = Stage(folder, lab, source, shown_as)
    shutil.copytree(source, stage.lab_folder("learner"), ignore=_too_much, symlinks=True)
    for path, content in starter_tree(ROOT / "solutions").items():
        target = stage.package_root("starter") / "labs" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for files in FILES:
        package = stage.package_root(files) / "labs" / "__init__.py"
        package.touch()
        (stage.lab_folder(files) / "__init__.py").touch()
    return stage


def lab_name(source: Path) -> str:
    """The name of the lab that a folder holds: that of the course's lab of the same day."""
    day = source.name[:5]
    names = [path.name for path in (ROOT / "solutions").glob(f"{day}_*")]
    return names[0] if names else source.name


def _too_much(folder: str, names: list[str]) -> set[str]:
    large = {
        name
        for name in names
        if (path := Path(folder, name)).is_file() and path.stat().st_size > MAX_FILE_BYTES
    }
    return large | set(SKIP(folder, names))
