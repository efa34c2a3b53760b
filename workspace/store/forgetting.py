"""Forgetting a source: no trace of it stays in the file, nor in those beside it.

Rows go in steps that are each committed, what they leave in the full text and in free pages after them. A note
beside the store, written before the first step and removed after the last, tells of a forgetting that was broken
off at any moment; doing all of it again finishes it.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workspace.errors import UserError
from workspace.finding import Run
from workspace.folders import write_private
from workspace.store.database import friendly, transaction

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""

BATCH = 500
"""Artifacts that are removed and committed together."""


@dataclass(frozen=True, slots=True)
class Traces:
    """How much the store holds of a source: its artifacts, and the findings that quote them."""

    artifacts: int
    findings: int


class Forgetting:
    """The part of the store that removes a source. The caller holds the worker's lock."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._note = path.with_name(f"{path.name}.forgetting")

    @property
    def unfinished(self) -> str:
        """The name of the source whose forgetting was broken off; "" where there is none."""
        return self._note.read_text("utf-8") if self._note.exists() else ""

    def traces(self, source: str) -> Traces:
        """How much there is of a source; nothing of one that is unknown."""
        count = (
            "SELECT (SELECT count(*) FROM artifact WHERE source_id = source.id),"
            " (SELECT count(*) FROM finding_source WHERE source_id = source.id) FROM source WHERE name = ?"
        )
        row = self._connection.execute(count, (source,)).fetchone()
        return Traces(0, 0) if row is None else Traces(*row)

    def begin(self, source: str) -> None:
        """Note that this source is to be forgotten, so that it can be finished whatever happens."""
        write_private(self._note, source)

    def remove(self, source: str, on_progress: Progress = lambda step, done, total: None) -> None:
        """Remove all rows that hold something of a source; nothing happens where there is none.

        A broken-off removal leaves a source that the next sync brings in again.
        """
        total = self.traces(source).artifacts
        with friendly(self._path):
            # What goes is overwritten with zeros, also where the file is not written anew in the end.
            self._connection.execute("PRAGMA secure_delete = ON")
            self._remove_words(source)
            done = 0
            while removed := self._remove_artifacts(source):
                done += removed
                on_progress("forget", done, total)
            with transaction(self._connection):
                self._connection.execute("DELETE FROM source WHERE name = ?", (source,))

    def finish(self, on_progress: Progress = lambda step, done, total: None) -> None:
        """Remove what is left of removed rows: in the full text, in backups of the store, and in free pages.

        Raises:
            UserError: if the disk is full or another program reads the store; what is not done yet can be done
                again.
        """
        steps = (self._tidy_full_text, self._remove_backups, self._write_anew)
        with friendly(self._path):
            for number, step in enumerate(steps):
                on_progress("tidy", number, len(steps))
                step()
        self._note.unlink(missing_ok=True)
        on_progress("tidy", len(steps), len(steps))

    def _remove_words(self, source: str) -> None:
        """Remove what quotes artifacts of the source outside of them.

        A model's replies and the candidates that were dropped do not tell what they were made of: they go, of
        whatever source they speak, and the run that wanted the replies is over.
        """
        with transaction(self._connection):
            execute = self._connection.execute
            of_source = "(SELECT id FROM source WHERE name = ?)"
            # First of all, so that a sync after a removal that is broken off begins afresh.
            execute(f"DELETE FROM cursor WHERE source_id IN {of_source}", (source,))
            quoting = f"SELECT finding_id FROM finding_source WHERE source_id IN {of_source}"
            execute(f"DELETE FROM finding WHERE id IN ({quoting})", (source,))
            execute("DELETE FROM reply")
            execute("UPDATE run SET finished = started WHERE finished IS NULL")
            for row, record in execute("SELECT id, record FROM run WHERE record <> ''").fetchall():
                run = Run.model_validate_json(record)
                run.dropped = [item.model_copy(update={"description": "", "detail": ""}) for item in run.dropped]
                execute("UPDATE run SET record = ? WHERE id = ?", (run.model_dump_json(), row))

    def _remove_artifacts(self, source: str) -> int:
        """Remove some artifacts of the source, with all that was made of them; returns how many those were."""
        with transaction(self._connection):
            return self._connection.execute(
                "DELETE FROM artifact WHERE id IN (SELECT artifact.id FROM artifact JOIN source"
                f" ON source.id = artifact.source_id WHERE source.name = ? LIMIT {BATCH})",
                (source,),
            ).rowcount

    def _tidy_full_text(self) -> None:
        # A removed text is only marked as such in the index, where its words stay until its parts are merged.
        for index in ("artifact_text", "mark_text"):
            with transaction(self._connection):
                self._connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")

    def _remove_backups(self) -> None:
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink()

    def _write_anew(self) -> None:
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.execute("VACUUM")
        # The log of the file holds pages as they were; it is emptied once nobody reads them any more.
        busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise UserError(
                f"Another program reads {self._path}, where something is left. Close it and run the command again."
            )
