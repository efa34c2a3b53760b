"""What ties artifacts together: the marks that they carry, and thread, series, invitation and attachment.

A mark is a rare word, name, number, date or reference in one normal form without spaces. Marks are made by the
indexing of artifacts, together with the vectors, and can be made again.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from workspace.store.database import friendly, transaction


@dataclass(frozen=True, slots=True)
class Marked:
    """The marks of one artifact; `made_from` is the state of the artifact that `stale` gave for it."""

    artifact: int
    made_from: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kin:
    """Ids of the artifacts that share an artifact's thread or series, that it hangs on, and that hang on it.

    `series` holds whatever has the same UID: occurrences, copies in other calendars, invitations in mail.
    `invited` are for an entry of a calendar the mails that invited to it, and for a mail the entries that it
    invited to.
    """

    thread: tuple[int, ...]
    series: tuple[int, ...]
    parents: tuple[int, ...]
    attachments: tuple[int, ...]
    invited: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """How many occurrences a series has, when the first and the last begin, and the lowest id among them."""

    count: int
    first: datetime
    last: datetime
    lead: int


class Ties:
    """The part of the store that holds marks, and looks up what belongs together."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def stale(self, embedder: str) -> dict[int, str]:
        """Artifact -> its state, for those whose marks were not made from it; newest first.

        The state is that of content, note and embedder.
        """
        rows = self._connection.execute(
            "SELECT id, state FROM (SELECT artifact.id, time, digest || ' ' || ? || ' ' || coalesce((SELECT"
            " note.model || ' ' || note.prompt_version FROM note WHERE artifact_id = artifact.id"
            " AND note.digest = artifact.digest LIMIT 1), '') AS state FROM artifact) AS present"
            " WHERE NOT EXISTS (SELECT 1 FROM mark WHERE artifact_id = present.id AND made_from = state)"
            " ORDER BY coalesce(time, 0) DESC, id DESC",
            (embedder,),
        )
        return dict(rows)

    def put(self, marked: Iterable[Marked]) -> None:
        """Replace the marks of these artifacts."""
        with friendly(self._path), transaction(self._connection):
            self._connection.executemany(
                "INSERT INTO mark (artifact_id, made_from, marks) VALUES (?, ?, ?) ON CONFLICT (artifact_id)"
                " DO UPDATE SET made_from = excluded.made_from, marks = excluded.marks",
                [(item.artifact, item.made_from, " ".join(item.marks)) for item in marked],
            )

    def marked(self) -> int:
        """How many artifacts have been marked."""
        return int(self._connection.execute("SELECT count(*) FROM mark").fetchone()[0])

    def marks(self, artifacts: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """The marks of these artifacts."""
        found: dict[int, tuple[str, ...]] = {}
        for start in range(0, len(artifacts), 500):
            part = artifacts[start : start + 500]
            rows = self._connection.execute(
                f"SELECT artifact_id, marks FROM mark WHERE artifact_id IN ({','.join('?' * len(part))})", part
            )
            found.update((artifact, tuple(marks.split())) for artifact, marks in rows)
        return found

    def carriers(self, mark: str, limit: int) -> list[int]:
        """Ids of the artifacts that carry a mark, ascending, at most `limit` of them."""
        rows = self._connection.execute(
            "SELECT rowid FROM mark_text WHERE mark_text MATCH ? ORDER BY rowid LIMIT ?",
            ('"' + mark.replace('"', "") + '"', limit),
        )
        return [row[0] for row in rows]

    def kin(self, artifact: int, now: datetime, limit: int) -> Kin:
        """What belongs to an artifact by structure; of each sort the `limit` nearest to now, in order of time."""

        def column(found: str) -> tuple[int, ...]:
            rows = self._connection.execute(
                "SELECT id FROM (SELECT DISTINCT b.id, coalesce(b.time, 0) AS time FROM artifact a"
                f" {found} AND b.id <> a.id ORDER BY abs(coalesce(b.time, 0) - :now), b.id DESC LIMIT :limit)"
                " ORDER BY time, id",
                {"id": artifact, "now": int(now.timestamp()), "limit": limit},
            )
            return tuple(row[0] for row in rows)

        of = "JOIN artifact b ON"
        return Kin(
            thread=column(f"{of} b.thread = a.thread AND b.thread <> '' WHERE a.id = :id"),
            series=column(f"JOIN artifact b WHERE a.id = :id AND b.id IN ({_SAME_UID})"),
            parents=column(f"{of} b.key = a.parent AND b.source_id = a.source_id WHERE a.id = :id"),
            attachments=column(
                f"{of} b.parent = a.key AND b.parent <> '' AND b.source_id = a.source_id WHERE a.id = :id"
            ),
            invited=column(f"JOIN artifact b WHERE a.id = :id AND b.id IN ({_INVITED})"),
        )

    def series(self, artifacts: Sequence[int]) -> dict[int, Series]:
        """For those of these artifacts that are one of several occurrences: the series.

        Invitations are none: they tell of a series, and may do so often.
        """
        found: dict[int, Series] = {}
        for start in range(0, len(artifacts), 500):
            part = artifacts[start : start + 500]
            rows = self._connection.execute(
                "SELECT a.id, count(*), min(b.time), max(b.time), min(b.id) FROM artifact a"
                " JOIN artifact b ON b.series = a.series AND b.series <> '' AND b.parent = '' AND a.parent = ''"
                f" WHERE a.id IN ({','.join('?' * len(part))}) AND b.time IS NOT NULL GROUP BY a.id"
                " HAVING count(*) > 1",
                part,
            )
            for artifact, count, first, last, lead in rows:
                begin, end = datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last, UTC)
                found[artifact] = Series(count, begin, end, lead)
        return found

    def occurrences(self, artifact: int) -> tuple[int, ...]:
        """All occurrences of an artifact's series and the invitations to it, itself among them, in order of time;
        () for an artifact that shares its UID with none."""
        rows = self._connection.execute(
            f"SELECT id FROM artifact WHERE id IN ({_SAME_UID}) ORDER BY coalesce(time, due, 0), id",
            {"id": artifact},
        )
        found = tuple(row[0] for row in rows)
        return found if len(found) > 1 or self._is_of_series(artifact) else ()

    def later_in_thread(self, artifacts: Sequence[int]) -> dict[int, int]:
        """For those of these artifacts that are mails of a thread: how many mails of it were sent later.

        Copies of one mail in several sources count once.
        """
        found: dict[int, int] = {}
        for start in range(0, len(artifacts), 500):
            part = artifacts[start : start + 500]
            # `+` keeps SQLite from looking the mails up by kind and time, of which there are many, not by thread.
            rows = self._connection.execute(
                "SELECT a.id, (SELECT count(DISTINCT b.key) FROM artifact b WHERE b.thread = a.thread"
                " AND b.thread <> '' AND +b.kind = a.kind AND +b.time > a.time) FROM artifact a"
                f" WHERE a.id IN ({','.join('?' * len(part))}) AND a.kind = 'email' AND a.thread <> ''"
                " AND a.time IS NOT NULL",
                part,
            )
            found.update(rows)
        return found

    def _is_of_series(self, artifact: int) -> bool:
        row = self._connection.execute("SELECT series <> '' FROM artifact WHERE id = ?", (artifact,)).fetchone()
        return row is not None and bool(row[0])


