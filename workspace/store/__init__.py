"""The store: one SQLite file that holds everything Tide knows. Readers never wait; one worker writes."""

import sqlite3
from pathlib import Path
from types import TracebackType

from workspace.store.artifacts import Artifacts, Hit, Page, Source
from workspace.store.database import connect, friendly
from workspace.store.findings import Findings
from workspace.store.forgetting import Forgetting, Traces
from workspace.store.lock import worker_lock
from workspace.store.people import People
from workspace.store.readings import Reading, Readings, Vector
from workspace.store.runs import OpenRun, Runs
from workspace.store.ties import Kin, Marked, Series, Ties

__all__ = [
    "Hit",
    "Kin",
    "Marked",
    "OpenRun",
    "Page",
    "Reading",
    "Series",
    "Source",
    "Store",
    "Traces",
    "Vector",
    "worker_lock",
]


class Store:
    """An open store, with a part for each thing that it holds. Use it as a context manager.

    Raises:
        UserError: if the file cannot be opened, is damaged, or was written by a newer Tide; also at the
            end of the context, if damage came to light while it was read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection = connect(path)
        self.artifacts = Artifacts(self._connection, path)
        self.readings = Readings(self._connection, path)
        self.findings = Findings(self._connection, path)
        self.runs = Runs(self._connection, path)
        self.ties = Ties(self._connection, path)
        self.people = People(self._connection, path)
        self.forgetting = Forgetting(self._connection, path)

    def problems(self) -> list[str]:
        """What SQLite's integrity check and foreign key check have to say; nothing is good."""
        with friendly(self.path):
            said = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
            loose = [
                f"loose reference in {row[0]}" for row in self._connection.execute("PRAGMA foreign_key_check")
            ]
        return [line for line in said if line != "ok"] + loose

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, sqlite3.DatabaseError):
            with friendly(self.path):
                raise error
