"""Findings and what the person made of them. A matter that is known, in whatever state, is known for good."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from workspace.errors import UserError
from workspace.finding import Finding, State
from workspace.store.database import friendly, transaction


class Findings:
    """The part of the store that holds findings."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def add(self, finding: Finding, run: int, now: datetime) -> Finding | None:
        """Store a finding of a run and return it with its id; None where the matter is known already."""
        with friendly(self._path), transaction(self._connection):
            row = self._connection.execute(
                "INSERT INTO finding (about, run_id, state, created, finding) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (about) DO NOTHING RETURNING id",
                (finding.about, run, State.NEW.value, int(now.timestamp()), finding.model_dump_json()),
            ).fetchone()
        return None if row is None else self.get(row[0])

    def get(self, finding: int) -> Finding:
        """One finding.

        Raises:
            UserError: if there is none of this id.
        """
        found = self._select("WHERE id = ?", (finding,))
        if not found:
            raise UserError(f"There is no finding {finding}. `tide findings` lists them.")
        return found[0]

    def all(self, states: Sequence[State] = tuple(State)) -> list[Finding]:
        """The findings in these states, in the order in which they were found."""
        marks = ",".join("?" * len(states))
        return self._select(f"WHERE state IN ({marks}) ORDER BY id", tuple(state.value for state in states))

    def current(self, now: datetime) -> list[Finding]:
        """What a digest shows: new and seen findings, and snoozed ones whose time has come."""
        return self._select(
            "WHERE state IN ('new', 'seen') OR (state = 'snoozed' AND snoozed_until <= ?) ORDER BY id",
            (int(now.timestamp()),),
        )

    def set_state(
        self, finding: int, state: State, *, reason: str = "", snoozed_until: datetime | None = None
    ) -> Finding:
        """Change what the person made of a finding.

        Raises:
            UserError: if there is none of this id.
        """
        self.get(finding)
        until = None if snoozed_until is None else int(snoozed_until.timestamp())
        with friendly(self._path), transaction(self._connection):
            self._connection.execute(
                "UPDATE finding SET state = ?, reason = ?, snoozed_until = ? WHERE id = ?",
                (state.value, reason, until, finding),
            )
        return self.get(finding)

    def lapse(self, finding: int, reason: str, now: datetime) -> None:
        """Note that nothing is left to do about a finding, and why."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute(
                "UPDATE finding SET state = 'lapsed', reason = ?, snoozed_until = NULL,"
                " finding = json_set(finding, '$.updated', ?) WHERE id = ?",
                (reason, now.isoformat(), finding),
            )

    def update(self, finding: Finding) -> Finding | None:
        """Tell a stored finding (`finding.id`) anew; what the person made of it stays.

        None, and nothing is changed, where another finding is about what it is about now.
        """
        with friendly(self._path), transaction(self._connection):
            row = self._connection.execute(
                "UPDATE OR IGNORE finding SET about = ?, finding = ? WHERE id = ? RETURNING id",
                (finding.about, finding.model_dump_json(), finding.id),
            ).fetchone()
        return None if row is None else self.get(finding.id)

    def _select(self, condition: str, values: tuple[object, ...]) -> list[Finding]:
        rows = self._connection.execute(
            f"SELECT id, run_id, state, reason, snoozed_until, created, finding FROM finding {condition}",
            values,
        )
        return [_finding(row) for row in rows]


def _finding(row: tuple[int, int, str, str, int | None, int, str]) -> Finding:
    row_id, run, state, reason, until, created, text = row
    return Finding.model_validate_json(text).model_copy(
        update={
            "id": row_id,
            "run": run,
            "state": State(state),
            "reason": reason,
            "snoozed_until": None if until is None else datetime.fromtimestamp(until, UTC),
            "created": datetime.fromtimestamp(created, UTC),
        }
    )
