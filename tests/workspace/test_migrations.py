"""A store of an older version comes up to date with all that is in it; one of a newer minor version is read."""

import sqlite3
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workspace import Action, Artifact, Batch, Evidence, Finding, Gone, Kind, Put, Run, State
from workspace.store import Source, Store
from workspace.store.database import connect
from workspace.store.schema import MIGRATIONS

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)
FIRST = tuple(step for step in MIGRATIONS if step[0] == 1000)
TEXTS = (
    *("title", "quoted", "names", "sender", "status", "location"),
    *("thread", "parent", "series", "recurrence", "origin", "digest"),
)
FLAGS = ("all_day", "busy", "cancelled", "automatic")
LISTS = {"key": "m1", "kind": "email", "people": "[]", "defects": "[]", "trust": "known"}


def finding(*artifacts: int, template: str = "question-left-unanswered") -> Finding:
    return Finding(
        template=template,
        description="Ben waits.",
        why="No answer.",
        evidence=tuple(Evidence(artifact=row, quote="the figures") for row in artifacts),
        action=Action(function_name="reply_email", parameters={"message": "a1", "body": "Yes."}),
        confidence=0.8,
    )


def put_finding(connection: sqlite3.Connection, one: Finding) -> None:
    """Store a finding in the words of version 1000."""
    connection.execute(
        "INSERT INTO finding (about, run_id, state, created, finding) VALUES (?, 1, 'seen', 1, ?)"
        " ON CONFLICT (about) DO NOTHING",
        (one.about, one.model_dump_json()),
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of version 1000 with two sources, a mail of each, and findings about one and about both."""
    path = tmp_path / "tide.sqlite"
    connection = connect(path, FIRST)
    for number, (name, word) in enumerate((("mail", "figures"), ("work", "kettle")), start=1):
        connection.execute(
            "INSERT INTO source (name, kind, location, added, last_success, problem)"
            " VALUES (?, 'maildir', '/mail', 1, ?, 'away')",
            (name, int(NOW.timestamp())),
        )
        given = {"source_id": number, "text": f"the {word}", "revision": 3 * number}
        row = {**dict.fromkeys(TEXTS, ""), **dict.fromkeys(FLAGS, 0), **LISTS, **given}
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO artifact ({names}) VALUES ({marks})", list(row.values()))
    record = Run(id=1, strategy="observed", model="", started=NOW, revision=9).model_dump_json()
    connection.execute("INSERT INTO run VALUES (1, 1, 2, 'setup', 'nonce', ?)", (record,))
    put_finding(connection, finding(1))
    put_finding(connection, finding(1, 2))
    put_finding(connection, finding(77, template="task-past-due"))
    connection.close()
    return path


def test_all_that_was_in_it_is_in_it_and_a_backup_stands_beside_it(old: Path) -> None:
    with Store(old) as store:
        assert store.problems() == []
        assert store.artifacts.sources() == [
            Source(name, "maildir", "/mail", NOW, "away", "") for name in ("mail", "work")
        ]
        assert [hit.artifact.source for hit in store.artifacts.search("kettle")] == ["work"]
        assert [one.state for one in store.findings.all()] == [State.SEEN] * 3
        assert [run.id for run in store.runs.all()] == [1]
        assert [store.forgetting.traces(name).findings for name in ("mail", "work")] == [2, 1]
    backup = old.with_name("tide.sqlite.before-1001")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    kept = sqlite3.connect(backup)
    assert kept.execute("PRAGMA user_version").fetchone() == (1000,)
    assert kept.execute("SELECT count(*) FROM artifact").fetchone() == (2,)
    kept.close()


def test_what_comes_next_is_newer_than_what_any_run_has_seen(old: Path) -> None:
    with Store(old) as store:
        assert store.artifacts.revision() == 9
        new = Artifact("work", "m2", Kind.EMAIL, text="the teapot", time=NOW)
        store.artifacts.take("work", Batch((Put(new),), {}))
        (row,) = store.artifacts.changed_since(9)
        assert store.artifacts.get([row])[row].key == "m2"


def test_a_second_opening_changes_nothing_and_makes_no_backup(old: Path) -> None:
    Store(old).close()
    backup = old.with_name("tide.sqlite.before-1001")
    backup.unlink()
    Store(old).close()
    assert not backup.exists()


def test_an_older_program_reads_the_store_and_writes_to_it(old: Path) -> None:
    """Its statements name their columns and tables; what it leaves out gets its value."""
    Store(old).close()
    connection = connect(old, FIRST)
    assert connection.execute("SELECT name, problem FROM source ORDER BY id").fetchall() == [
        ("mail", "away"),
        ("work", "away"),
    ]
    assert connection.execute("SELECT count(*) FROM artifact").fetchone() == (2,)
    connection.execute("INSERT INTO source (name, kind, location, added) VALUES ('third', 'eml', '/e', 1)")
    put_finding(connection, finding(2))
    connection.execute("UPDATE artifact SET revision = 12 WHERE id = 2")
    connection.close()
    with Store(old) as store:
        assert store.problems() == []
        assert [source.state for source in store.artifacts.sources()] == [""] * 3
        assert store.forgetting.traces("work").findings == 2
        assert store.artifacts.revision() == 12


def test_a_finding_is_told_to_quote_each_source_once_even_when_its_artifacts_are_gone(old: Path) -> None:
    with Store(old) as store:
        stored = store.findings.add(finding(2, 2, 1, template="reply-never-came"), 1, NOW + timedelta(days=1))
        assert stored is not None
        before: dict[str, Any] = {name: store.forgetting.traces(name).findings for name in ("mail", "work")}
        assert before == {"mail": 3, "work": 2}
        store.artifacts.take("work", Batch((Gone("m1"),), {}))
        store.artifacts.take("mail", Batch((Gone("m1"),), {}))
        assert {name: store.forgetting.traces(name).findings for name in before} == before
        assert store.artifacts.revision() == 9
