"""The process that all others are started from: `python -m shared.processes.supervisor_process`.

It is single-threaded and imports what is asked for once. A child is then either a fork of it, which
runs a Python module or script with those imports paid for (warm), or a fork that executes a fresh
program (cold). As their parent and, on Linux, as the reaper of orphans, it can end a child with
everything that the child has started, daemons included.

It listens on a socket that it inherits: one JSON object a line in, one a line out; the three
standard streams of a new child travel beside the request as file descriptors. The end of the socket
is the end of every child.

`multiprocessing`'s own fork server does not do: there is one for each program, and imports that run
side by side on two cores need two; it cannot start anything but Python; it does not see orphans.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from typing import Any, NoReturn

import psutil

MAX_REQUEST = 1 << 20  # bytes of one request line
PR_SET_CHILD_SUBREAPER = 36  # Linux, <sys/prctl.h>


def main(control_fd: int, modules: list[str]) -> None:
    """Import `modules`, say so, and serve requests until the control socket ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the self-test; it then tells us
    _adopt_orphans()
    control = socket.socket(fileno=control_fd)
    try:
        for module in modules:
            importlib.import_module(module)
    except Exception as error:
        _send(control, {"ready": False, "error": f"{type(error).__name__}: {error}"})
        return
    gc.collect()
    gc.freeze()  # what is there now stays: no child has to look at it (and so copy it) again
    Supervisor(control).serve()
    os._exit(
        0
    )  # taking 1,000 modules apart takes 0.2 s, and whoever waits for our end waits for it


class Supervisor:
    """The children of this process, by pid, and the socket over which it is told what to do."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pending = b""  # what has come of requests that are not whole yet
        self.pending_fds: list[int] = []
        self.children: set[int] = set()
        self.wake_read, self.wake_write = os.pipe()
        for fd in (self.wake_read, self.wake_write):
            os.set_blocking(fd, False)

    def serve(self) -> None:
        """Answer requests and report deaths until the other side is gone; then end everything."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        try:
            _send(self.control, {"ready": True})
            while True:
                inputs: list[Any] = [self.control, self.wake_read]
                ready, _, _ = select.select(inputs, [], [])
                if self.wake_read in ready:
                    os.read(self.wake_read, 4096)
                    self.reap()
                if self.control in ready and not self.receive():
                    return
        except (BrokenPipeError, ConnectionResetError):
            return  # nobody is there to be told
        finally:
            self.end_all()

    def receive(self) -> bool:
        """Take what has come and handle the requests that are whole; False at the end.

        Several may come at once, since not every request waits for an answer. The file descriptors
        of a request come with its own bytes, never with those of another, and in its order.
        """
        data, fds, _, _ = socket.recv_fds(self.control, MAX_REQUEST, 64)
        self.pending_fds += fds
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            count = 3 if "argv" in request else 0
            mine, self.pending_fds = self.pending_fds[:count], self.pending_fds[count:]
            self.handle(request, mine)
        return bool(data)

    def handle(self, request: dict[str, Any], fds: list[int]) -> None:
        """Start a child (`argv`) or end one (`kill`)."""
        if "kill" in request:
            self.kill(request["kill"])
            return
        pid = os.fork()
        if pid == 0:
            self.control.close()
            os.close(self.wake_read)
            os.close(self.wake_write)
            _become(request, fds)
        for fd in fds:
            os.close(fd)
        self.children.add(pid)
        _send(self.control, {"pid": pid})

    def reap(self) -> None:
        """Report every child that has ended, after ending what it left behind."""
        ended = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.children:
                self.children.discard(pid)
                ended.append((pid, os.waitstatus_to_exitcode(status)))
        for pid, code in ended:
            left = self.end_leftovers(pid)
            _send(self.control, {"ended": pid, "code": code, "leftovers": left})

    def end_leftovers(self, group: int) -> list[str]:
        """End what is left of a child's group, and orphans: children that nobody asked for.

        Returns the command lines of the processes that were still running.
        """
        left = [
            process
            for process in psutil.Process().children()
            if process.pid not in self.children and _is_running(process)
        ]
        names = [_command_line(process) for process in left]
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        _await_end([gone for process in left for gone in _kill_tree(process)])
        return names

    def kill(self, pid: int) -> None:
        """End a child and everything below it; its end is reported like any other."""
        if pid in self.children:
            with contextlib.suppress(psutil.NoSuchProcess):
                _await_end(_kill_tree(psutil.Process(pid)))

    def end_all(self) -> None:
        """Nothing that was started here outlives this process, not even as a zombie."""
        while children := psutil.Process().children():
            for process in children:
                _kill_tree(process)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, 0):
                    pass


def _become(request: dict[str, Any], fds: list[int]) -> NoReturn:
    """In the new child: take over streams, folder, environment and limits, then run."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        for fd in fds:
            os.close(fd)
        _limit(request["limits"])
        os.chdir(request["cwd"])
        argv: list[str] = request["argv"]
        if request["warm"]:
            os.environ.clear()
            os.environ.update(request["env"])
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _open_streams()
            code = _run_python(argv)
        else:
            os.execvpe(argv[0], argv, request["env"])
    except OSError as error:
        print(f"{request['argv'][0]}: {error.strerror}", file=sys.stderr, flush=True)
        code = 127
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _open_streams() -> None:
    """Python's own three streams, made anew: those of the supervisor were made for other files."""
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    sys.stdin = os.fdopen(0, "r", encoding=encoding, errors=errors, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, errors=errors, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding, "backslashreplace", closefd=False)


def _run_python(argv: list[str]) -> int:
    """Run `-m MODULE ARG…` or `SCRIPT ARG…` as `python` would, and return the exit code."""
    try:
        if argv[0] == "-m":
            sys.argv = argv[1:]
            sys.path[0] = os.getcwd()  # noqa: PTH109
            runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = argv
            sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))  # noqa: PTH100, PTH120
            runpy.run_path(argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code = end.code or 0
        else:
            print(end.code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    # What the interpreter does at its end, but for taking 1,000 modules apart, which takes 0.2 s.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code & 0xFF


def _limit(limits: dict[str, int]) -> None:
    import resource

    for name, value in limits.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, value))


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _kill_tree(process: psutil.Process) -> list[psutil.Process]:
    """Kill a process and its descendants, and return them. Each is stopped first, so that it cannot
    start more meanwhile."""
    killed = [process]
    with contextlib.suppress(psutil.NoSuchProcess):
        process.suspend()
        for child in process.children():
            killed += _kill_tree(child)
        process.kill()
    return killed


def _await_end(killed: list[psutil.Process]) -> None:
    """Wait until the kernel has ended what has been killed; that takes it a moment, not seconds."""
    deadline = time.monotonic() + 5
    while any(_is_running(process) for process in killed) and time.monotonic() < deadline:
        time.sleep(0.001)


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return f"process {process.pid}"


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
