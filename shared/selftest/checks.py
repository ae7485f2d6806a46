"""What a lab's checks.py declares: its items, in order, each a function over a `Lab`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.i18n import Text

from .diagnoses import Diagnosis

if TYPE_CHECKING:
    from .lab import Lab

Check = Callable[["Lab"], None]


@dataclass(frozen=True)
class Item:
    """One acceptance item: the exercise that makes it pass, and the items that it stands on."""

    id: int
    title: Text
    exercise: int | None
    needs: tuple[int, ...]
    check: Check


@dataclass
class Checks:
    """The items of one lab.

    `exercises` maps the number of an exercise to the file that has its blank; `diagnoses` are the
    lab's own, beside those that every lab shares.
    """

    day: int
    title: Text
    exercises: dict[int, str]
    diagnoses: dict[str, Diagnosis]
    items: list[Item] = field(default_factory=list)

    def item(
        self, id: int, title: Text, *, exercise: int | None = None, needs: tuple[int, ...] = ()
    ) -> Callable[[Check], Check]:
        """Declare an item; the decorated function returns when it holds and stops otherwise
        (`Lab.fail`). Items are numbered from 1 without gaps and need earlier ones only.

        Raises ValueError when they are not.
        """
        if id != len(self.items) + 1 or any(need >= id for need in needs):
            raise ValueError(f"item {id} is out of order")

        def declare(check: Check) -> Check:
            self.items.append(Item(id, title, exercise, needs, check))
            return check

        return declare
