"""Bytes of a stdio MCP stream, cut into lines and written into a transcript."""

from __future__ import annotations

from typing import Any

from shared.strict_json import parse_json

from .transcript import Fault, Sender, Transcript


def is_json_rpc(message: Any) -> bool:
    """Whether a value is a JSON-RPC 2.0 request, notification or response (no batch: MCP has none
    since 2025-06-18)."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "method" in message:
        return isinstance(message["method"], str)
    return "id" in message and ("result" in message) != ("error" in message)


class LineRecorder:
    """Takes the bytes of one direction as they come, and records each line once it is whole."""

    def __init__(self, transcript: Transcript, channel: str, sender: Sender) -> None:
        self._transcript = transcript
        self._channel = channel
        self._sender = sender
        self._rest = b""
        self._lines = 0

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Record the lines that `data` completes; returns the JSON-RPC messages among them."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = [self._record(line) for line in lines]
        return [message for message in messages if message is not None]

    def end(self) -> None:
        """Record the end of the stream, and before it a last line that was never ended."""
        if self._rest:
            self._record(self._rest, whole=False)
            self._rest = b""
        self._transcript.add("mcp", self._channel, self._sender, "end")

    def _record(self, line: bytes, *, whole: bool = True) -> dict[str, Any] | None:
        self._lines += 1
        text = line.decode("utf-8", errors="backslashreplace").removesuffix("\r")
        if not text.strip() and whole:
            return None  # an empty line says nothing and harms nothing
        fault, message = _read(line)
        if not whole:
            fault = "no-newline"
        self._transcript.add(
            "mcp",
            self._channel,
            self._sender,
            "stray" if fault else "message",
            line=self._lines,
            fault=fault,
            raw=text,
            message=message,
        )
        return None if fault else message


def _read(line: bytes) -> tuple[Fault, Any]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return "not-utf8", None
    try:
        message = parse_json(text)
    except ValueError:
        return "not-json", None
    return ("" if is_json_rpc(message) else "not-json-rpc"), message
