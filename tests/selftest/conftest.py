"""One warm launcher for all self-tests of a worker, and folders as learners have them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shared.authoring.regions import replace_region
from shared.authoring.starters import starter_tree
from shared.processes import Launcher
from shared.processes.supervisor import ROOT
from shared.selftest.discover import load_checks
from shared.selftest.result import ItemResult, Result
from shared.selftest.runner import run_checks

LAB = "day23_mcp_server"
SEED = 23


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher


@dataclass
class Work:
    """A learner's folder of day 23, to be edited and judged."""

    folder: Path
    launcher: Launcher
    files: dict[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("mcp_server", "bridge", "mcp_client", "agent", "should_use_mcp", "host"):
            path = self.folder / f"{name}.py"
            self.files[path.name] = path.read_text(encoding="utf-8")

    def exercise(self, number: int, body: str) -> Work:
        """Fill the blank of an exercise with other lines, given without indentation."""
        name = load_checks(LAB).exercises[number]
        text = self.files[name]
        marker = next(line for line in text.splitlines() if f"# region exercise {number}:" in line)
        indent = marker[: len(marker) - len(marker.lstrip())]
        lines = [f"{indent}{line}".rstrip() for line in body.strip("\n").splitlines()]
        return self.write(name, replace_region(text, number, "\n".join(lines) + "\n"))

    def edit(self, name: str, old: str, new: str) -> Work:
        """Replace a piece of a file, which must be there."""
        assert old in self.files[name], f"{name} has no {old!r}"
        return self.write(name, self.files[name].replace(old, new))

    def write(self, name: str, text: str) -> Work:
        """Write a whole file."""
        self.files[name] = text
        (self.folder / name).write_text(text, encoding="utf-8")
        return self

    def judge(
        self,
        *items: int,
        seed: int = SEED,
        launcher: Launcher | None = None,
        kept: Mapping[int, ItemResult] | None = None,
    ) -> Result:
        """Run the self-test on the folder; `kept` are verdicts that an edit cannot have changed."""
        return run_checks(
            load_checks(LAB),
            self.folder,
            shown_as=f"labs/{LAB}",
            seed=seed,
            launcher=launcher or self.launcher,
            only=frozenset(items),
            kept=kept,
        )

    def item(self, number: int) -> ItemResult:
        """Run the self-test for one item and what it needs, and return its verdict."""
        return self.judge(number).items[number - 1]


@pytest.fixture
def solution(launcher: Launcher, tmp_path: Path) -> Work:
    folder = tmp_path / "solution" / LAB
    shutil.copytree(ROOT / "solutions" / LAB, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Work(folder, launcher)


@pytest.fixture(scope="session")
def solved(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The verdicts on the solution as it is."""
    folder = tmp_path_factory.mktemp("solved") / LAB
    shutil.copytree(ROOT / "solutions" / LAB, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Work(folder, launcher).judge()


@pytest.fixture
def starter(launcher: Launcher, tmp_path: Path) -> Work:
    for path, content in starter_tree(ROOT / "solutions").items():
        target = tmp_path / "starter" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return Work(tmp_path / "starter" / LAB, launcher)


Statuses = Callable[[Result], list[str]]


@pytest.fixture
def statuses() -> Statuses:
    return lambda result: [item.status for item in result.items]
