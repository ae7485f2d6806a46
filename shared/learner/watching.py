"""The learner's folder: what stands in it, and when something in it may have changed.

File events are only a reason to look: whether a file has changed is decided by its content. So it
does not matter which events an editor causes, nor whether some are lost.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from shared.authoring.starters import LITTER
from shared.selftest.stage import MAX_FILE_BYTES

Snapshot = dict[str, str]
"""The files of a folder, as paths relative to it, and digests of their contents."""

LOOK_SECONDS = 0.5  # at least this often somebody looks, events or not
POLL_MS = 100
DEBOUNCE_MS, STEP_MS = 50, 10  # events come in bursts; one look serves them all

# What editors put beside a file for a moment, or for as long as it is open.
PASSING = re.compile(
    r"""
    .*~                       # backups: emacs, vim, gedit
    | \..*                    # .bridge.py.swp (vim), .#bridge.py (emacs), hidden files in general
    | \#.*\#                  # emacs, autosaved
    | \d+                     # 4913: vim tries whether it may create files
    | .*\.sw[a-z]             # vim again
    | .*\.(?:tmp|temp|part|bak|orig|rej)
    | .*___jb_(?:tmp|old)___  # JetBrains
    | .*\.tmp[.-].*           # VS Code, atomic writes of others
    | .*\.py[cod]
    """,
    re.VERBOSE,
)


def is_source(name: str) -> bool:
    """Whether a file or folder of this name is the learner's work, and not of an editor's or a
    cache's passing."""
    return name not in LITTER and PASSING.fullmatch(name) is None


class WatchedFolder:
    """A folder that is looked at again and again; a file is read only when its times or its size
    have changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: dict[str, tuple[tuple[int, ...], str]] = {}

    def snapshot(self) -> Snapshot | None:
        """The folder as it stands now; None when it is not there."""
        if not self.path.is_dir():
            return None
        seen: dict[str, tuple[tuple[int, ...], str]] = {}
        for parent, folders, names in os.walk(self.path):
            folders[:] = [name for name in folders if is_source(name)]
            for name in filter(is_source, names):
                path = Path(parent, name)
                relative = path.relative_to(self.path).as_posix()
                try:
                    status = path.stat()
                    key = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
                    known = self._seen.get(relative)
                    digest = known[1] if known and known[0] == key else _digest(path)
                except OSError:
                    continue  # gone since it was listed, or not to be read: as if it were not there
                seen[relative] = (key, digest)
        self._seen = seen
        return {name: digest for name, (_, digest) in seen.items()}


def changed_files(old: Snapshot, new: Snapshot) -> set[str]:
    """The files that differ, that have come, and that have gone."""
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _digest(path: Path) -> str:
    if path.stat().st_size > MAX_FILE_BYTES:
        return "large"  # the self-test leaves it out as well
    return hashlib.sha256(path.read_bytes()).hexdigest()


class FolderEvents:
    """Calls `notify`, from a thread, when something in a folder may have changed. A context
    manager. The folder may vanish and come back.

    `poll` for places where the system reports nothing: network drives, some containers.
    """

    def __init__(self, folder: Path, notify: Callable[[], None], *, poll: bool) -> None:
        self._folder = folder
        self._notify = notify
        self._poll = poll
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="folder events", daemon=True)

    def __enter__(self) -> FolderEvents:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            identity = _identity(self._folder)
            if identity is None:
                self._stop.wait(POLL_MS / 1000)
                self._notify()
            else:
                self._watch(identity)

    def _watch(self, identity: tuple[int, int]) -> None:
        """Pass events on for as long as the path leads to this very folder."""
        import watchfiles

        try:
            for _ in watchfiles.watch(
                self._folder,
                watch_filter=None,  # what is not to be looked at, the snapshot leaves out
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                stop_event=self._stop,
                rust_timeout=round(LOOK_SECONDS * 1000),
                yield_on_timeout=True,
                force_polling=self._poll or None,
                poll_delay_ms=POLL_MS,
            ):
                self._notify()
                if _identity(self._folder) != identity:
                    return
        except FileNotFoundError:
            return  # it has gone just now
        except OSError:
            # No more watches to be had from this system, or none on this file system: look.
            self._poll = True
            self._notify()
            self._stop.wait(LOOK_SECONDS)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
