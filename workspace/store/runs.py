"""Runs of discovery: their records, and what lets a run that was killed go on where it was.

Every reply of a model is kept until its run has finished, under the digest of the request. A run that is taken
up again makes the same requests and gets the same replies, so that its result equals that of a run that was not
killed. `nonce` is the random part of a run that its prompts need; it is kept so that they are the same.
"""

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workspace.finding import Run
from workspace.store.database import friendly, transaction


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that has begun; `resumed` if it was taken up again."""

    id: int
    nonce: str
    started: datetime
    resumed: bool


class Runs:
    """The part of the store that holds runs, replies and closed views."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def begin(self, setup: str, now: datetime) -> OpenRun:
        """Begin a run, or take up the last one if it was not finished and had the same set-up.

        `setup` is a digest of all that decides what the run does: store revision, model, strategy, limits.
        An unfinished run of another set-up is closed as it is.
        """
        with friendly(self._path), transaction(self._connection):
            row = self._connection.execute(
                "SELECT id, nonce, started FROM run WHERE finished IS NULL AND setup = ? ORDER BY id DESC LIMIT 1",
                (setup,),
            ).fetchone()
            if row is not None:
                return OpenRun(row[0], row[1], datetime.fromtimestamp(row[2], UTC), resumed=True)
            self._connection.execute("UPDATE run SET finished = started WHERE finished IS NULL")
            self._connection.execute("DELETE FROM reply")
            nonce = secrets.token_hex(8)
            started = now.replace(microsecond=0)
            run_id = self._connection.execute(
                "INSERT INTO run (started, setup, nonce, record) VALUES (?, ?, ?, '') RETURNING id",
                (int(started.timestamp()), setup, nonce),
            ).fetchone()[0]
        return OpenRun(run_id, nonce, started, resumed=False)

    def close_views(self, views: Iterable[str], run: int) -> None:
        """Remember that a run asked these views to their end, whether or not the run itself comes to one."""
        with friendly(self._path), transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO closed_view VALUES (?, ?)", [(view, run) for view in views]
            )

    def finish(self, run: Run, closed_views: Iterable[str], now: datetime) -> None:
        """Store the record of a run and the digests of the views that it closed; its replies are let go."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute(
                "UPDATE run SET finished = ?, record = ? WHERE id = ?",
                (int(now.timestamp()), run.model_dump_json(), run.id),
            )
            self._connection.executemany(
                "INSERT OR REPLACE INTO closed_view VALUES (?, ?)", [(view, run.id) for view in closed_views]
            )
            self._connection.execute("DELETE FROM reply WHERE run_id = ?", (run.id,))

    def last(self, *, strategy: str | None = None, model: str | None = None) -> Run | None:
        """The record of the last run that finished, of this strategy and this model where they are given."""
        row = self._connection.execute(
            "SELECT record FROM run WHERE finished IS NOT NULL AND record <> ''"
            " AND coalesce(json_extract(record, '$.strategy') = ?, 1)"
            " AND coalesce(json_extract(record, '$.model') = ?, 1) ORDER BY id DESC LIMIT 1",
            (strategy, model),
        ).fetchone()
        return None if row is None else Run.model_validate_json(row[0])

    def all(self) -> list[Run]:
        """The records of the runs that finished, oldest first."""
        rows = self._connection.execute(
            "SELECT record FROM run WHERE finished IS NOT NULL AND record <> '' ORDER BY id"
        )
        return [Run.model_validate_json(record) for (record,) in rows]

    def is_closed(self, view: str, *, but_by: int | None = None) -> bool:
        """Whether a view of this digest was asked to its end, in a run other than `but_by`."""
        row = self._connection.execute(
            "SELECT 1 FROM closed_view WHERE view = ? AND run_id IS NOT ?", (view, but_by)
        ).fetchone()
        return row is not None

    def reply(self, request: str) -> str | None:
        """The kept reply to the request of this digest."""
        row = self._connection.execute("SELECT reply FROM reply WHERE request = ?", (request,)).fetchone()
        return None if row is None else str(row[0])

    def keep_reply(self, run: int, request: str, reply: str) -> None:
        """Keep a reply until its run has finished."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", (request, run, reply))
