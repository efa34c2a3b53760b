"""Links, stories and pre-filter for 100 new artifacts among 100,000: aim 10 s on two cores."""

import hashlib
import resource
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from inference.index import VectorIndex, index_artifacts
from inference.stories import select
from templates import load_templates
from tests.benchmarks.ordinary import Ordinary
from workspace import Batch, Profile, Put
from workspace.store import Store

COUNT, NEW, BATCH = 100_000, 100, 1000
DIMENSIONS = 384
NOW = datetime(2018, 1, 1, tzinfo=UTC)


class RandomVectors:
    """Unit vectors drawn from the text: an index of the right size, at no cost of a model."""

    name, dimensions = "random", DIMENSIONS

    def embed(self, texts):
        seeds = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts)
        drawn = [np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32) for seed in seeds]
        vectors = np.array(drawn, dtype=np.float32).reshape(len(drawn), DIMENSIONS)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("selection") / "tide.sqlite"
    ordinary = Ordinary()
    with Store(path) as store:
        store.artifacts.add_source("mail", "maildir", "/", NOW)
        for start in range(0, COUNT, BATCH):
            puts = tuple(Put(ordinary.artifact(number)) for number in range(start, start + BATCH))
            store.artifacts.take("mail", Batch(puts, {}))
        index_artifacts(store, RandomVectors())
        VectorIndex.open(store, "random", DIMENSIONS, path.parent)
    return path


def count(text):
    return len(text) // 4


def test_views_of_a_day(path, figure):
    ordinary = Ordinary()
    with Store(path) as store:
        known = store.artifacts.revision()
        puts = tuple(Put(ordinary.artifact(COUNT + number)) for number in range(NEW))
        store.artifacts.take("mail", Batch(puts, {}))
        index_artifacts(store, RandomVectors())
        templates = load_templates()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin, busy = time.perf_counter(), time.process_time()
        index = VectorIndex.open(store, "random", DIMENSIONS, path.parent)
        opened = time.perf_counter()
        views = select(
            store,
            index,
            RandomVectors(),
            (),
            templates,
            Profile(),
            NOW + timedelta(days=1),
            seeds=store.artifacts.changed_since(known),
            window=None,
            view_tokens=3500,
            count=count,
        ).views
        end, busy = time.perf_counter(), time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert {seed for view in views for seed in view.seeds} == set(range(COUNT + 1, COUNT + NEW + 1))
    what = f"views for {NEW} new among {COUNT:,} ({len(views)} views; index opened in {opened - begin:.1f} s)"
    memory = f"peak {peak // 1024:,} MiB, {(peak - before) // 1024:,} of it here"
    figure(what, f"{end - begin:.1f} s ({busy:.1f} s of CPU), {memory}", "limit 10 s", (end - begin) / 10)
