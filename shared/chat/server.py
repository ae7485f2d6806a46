"""A chat model behind HTTP, on a TCP port or a Unix socket."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from types import TracebackType
from typing import Any

from .exchange import answer, error_body
from .streaming import server_sent_events
from .types import Json, Reply

COMPLETIONS = ("/v1/chat/completions", "/chat/completions")
MODELS = ("/v1/models", "/models")
MODEL_NAME = "mock"

Address = tuple[str, int] | str
"""`(host, port)`, port 0 for any free one; or the path of a Unix socket."""


class ChatServer:
    """Serves a reply function as a Chat Completions endpoint, from a thread of its own.

    A context manager: inside the `with` block the server answers at `base_url`. It listens from the
    moment it is made, so that a port in use shows at once, as OSError. `reply` is called from
    several threads when several clients ask at the same time.

    `faults` keeps every exception of `reply` that is no BadRequest; its client got a 500.
    """

    def __init__(
        self, reply: Reply, address: Address = ("127.0.0.1", 0), key: str | None = None
    ) -> None:
        self.faults: list[Exception] = []
        self._address = address
        self._server = _make_server(address)
        self._server.reply = reply
        self._server.key = key
        self._server.faults = self.faults
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as `base_url`. On a Unix socket the host in it means nothing;
        there, the client's transport has to know the path."""
        if isinstance(self._address, str):
            return "http://localhost/v1"
        bound: Any = self._server.server_address
        host, port = bound[:2]
        return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"

    def __enter__(self) -> ChatServer:
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.01},  # how long leaving the block may have to wait
            name="chat-server",
            daemon=True,
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        if self._thread is not None:
            self._thread.join()
        self.close()

    def serve_forever(self) -> None:
        """Serve from the calling thread, until an exception such as KeyboardInterrupt ends it."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop listening, hang up on every client, and take the socket file away. A `with` block
        does this by itself."""
        self._server.server_close()
        self._server.hang_up()
        if isinstance(self._address, str):
            Path(self._address).unlink(missing_ok=True)


class _Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    request_queue_size = 64
    # On Windows the option would let two servers share a port, each with half of the clients.
    allow_reuse_address = os.name != "nt"

    reply: Reply
    key: str | None
    faults: list[Exception]

    def __init__(self, address: Any) -> None:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End the connections that clients keep alive; their threads are blocked on a read."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):  # the client may have hung up already
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Called inside an `except` block, by a thread whose client went away or whose handler has
        a mistake."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):
            self.faults.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if not self._admitted():
            return
        if self._path() not in MODELS:
            self._not_found()
            return
        model = {"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "course"}
        self._send(HTTPStatus.OK, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        body = self._body()  # read in any case: what is left unread would be the next request
        if body is None or not self._admitted():
            return
        if self._path() not in COMPLETIONS:
            self._not_found()
            return
        exchange = answer(self.server.reply, body)
        if exchange.fault is not None:
            self.server.faults.append(exchange.fault)
        if exchange.request and exchange.request.get("stream"):
            options = exchange.request.get("stream_options") or {}
            stream = server_sent_events(exchange.body, bool(options.get("include_usage")))
            self._write(HTTPStatus.OK, "text/event-stream; charset=utf-8", stream)
            return
        self._send(exchange.status, exchange.body)

    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _body(self) -> bytes | None:
        """The body of a POST; None when its length is not given, which has then been answered."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True  # where the next request begins is anyone's guess
            message = "A Content-Length header is required."
            self._send(HTTPStatus.LENGTH_REQUIRED, error_body(message, "invalid_request_error"))
            return None
        return self.rfile.read(int(length))

    def _admitted(self) -> bool:
        """Whether the request has the right key; a wrong one has been answered with a 401."""
        if self.server.key is None:
            return True
        given = self.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if hmac.compare_digest(given, f"Bearer {self.server.key}".encode()):
            return True
        message = "Incorrect API key provided. Send the one that this server was started with."
        self._send(
            HTTPStatus.UNAUTHORIZED,
            error_body(message, "invalid_request_error", "invalid_api_key"),
        )
        return False

    def _not_found(self) -> None:
        message = f"Unknown request URL: {self.command} {self._path()}. Is the base URL right?"
        self._send(
            HTTPStatus.NOT_FOUND, error_body(message, "invalid_request_error", "unknown_url")
        )

    def _send(self, status: int, body: Json) -> None:
        self._write(status, "application/json", json.dumps(body).encode())

    def _write(self, status: int, content_type: str, body: bytes) -> None:
        """Head and body in one write: as two, the second waits for the client's delayed ACK, and
        every request on a kept connection takes 44 ms."""
        head = (
            f"{self.protocol_version} {int(status)} {HTTPStatus(status).phrase}\r\n"
            f"Content-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Connection: {'close' if self.close_connection else 'keep-alive'}\r\n\r\n"
        )
        self.wfile.write(head.encode("ascii") + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: stderr belongs to the program that runs the server."""


def _make_server(address: Address) -> _Server:
    if isinstance(address, str):
        if not hasattr(socket, "AF_UNIX"):
            raise OSError("this platform has no Unix sockets; serve on a port instead")

        class UnixServer(_Server):
            address_family = socket.AF_UNIX
            allow_reuse_address = False

        return UnixServer(address)

    class InternetServer(_Server):
        address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

    return InternetServer(address)
