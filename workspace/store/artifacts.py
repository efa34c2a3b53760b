"""Sources and their artifacts: taken in batch by batch, listed by time, searched by word."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workspace.artifact import Artifact, Kind, Person, Put, Role, Trust
from workspace.connector import Batch
from workspace.errors import UserError
from workspace.store.database import friendly, transaction

Page = tuple[datetime, int]
"""Time and id of the last artifact of a page; the next page goes on after it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place that the person added.

    `state` and `problem` are "" after a sync that went well, else the state of the SourceProblem and its line.
    """

    name: str
    kind: str
    location: str
    last_success: datetime | None = None
    problem: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """An artifact found by its words, with a passage that shows them."""

    artifact: Artifact
    passage: str


class Artifacts:
    """The part of the store that holds sources and artifacts."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def add_source(self, name: str, kind: str, location: str, now: datetime) -> None:
        """Remember a source.

        Raises:
            UserError: if there is one of that name.
        """
        try:
            with friendly(self._path), transaction(self._connection):
                self._connection.execute(
                    "INSERT INTO source (name, kind, location, added) VALUES (?, ?, ?, ?)",
                    (name, kind, location, _seconds(now)),
                )
        except sqlite3.IntegrityError as error:
            raise UserError(f"There is a source called {name!r} already. Choose another --name.") from error

    def sources(self) -> list[Source]:
        rows = self._connection.execute(
            "SELECT name, kind, location, last_success, problem, state FROM source ORDER BY id"
        )
        return [
            Source(name, kind, place, _moment(last), why, state) for name, kind, place, last, why, state in rows
        ]

    def mark_source(self, name: str, *, problem: str = "", state: str = "", now: datetime | None = None) -> None:
        """Record how a sync of the source ended: well, at `now`, or in a state with a problem in one line."""
        with friendly(self._path), transaction(self._connection):
            self._connection.execute(
                "UPDATE source SET problem = ?, state = ?, last_success = coalesce(?, last_success)"
                " WHERE name = ?",
                (problem, state, _seconds(now), name),
            )

    def cursor(self, source: str) -> dict[str, str]:
        """What the source's connector has seen so far."""
        rows = self._connection.execute(
            "SELECT item, state FROM cursor WHERE source_id = ?", (self._source_id(source),)
        )
        return dict(rows)

    def take(self, source: str, batch: Batch) -> None:
        """Take a batch of changes and its part of the cursor in one transaction.

        An artifact whose content is as before keeps its revision; a new or changed one gets the next.
        """
        source_id = self._source_id(source)
        puts = [change.artifact for change in batch.changes if isinstance(change, Put)]
        gone = [change.key for change in batch.changes if not isinstance(change, Put)]
        seen = [(source_id, item, state) for item, state in batch.cursor.items() if state is not None]
        unseen = [(source_id, item) for item, state in batch.cursor.items() if state is None]
        with friendly(self._path), transaction(self._connection):
            revision = self.revision() + 1
            self._connection.executemany(
                "DELETE FROM artifact WHERE source_id = ? AND key = ?",
                [(source_id, _storable(key)) for key in gone],
            )
            self._connection.executemany(_PUT, [_row(artifact, source_id, revision) for artifact in puts])
            self._connection.execute(f"UPDATE newest SET revision = {_NEWEST}")
            self._connection.executemany("INSERT OR REPLACE INTO cursor VALUES (?, ?, ?)", seen)
            self._connection.executemany("DELETE FROM cursor WHERE source_id = ? AND item = ?", unseen)

    def trust_correspondents(self, own: Iterable[str], domains: Iterable[str] = ()) -> None:
        """Artifacts of people to whom the person has written, or with an address at one of these domains, are from
        known people; mail from an address that has become the person's own since it was read is theirs."""
        own = frozenset(own)
        written = self.correspondents(own)
        with friendly(self._path), transaction(self._connection):
            self._connection.executemany(
                f"UPDATE artifact SET trust = 'self' WHERE sender = ? AND {_BY_SENDER} AND trust <> 'self'",
                [(address,) for address in sorted(own)],
            )
            self._connection.executemany(
                "UPDATE artifact SET trust = 'known' WHERE sender = ? AND trust = 'unknown'",
                [(address,) for address in sorted(written)],
            )
            self._connection.executemany(
                "UPDATE artifact SET trust = 'known' WHERE substr(sender, -length(?1)) = ?1 AND trust = 'unknown'",
                [(f"@{domain}",) for domain in sorted(domains)],
            )

    def correspondents(self, own: Iterable[str]) -> frozenset[str]:
        """The addresses to which mail from one of the person's own addresses went.

        A mail inside another can name anybody as its sender, and one that failed the check of its sender does.
        """
        found: set[str] = set()
        for address in own:
            for (people,) in self._connection.execute(
                f"SELECT people FROM artifact WHERE sender = ? AND {_BY_SENDER}", (address,)
            ):
                found.update(email for role, _, email, _ in json.loads(people) if role in ("to", "cc") and email)
        return frozenset(found)

    def addresses(self) -> frozenset[str]:
        """Every address that an artifact from the person or from somebody known names."""
        rows = self._connection.execute("SELECT DISTINCT people FROM artifact WHERE trust <> 'unknown'")
        return frozenset(email for (people,) in rows for _, _, email, _ in json.loads(people) if email)

    def revision(self) -> int:
        """The number of the newest change; the same number means the same artifacts, but for removals.

        It never falls, so that what comes next is newer than all that was seen.
        """
        return int(self._connection.execute(f"SELECT {_NEWEST} FROM newest").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """How many artifacts there are of each kind."""
        return dict(self._connection.execute("SELECT kind, count(*) FROM artifact GROUP BY kind ORDER BY kind"))

    def count_source(self, source: str) -> int:
        """How many artifacts came from a source."""
        row = self._connection.execute(
            "SELECT count(*) FROM artifact WHERE source_id = ?", (self._source_id(source),)
        ).fetchone()
        return int(row[0])

    def get(self, ids: Sequence[int]) -> dict[int, Artifact]:
        """The artifacts of these ids; those that are gone are left out."""
        found: dict[int, Artifact] = {}
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            marks = ",".join("?" * len(part))
            for row in self._connection.execute(f"{_SELECT} WHERE artifact.id IN ({marks})", part):
                artifact = _artifact(row)
                found[artifact.id] = artifact
        return found

    def page(self, *, after: Page | None = None, kind: Kind | None = None, limit: int = 50) -> list[Artifact]:
        """A page of artifacts that have a time, newest first."""
        conditions, values = ["time IS NOT NULL"], list[object]()
        if after is not None:
            conditions.append("(time, artifact.id) < (?, ?)")
            values += [_seconds(after[0]), after[1]]
        if kind is not None:
            conditions.append("artifact.kind = ?")
            values.append(kind.value)
        rows = self._connection.execute(
            f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY time DESC, artifact.id DESC LIMIT ?",
            [*values, limit],
        )
        return [_artifact(row) for row in rows]

    def changed_since(self, revision: int) -> list[int]:
        """Ids of the artifacts that are new or changed after a revision, oldest change first."""
        rows = self._connection.execute(
            "SELECT id FROM artifact WHERE revision > ? ORDER BY revision, id", (revision,)
        )
        return [row[0] for row in rows]

    def all(self, *, since: datetime | None = None) -> Iterator[Artifact]:
        """Every artifact, in the order of ids; with `since`, those that are open or not over before it."""
        if since is None:
            rows = self._connection.execute(f"{_SELECT} ORDER BY artifact.id")
        else:
            rows = self._connection.execute(
                f"{_SELECT} WHERE max(coalesce(time, 0), coalesce(end, 0), coalesce(due, 0)) >= ?"
                " OR artifact.kind = 'task' ORDER BY artifact.id",
                (_seconds(since),),
            )
        for row in rows:
            yield _artifact(row)

    def search(self, words: str, *, kind: Kind | None = None, limit: int = 20) -> list[Hit]:
        """The artifacts that hold all the words; 3 letters or more at the end may be the beginning of a word.

        The best match comes first; where more than `_RANKED` artifacts match, which no rank can tell apart, the
        newest.
        """
        query = _match(words)
        if not query:
            return []
        only = "" if kind is None else " AND artifact.kind = :kind"
        values = {"query": query, "kind": kind, "limit": limit}
        matches = "SELECT rowid FROM artifact_text WHERE artifact_text MATCH :query"
        count = self._connection.execute(f"SELECT count(*) FROM ({matches} LIMIT {_RANKED + 1})", values)
        if count.fetchone()[0] <= _RANKED:
            found = (
                "SELECT artifact.id FROM artifact_text JOIN artifact ON artifact.id = artifact_text.rowid"
                f" WHERE artifact_text MATCH :query{only} ORDER BY rank LIMIT :limit"
            )
        else:
            # The time index is walked from its new end, each id held against the matches (`+` keeps SQLite from
            # looking up all matches and sorting them), until enough are found.
            found = (
                f"SELECT id FROM artifact WHERE time IS NOT NULL AND +id IN ({matches}){only}"
                " ORDER BY time DESC, id DESC LIMIT :limit"
            )
        ids = [row[0] for row in self._connection.execute(found, values)]
        artifacts = self.get(ids)
        return [Hit(artifacts[row_id], _passage(artifacts[row_id].text, words)) for row_id in ids]

    def _source_id(self, name: str) -> int:
        row = self._connection.execute("SELECT id FROM source WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise UserError(f"There is no source called {name!r}. `tide sources` lists them.")
        return int(row[0])


_RANKED = 2000
_BY_SENDER = "kind = 'email' AND parent = '' AND instr(defects, 'dmarc=fail') = 0"
# An older program that adds artifacts leaves `newest` as it is.
_NEWEST = "max(newest.revision, (SELECT coalesce(max(artifact.revision), 0) FROM artifact))"
_COLUMNS = (
    "key, kind, title, text, quoted, people, time, end, due, all_day, busy, cancelled, status, location, thread,"
    " parent, series, recurrence, origin, trust, automatic, defects"
)
_ALL = f"{_COLUMNS}, names, sender, digest, source_id, revision"
_SELECT = (
    "SELECT artifact.id, source.name, "
    + ", ".join(f"artifact.{name.strip()}" for name in _COLUMNS.split(","))
    + " FROM artifact JOIN source ON source.id = artifact.source_id"
)
_CONTENT = [name.strip() for name in _ALL.split(",") if name.strip() not in ("key", "source_id", "revision")]
_PUT = (
    f"INSERT INTO artifact ({_ALL}) VALUES ({', '.join('?' * len(_ALL.split(',')))})"
    " ON CONFLICT (source_id, key) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _CONTENT)
    + ", revision = CASE WHEN artifact.digest = excluded.digest THEN artifact.revision ELSE excluded.revision END"
)


def _row(artifact: Artifact, source_id: int, revision: int) -> tuple[object, ...]:
    people = [(p.role.value, p.name, p.email, p.status) for p in artifact.people]
    sender = artifact.sender
    return (
        _storable(artifact.key),
        artifact.kind.value,
        _storable(artifact.title),
        _storable(artifact.text),
        _storable(artifact.quoted),
        json.dumps(people, separators=(",", ":")),
        _seconds(artifact.time),
        _seconds(artifact.end),
        _seconds(artifact.due),
        artifact.all_day,
        artifact.busy,
        artifact.cancelled,
        artifact.status,
        _storable(artifact.location),
        _storable(artifact.thread),
        _storable(artifact.parent),
        _storable(artifact.series),
        _storable(artifact.recurrence),
        _storable(artifact.origin),
        artifact.trust.value,
        artifact.automatic,
        json.dumps(artifact.defects),
        _storable(" ".join(f"{p.name} {p.email}" for p in artifact.people)),
        _storable(sender.email) if sender else "",
        artifact.digest,
        source_id,
        revision,
    )


def _artifact(row: tuple[Any, ...]) -> Artifact:
    (row_id, source, key, kind, title, text, quoted, people, time, end, due, all_day, busy, cancelled, status,
     location, thread, parent, series, recurrence, origin, trust, automatic, defects) = row  # fmt: skip
    values: dict[str, str] = {
        "source": source, "key": key, "title": title, "text": text, "quoted": quoted, "status": status,
        "location": location, "thread": thread, "parent": parent, "series": series, "recurrence": recurrence,
        "origin": origin,
    }  # fmt: skip
    return Artifact(
        **values,
        kind=Kind(kind),
        people=tuple(Person(Role(p[0]), p[1], p[2], p[3]) for p in json.loads(people)),
        time=_moment(time),
        end=_moment(end),
        due=_moment(due),
        all_day=bool(all_day),
        busy=bool(busy),
        cancelled=bool(cancelled),
        trust=Trust(trust),
        automatic=bool(automatic),
        defects=tuple(json.loads(defects)),
        id=row_id,
    )


def _storable(text: str) -> str:
    """SQLite takes no lone surrogates, which broken mail can bring."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _moment(seconds: object) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int) else None


def _passage(text: str, words: str) -> str:
    """About 160 characters around the first of the words that stands in the text, else its beginning.

    SQLite's own `snippet` looks up the whole query again for each artifact: 3 ms each for the beginning of a word.
    """
    folded = text.casefold()
    places = [place for word in words.split() if (place := folded.find(word.casefold())) >= 0]
    start = max(0, min(places, default=0) - 40)
    start = text.rfind(" ", 0, start) + 1 if start else 0
    passage = " ".join(text[start : start + 200].split())
    return ("… " if start else "") + passage[:160] + (" …" if len(text) > start + 160 else "")


def _match(words: str) -> str:
    words = _storable(words).replace("\0", " ")
    parts = [word for word in words.split() if any(letter.isalnum() for letter in word)]
    beginning = "*" if parts and len(parts[-1]) >= 3 else ""
    return " ".join(map(_quoted, parts)) + beginning


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
