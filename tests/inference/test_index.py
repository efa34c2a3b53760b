"""The index: vectors and marks follow the artifacts, and the FAISS file is a cache that may be lost."""

import os
import stat
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from inference.embedding import SentenceEmbedder
from inference.index import BATCH, MOST_PARTS, VectorIndex, index_artifacts, parts_of
from inference.marks import marks_of
from tests.inference.small_world import (
    PROFILE,
    add,
    event,
    ids_of,
    mail,
    note,
    open_index,
    open_store,
    put_note,
)
from workspace import Batch, Gone


@pytest.fixture(scope="module")
def minilm():
    return SentenceEmbedder()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "tide.sqlite") as opened:
        yield opened


class Counting:
    """An embedder that remembers what it was asked; vectors are drawn from the texts."""

    name, dimensions = "counting", 16

    def __init__(self, stop_after=10**9):
        self.asked = []
        self.stop_after = stop_after

    def embed(self, texts):
        if len(self.asked) + len(texts) > self.stop_after:
            raise KeyboardInterrupt
        self.asked += texts
        drawn = [np.random.default_rng(list(text.encode())).standard_normal(16) for text in texts]
        vectors = np.array(drawn, dtype=np.float32).reshape(len(drawn), 16)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(store, name="counting"):
    return {row for row, _ in store.readings.vector_owners(name)}


def test_the_nearest_are_those_on_the_same_matter(store, minilm, tmp_path):
    add(
        store,
        mail("hire", "Please end the hire of the climate units in the gallery."),
        mail("lunch", "Shall we have soup or sandwiches on Friday?"),
        mail("notice", "The dehumidifier rental renews itself unless notice is given."),
    )
    index = open_index(store, minilm, tmp_path)
    ids = ids_of(store)
    scores, found = index.search(minilm.embed(["cancelling the climate equipment rental"]), 3)
    assert set(found[0, :2]) == {ids["hire"], ids["notice"]}
    assert list(scores[0]) == sorted(scores[0], reverse=True)
    assert index.vectors_of([ids["lunch"], 999]).keys() == {ids["lunch"]}


def test_only_what_is_new_or_changed_is_embedded(store):
    embedder = Counting()
    add(store, mail("one", "first"), mail("two", "second"))
    assert index_artifacts(store, embedder) == 2
    assert index_artifacts(store, embedder) == 0
    add(store, mail("one", "other words"), mail("two", "second"))
    asked = len(embedder.asked)
    assert index_artifacts(store, embedder) == 1
    assert embedder.asked[asked:] == ["About one. other words"]


def test_a_note_takes_the_place_of_the_text(store):
    embedder = Counting()
    add(store, mail("one", "ein Text in einer anderen Sprache"))
    index_artifacts(store, embedder)
    one = ids_of(store)["one"]
    put_note(store, one, note("The line.", states=["waiting"]), note("Second section."))
    assert index_artifacts(store, embedder) == 1
    assert embedder.asked[1:] == ["About one. The line. waiting.", "Second section."]
    assert len(rows(store)) == 2
    add(store, mail("one", "short"))
    index_artifacts(store, embedder)
    assert len(rows(store)) == 1


def test_parts_are_passages_and_bounded():
    long = mail("one", " ".join(f"word{number}" for number in range(5000)))
    parts = parts_of(long, [])
    assert len(parts) == MOST_PARTS
    assert parts[0].startswith("About one. word0 ")
    assert all(len(part.split()) <= 202 for part in parts)
    assert len(parts_of(mail("two", "\u8cc7\u6599" * 3000), [])) > 1
    assert parts_of(mail("three", "", title=" "), []) == []


def test_search_gives_each_artifact_once_and_says_where_there_is_no_more(store, tmp_path):
    embedder = Counting()
    add(store, mail("long", " ".join(f"w{n}" for n in range(900))), mail("short", "w1"))
    index = open_index(store, embedder, tmp_path)
    assert len(index) == 6
    scores, found = index.search(embedder.embed(["w1", "w2"]), 4)
    assert scores.shape == found.shape == (2, 4)
    for row in found.tolist():
        assert sorted(row) == [-1, -1, *sorted(ids_of(store).values())]
    assert (scores[found == -1] == -1).all()


def test_an_empty_index_finds_nothing(store, tmp_path):
    index = VectorIndex.open(store, "counting", 16, tmp_path)
    scores, found = index.search(np.zeros((1, 16), np.float32), 3)
    assert (found == -1).all()
    assert (scores == -1).all()
    assert index.vectors_of([1]) == {}


