"""Build `.venv`: one builder at a time, step by step, and never silent for long.

Standard library and the syntax of Python 3.6, as `bootstrap` explains.
"""

import collections
import contextlib
import errno
import importlib.util
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from shared.bootstrap import (
    NEWEST,
    OLDEST,
    STATE_FILE,
    BootstrapError,
    State,
    dotted,
    inside_venv,
    lack,
    read_state,
    venv_python,
    write_state,
)
from shared.bootstrap_words import Voice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

LOCK_FILE = ".selftest/environment.lock"
LOG_FILE = ".selftest/environment.log"
GRAVE = ".selftest/old-environment"
SILENCE = 5.0  # seconds without a word from pip after which we say that it is at work
TAIL_LINES = 12  # of the output of a failed tool
NO_NETWORK = re.compile(  # as pip words it, and uv
    "NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError"
    "|Failed to establish a new connection|getaddrinfo failed"
    "|dns error|tcp connect error|[Cc]ould not connect|error sending request"
)


def build_locked(
    root: "Path", wanted: "State", version: "tuple[int, int]", voice: "Voice | None" = None
) -> None:
    """Make `.venv` what is wanted, unless the call that we had to wait for has done it.

    Raises BootstrapError, in the learner's language.
    """
    voice = voice or Voice()
    names = {"found": dotted(version), "oldest": dotted(OLDEST), "newest": dotted(NEWEST)}
    if version < OLDEST:
        raise BootstrapError(voice.text("too_old", executable=sys.executable, **names))
    if version > NEWEST:
        voice.say("too_new", **names)
    try:
        with _lock(root / LOCK_FILE, voice) as lock:
            reason = lack(root, wanted)
            if reason:
                _build(root, wanted, reason, voice, lock)
    except OSError as error:
        path = error.filename or root
        reason = error.strerror or str(error)
        raise BootstrapError(voice.text("no_access", path=path, reason=reason)) from error


def _build(root: "Path", wanted: "State", reason: "str", voice: "Voice", lock: "IO[bytes]") -> None:
    """Build with uv where it is to be had, and with pip where it is not, or fails."""
    started = time.monotonic()
    voice.say(reason, venv=root / ".venv")
    old = read_state(root)
    extras = wanted.extras | (old.extras if old else frozenset())  # never take --dev away again
    goal = State(wanted.python, wanted.root, wanted.sources, extras, ready=True)
    keep = reason == "changed"
    with (root / LOG_FILE).open("w", encoding="utf-8") as log:
        tools = Tools(root, voice, log, lock)
        try:
            if shutil.which("uv"):
                try:
                    _build_with(Uv(tools), goal, keep)
                except ToolFailed as failure:
                    if _missing_module():  # nothing else to try
                        raise
                    voice.print("\n".join(failure.tail))
                    voice.say("uv_failed")
                    _build_with(Pip(tools), goal, keep)
            else:
                module = _missing_module()
                if module and not keep:
                    raise BootstrapError(voice.text("no_venv", module=module, found=goal.python))
                _build_with(Pip(tools), goal, keep)
        except ToolFailed as failure:
            if keep:  # it is as good as it was: pip fetches everything before it installs anything
                _restore_state(root, old)
            raise BootstrapError(_explained(failure, root / LOG_FILE, voice)) from failure
    voice.say("done", seconds=time.monotonic() - started)


def _restore_state(root: "Path", old: "State | None") -> None:
    if old:
        write_state(root, old)
    else:  # made by hand
        (root / ".venv" / STATE_FILE).unlink()


def _explained(failure: "ToolFailed", log: "Path", voice: "Voice") -> str:
    if failure.no_network:
        return voice.text("no_network", tool=failure.tool, log=log)
    voice.print("\n".join(failure.tail))
    return voice.text("failed", tool=failure.tool, code=failure.code, log=log)


def _build_with(installer: "Pip | Uv", goal: "State", keep: bool) -> None:
    """The three steps. Until the last is done, `.venv` says of itself that it is not ready."""
    tools = installer.tools
    root, voice = tools.root, tools.voice
    building = State(goal.python, goal.root, goal.sources, goal.extras, ready=False)
    if keep:
        voice.say("step_kept", found=goal.python)
        write_state(root, building)
    else:
        voice.say("step_venv", found=goal.python, tool=installer.makes_venv)
        _discard(root)
        (root / ".venv").mkdir()
        write_state(root, building)
        installer.make_venv()
    voice.say("step_backend", tool=installer.name)
    installer.install("setuptools")
    voice.say("step_packages", tool=installer.name)
    project = ".[{}]".format(",".join(sorted(goal.extras))) if goal.extras else "."
    installer.install("--no-build-isolation", "--editable", project)
    write_state(root, goal)


def _discard(root: "Path") -> None:
    """Put the old environment away in one move, so that no half of it is ever taken for a whole."""
    venv, grave = root / ".venv", root / GRAVE
    if grave.exists():  # of a call that was ended in between
        shutil.rmtree(str(grave))
    if venv.is_symlink() or venv.is_file():
        venv.unlink()
    elif venv.exists():
        venv.replace(grave)
        shutil.rmtree(str(grave))


def _missing_module() -> str:
    """The module that this Python lacks for making environments, the empty string for none.
    Debian has ensurepip in a package of its own."""
    for name in ("venv", "ensurepip"):
        if importlib.util.find_spec(name) is None:
            return name
    return ""


def _base_python(root: "Path") -> str:
    """The interpreter to build with: this one, unless it is part of what is built anew."""
    if not inside_venv(root):
        return sys.executable
    if os.name == "nt":
        return str(Path(sys.base_prefix) / "python.exe")
    return str(Path(sys.base_prefix) / "bin" / "python{}.{}".format(*sys.version_info))


