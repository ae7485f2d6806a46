"""The program with a chat service: what it needs of one, and how each of its failures is told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.chat.mock import reply
from shared.chat.server import ChatServer

from .conftest import AGENT, PROGRAM, run

pytestmark = pytest.mark.timeout(60)

KEY = "sk-the-right-one"


class Service:
    """A chat service over HTTP; keeps the requests that it answered."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.server = ChatServer(self.answer, key=KEY)
        self.url = self.server.base_url

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        return reply(request)


@pytest.fixture
def service() -> Iterator[Service]:
    service = Service()
    with service.server as server:
        yield service
    assert server.faults == []


@pytest.fixture
def stalled() -> Iterator[str]:
    """The address of a service that answers no one before the test is over."""
    over = threading.Event()

    def stall(request: dict[str, Any]) -> dict[str, Any]:
        over.wait()
        return reply(request)

    with ChatServer(stall) as server:
        yield server.base_url
        over.set()


@pytest.fixture
def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


# -- one that answers -----------------------------------------------------------------------------


def test_from_the_environment(service: Service) -> None:
    """All of it real: program, client, HTTP, agent, host, shop."""
    done = run(*AGENT, OPENAI_BASE_URL=service.url, OPENAI_API_KEY=KEY, MODEL="qwen-shop")
    assert (done.code, done.err) == (0, [])
    assert "已发货" in done.out[-1]
    assert [request["model"] for request in service.requests] == ["qwen-shop"] * 2
    names = [tool["function"]["name"] for tool in service.requests[0]["tools"]]
    assert names == ["today", "query_order", "track_shipment"]
    roles = [message["role"] for message in service.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


WITHOUT = """
import os, runpy, sys
for name in sys.argv.pop(1).split():
    del os.environ[name]
runpy.run_module("shared.program", run_name="__main__")
"""


def test_from_the_file_env(service: Service, checkout: Path, tiny: Path) -> None:
    """Windows editors put a mark in front of it; what the environment says wins."""
    lines = [f"OPENAI_BASE_URL={service.url}", f"OPENAI_API_KEY={KEY}", "MODEL=in-the-file"]
    file = checkout / ".env"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    # `settings` sets these to nothing, which would win
    unset = ("-c", WITHOUT, "OPENAI_BASE_URL OPENAI_API_KEY")
    program = ("23", "--solution", "--config", tiny)
    try:
        done = run(*unset, *program, cwd=checkout, MODEL="in-the-environment")
    finally:
        file.unlink()
    assert (done.code, done.err) == (0, [])
    assert [request["model"] for request in service.requests] == ["in-the-environment"] * 2


# -- what can be wrong with it --------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_key(tiny: Path, language: str) -> None:
    done = run(*PROGRAM, "--config", tiny, LAB_LANG=language)
    assert done.code == 2
    sentence = done.sentence()
    for word in (".env", "OPENAI_API_KEY", "MOCK=1"):
        assert word in sentence
    assert ("没有" in sentence) is (language == "zh")
    assert done.out == []


def test_a_key_that_is_refused(service: Service, tiny: Path) -> None:
    wrong = {"OPENAI_BASE_URL": service.url, "OPENAI_API_KEY": "sk-the-wrong-one"}
    done = run(*PROGRAM, "--config", tiny, **wrong)
    assert done.code == 1
    sentence = done.sentence()
    for word in (service.url, "401", "OPENAI_API_KEY", ".env"):
        assert word in sentence
    assert "sk-the-wrong-one" not in sentence
    done = run(*PROGRAM, "--config", tiny, "--verbose", LAB_LANG="zh", **wrong)
    assert done.code == 1
    assert done.err[0] == "Traceback (most recent call last):"
    assert "拒绝了 API key（HTTP 401）" in done.err[-1]
    assert service.requests == []


def test_an_address_at_which_nobody_listens(nobody: str, tiny: Path) -> None:
    env = {"OPENAI_BASE_URL": nobody, "OPENAI_API_KEY": KEY, "LAB_LANG": "zh"}
    done = run(*PROGRAM, "--config", tiny, **env)
    assert done.code == 1
    sentence = done.sentence()
    for word in ("无法连接", nobody, "OPENAI_BASE_URL", "MOCK=1"):
        assert word in sentence


def test_a_service_that_never_answers(stalled: str, tiny: Path) -> None:
    env = {"OPENAI_BASE_URL": stalled, "OPENAI_API_KEY": KEY, "OPENAI_TIMEOUT": "0.5"}
    done = run(*PROGRAM, "--config", tiny, **env)
    assert done.code == 1
    sentence = done.sentence()
    for word in (stalled, "within 0.5 seconds", "OPENAI_TIMEOUT"):
        assert word in sentence
