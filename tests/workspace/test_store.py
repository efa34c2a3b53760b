"""The store: what is put in comes out, in order, once, and survives what can happen to a file."""

import os
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workspace import Artifact, Batch, Gone, Kind, Person, Put, Role, Trust, UserError
from workspace.note import Note
from workspace.store import Reading, Store, Vector, worker_lock
from workspace.store.database import connect

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        opened.artifacts.add_source("mail", "maildir", "/home/anna/Mail", NOW)
        yield opened


def mail(key, text="Please send the figures.", **other):
    people = (Person(Role.FROM, "Ben Ortiz", "ben@example.org"), Person(Role.TO, "Anna Bell", "anna@example.org"))
    values = {"title": f"About {key}", "people": people, "time": NOW, **other}
    return Artifact("mail", key, Kind.EMAIL, text=text, **values)


def put(store, *artifacts, cursor=None):
    store.artifacts.take("mail", Batch(tuple(Put(artifact) for artifact in artifacts), cursor or {}))


def only(store):
    (artifact,) = store.artifacts.all()
    return artifact


def test_an_artifact_comes_out_as_it_went_in(store):
    artifact = mail(
        "m1",
        quoted="> earlier",
        end=NOW + timedelta(hours=1),
        due=NOW + timedelta(days=1),
        all_day=True,
        busy=False,
        cancelled=True,
        status="open",
        location="Room 4",
        thread="m0",
        parent="p",
        series="s",
        recurrence="FREQ=DAILY",
        origin="file:///x",
        trust=Trust.KNOWN,
        automatic=True,
        defects=("no date",),
    )
    put(store, artifact)
    stored = only(store)
    assert stored.id > 0
    assert stored.digest == artifact.digest
    for field in ("key", "kind", "title", "text", "quoted", "people", "time", "end", "due", "all_day", "busy"):
        assert getattr(stored, field) == getattr(artifact, field)
    for field in (
        "cancelled",
        "status",
        "location",
        "thread",
        "parent",
        "series",
        "recurrence",
        "origin",
        "trust",
    ):
        assert getattr(stored, field) == getattr(artifact, field)
    assert (stored.automatic, stored.defects) == (True, ("no date",))


def test_the_same_again_keeps_its_id_and_its_revision(store):
    put(store, mail("m1"))
    first, revision = only(store), store.artifacts.revision()
    put(store, mail("m1", origin="file:///moved"))
    assert only(store).id == first.id
    assert only(store).origin == "file:///moved"
    assert store.artifacts.changed_since(revision) == []


def test_changed_content_gets_a_new_revision_and_is_found_by_its_new_words_only(store):
    put(store, mail("m1", text="the kettle"))
    revision, row = store.artifacts.revision(), only(store).id
    put(store, mail("m1", text="the teapot"))
    assert store.artifacts.changed_since(revision) == [row]
    assert store.artifacts.search("kettle") == []
    assert [hit.artifact.id for hit in store.artifacts.search("teapot")] == [row]


def test_what_is_gone_is_gone_from_everywhere(store):
    put(store, mail("m1", text="the kettle"))
    artifact = only(store)
    note = Note(
        people=[],
        things=[],
        commitments=[],
        dates=[],
        amounts=[],
        states=[],
        rules=[],
        absences=[],
        line="A kettle.",
    )
    store.readings.put_notes(artifact.id, [Reading(artifact.id, 0, "m", 1, artifact.digest, note)])
    store.readings.put_vectors([Vector(artifact.id, 0, "e", "d", b"\0" * 4)])
    store.artifacts.take("mail", Batch((Gone("m1"),), {}))
    assert list(store.artifacts.all()) == []
    assert store.artifacts.search("kettle") == []
    assert store.readings.notes([artifact.id]) == {}
    assert store.readings.vector_owners("e") == []
    assert store.problems() == []


def test_changes_and_cursor_are_taken_together_or_not_at_all(store):
    put(store, mail("m1"), cursor={"a": "1"})
    broken = Batch((Put(mail("m2")), Put(mail("m3", time="never"))), {"a": "2"})
    with pytest.raises(AttributeError):
        store.artifacts.take("mail", broken)
    assert only(store).key == "m1"
    assert store.artifacts.cursor("mail") == {"a": "1"}
    store.artifacts.take("mail", Batch((), {"a": None, "b": "3"}))
    assert store.artifacts.cursor("mail") == {"b": "3"}


