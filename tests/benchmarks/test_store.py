"""The store with 100,000 artifacts: full-text search under 50 ms, a page under 20 ms, opening under 100 ms."""

import statistics
import time
from datetime import UTC, datetime

import pytest
from tests.benchmarks.ordinary import Ordinary

from workspace import Batch, Kind, Put
from workspace.store import Store

COUNT = 100_000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "tide.sqlite"
    ordinary = Ordinary()
    with Store(path) as store:
        store.artifacts.add_source("mail", "maildir", "/", datetime.now(UTC))
        for start in range(0, COUNT, 1000):
            puts = tuple(Put(ordinary.artifact(number)) for number in range(start, start + 1000))
            store.artifacts.take("mail", Batch(puts, {}))
    return path


def milliseconds(work, times=30):
    taken = []
    for turn in range(times):
        begin = time.perf_counter()
        work(turn)
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken), max(taken)


def report(figure, what, work, limit, times=30):
    median, worst = milliseconds(work, times)
    figure(what, f"{median:.1f} ms (worst {worst:.1f})", f"limit {limit} ms", median / limit)


def test_search(path, figure):
    ordinary = Ordinary(seed=2)
    with Store(path) as store:
        two = [ordinary.words(2, 2) for _ in range(30)]
        report(figure, "search, two words", lambda turn: store.artifacts.search(two[turn]), 50)
        common = Ordinary().word()
        common = max(
            (Ordinary(seed=s).word() for s in range(5)), key=lambda w: store.artifacts.word_counts([w])[w]
        )
        report(
            figure,
            f"search, a word of {store.artifacts.word_counts([common])[common]:,} artifacts",
            lambda turn: store.artifacts.search(common),
            50,
        )
        letters = [word[:3] for word in two]
        report(figure, "search, as it is typed", lambda turn: store.artifacts.search(letters[turn]), 50)


def test_page(path, figure):
    with Store(path) as store:
        report(figure, "first page of 50", lambda turn: store.artifacts.page(), 20)
        after = (datetime(2016, 6, 1, tzinfo=UTC), 0)
        report(figure, "page of 50 far down", lambda turn: store.artifacts.page(after=after), 20)
        report(figure, "page of 50 mails", lambda turn: store.artifacts.page(kind=Kind.EMAIL), 20)


def test_open(path, figure):
    report(figure, "open a store of 100,000 artifacts", lambda turn: Store(path).close(), 100)
