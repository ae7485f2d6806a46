"""`constraints.txt` pins exactly what is installed, within the bounds of `pyproject.toml`."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from shared.bootstrap import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ASKED = [
    Requirement(text)
    for text in (
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["dev"],
        *PROJECT["build-system"]["requires"],
    )
]
LINES = [
    line
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MACHINES = (("linux", "x86_64"), ("darwin", "arm64"), ("darwin", "x86_64"), ("win32", "AMD64"))


def pins(python: str, platform: str, machine: str) -> dict[str, list[str]]:
    """Name → versions that apply there."""
    environment = {
        "python_version": python,
        "python_full_version": python + ".0",
        "sys_platform": platform,
        "platform_machine": machine,
    }
    found: dict[str, list[str]] = {}
    for pin in map(Requirement, LINES):
        if pin.marker is None or pin.marker.evaluate(environment):
            (specifier,) = pin.specifier
            found.setdefault(canonicalize_name(pin.name), []).append(specifier.version)
    return found


def installed() -> dict[str, str]:
    """Name → version of all that the development environment needs here, transitively."""
    found: dict[str, str] = {}
    queue = list(ASKED)
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if name in found and not requirement.extras:
            continue
        dist = distribution(requirement.name)
        found[name] = dist.version
        for text in dist.requires or ():
            needed = Requirement(text)
            marker = needed.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                needed.marker = None
                queue.append(needed)
    return found


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_a_pin_and_nothing_else(line: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*( ; [\w.]+ [<>=!]+ \"[\w.]+\".*)?", line)
    assert "//" not in line


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(("platform", "machine"), MACHINES)
def test_one_pin_within_the_bounds_everywhere(python: str, platform: str, machine: str) -> None:
    there = pins(python, platform, machine)
    assert {name: versions for name, versions in there.items() if len(versions) > 1} == {}
    for requirement in ASKED:
        (version,) = there[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement.name


def test_everything_that_is_installed_is_pinned_and_as_it_is_pinned() -> None:
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"

    here = pins(python, sys.platform, platform.machine())
    there = {name: [version] for name, version in installed().items()}
    assert len(there) > 50
    assert {name: here.get(name) for name in there} == there
