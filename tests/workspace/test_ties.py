"""Marks and kinship: what ties artifacts together in the store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from workspace import Artifact, Batch, Gone, Kind, Note, Put
from workspace.store import Marked, Reading, Series, Store

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)


def mail(key, text="words", **other):
    return Artifact("mail", key, Kind.EMAIL, text=text, **{"time": NOW, **other})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        opened.artifacts.add_source("mail", "maildir", "/", NOW)
        yield opened


def put(store, *artifacts):
    store.artifacts.take("mail", Batch(tuple(Put(artifact) for artifact in artifacts), {}))
    ids = {artifact.key: artifact.id for artifact in store.artifacts.all()}
    return [ids[artifact.key] for artifact in artifacts]


def mark_all(store, marks, embedder="e"):
    store.ties.put(Marked(artifact, state, marks) for artifact, state in store.ties.stale(embedder).items())


def test_new_artifacts_are_stale_newest_first_until_marked(store):
    old, new = put(store, mail("old", time=NOW - timedelta(days=1)), mail("new"))
    assert list(store.ties.stale("e")) == [new, old]
    mark_all(store, ("gantly",))
    assert store.ties.stale("e") == {}
    assert store.ties.marked() == 2


def test_content_note_and_embedder_make_stale_again(store):
    (one,) = put(store, mail("one"))
    mark_all(store, ())
    put(store, mail("one", text="other words"))
    assert list(store.ties.stale("e")) == [one]
    mark_all(store, ())
    digest = store.artifacts.get([one])[one].digest
    note = Note(
        people=[], things=[], commitments=[], dates=[], amounts=[], states=[], rules=[], absences=[], line="x"
    )
    store.readings.put_notes(one, [Reading(one, 0, "m", 1, digest, note)])
    assert list(store.ties.stale("e")) == [one]
    mark_all(store, ())
    assert store.ties.stale("e") == {}
    assert list(store.ties.stale("other")) == [one]


def test_carriers_follow_what_is_marked_now(store):
    one, two = put(store, mail("one"), mail("two"))
    state = store.ties.stale("e")
    marks = ("2026-03-12", "anna@example.org", "квартал", "q3_budget.xlsx", "12%")
    store.ties.put([Marked(one, state[one], marks), Marked(two, state[two], ("12%",))])
    assert store.ties.marks([one, two]) == {one: marks, two: ("12%",)}
    for mark in marks[:-1]:
        assert store.ties.carriers(mark, 10) == [one]
    assert store.ties.carriers("12%", 10) == [one, two]
    assert store.ties.carriers("12%", 1) == [one]
    assert store.ties.carriers("anna", 10) == []
    store.ties.put([Marked(one, "", ("12",))])
    assert store.ties.carriers("12%", 10) == [two]
    store.artifacts.take("mail", Batch((Gone("two"),), {}))
    assert store.ties.carriers("12%", 10) == []
    assert store.problems() == []


def test_kin_by_thread_series_and_attachment(store):
    ids = put(
        store,
        mail("m1", thread="t"),
        mail("m2", thread="t", time=NOW + timedelta(hours=1)),
        replace(mail("a1", parent="m2"), kind=Kind.DOCUMENT),
        replace(mail("e1", series="s"), kind=Kind.EVENT),
        replace(mail("e2", series="s", time=NOW + timedelta(days=7)), kind=Kind.EVENT),
        mail("alone"),
    )
    m1, m2, a1, e1, e2, alone = ids
    assert store.ties.kin(m1, NOW, 10).thread == (m2,)
    assert store.ties.kin(m2, NOW, 10).attachments == (a1,)
    assert store.ties.kin(a1, NOW, 10).parents == (m2,)
    assert store.ties.kin(e1, NOW, 10).series == (e2,)
    kin = store.ties.kin(alone, NOW, 10)
    assert (kin.thread, kin.series, kin.parents, kin.attachments) == ((), (), (), ())


def test_later_mails_of_a_thread_are_counted_once_whatever_the_source(store):
    hour = timedelta(hours=1)
    m1, m2, m3, alone, loose, undated, document = put(
        store,
        mail("m1", thread="t"),
        mail("m2", thread="t", time=NOW + hour),
        mail("m3", thread="t", time=NOW + hour),
        mail("alone", thread="u"),
        mail("loose"),
        mail("undated", thread="t", time=None),
        replace(mail("document", thread="t", time=NOW + 2 * hour), kind=Kind.DOCUMENT),
    )
    store.artifacts.add_source("copy", "maildir", "/copy", NOW)
    copy = replace(mail("m2", thread="t", time=NOW + hour), source="copy")
    store.artifacts.take("copy", Batch((Put(copy),), {}))
    later = store.ties.later_in_thread([m1, m2, m3, alone, loose, undated, document, 999])
    assert later == {m1: 2, m2: 0, m3: 0, alone: 0}


def test_all_occurrences_of_a_series_come_in_the_order_of_time(store):
    late, early, alone = put(
        store,
        replace(mail("late", series="s", time=NOW + timedelta(days=1)), kind=Kind.EVENT),
        replace(mail("early", series="s"), kind=Kind.EVENT),
        mail("alone"),
    )
    assert store.ties.occurrences(late) == store.ties.occurrences(early) == (early, late)
    assert store.ties.occurrences(alone) == ()


def test_what_cannot_be_read_counts_as_read_and_has_no_note(store):
    (one,) = put(store, mail("one"))
    store.readings.leave_unread(one, 1, store.artifacts.get([one])[one].digest)
    assert store.readings.unread(1) == []
    assert store.readings.unread(2) == [one]
    assert store.readings.notes([one]) == {}
    put(store, mail("one", text="other words"))
    assert store.readings.unread(1) == [one]


def test_a_series_is_counted_and_its_nearest_occurrences_are_kin(store):
    week = timedelta(days=7)
    ids = put(
        store, *(replace(mail(f"e{n}", series="s", time=NOW + n * week), kind=Kind.EVENT) for n in range(-5, 30))
    )
    single = put(store, mail("alone"))[0]
    series = store.ties.series([ids[3], single])
    assert list(series) == [ids[3]]
    assert series[ids[3]] == Series(35, NOW - 5 * week, NOW + 29 * week, min(ids))
    assert store.ties.kin(ids[5], NOW, 4).series == (ids[3], ids[4], ids[6], ids[7])
