"""The course's environment: `.venv`, made once from `constraints.txt`, and entered from anywhere.

    python3 shared/bootstrap.py [--dev] [--quiet]

Runs before anything is installed, perhaps on a Python that is too old for the course, and must
then still say so. Hence, here and in the two modules beside it: the standard library alone, syntax
that Python 3.6 reads (annotations in quotes), messages that are plain dicts. A call that finds all
in place takes milliseconds; how an environment is built (`bootstrap_build`) is not even imported.
"""

import importlib
import json
import os
import re
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.bootstrap_words import Voice

ROOT = Path(__file__).resolve().parent.parent
OLDEST, NEWEST = (3, 10), (3, 14)
EXIT_USAGE = 2
STATE_FILE = "lab-environment.json"  # in .venv: what it was made for
SOURCES = ("pyproject.toml", "constraints.txt")
MODULES = ("mcp", "openai", "rich", "jsonschema", "psutil", "dotenv")


class BootstrapError(Exception):
    """The environment cannot be had. The text is for the learner, in the learner's language."""


class State:
    """What an environment holds, or should hold.

    `python` is a version such as "3.12"; `root` the checkout, since an environment does not survive
    being moved; `sources` a digest of what says which packages; `extras` those of pyproject.toml.
    `ready` is false from the first step of a build to the last.
    """

    def __init__(
        self, python: str, root: str, sources: str, extras: "frozenset[str]", ready: bool
    ) -> None:
        self.python = python
        self.root = root
        self.sources = sources
        self.extras = extras
        self.ready = ready


def venv_python(root: "Path" = ROOT) -> "Path":
    """The interpreter of the environment, whether it exists or not."""
    if os.name == "nt":
        return root / ".venv" / "Scripts" / "python.exe"
    return root / ".venv" / "bin" / "python"


def inside_venv(root: "Path" = ROOT) -> bool:
    """Whether this process runs in the environment of the checkout."""
    folder = venv_python(root).parent
    return folder.exists() and Path(sys.executable).parent.samefile(folder)


def ensure(
    extras: "Sequence[str]" = (),
    root: "Path" = ROOT,
    version: "tuple[int, int]" = sys.version_info[:2],
    voice: "Voice | None" = None,
) -> "Path":
    """Make sure that `.venv` has the course's packages and those of `extras`; its interpreter.

    Returns at once, without a subprocess, when it has. Else it is brought up to date, or built anew
    when it was left half built, or was made for another Python or another place. `version` is that
    of the running interpreter. Raises BootstrapError when there can be no environment.
    """
    wanted = wanted_state(root, extras, version)
    if lack(root, wanted):
        from shared import bootstrap_build

        bootstrap_build.build_locked(root, wanted, version, voice)
    return venv_python(root)


def has_packages(root: "Path" = ROOT) -> bool:
    """Whether this process can import what the course needs: in the course's environment, or in
    one of its own (a container, say) whose versions are within the bounds of pyproject.toml."""
    from importlib.util import find_spec

    if sys.version_info[:2] < OLDEST or any(find_spec(name) is None for name in MODULES):
        return False
    return inside_venv(root) or _versions_fit(root)


def run_in_venv(argv: "Sequence[str]", extras: "Sequence[str]" = (), root: "Path" = ROOT) -> None:
    """Go on in the environment: make sure that there is one, and start `argv` (a script and its
    arguments, as in `sys.argv`) anew with its interpreter.

    Returns only when this process runs in it already. Exits with 2 and a sentence when there can be
    no environment.
    """
    inside = inside_venv(root)
    command = [str(_ensure_or_exit(extras, root)), *argv]
    if inside:
        importlib.invalidate_caches()  # of folders as they were before packages came in
        return
    if os.name == "nt":  # exec would return to the shell at once and leave the program behind
        import subprocess

        sys.exit(subprocess.call(command))
    sys.stdout.flush()
    os.execv(command[0], command)


