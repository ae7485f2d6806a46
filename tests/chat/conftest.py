"""Servers that the tests of a module share."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.chat.mock import reply
from shared.chat.server import ChatServer

Json = dict[str, Any]


@pytest.fixture(scope="package")
def tcp_server() -> Iterator[ChatServer]:
    """The mock on a TCP port."""
    with ChatServer(reply) as server:
        yield server
    assert server.faults == []


@pytest.fixture(scope="package")
def guarded_server() -> Iterator[ChatServer]:
    """The mock on a TCP port, for one key only."""
    with ChatServer(reply, key="sk-the-right-one") as server:
        yield server
    assert server.faults == []


@pytest.fixture(scope="package")
def socket_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The path of a Unix socket behind which the mock is."""
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("this platform has no Unix sockets")
    path = str(tmp_path_factory.mktemp("chat") / "s")
    with ChatServer(reply, path) as server:
        yield path
    assert server.faults == []
    assert not Path(path).exists()


@pytest.fixture
def stalling_server() -> Iterator[ChatServer]:
    """A server that answers no one before the test is over."""
    over = threading.Event()

    def stall(request: Json) -> Json:
        over.wait()
        return reply(request)

    with ChatServer(stall) as server:
        yield server
        over.set()


@pytest.fixture(scope="package")
def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
