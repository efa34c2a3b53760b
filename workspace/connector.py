"""The contract between a source of artifacts and the store that keeps them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from workspace.artifact import Change

Cursor = Mapping[str, str]
"""What a connector has seen: for each of its items (a file, a folder), a state that it alone understands."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes and what they add to the cursor: item -> new state, or None for an item that is no more.

    The store takes both in one transaction. `total` is how many items the sync will look at, 0 if unknown;
    `done` how many it has looked at, for progress.
    """

    changes: tuple[Change, ...]
    cursor: Mapping[str, str | None]
    done: int = 0
    total: int = 0


class Connector(Protocol):
    """A source of artifacts. Reads only; bad input becomes an artifact with defects, never an error."""

    source: str

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        """Yield what changed since the cursor, in bounded batches.

        Raises:
            SourceEmpty: if the source has nothing where the cursor has something and `allow_empty` is false.
            SourceProblem: if the source cannot be reached; batches that were yielded before it are good.
            UserError: if it cannot be read at all.
        """
        ...

    def wait(self, stop: Event, seconds: float) -> bool:
        """Block until something may have changed: true at once then, false after so many seconds or on `stop`.

        A source that cannot tell waits the time out.

        Raises:
            SourceProblem: if the source cannot be reached.
        """
        ...

    def check(self) -> str:
        """One line on what the source holds, for the person who adds it.

        Raises:
            UserError: if it cannot be read.
        """
        ...