def main(argv: "Sequence[str] | None" = None, root: "Path" = ROOT) -> int:
    """The command line. `--dev` adds what tests and checks need; `--quiet` says nothing when there
    is nothing to do. Returns 0, or 2 with a sentence on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    wrong = [argument for argument in arguments if argument not in ("--dev", "--quiet")]
    if wrong:
        _voice().say("usage", wrong=" ".join(wrong))
        return EXIT_USAGE
    _ensure_or_exit(("dev",) if "--dev" in arguments else (), root)
    state = read_state(root)
    if state and "--quiet" not in arguments:
        _voice().say("ready", venv=root / ".venv", found=state.python)
    return 0


def wanted_state(root: "Path", extras: "Sequence[str]", version: "tuple[int, int]") -> "State":
    """What the environment should be for a caller of this Python version."""
    import hashlib

    digest = hashlib.sha256(b"\0".join((root / name).read_bytes() for name in SOURCES))
    return State(dotted(version), str(root), digest.hexdigest(), frozenset(extras), ready=True)


def lack(root: "Path", wanted: "State") -> str:
    """Why `.venv` is not what is wanted, as the key of a message; the empty string when it is."""
    if not venv_python(root).exists():  # nor when its base interpreter has been uninstalled
        return "new"
    state = read_state(root)
    if state is None:
        return "changed" if dotted(_version_in_cfg(root)) == wanted.python else "moved"
    if not state.ready:
        return "half"
    # A Python that is too old for the course may still use the environment that a newer one made.
    too_old = tuple(map(int, wanted.python.split("."))) < OLDEST
    if state.root != wanted.root or (state.python != wanted.python and not too_old):
        return "moved"
    if state.sources != wanted.sources or not wanted.extras <= state.extras:
        return "changed"
    return ""


def read_state(root: "Path") -> "State | None":
    """What `.venv` says of itself; None when it says nothing: it is not there, or made by hand."""
    try:
        text = (root / ".venv" / STATE_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    fields = json.loads(text)  # always whole: `write_state` replaces the file
    return State(
        fields["python"],
        fields["root"],
        fields["sources"],
        frozenset(fields["extras"]),
        fields["ready"],
    )


def write_state(root: "Path", state: "State") -> None:
    """Leave in `.venv` what it is, all or nothing."""
    fields = dict(vars(state), extras=sorted(state.extras))
    draft = root / ".venv" / (STATE_FILE + ".new")
    draft.write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")
    draft.replace(root / ".venv" / STATE_FILE)


def dotted(version: "tuple[int, ...]") -> str:
    """`3.12` for `(3, 12)`."""
    return ".".join(map(str, version))


def _version_in_cfg(root: "Path") -> "tuple[int, ...]":
    """Major and minor version of an environment that was made by hand; () when it does not say."""
    cfg = root / ".venv" / "pyvenv.cfg"
    for line in cfg.read_text(encoding="utf-8").splitlines() if cfg.exists() else ():
        key, _, value = line.partition("=")
        if key.strip() in ("version", "version_info"):  # as venv writes it, and as uv does
            return tuple(int(part) for part in value.strip().split(".")[:2])
    return ()


def _versions_fit(root: "Path") -> bool:
    """Whether the installed versions are those that pyproject.toml asks for: with mcp 1, say, all
    modules are there, and nothing works."""
    from importlib.metadata import PackageNotFoundError, version

    if not (root / "pyproject.toml").exists():
        return True  # a bare copy, as a grader makes: nothing to hold the versions against
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    needed = project.partition("\ndependencies = [")[2].partition("\n]")[0]
    for name, low, high in re.findall(r'"([\w.-]+)>=([\d.]+),<([\d.]+)"', needed):
        try:
            installed = _numbers(version(name))
        except PackageNotFoundError:
            return False
        if not _numbers(low) <= installed < _numbers(high):
            return False
    return True


def _numbers(version: str) -> "tuple[int, ...]":
    """`(3, 57, 0)` for `3.57.0`, and also for `3.57.0rc1`."""
    return tuple(int(digits) for digits in re.findall(r"(?:^|\.)(\d+)", version))


def _ensure_or_exit(extras: "Sequence[str]", root: "Path") -> "Path":
    try:
        return ensure(extras, root)
    except BootstrapError as error:
        _voice().print(str(error))
        sys.exit(EXIT_USAGE)
    except KeyboardInterrupt:  # the next call finds the environment half built, and begins anew
        sys.exit(130)


def _voice() -> "Voice":
    from shared.bootstrap_words import Voice

    return Voice()


if __name__ == "__main__":
    # Not `shared/`, whose modules could hide those of the standard library, but the checkout.
    sys.path[:] = [str(ROOT)] + [entry for entry in sys.path if entry != str(ROOT / "shared")]
    from shared import bootstrap  # the one that `bootstrap_build` sees, not a second one

    sys.exit(bootstrap.main())
