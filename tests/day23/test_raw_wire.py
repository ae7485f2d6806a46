"""The day-23 server as bytes on two pipes: no client between it and the test."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import SERVER

pytestmark = pytest.mark.timeout(30)

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


class Wire:
    """Both pipes of a running server. Every line of its stdout is kept, and has to be JSON-RPC."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.last_id = 0

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and read one line, which has to be its answer."""
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.endswith(b"\n")
        answer: dict[str, Any] = json.loads(line)
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.last_id)
        return answer

    def shake_hands(self) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("initialize", INITIALIZE)["result"]
        self.send(method="notifications/initialized")
        return result

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        result: dict[str, Any] = self.ask("tools/call", params)["result"]
        return result

    def end(self, seconds: float) -> tuple[int, bytes]:
        """End its stdin; returns the exit code, and what else came on stdout."""
        rest, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, rest

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture(scope="module")
def shop() -> Iterator[Wire]:
    """A server after the handshake, for calls."""
    wire = Wire()
    try:
        wire.shake_hands()
        yield wire
    finally:
        wire.close()


def test_from_the_handshake_to_the_end_of_stdin() -> None:
    wire = Wire()
    try:
        told = wire.shake_hands()
        assert told["protocolVersion"] == "2025-06-18"
        assert told["serverInfo"]["name"] == "shop"
        listed = wire.ask("tools/list", {})["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["query_order", "track_shipment"]
        assert "已发货" in wire.call("query_order", order_id="SO20260901")["content"][0]["text"]
        assert wire.call("query_order", order_id="SO20260902")["isError"] is True
        ended = time.monotonic()
        assert wire.end(seconds=3) == (0, b"")
        assert time.monotonic() - ended < 3
    finally:
        wire.close()


@pytest.mark.parametrize(
    "order_id",
    [
        "SO２０２６０９０１",  # full-width digits
        "SO٢٠٢٦٠٩٠١",  # Arabic-Indic digits: a \d would take them
        "SO20260901\n",  # a $ would take it in Python
        "\nSO20260901",
        " SO20260901",
        "so20260901",
        "SO2026090",
        "SO202609011",
        "",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("tool", ["query_order", "track_shipment"])
def test_no_order_number_is_refused(shop: Wire, tool: str, order_id: str) -> None:
    result = shop.call(tool, order_id=order_id)
    assert result["isError"] is True
    assert "string_pattern_mismatch" in result["content"][0]["text"]  # by the schema, not the shop


def test_an_order_number_is_taken(shop: Wire) -> None:
    assert shop.call("track_shipment", order_id="SO20261003")["isError"] is False
