"""What was made of artifacts: notes and vectors. Both go when their artifact goes, and can be made again."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workspace.note import Note
from workspace.store.database import friendly, transaction


@dataclass(frozen=True, slots=True)
class Reading:
    """A note of one section of an artifact, with its heading; `digest` is that of the artifact it is made from."""

    artifact: int
    section: int
    model: str
    prompt_version: int
    digest: str
    note: Note
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Vector:
    """The embedding of one part of an artifact: `data` is float32, little endian; `digest` of the text."""

    artifact: int
    part: int
    embedder: str
    digest: str
    data: bytes
    id: int = 0


class Readings:
    """The part of the store that holds notes and vectors."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def unread(self, prompt_version: int, now: datetime | None = None) -> list[int]:
        """Ids of the artifacts without a note of their present content and this prompt.

        Newest first, and what lies ahead of `now` as if it lay as far behind.
        """
        rows = self._connection.execute(
            "SELECT id FROM artifact WHERE NOT EXISTS (SELECT 1 FROM note WHERE artifact_id = artifact.id"
            " AND note.digest = artifact.digest AND note.prompt_version = :version)"
            " ORDER BY min(coalesce(time, due, 0), 2 * :now - coalesce(time, due, 0)) DESC, id DESC",
            {"version": prompt_version, "now": int(now.timestamp()) if now else 1 << 40},
        )
        return [row[0] for row in rows]

    def put_notes(self, artifact: int, readings: Sequence[Reading]) -> None:
        """Replace the notes of one artifact."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute("DELETE FROM note WHERE artifact_id = ?", (artifact,))
            self._connection.executemany(
                "INSERT INTO note (artifact_id, section, model, prompt_version, digest, note, heading)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (artifact, r.section, r.model, r.prompt_version, r.digest, r.note.model_dump_json(), r.heading)
                    for r in readings
                ],
            )

    def leave_unread(self, artifact: int, prompt_version: int, digest: str) -> None:
        """Remember that no note can be made of this content, so that it counts as read and has none."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute("DELETE FROM note WHERE artifact_id = ?", (artifact,))
            self._connection.execute(
                "INSERT INTO note (artifact_id, section, model, prompt_version, digest, note)"
                " VALUES (?, 0, '', ?, ?, '')",
                (artifact, prompt_version, digest),
            )

    def notes(self, artifacts: Sequence[int]) -> dict[int, list[Reading]]:
        """The notes of these artifacts that were made from their present content, in order of sections."""
        found: dict[int, list[Reading]] = {}
        for start in range(0, len(artifacts), 500):
            part = artifacts[start : start + 500]
            rows = self._connection.execute(
                "SELECT artifact_id, section, model, prompt_version, note.digest, note, heading FROM note"
                " JOIN artifact ON artifact.id = note.artifact_id AND artifact.digest = note.digest"
                f" WHERE artifact_id IN ({','.join('?' * len(part))}) AND note <> ''"
                " ORDER BY artifact_id, section",
                part,
            )
            for artifact, section, model, version, digest, note, heading in rows:
                said = Note.model_validate_json(note)
                found.setdefault(artifact, []).append(
                    Reading(artifact, section, model, version, digest, said, heading)
                )
        return found

    def before_in_thread(self, artifacts: Sequence[int]) -> dict[int, int]:
        """For those of these artifacts that are mails of a thread: the mail of it that was sent last before.

        Of several that were sent at that moment, as copies of one mail are, it is the one of the lowest id.
        """
        found: dict[int, int] = {}
        for start in range(0, len(artifacts), 500):
            part = artifacts[start : start + 500]
            # `+` keeps SQLite from looking the mails up by kind and time, of which there are many, not by thread.
            rows = self._connection.execute(
                "SELECT id, before FROM (SELECT a.id AS id, (SELECT b.id FROM artifact b WHERE b.thread = a.thread"
                " AND b.thread <> '' AND +b.kind = a.kind AND +b.time < a.time"
                " ORDER BY +b.time DESC, b.id LIMIT 1)"
                f" AS before FROM artifact a WHERE a.id IN ({','.join('?' * len(part))}) AND a.kind = 'email'"
                " AND a.thread <> '') WHERE before IS NOT NULL",
                part,
            )
            found.update(rows)
        return found

    def vector_digests(self, embedder: str) -> dict[tuple[int, int], str]:
        """(artifact, part) -> digest of the text, for all vectors of one embedder."""
        rows = self._connection.execute(
            "SELECT artifact_id, part, digest FROM vector WHERE embedder = ?", (embedder,)
        )
        return {(artifact, part): digest for artifact, part, digest in rows}

    def put_vectors(self, vectors: Sequence[Vector]) -> None:
        """Store vectors; one that replaces another gets a new id."""
        with friendly(self._path), transaction(self._connection):
            self._connection.executemany(
                "INSERT OR REPLACE INTO vector (artifact_id, part, embedder, digest, vector)"
                " VALUES (?, ?, ?, ?, ?)",
                [(v.artifact, v.part, v.embedder, v.digest, v.data) for v in vectors],
            )

    def drop_vectors(self, parts: Sequence[tuple[int, int]]) -> None:
        """Remove the vectors of these (artifact, part)."""
        with friendly(self._path), transaction(self._connection):
            self._connection.executemany("DELETE FROM vector WHERE artifact_id = ? AND part = ?", parts)

    def vector_owners(self, embedder: str) -> list[tuple[int, int]]:
        """(row id, artifact) of all vectors of one embedder, ascending; what a complete index holds."""
        return self._connection.execute(
            "SELECT id, artifact_id FROM vector WHERE embedder = ? ORDER BY id", (embedder,)
        ).fetchall()

    def vectors(self, embedder: str, after: int = 0) -> Iterator[Vector]:
        """The vectors of one embedder with an id above `after`, in the order of ids."""
        rows = self._connection.execute(
            "SELECT artifact_id, part, embedder, digest, vector, id FROM vector"
            " WHERE embedder = ? AND id > ? ORDER BY id",
            (embedder, after),
        )
        for row in rows:
            yield Vector(*row)
