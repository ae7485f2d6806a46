"""Servers for the day-23 client: our own, and those that nobody here wrote."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from solutions.day23_mcp_server.mcp_client import McpClient

from .scripted import write_server

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "solutions" / "day23_mcp_server" / "mcp_server.py"

Serve = Callable[..., McpClient]


def command(name: str) -> str:
    """A program that is installed beside this interpreter."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    assert found, f"{name} is not installed; `make test` does it"
    return found


def children() -> set[psutil.Process]:
    """Every process below this one, those that nobody has waited for included."""
    return set(psutil.Process().children(recursive=True))


@pytest.fixture(scope="package", autouse=True)
def importable() -> Iterator[None]:
    """Servers find the course's packages wherever they run, and serve the lesson's own orders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        patch.delenv("SHOP_DATA", raising=False)
        yield


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a scripted server and return a client of it, which is closed after the test."""
    with ExitStack() as clients:

        def start(body: str, env: dict[str, str] | None = None) -> McpClient:
            path = write_server(tmp_path / "server.py", body)
            return clients.enter_context(McpClient(sys.executable, ["-S", str(path)], env))

        yield start


@pytest.fixture
def no_child_left() -> Iterator[None]:
    """Every process that the test starts is gone when it ends."""
    before = children()
    yield
    assert children() - before == set()
