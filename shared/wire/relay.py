"""Stands between a host and its servers: the host starts a stub, the self-test starts the server,
and everything that passes is recorded outside both."""

from __future__ import annotations

import contextlib
import secrets
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from shared.processes import Launcher, Program, SupervisorDied

from .server_process import ServerProcess
from .transcript import Transcript

MAX_CONNECTIONS = 8  # to one server, in one run of a host

STUB = Path(__file__).with_name("relay_stub.py")


class Relay:
    """The servers that one host may start. `entries()` goes into its mcp.json in their place.

    A context manager: leaving it stops what runs.
    """

    def __init__(
        self,
        launcher: Launcher,
        transcript: Transcript,
        servers: dict[str, Program],
        folder: Path,
        *,
        tcp: bool = not hasattr(socket, "AF_UNIX"),
    ) -> None:
        self.sessions: list[ServerProcess] = []
        self.faults: list[BaseException] = []
        self._launcher = launcher
        self._transcript = transcript
        self._servers = servers
        self._tokens = {f"{name}-{secrets.token_hex(8)}": name for name in servers}
        self._served = dict.fromkeys(servers, 0)
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self._closed = False
        if tcp:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self._address = str(self._listener.getsockname()[1])
        else:
            path = folder / f"{secrets.token_hex(4)}.sock"
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self._listener.listen()
            self._address = str(path)
        self._accepting = threading.Thread(target=self._accept, name="relay", daemon=True)
        self._accepting.start()

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def entries(self) -> dict[str, Any]:
        """The `mcpServers` that lead here, by the names of the servers."""
        return {
            name: {
                "command": sys.executable,
                "args": ["-I", "-S", str(STUB), self._address, token],
            }
            for token, name in self._tokens.items()
        }

    def close(self) -> None:
        """Take no more connections, stop every server, wait for what was on its way."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join(5)
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # as if the host had hung up
        for thread in self._threads:
            thread.join(ServerProcess.STOP_SECONDS + 5)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # closed
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(ConnectionError):
            stream = connection.makefile("rb", buffering=0)
            channel = self._tokens.get(stream.readline(200).decode(errors="replace").strip())
            if channel is None or self._served[channel] >= MAX_CONNECTIONS:
                return  # somebody else's, or one too many for a host that means well
            self._served[channel] += 1
            try:
                self._pass_on(connection, channel)
            except Exception as error:  # a thread has nobody above it: the run looks here
                self.faults.append(error)

    def _pass_on(self, connection: socket.socket, channel: str) -> None:
        host_is_there = True

        def to_host(data: bytes) -> None:
            nonlocal host_is_there
            if host_is_there:
                try:
                    connection.sendall(len(data).to_bytes(4, "big") + data)
                except OSError:
                    host_is_there = False  # what the server still says is recorded all the same

        server_ended = threading.Event()
        server = ServerProcess(
            self._launcher,
            self._servers[channel],
            self._transcript,
            channel,
            to_host,
            server_ended.set,
        )
        self.sessions.append(server)

        def finish() -> None:
            code = None
            server_ended.wait()
            with contextlib.suppress(SupervisorDied):  # which the main thread is told of as well
                code = server.child.wait(server.STOP_SECONDS)
            if host_is_there:
                with contextlib.suppress(OSError):
                    connection.sendall(bytes(4) + bytes([(code or 0) & 0xFF]))
                    connection.shutdown(socket.SHUT_RDWR)

        finishing = threading.Thread(target=finish, daemon=True)
        finishing.start()
        while data := _receive(connection):
            server.write(data)
        server.stop()
        finishing.join(5)


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""