def test_the_file_follows_additions_changes_and_removals(store, tmp_path):
    embedder = Counting()
    add(store, *(mail(f"m{n}", f"text {n}") for n in range(9)))
    open_index(store, embedder, tmp_path)
    add(store, mail("m3", "changed"), mail("late", "more"))
    store.artifacts.take("mail", Batch((Gone("m5"),), {}))
    index = open_index(store, embedder, tmp_path)
    assert len(index) == 9
    for key, text in (("m3", "changed"), ("late", "more"), ("m8", "text 8")):
        scores, found = index.search(embedder.embed([f"About {key}. {text}"]), 1)
        assert found[0, 0] == ids_of(store)[key]
        assert scores[0, 0] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("harm", ["missing", "cut", "noise", "empty", "other dimensions", "another store"])
def test_a_lost_or_damaged_file_is_made_again(store, tmp_path, harm):
    embedder = Counting()
    add(store, mail("one", "first"), mail("two", "second"))
    open_index(store, embedder, tmp_path)
    (path,) = tmp_path.glob("*.faiss")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    content = path.read_bytes()
    if harm == "missing":
        path.unlink()
    elif harm == "other dimensions":
        VectorIndex.open(store, "nobody", 8, tmp_path)
        import faiss

        faiss.write_index(faiss.IndexIDMap2(faiss.IndexFlatIP(8)), str(path))
    elif harm == "another store":
        with open_store(tmp_path / "other.sqlite", [mail("x", "strange"), mail("y", "words")]) as other:
            open_index(other, embedder, tmp_path)
    else:
        path.write_bytes({"cut": content[:-20], "noise": b"noise" * 99, "empty": b""}[harm])
    index = VectorIndex.open(store, "counting", 16, tmp_path)
    for key, text in (("one", "first"), ("two", "second")):
        assert index.search(embedder.embed([f"About {key}. {text}"]), 1)[1][0, 0] == ids_of(store)[key]


def test_a_kill_loses_one_batch_and_the_end_is_the_same(store, tmp_path):
    artifacts = [mail(f"m{n}", f"text {n}", days=-n) for n in range(3 * BATCH)]
    add(store, *artifacts)
    with pytest.raises(KeyboardInterrupt):
        index_artifacts(store, Counting(stop_after=2 * BATCH))
    assert len(rows(store)) == 2 * BATCH
    again = Counting()
    assert index_artifacts(store, again) == BATCH
    assert len(again.asked) == BATCH
    with open_store(tmp_path / "straight.sqlite", artifacts) as straight:
        index_artifacts(straight, Counting())
        assert len(rows(straight)) == len(rows(store))
        ids = list(ids_of(store).values())
        assert straight.ties.marks(ids) == store.ties.marks(ids)


def test_marks_are_the_same_however_a_thing_is_written():
    def marks(text, **other):
        return set(marks_of(mail("one", text, title="", **other), [], PROFILE.zone))

    english = ("2026-05-28", "28 May 2026", "28th of May", "May 28, 2026", "28.05.2026")
    for written in (*english, "28. Mai", "28 mai 2026", "28 de mayo de 2026", "2026\u5e745\u670828\u65e5"):
        assert "2026-05-28" in marks(f"By {written} please."), written
    for written in ("6,180", "6.180", "6\u00a0180", "6180", "6180.00"):
        assert "6180" in marks(f"It costs {written} euro."), written
    assert {"hl-26-1187", "q3_budget.xlsx", "12%"} <= marks("See HL-26-1187 and Q3_budget.xlsx, 12 % more.")
    assert "ciaran" in marks("Ask Ciar\u00e1n about it.")
    assert "ciaran" in marks("ask CIARAN about it.")
    assert "a.b@x.example" in marks("Write to A.B@x.example.")
    assert marks("\u4f1a\u8bae\u5ba4") & marks("\u65b0\u4f1a\u8bae\u5ba4")
    assert "2026-02-30" not in marks("On 30.02.2026.")
    assert all(not any(letter.isspace() for letter in mark) for mark in marks("a b\u00a0c d@e.example 1 000"))


def test_an_event_carries_every_day_that_it_touches():
    leave = event("leave", "Leave", hours=24 * 4, all_day=True)
    days = [mark for mark in marks_of(leave, [], PROFILE.zone) if mark.startswith("2026-")]
    assert days == ["2026-05-18", "2026-05-19", "2026-05-20", "2026-05-21", "2026-05-22"]
    late = replace(event("late", "Call"), time=datetime(2026, 5, 18, 23, 30, tzinfo=UTC))
    assert "2026-05-19" in marks_of(late, [], PROFILE.zone)


def test_every_section_is_found_by_its_note_and_is_forgotten_with_it(store, minilm):
    add(store, mail("long", "a lease of many pages"))
    long = ids_of(store)["long"]
    put_note(store, long, *(note(f"Clause {n}.") for n in range(20)))
    index_artifacts(store, minilm)
    assert sorted(part for _, part in store.readings.vector_digests(minilm.name)) == list(range(20))
    put_note(store, long, note("A lease."), version=2)
    index_artifacts(store, minilm)
    assert list(store.readings.vector_digests(minilm.name)) == [(long, 0)]
