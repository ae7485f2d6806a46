"""Processes: started, limited, and gone with everything that they started."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from shared.processes import Child, Launcher, Limits, Program, SupervisorDied

MEBIBYTE = 1 << 20


@pytest.fixture(scope="module", params=["warm", "cold"])
def launcher(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    with Launcher(cold=request.param == "cold") as launcher:
        yield launcher


class Ran:
    """A program that has been started with pipes; `output` reads what it wrote to its end."""

    def __init__(
        self,
        launcher: Launcher,
        *argv: str,
        cwd: Path = Path("/"),
        env: dict[str, str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        read, write = os.pipe()
        with Path(os.devnull).open("rb") as null:
            program = Program(argv, cwd, env or {})
            self.child: Child = launcher.start(program, (null.fileno(), write, write), limits)
        os.close(write)
        self._read = read

    @property
    def output(self) -> str:
        with os.fdopen(self._read, "rb") as file:
            return file.read().decode()


def script(folder: Path, text: str, name: str = "program.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_script_runs_as_python_runs_it(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("WORD = '邻居'", encoding="utf-8")
    path = script(
        tmp_path,
        "import os, sys, neighbour\n"
        "print(__name__, sys.argv[1:], os.getcwd(), os.environ['GIVEN'], flush=True)\n"
        "sys.stdout.buffer.write(neighbour.WORD.encode())\n",
    )
    ran = Ran(launcher, sys.executable, path.name, "a b", cwd=tmp_path, env={"GIVEN": "x"})
    assert ran.output == f"__main__ ['a b'] {tmp_path} x\n邻居"
    assert ran.child.wait(5) == 0


def test_a_module_runs_from_its_folder(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    script(tmp_path / "package", "import sys\nprint(sys.argv[1], __package__)", "__main__.py")
    ran = Ran(launcher, sys.executable, "-m", "package", "1", cwd=tmp_path)
    assert ran.output == "1 package\n"


@pytest.mark.parametrize(
    ("text", "code", "written"),
    [
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
        ("import os; os._exit(4)", 4, ""),
        ("import atexit; atexit.register(print, 'at the end')", 0, "at the end\n"),
        ("print('not flushed', end='')", 0, "not flushed"),
        (
            "import threading, time\n"
            "threading.Thread(target=lambda: (time.sleep(.05), print('thread'))).start()",
            0,
            "thread\n",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
    ],
)
def test_a_program_ends_as_python_ends_it(
    launcher: Launcher, tmp_path: Path, text: str, code: int, written: str
) -> None:
    script(tmp_path, text)
    ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path)
    assert ran.output == written
    assert ran.child.wait(5) == code


def test_an_exception_shows_its_traceback(launcher: Launcher, tmp_path: Path) -> None:
    script(tmp_path, "1 / 0")
    ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path)
    assert "ZeroDivisionError: division by zero" in ran.output
    assert ran.child.wait(5) == 1


def test_a_file_with_the_name_of_a_package_is_what_gets_imported(
    launcher: Launcher, tmp_path: Path
) -> None:
    (tmp_path / "openai.py").write_text("print('mine')", encoding="utf-8")
    script(tmp_path, "import openai")
    assert Ran(launcher, sys.executable, "program.py", cwd=tmp_path).output == "mine\n"


def test_a_command_that_is_not_there(launcher: Launcher) -> None:
    ran = Ran(launcher, "no-such-command")
    assert "no-such-command" in ran.output
    assert ran.child.wait(5) == 127


def test_the_key_of_the_real_model_is_not_handed_down(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with Launcher(cold=True) as fresh:
        script(tmp_path, "import os; print(os.environ.get('OPENAI_API_KEY'))")
        assert Ran(fresh, sys.executable, "program.py", cwd=tmp_path).output == "None\n"


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        open(sys.argv[1], 'w').write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a supervisor")
def test_a_daemon_does_not_outlive_the_program_that_left_it(
    launcher: Launcher, tmp_path: Path
) -> None:
    script(tmp_path, DAEMON)
    ran = Ran(launcher, sys.executable, "program.py", "pid", cwd=tmp_path)
    assert ran.child.wait(10) == 0
    assert ran.child.leftovers
    pid = int((tmp_path / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_killing_takes_the_whole_tree(launcher: Launcher, tmp_path: Path) -> None:
    script(
        tmp_path,
        "import os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "os.write(1, str(child.pid).encode())\n"
        "child.wait()",
    )
    ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path)
    pid = int(os.read(ran._read, 100))
    os.close(ran._read)
    ran.child.kill()
    assert ran.child.code == -signal.SIGKILL
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(
    ("limit", "text", "limits"),
    [
        (
            "memory",
            "kept = [bytes(b'x' * 50_000_000) for _ in range(8)]\nimport time; time.sleep(60)",
            Limits(memory_bytes=200 * MEBIBYTE),
        ),
        (
            "processes",
            "import subprocess, sys, time\n"
            "for _ in range(8): subprocess.Popen(['sleep', '60'])\n"
            "time.sleep(60)",
            Limits(processes=4),
        ),
    ],
)
def test_a_limit_ends_the_program(
    launcher: Launcher, tmp_path: Path, limit: str, text: str, limits: Limits
) -> None:
    script(tmp_path, text)
    ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path, limits=limits)
    assert ran.child.wait(20) == -signal.SIGKILL
    assert ran.child.limit == limit
    os.close(ran._read)


def test_the_kernel_holds_the_size_of_files(launcher: Launcher, tmp_path: Path) -> None:
    script(
        tmp_path,
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "open('big', 'wb').write(bytes(10_000_000))",
    )
    limits = Limits(file_bytes=MEBIBYTE)
    ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path, limits=limits)
    assert "File too large" in ran.output
    assert (tmp_path / "big").stat().st_size <= MEBIBYTE


def test_a_failed_preload_falls_back_to_fresh_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.processes import launcher as module

    monkeypatch.setattr(module, "PRELOADS", {"server": ("no_such_module",), "agent": ()})
    script(tmp_path, "print('ran')")
    with Launcher() as launcher:
        assert Ran(launcher, sys.executable, "program.py", cwd=tmp_path).output == "ran\n"


def test_a_supervisor_that_dies_is_noticed(tmp_path: Path) -> None:
    script(tmp_path, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")
    with Launcher() as launcher:
        ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path)
        with pytest.raises(SupervisorDied):
            ran.child.wait(10)
        os.close(ran._read)


def test_requests_that_arrive_together_are_told_apart(tmp_path: Path) -> None:
    script(tmp_path, "import time; time.sleep(60)")
    with Launcher(cold=True) as launcher:
        sleepers = [Ran(launcher, sys.executable, "program.py", cwd=tmp_path) for _ in range(3)]
        supervisor = psutil.Process(psutil.Process(sleepers[0].child.pid).ppid())
        supervisor.suspend()
        for ran in sleepers:  # none of these requests waits for an answer
            ran.child.supervisor.kill(ran.child.pid)
        supervisor.resume()
        assert [ran.child.wait(10) for ran in sleepers] == [-signal.SIGKILL] * 3
        assert Ran(launcher, sys.executable, "-c", "print(1)").output == "1\n"
        for ran in sleepers:
            os.close(ran._read)


def test_closing_leaves_nothing_behind(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    script(tmp_path, "import time; time.sleep(60)")
    with Launcher() as launcher:
        ran = Ran(launcher, sys.executable, "program.py", cwd=tmp_path)
        started = set(psutil.Process().children(recursive=True)) - before
        assert len(started) >= 3  # two supervisors and the program
    os.close(ran._read)
    assert not [process for process in started if process.is_running()]
