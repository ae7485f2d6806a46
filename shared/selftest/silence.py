"""Why an answer did not come: what a server owed, and what came out of it too late."""

from __future__ import annotations

from collections.abc import Iterator

from shared.i18n import Text
from shared.wire.server_process import ServerProcess
from shared.wire.transcript import Event, Transcript

from .result import Evidence
from .stop import ItemStopped

UNANSWERED = Text(en="the request that waits", zh="没有等到回复的请求")
LATE = Text(en="its answer, after stdin had ended", zh="它的回复，在 stdin 结束之后")


def explain_silence(
    transcript: Transcript, server: ServerProcess, seconds: float
) -> ItemStopped | None:
    """Why somebody waited `seconds` for this server, which has been stopped since; None when it
    had been asked and owed nothing.

    A server that writes without flushing is silent until its stdin ends: then its buffer comes out
    with all the answers in it, which nobody waits for any more.
    """
    if not any(event.kind != "end" for event in transcript.mcp(server.channel, "client")):
        return ItemStopped("timeout", "wire.nothing-sent", seconds=int(seconds))
    for request, answer in _owed(transcript, server.channel):
        shown = [Evidence(UNANSWERED, request)]
        if server.ended_by_itself:
            return ItemStopped(
                "timeout",
                "wire.waits-for-the-dead",
                shown,
                code=server.child.code,
                method=request.method,
            )
        if answer is not None:
            shown.append(Evidence(LATE, answer))
            return ItemStopped("timeout", "wire.no-flush", shown, method=request.method)
        return ItemStopped(
            "timeout", "wire.no-answer", shown, method=request.method, seconds=int(seconds)
        )
    return None


def _owed(transcript: Transcript, channel: str) -> Iterator[tuple[Event, Event | None]]:
    """The requests that had no answer when the server's stdin ended, and the answers that came
    later."""
    sent = transcript.mcp(channel, "client")
    ends = [event.number for event in sent if event.kind == "end"]
    for request in (event for event in sent if event.is_request):
        answer = transcript.answer_to(request)
        end = next((number for number in ends if number > request.number), None)
        if answer is None or (end is not None and answer.number > end):
            yield request, answer