class Pip:
    """Makes the environment with `python -m venv`, and fills it with pip."""

    name = "pip"
    makes_venv = "python -m venv"

    def __init__(self, tools: "Tools") -> None:
        self.tools = tools

    def make_venv(self) -> None:
        """Step 1. Raises ToolFailed."""
        self.tools.run(self.makes_venv, [self.tools.base_python, "-m", "venv", ".venv"])

    def install(self, *what: str) -> None:
        """Install what constraints.txt pins. Raises ToolFailed."""
        python = str(venv_python(self.tools.root))
        if subprocess.call([python, "-c", "import pip"], stderr=subprocess.DEVNULL):
            self.tools.run("ensurepip", [python, "-m", "ensurepip"])  # uv made the environment
        command = [python, "-m", "pip", "install", "--progress-bar", "off"]
        self.tools.run(self.name, [*command, "-c", "constraints.txt", *what])


class Uv:
    """Makes and fills the environment with uv."""

    name = makes_venv = "uv"

    def __init__(self, tools: "Tools") -> None:
        self.tools = tools

    def make_venv(self) -> None:
        """Step 1. Raises ToolFailed."""
        # The folder exists already, with what it says of itself; uv is to leave that there. With
        # --seed there is a pip in it, as everybody expects.
        command = ["uv", "venv", "--allow-existing", "--seed", "--python", self.tools.base_python]
        self.tools.run(self.name, [*command, ".venv"])

    def install(self, *what: str) -> None:
        """Install what constraints.txt pins. Raises ToolFailed."""
        command = ["uv", "pip", "install", "--python", str(venv_python(self.tools.root))]
        self.tools.run(self.name, [*command, "-c", "constraints.txt", *what])


class ToolFailed(Exception):
    """A tool ended with an exit code other than 0. `tail` holds the last lines of its output,
    `no_network` whether it said that nothing answered."""

    def __init__(self, tool: str, code: int, tail: "list[str]", no_network: bool) -> None:
        super().__init__(tool, code)
        self.tool = tool
        self.code = code
        self.tail = tail
        self.no_network = no_network


class Tools:
    """Runs the tools in the checkout, keeps all they say in `log`, and tells the learner of it.

    They share `lock`: when this process is killed and a tool lives on, the next call waits for that
    tool as well, instead of building where it still writes.
    """

    def __init__(self, root: "Path", voice: "Voice", log: "IO[str]", lock: "IO[bytes]") -> None:
        self.root = root
        self.voice = voice
        self.log = log
        self.lock = lock
        self.base_python = _base_python(root)

    def run(self, tool: str, command: "list[str]") -> None:
        """Run one command to its end. Raises ToolFailed."""
        self.log.write("$ {}\n".format(" ".join(command)))
        environment = dict(
            os.environ,
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            PIP_NO_INPUT="1",
            PIP_USER="0",  # a pip.conf that says `user = true` forbids environments
            PYTHONIOENCODING="utf-8",
            PYTHONUNBUFFERED="1",
        )
        process = subprocess.Popen(
            command,
            cwd=str(self.root),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=() if os.name == "nt" else (self.lock.fileno(),),
        )
        tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        no_network = False
        try:
            for line in self._lines(process):
                self.log.write(line + "\n")
                tail.append(line)
                no_network = no_network or bool(NO_NETWORK.search(line))
                self._tell(line)
            code = process.wait()
        finally:
            if process.poll() is None:  # the learner has pressed Ctrl-C
                process.kill()
                process.wait()
        if code:
            raise ToolFailed(tool, code, list(tail), no_network)

    def _lines(self, process: "subprocess.Popen[bytes]") -> "Iterator[str]":
        """The output of a process, line by line; meanwhile, say so when there is none for long."""
        lines: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        started = time.monotonic()
        while True:
            try:
                line = lines.get(timeout=SILENCE)
            except queue.Empty:
                self.voice.news("at_work", seconds=time.monotonic() - started)
                continue
            if line is None:
                return
            yield line

    def _tell(self, line: str) -> None:
        fetching = re.match(r"\s*(?:Collecting ([\w.-]+)|Downloading (.+))", line)
        installing = re.match("Installing collected packages: (.+)", line)
        if fetching:
            self.voice.news("fetching", what=fetching.group(1) or fetching.group(2))
        elif installing:
            self.voice.news("installing", count=len(installing.group(1).split(",")))


def _read(stream: "IO[bytes]", lines: "queue.Queue[str | None]") -> None:
    """Put the lines of a stream into the queue, and None after the last."""
    for line in stream:
        lines.put(line.decode("utf-8", "replace").rstrip())
    lines.put(None)


@contextlib.contextmanager
def _lock(path: "Path", voice: "Voice") -> "Iterator[IO[bytes]]":
    """Hold the lock of the checkout. The system frees it when its holder ends, however it ends."""
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        _take(file, voice)
        try:
            yield file
        finally:
            _release(file)


if sys.platform == "win32":
    import msvcrt

    def _take(file: "IO[bytes]", voice: "Voice") -> None:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            return
        except PermissionError:
            voice.say("waiting")
        while True:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                return
            except OSError as error:  # it waits for ten seconds, then gives up with this:
                if error.errno != errno.EDEADLOCK:
                    raise

    def _release(file: "IO[bytes]") -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(file: "IO[bytes]", voice: "Voice") -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            voice.say("waiting")
            fcntl.flock(file, fcntl.LOCK_EX)

    def _release(file: "IO[bytes]") -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