def test_pages_follow_on_without_a_gap_or_a_repeat(store):
    put(store, *(mail(f"m{n}", time=NOW - timedelta(minutes=n // 3)) for n in range(50)))
    seen, after = [], None
    while page := store.artifacts.page(after=after, limit=7):
        seen += [artifact.id for artifact in page]
        after = (page[-1].time, page[-1].id)
    assert len(seen) == len(set(seen)) == 50


def test_search_takes_anything_a_person_may_type(store):
    put(store, mail("m1", title='The "Förder" contract', text="Vertrag über 4.200 € für Müller"))
    for words in ("forder contr", "muller", '"', "AND OR NOT", "contract*", "a:b", "(", "", "-", "Ben ortiz"):
        store.artifacts.search(words)
    assert len(store.artifacts.search("forder contr")) == 1
    assert len(store.artifacts.search("ben@example.org")) == 1


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
def test_no_search_text_is_an_error(store, words):
    store.artifacts.search(words)


def test_text_that_utf8_cannot_hold_is_stored_with_a_replacement(store):
    put(store, mail("m\udcff", title="caf\udce9"))
    assert only(store).title == "caf?"
    store.artifacts.take("mail", Batch((Gone("m\udcff"),), {}))
    assert list(store.artifacts.all()) == []


def test_people_written_to_are_known(store):
    own = (Person(Role.FROM, "Anna", "anna@example.org"), Person(Role.TO, "", "ben@example.org"))
    stranger = (Person(Role.FROM, "", "eve@example.net"),)
    put(store, mail("m1"), mail("m2", people=own, trust=Trust.SELF), mail("m3", people=stranger))
    store.artifacts.trust_correspondents({"anna@example.org"})
    assert [artifact.trust for artifact in store.artifacts.all()] == [Trust.KNOWN, Trust.SELF, Trust.UNKNOWN]
    assert store.artifacts.addresses() == {"anna@example.org", "ben@example.org"}


def test_mail_that_only_claims_to_be_the_persons_own_makes_nobody_known(store):
    own = (Person(Role.FROM, "Anna", "anna@example.org"), Person(Role.TO, "", "eve@example.net"))
    forged = ("the sender's address did not pass authentication (dmarc=fail)",)
    put(store, mail("m1", people=own, parent="a mail of Eve's"), mail("m2", people=own, defects=forged))
    put(store, mail("m3", people=(Person(Role.FROM, "", "eve@example.net"),)))
    store.artifacts.trust_correspondents({"anna@example.org"})
    assert {artifact.trust for artifact in store.artifacts.all()} == {Trust.UNKNOWN}
    put(store, mail("m4", people=own))
    store.artifacts.trust_correspondents({"anna@example.org"})
    trust = {artifact.key: artifact.trust for artifact in store.artifacts.all()}
    assert trust == {"m1": Trust.UNKNOWN, "m2": Trust.UNKNOWN, "m3": Trust.KNOWN, "m4": Trust.SELF}


def test_people_of_the_same_organization_are_known_but_not_all_who_share_a_provider(store):
    colleague, stranger = ((Person(Role.FROM, "", email),) for email in ("cy@example.org", "eve@notexample.org"))
    put(store, mail("m1", people=colleague), mail("m2", people=stranger))
    store.artifacts.trust_correspondents(set(), {"example.org"})
    assert [artifact.trust for artifact in store.artifacts.all()] == [Trust.KNOWN, Trust.UNKNOWN]


def test_unread_artifacts_come_newest_first_and_again_when_they_change(store):
    put(store, mail("old", time=NOW - timedelta(days=1)), mail("new"))
    old, new = (artifact.id for artifact in store.artifacts.all())
    assert store.readings.unread(1) == [new, old]
    note = Note(
        people=[], things=[], commitments=[], dates=[], amounts=[], states=[], rules=[], absences=[], line="x"
    )
    for artifact in list(store.artifacts.all()):
        store.readings.put_notes(artifact.id, [Reading(artifact.id, 0, "m", 1, artifact.digest, note)])
    assert store.readings.unread(1) == []
    assert store.readings.unread(2) == [new, old]
    put(store, mail("new", text="Other words."))
    assert store.readings.unread(1) == [new]
    assert set(store.readings.notes([old, new])) == {old}


def test_files_are_for_the_owner_alone(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        opened.artifacts.add_source("a", "eml", "/", NOW)
        modes = {stat.S_IMODE(os.stat(path).st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o600}


def test_a_new_store_has_no_backups(tmp_path):
    with Store(tmp_path / "tide.sqlite"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["tide.sqlite"]


def test_each_migration_is_preceded_by_a_backup(tmp_path):
    path = tmp_path / "tide.sqlite"
    first = (1000, ("CREATE TABLE one (x INTEGER) STRICT", "INSERT INTO one VALUES (7)"))
    second = (1001, ("CREATE TABLE two (x INTEGER) STRICT",))
    third = (2000, ("DROP TABLE one",))
    connect(path, (first,)).close()
    connect(path, (first, second, third)).close()
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["tide.sqlite", "tide.sqlite.before-1001", "tide.sqlite.before-2000"]
    assert stat.S_IMODE(os.stat(tmp_path / "tide.sqlite.before-2000").st_mode) == 0o600
    kept = sqlite3.connect(tmp_path / "tide.sqlite.before-2000")
    assert kept.execute("SELECT x FROM one").fetchone() == (7,)
    kept.close()


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path):
    path = tmp_path / "tide.sqlite"
    first = (1000, ("CREATE TABLE one (x INTEGER) STRICT",))
    connect(path, (first,)).close()
    with pytest.raises(sqlite3.OperationalError):
        connect(path, (first, (1001, ("CREATE TABLE two (x INTEGER) STRICT", "NONSENSE"))))
    opened = connect(path, (first,))
    assert opened.execute("PRAGMA user_version").fetchone() == (1000,)
    assert opened.execute("SELECT count(*) FROM sqlite_master WHERE name = 'two'").fetchone() == (0,)
    opened.close()


@pytest.mark.parametrize(("version", "refused"), [(1999, False), (2000, True)])
def test_a_newer_minor_version_is_read_and_a_newer_major_one_refused(tmp_path, version, refused):
    path = tmp_path / "tide.sqlite"
    Store(path).close()
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {version}")
    raw.close()
    if refused:
        with pytest.raises(UserError, match="Update Tide"):
            Store(path)
    else:
        Store(path).close()


def test_a_file_that_is_no_store_is_said_to_be_none(tmp_path):
    (tmp_path / "tide.sqlite").write_bytes(b"this is a letter, not a database" * 200)
    with pytest.raises(UserError, match="not a store of Tide"):
        Store(tmp_path / "tide.sqlite")
    with pytest.raises(UserError, match="folder exists"):
        Store(tmp_path / "missing" / "tide.sqlite")


def test_damage_that_shows_while_reading_is_the_files_and_told_with_what_to_do(tmp_path):
    path = tmp_path / "tide.sqlite"
    Store(path).close()
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * (path.stat().st_size - 4096 * 3))
    with pytest.raises(UserError, match=r"malformed.*put back a backup"), Store(path) as store:
        store.artifacts.sources()


def test_what_stands_in_the_place_of_the_lock_is_named(tmp_path):
    (tmp_path / "tide.sqlite.lock").mkdir()
    with pytest.raises(UserError, match="Remove it"), worker_lock(tmp_path / "tide.sqlite"):
        pass


def test_one_worker_at_a_time_and_a_dead_one_lets_go(tmp_path):
    path = tmp_path / "tide.sqlite"
    code = (
        "import sys, time; from pathlib import Path; from workspace.store import worker_lock\n"
        "with worker_lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"process {other.pid}"), worker_lock(path):
            pass
    finally:
        other.kill()
        other.communicate()
    with worker_lock(path):
        pass


def test_a_reader_never_waits_for_the_writer(tmp_path):
    path = tmp_path / "tide.sqlite"
    with Store(path) as writer, Store(path) as reader:
        writer.artifacts.add_source("mail", "eml", "/", NOW)
        writer._connection.execute("BEGIN IMMEDIATE")
        assert [source.name for source in reader.artifacts.sources()] == ["mail"]
        writer._connection.rollback()


def test_a_full_disk_is_said_in_one_line_and_loses_nothing(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        opened.artifacts.add_source("mail", "eml", "/", NOW)
        put(opened, mail("m1"))
        pages = opened._connection.execute("PRAGMA page_count").fetchone()[0]
        opened._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(UserError, match="Free some disk space"):
            put(opened, *(mail(f"x{n}", text="word " * 5000 + str(n)) for n in range(50)))
        assert only(opened).key == "m1"
        assert opened.problems() == []


def test_a_source_name_is_taken_once(store):
    with pytest.raises(UserError, match="--name"):
        store.artifacts.add_source("mail", "mbox", "/tmp/x", NOW)
    with pytest.raises(UserError, match="tide sources"):
        store.artifacts.cursor("nowhere")


def test_a_source_tells_its_last_success_and_its_problem(store):
    store.artifacts.mark_source("mail", now=NOW)
    store.artifacts.mark_source("mail", problem="The folder is away.")
    (source,) = store.artifacts.sources()
    assert (source.last_success, source.problem) == (NOW, "The folder is away.")
