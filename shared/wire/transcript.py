"""Everything that crossed the two wires of an agent, in one order of time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

Wire = Literal["mcp", "model"]
Sender = Literal["client", "server", "agent", "model"]
Kind = Literal["message", "stray", "end"]
Fault = Literal["", "not-utf8", "not-json", "not-json-rpc", "no-newline"]


@dataclass(frozen=True)
class Event:
    """One thing that crossed a wire.

    number   place in the transcript, from 1
    at       seconds since the transcript was begun
    wire     `mcp` (JSON-RPC lines) or `model` (Chat Completions requests and responses)
    channel  whose wire it is: the name of the server, or `model`
    sender   who sent it: `client` or `server` on the MCP wire, `agent` or `model` on the other
    kind     `message`; `stray`: a line that is no JSON-RPC message; `end`: the end of the stream
    line     the line's number in its stream, from 1 (MCP wire)
    fault    why a line is stray
    raw      the text as it crossed; undecodable bytes show as \\xNN
    message  the parsed message
    status   HTTP status of a response (model wire)
    """

    number: int
    at: float
    wire: Wire
    channel: str
    sender: Sender
    kind: Kind
    line: int = 0
    fault: Fault = ""
    raw: str = ""
    message: Any = None
    status: int | None = None

    @property
    def method(self) -> str:
        """The method of a JSON-RPC request or notification, else an empty text."""
        if isinstance(self.message, dict):
            method = self.message.get("method")
            return method if isinstance(method, str) else ""
        return ""

    @property
    def is_request(self) -> bool:
        """Whether it is a JSON-RPC request: a method, and an id that asks for an answer."""
        return bool(self.method) and "id" in self.message

    def as_json(self) -> dict[str, Any]:
        """The event as one JSON object, for a transcript file or a result's evidence."""
        row = {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) not in (None, "")
        }
        if self.message is not None:
            row.pop("raw", None)  # the message says it already
        row["at"] = round(self.at, 4)
        return row


class Transcript:
    """The events of a run; threads append, checks read. All times are of one clock."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Event]:
        with self._lock:
            return iter(list(self._events))

    def __len__(self) -> int:
        return len(self._events)

    def now(self) -> float:
        """Seconds since the transcript was begun."""
        return time.monotonic() - self._began

    def add(self, wire: Wire, channel: str, sender: Sender, kind: Kind, **details: Any) -> Event:
        """Append an event, numbered and stamped with the time."""
        with self._lock:
            event = Event(
                number=len(self._events) + 1,
                at=self.now(),
                wire=wire,
                channel=channel,
                sender=sender,
                kind=kind,
                **details,
            )
            self._events.append(event)
            return event

    def mcp(self, channel: str | None = None, sender: Sender | None = None) -> list[Event]:
        """The events of the MCP wire, of one server and one sender if these are named."""
        return [
            event
            for event in self
            if event.wire == "mcp"
            and channel in (None, event.channel)
            and sender in (None, event.sender)
        ]

    def requests(self, method: str, channel: str | None = None) -> list[Event]:
        """The client's requests of this method, in order."""
        return [
            event
            for event in self.mcp(channel, "client")
            if event.method == method and event.is_request
        ]

    def answer_to(self, request: Event) -> Event | None:
        """The first message of the server that answers this request."""
        for event in self.mcp(request.channel, "server"):
            if (
                event.number > request.number
                and event.kind == "message"
                and not event.method
                and event.message.get("id") == request.message["id"]
            ):
                return event
        return None

    def model_requests(self) -> list[Event]:
        """What the agent asked the model, in order."""
        return [event for event in self if event.wire == "model" and event.sender == "agent"]

    def reply_to(self, request: Event) -> Event | None:
        """The model's response to a request of the agent, which follows it on that wire."""
        for event in self:
            if event.wire == "model" and event.number > request.number:
                return event if event.sender == "model" else None
        return None

    def save(self, path: Path) -> None:
        """Write the events as JSON lines. Raises OSError."""
        with path.open("w", encoding="utf-8") as file:
            for event in self:
                file.write(json.dumps(event.as_json(), ensure_ascii=False) + "\n")
