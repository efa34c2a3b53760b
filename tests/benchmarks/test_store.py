"""The store with 100,000 artifacts: full-text search under 50 ms, a page under 20 ms, opening under 100 ms."""

import re
import statistics
import time
from collections import Counter
from datetime import UTC, datetime

import pytest

from tests.benchmarks.ordinary import Ordinary
from workspace import Batch, Kind, Put
from workspace.store import Store

COUNT = 100_000
TURNS = 30


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


@pytest.fixture
def report(figure):
    def measure(what, work, limit):
        taken = []
        for turn in range(TURNS):
            begin = time.perf_counter()
            work(turn)
            taken.append((time.perf_counter() - begin) * 1000)
        median = statistics.median(taken)
        figure(what, f"{median:.1f} ms (worst {max(taken):.1f})", f"limit {limit} ms", median / limit)

    return measure


def test_search(path, report):
    ordinary = Ordinary(seed=2)
    with Store(path) as store:
        used = Counter()
        for artifact in store.artifacts.page(limit=1000):
            used.update(set(re.findall(r"\w{4,}", artifact.text)))
        frequent = [word for word, _ in used.most_common(TURNS)]
        rare = [word for word, count in used.items() if count == 1][:TURNS]
        pairs = [ordinary.words(2, 2) for _ in range(TURNS)]
        report("search, a rare word", lambda turn: store.artifacts.search(rare[turn]), 50)
        report("search, a frequent word", lambda turn: store.artifacts.search(frequent[turn]), 50)
        report("search, two words", lambda turn: store.artifacts.search(pairs[turn]), 50)
        report("search, three letters typed", lambda turn: store.artifacts.search(rare[turn][:3]), 50)


def test_page(path, report):
    with Store(path) as store:
        far = (datetime(2016, 6, 1, tzinfo=UTC), 0)
        report("first page of 50", lambda turn: store.artifacts.page(), 20)
        report("page of 50 far down", lambda turn: store.artifacts.page(after=far), 20)
        report("page of 50 mails", lambda turn: store.artifacts.page(kind=Kind.EMAIL), 20)


def test_open(path, report):
    report(f"open a store of {COUNT:,} artifacts", lambda turn: Store(path).close(), 100)