# The event of a single entry is known by the key, which is its UID; that of an occurrence or of an invitation by
# `series`. CROSS JOIN and `+` keep SQLite to this order: from the one artifact outward, by the indexes of series
# and parents (which hold none that is empty) and, source by source, of keys.
_UID = "CASE x.series WHEN '' THEN x.key ELSE x.series END"
_SAME_UID = f"""
    SELECT y.id FROM artifact x CROSS JOIN artifact y ON y.series = x.series AND y.series <> '' WHERE x.id = :id
    UNION
    SELECT y.id FROM artifact x CROSS JOIN source CROSS JOIN artifact y
    ON y.source_id = source.id AND y.key = {_UID} AND +y.kind = 'event' AND +y.series = ''
    WHERE x.id = :id AND x.kind = 'event'
    UNION
    SELECT y.id FROM artifact x CROSS JOIN artifact y ON y.series = x.key AND y.series <> ''
    WHERE x.id = :id AND x.kind = 'event' AND x.series = ''
"""
_INVITED = f"""
    SELECT mail.id FROM artifact x
    CROSS JOIN artifact y ON y.series = {_UID} AND y.series <> '' AND +y.kind = 'event' AND +y.parent <> ''
    CROSS JOIN artifact mail ON mail.source_id = y.source_id AND mail.key = y.parent
    WHERE x.id = :id AND x.kind = 'event' AND x.parent = ''
    UNION
    SELECT z.id FROM artifact x
    CROSS JOIN artifact y ON y.parent = x.key AND y.parent <> ''
    AND +y.source_id = x.source_id AND +y.kind = 'event'
    CROSS JOIN artifact z ON z.series = y.series AND z.series <> '' AND +z.parent = ''
    WHERE x.id = :id AND x.kind = 'email'
    UNION
    SELECT z.id FROM artifact x
    CROSS JOIN artifact y ON y.parent = x.key AND y.parent <> ''
    AND +y.source_id = x.source_id AND +y.kind = 'event'
    CROSS JOIN source
    CROSS JOIN artifact z ON z.source_id = source.id AND z.key = y.series AND +z.kind = 'event' AND +z.series = ''
    WHERE x.id = :id AND x.kind = 'email' AND y.series <> ''
"""
