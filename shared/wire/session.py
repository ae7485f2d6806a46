"""The self-test's own MCP client: asks a server and records what it says, good or bad."""

from __future__ import annotations

import json
import queue
import time
from typing import Any

from shared.processes import Launcher, Limits, Program

from .lines import LineRecorder
from .server_process import ServerProcess
from .transcript import Transcript

PROTOCOL_VERSION = "2025-06-18"

STRAY: dict[str, Any] = {}  # in the inbox: a line that is no message has come


class NoAnswer(Exception):
    """A request that was not answered in `seconds`; `ended`: because the server's stdout ended."""

    def __init__(self, method: str, seconds: float, *, ended: bool) -> None:
        super().__init__(f"no answer to {method}")
        self.method = method
        self.seconds = seconds
        self.ended = ended


class Session:
    """A connection to a server that was started for it. A context manager: leaving it stops the
    server."""

    GRACE_SECONDS = 1.0

    def __init__(
        self,
        launcher: Launcher,
        program: Program,
        transcript: Transcript,
        channel: str,
        limits: Limits | None = None,
    ) -> None:
        self._inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._lines = LineRecorder(Transcript(), channel, "server")  # for its parsing alone
        self._id = 0
        self.process = ServerProcess(
            launcher, program, transcript, channel, self._take, self._end, limits
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    def request(self, method: str, params: dict[str, Any], seconds: float = 10) -> dict[str, Any]:
        """Send a request and return the message that answers it: `{"result": …}` or `{"error": …}`.

        Raises NoAnswer when the stream ends or the time is over.
        """
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        deadline = time.monotonic() + seconds
        while True:
            try:
                message = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise NoAnswer(method, seconds, ended=False) from None
            if message == STRAY:
                # what came in the place of an answer says enough: no need to wait it out
                deadline = min(deadline, time.monotonic() + self.GRACE_SECONDS)
                continue
            if message is None:
                self._inbox.put(None)
                raise NoAnswer(method, seconds, ended=True)
            if "method" not in message and message["id"] == self._id:
                return message

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method})

    def handshake(self) -> dict[str, Any]:
        """`initialize` and `notifications/initialized`; returns the server's answer.

        Raises NoAnswer.
        """
        answer = self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": {},
                "clientInfo": {"name": "selftest", "version": "1"},
            },
        )
        self.notify("notifications/initialized")
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        self.process.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def _take(self, data: bytes) -> None:
        lines = data.count(b"\n")
        messages = self._lines.feed(data)
        for message in messages:
            self._inbox.put(message)
        if len(messages) < lines:
            self._inbox.put(STRAY)

    def _end(self) -> None:
        self._inbox.put(None)
