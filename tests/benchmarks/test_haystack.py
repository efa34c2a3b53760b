"""All benchmark workspaces among 20,000 other mails of ten years: recall, cost and time of a day, the first fill.

Limits: 95 % of the problems together at 4,000 tokens; for 100 new artifacts 400,000 tokens and 10 s of selection.
`TIDE_HAYSTACK` names folders of workspace files, separated by colons; without it the development half is taken.
Embedding 20,000 mails takes MiniLM minutes on two cores; the same is measured by links alone.
"""

import os
import resource
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.evaluating import opened
from inference.embedding import SentenceEmbedder
from inference.evaluation.selection import LinksAlone, reach
from inference.index import VectorIndex, index_artifacts
from inference.models.embedded import embedded_counter
from inference.observations import observe
from inference.stories import select
from templates import load_templates
from tests.benchmarks.letters import letters
from workspace import Batch, Put
from workspace.file import read_workspace
from workspace.store import Store

COUNT, BATCH = 20_000, 1000
BUDGET = 4000
HERE = Path(__file__).parent
FOLDERS = os.environ.get("TIDE_HAYSTACK", str(HERE / "workspaces" / "development")).split(":")
FILES = [file for folder in FOLDERS for file in sorted(Path(folder).glob("*.json"))]
FILES.append(HERE.parents[1] / "workspace" / "sample.json")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("nearness", ["links alone", "MiniLM"])
def test_needles(tmp_path, figure, nearness):
    embedder = LinksAlone() if nearness == "links alone" else SentenceEmbedder()

    def told(what, *said):
        figure(f"{nearness}: {what}", *said)

    with ExitStack() as stack:
        store = stack.enter_context(Store(tmp_path / "hay.sqlite"))
        files = [read_workspace(path) for path in FILES]
        worlds = [stack.enter_context(opened(f, tmp_path / f.id, seed=1, notes=True)) for f in files]
        now = max(world.now for world in worlds)
        persons = tuple(address for world in worlds for address in world.profile.persona.emails)
        store.artifacts.add_source("letters", "maildir", "/letters", now)
        hay = letters(COUNT, now, persons)
        while batch := tuple(Put(mail) for _, mail in zip(range(BATCH), hay, strict=False)):
            store.artifacts.take("letters", Batch(batch, {}))
        before = _peak()
        begin = time.perf_counter()
        index_artifacts(store, embedder)
        index = VectorIndex.open(store, embedder.name, embedder.dimensions, tmp_path)
        filled = time.perf_counter() - begin
        memory = f"peak {_peak():,} MiB, {_peak() - before:,} of it here"
        told(f"first fill: {COUNT:,} mails indexed", f"{filled:.0f} s, {memory}")
        rows = [_bring(world, store) for world in worlds]
        index_artifacts(store, embedder)
        index = VectorIndex.open(store, embedder.name, embedder.dimensions, tmp_path)
        _days(worlds, rows, store, index, embedder, told)
        _year(worlds, store, index, embedder, now, told)


def _bring(world, store):
    """Bring a workspace into the haystack; artifact of the file -> its rows there."""
    artifacts = list(world.store.artifacts.all())
    readings = world.store.readings.notes([artifact.id for artifact in artifacts])
    new = {}
    for name in sorted({artifact.source for artifact in artifacts}):
        source = f"{world.file.id}-{name}"
        store.artifacts.add_source(source, "maildir", f"/{source}", world.now)
        mine = [artifact for artifact in artifacts if artifact.source == name]
        store.artifacts.take(source, Batch(tuple(Put(replace(one, source=source, id=0)) for one in mine), {}))
    there = {(one.source, one.key): one for one in store.artifacts.all()}
    for artifact in artifacts:
        found = there[f"{world.file.id}-{artifact.source}", artifact.key]
        new[artifact.id] = found.id
        if artifact.id in readings:
            moved = [replace(one, artifact=found.id, digest=found.digest) for one in readings[artifact.id]]
            store.readings.put_notes(found.id, moved)
    return {name: tuple(new[row] for row in rows) for name, rows in world.rows.items()}


def _days(worlds, rows, store, index, embedder, figure):
    """Each workspace as what one day brought."""
    count, templates = embedded_counter(), load_templates()
    problems = together = shown = asked = 0
    for world, mine in zip(worlds, rows, strict=True):
        seeds = sorted(row for found in mine.values() for row in found)
        observations = observe(list(store.artifacts.get(seeds).values()), world.profile, world.now)
        begin = time.perf_counter()
        selected = select(
            store, index, embedder, observations, templates, world.profile, world.now,
            seeds=seeds, window=None, view_tokens=BUDGET, count=count,
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        needles = [[mine[name] for name in problem.evidence] for problem in world.file.problems]
        found = reach(selected, needles, BUDGET, count, seconds)
        problems, together, shown = problems + len(needles), together + found.in_stories, shown + found.in_views
        asked += found.told[2]
        day = f"{world.file.id}: a day of {len(mine)} new among {COUNT:,}"
        figure(day, f"{found.tokens:,} tokens in {found.views} views", "limit 400,000", found.tokens / 400_000)
        figure(f"{day}, selection", f"{seconds:.1f} s", "limit 10 s", seconds / 10)
    share = 100 * shown / problems
    what = f"problems together in one view of {BUDGET:,} tokens"
    figure(what, f"{shown} of {problems}, {share:.0f} % (in a story {together})", "limit 95 %", share / 95)
    figure(
        "problems in the best 30 % of the stories", f"{asked} of {problems}", "limit 90 %", asked / problems / 0.9
    )
    assert together >= problems // 2


def _year(worlds, store, index, embedder, now, figure):
    """What a first run selects from: all of the last year."""
    from inference.discovery import WINDOW

    seeds = [artifact.id for artifact in store.artifacts.all(since=now - WINDOW)]
    before, begin = _peak(), time.perf_counter()
    selected = select(
        store, index, embedder, (), load_templates(), worlds[0].profile, now,
        seeds=seeds, window=None, view_tokens=BUDGET, count=embedded_counter(),
    )  # fmt: skip
    seconds, memory = time.perf_counter() - begin, f"peak {_peak():,} MiB, {_peak() - before:,} of it here"
    what = f"first fill: views of {len(seeds):,} artifacts of a year"
    figure(what, f"{len(selected.views):,} views in {seconds:.0f} s, {memory}")


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
