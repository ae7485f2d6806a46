"""Servers of a few lines, each with one habit that a client has to bear."""

from __future__ import annotations

from pathlib import Path

PRELUDE = '''\
import json
import os
import sys


def receive():
    """The client's next message; without one, the server ends."""
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\\n")


def answer(request, **result):
    send(id=request["id"], result=result)


def tell(request, text):
    answer(request, content=[{"type": "text", "text": text}])


def shake_hands(version="2025-06-18"):
    about = {"name": "scripted", "version": "1"}
    answer(receive(), protocolVersion=version, capabilities={"tools": {}}, serverInfo=about)


def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}


'''

ECHO = """\
shake_hands()
while True:
    request = receive()
    if request["method"] == "tools/list":
        answer(request, tools=[tool("echo")])
    elif request["method"] == "tools/call":
        tell(request, json.dumps(request["params"]["arguments"], ensure_ascii=False))
"""


def write_server(path: Path, body: str) -> Path:
    """Write a server whose program is `body`, with the functions of PRELUDE at hand."""
    path.write_text(PRELUDE + body, encoding="utf-8")
    return path
