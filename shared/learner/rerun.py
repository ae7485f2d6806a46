"""One run of the self-test in the background, which can be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shared.processes import Launcher
from shared.selftest.discover import Target
from shared.selftest.result import ItemResult, Result
from shared.selftest.runner import internal_fault, run_checks

from .watching import Snapshot


@dataclass(frozen=True)
class Verdict:
    """An item has been judged."""

    rerun: Rerun
    item: ItemResult


@dataclass(frozen=True)
class Finished:
    """A run has ended: with a result, or with the reason why there was no room to work."""

    rerun: Rerun
    result: Result | None
    error: OSError | None = None


class Rerun:
    """Judges items of a folder from a thread of its own, and tells of it by `put`.

    `kept` are the verdicts that still hold; `snapshot` is the folder as it stood at the start.
    """

    def __init__(
        self,
        target: Target,
        launcher: Launcher,
        seed: int,
        items: frozenset[int],
        kept: Mapping[int, ItemResult],
        snapshot: Snapshot,
        put: Callable[[Verdict | Finished], None],
    ) -> None:
        self.items = items
        self.snapshot = snapshot
        self._target = target
        self._launcher = launcher
        self._seed = seed
        self._kept = kept
        self._put = put
        self._thread = threading.Thread(target=self._run, name="rerun")
        self._thread.start()

    def cancel(self) -> None:
        """End it, with every process that it has started, and wait until it has ended."""
        self._launcher.cancel()
        self._thread.join()
        self._launcher.resume()

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join()

    def _run(self) -> None:
        target = self._target
        try:
            result = run_checks(
                target.checks,
                target.folder,
                shown_as=target.shown_as,
                seed=self._seed,
                launcher=self._launcher,
                only=self.items,
                kept=self._kept,
                on_verdict=lambda item: self._put(Verdict(self, item)),
            )
        except OSError as error:
            self._put(Finished(self, None, error))
        except Exception as error:  # a thread has nobody above it; the board shows the fault
            fault = internal_fault(target.checks, self._seed, target.folder.name, error)
            self._put(Finished(self, fault))
        else:
            self._put(Finished(self, result))
