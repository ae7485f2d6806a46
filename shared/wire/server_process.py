"""A server of ours or of the learner's, with the self-test on its three streams."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from shared.processes import Child, Launcher, Limits, Program

from .lines import LineRecorder
from .transcript import Transcript

CHUNK = 1 << 16


class Output:
    """What a stream carried, the middle left out when it is long: who floods it fills no memory."""

    KEEP = 16_000  # bytes at either end

    def __init__(self) -> None:
        self.size = 0
        self._head = b""
        self._tail = b""

    def add(self, data: bytes) -> None:
        """Take more bytes."""
        self.size += len(data)
        room = self.KEEP - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self.KEEP :] if room < len(data) else self._tail

    @property
    def text(self) -> str:
        """The text, undecodable bytes as \\xNN."""
        gap = b" [...] " if self.size > len(self._head) + len(self._tail) else b""
        return (self._head + gap + self._tail).decode("utf-8", errors="backslashreplace")


def pump(read_fd: int, take: Callable[[bytes], None], done: Callable[[], None]) -> threading.Thread:
    """Hand everything that can be read from a file descriptor to `take`, on a thread of its own;
    close it and call `done` at its end."""

    def run() -> None:
        try:
            while data := os.read(read_fd, CHUNK):
                take(data)
        finally:
            os.close(read_fd)
            done()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


class ServerProcess:
    """A running server whose stdin and stdout are recorded.

    `on_output` is given every piece of stdout as it comes, `on_end` is called at its end.
    `ended_by_itself` tells that its stdout ended before its stdin did, `stopped_after` how long it
    took to end once its stdin had (seconds; None when it had to be killed).
    """

    STOP_SECONDS = 3.0  # how long a server may take to end once its stdin has ended

    def __init__(
        self,
        launcher: Launcher,
        program: Program,
        transcript: Transcript,
        channel: str,
        on_output: Callable[[bytes], None],
        on_end: Callable[[], None],
        limits: Limits | None = None,
    ) -> None:
        self.program = program
        self.channel = channel
        self.stderr = Output()
        self.stopped_after: float | None = None
        self.ended_by_itself = False
        self._sent = LineRecorder(transcript, channel, "client")
        self._received = LineRecorder(transcript, channel, "server")
        self._on_output = on_output
        self._on_end = on_end
        self._size = 0
        self._stdin_lock = threading.Lock()
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        self._stdin: int | None = stdin_write
        try:
            self.child: Child = launcher.start(
                program, (stdin_read, stdout_write, stderr_write), limits
            )
        except BaseException:
            for fd in (stdin_write, stdout_read, stderr_read):
                os.close(fd)
            raise
        finally:
            for fd in (stdin_read, stdout_write, stderr_write):
                os.close(fd)
        self._pumps = [
            pump(stdout_read, self._take_output, self._output_ended),
            pump(stderr_read, self._take_stderr, lambda: None),
        ]

    def write(self, data: bytes) -> bool:
        """Send bytes to the server's stdin; False when it does not take them any more."""
        self._sent.feed(data)
        with self._stdin_lock:
            if self._stdin is None:
                return False
            try:
                while data:
                    data = data[os.write(self._stdin, data) :]
            except BrokenPipeError:
                return False
        return True

    def end_input(self) -> None:
        """Close the server's stdin, which asks it to end."""
        with self._stdin_lock:
            if self._stdin is None:
                return
            self._sent.end()  # before it is: what the server says on seeing it is recorded after
            self._input_ended = time.monotonic()
            fd, self._stdin = self._stdin, None  # first: its end is of our doing from here on
            os.close(fd)

    def stop(self, seconds: float = STOP_SECONDS) -> int | None:
        """End its input and wait for its end, at most `seconds`; then it is killed.

        Returns the exit code, or None when it had to be killed.
        """
        if self._stdin_lock.acquire(timeout=seconds):
            self._stdin_lock.release()
        else:
            self.child.kill()  # it does not read, and a writer waits for it to
        self.end_input()
        code = self.child.wait(seconds)
        if code is None:
            self.child.kill()
        else:
            self.stopped_after = time.monotonic() - self._input_ended
        self.join()
        return code

    def join(self) -> None:
        """Wait until all that the server wrote has been read."""
        for thread in self._pumps:
            thread.join(5)

    def _take_output(self, data: bytes) -> None:
        self._size += len(data)
        self._received.feed(data)
        self._on_output(data)
        self._check_size(self._size)

    def _take_stderr(self, data: bytes) -> None:
        self.stderr.add(data)
        self._check_size(self.stderr.size)

    def _check_size(self, size: int) -> None:
        if size > self.child.limits.output_bytes and not self.child.limit:
            # not from this thread: the end of the child is the end of the stream that it reads
            threading.Thread(target=self.child.exceeded, args=("output",), daemon=True).start()

    def _output_ended(self) -> None:
        self.ended_by_itself = self._stdin is not None
        self._received.end()
        self._on_end()
