"""A worker that is killed while it discovers loses nothing: taken up again, it ends with the same findings."""

import hashlib
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import inference.index
import inference.stories
from inference.discovery import Options, discover
from inference.models.contract import Reply
from templates import load_templates
from tests.inference.scripted import NOW, PROFILE, Scripted, artifacts, fill, one_view, problem, proof
from workspace.store import Store

KILLS = 8
MAILS = 60
WORDS = "Mail number {} of many."
POOL = [template.id for template in load_templates()]


def worker(path: Path, pause: float) -> None:
    """What runs in the process that is killed."""
    inference.index.VectorIndex.open = lambda *arguments: None
    inference.stories.build_views = three_at_a_time
    with Store(path) as store:
        discover(
            store,
            PROFILE,
            NOW,
            Options("tide", rounds=3),
            model=Slow(answer, pause=pause),
            embedder=SimpleNamespace(name="none", dimensions=2),
            index_folder=path.parent,
        )


class Slow(Scripted):
    """Takes its time over each reply, so that there is something to interrupt."""

    def __init__(self, script, pause):
        super().__init__(script)
        self.pause = pause

    def _reply(self, request) -> Reply:
        time.sleep(self.pause)
        return super()._reply(request)


def three_at_a_time(store, *arguments, window, **limits):
    rows = sorted(window)
    return [one_view(rows[at : at + 4], store) for at in range(0, len(rows) - 1, 3)]


def answer(request):
    """An answer that follows from the prompt alone; some are empty, some repeat, some fail their proof."""
    # The delimiters differ from run to run.
    said = re.sub(r"data-[0-9a-f]+", "", request.messages[-1].content)
    rng = random.Random(hashlib.sha256(said.encode()).digest())
    fields = request.schema.model_json_schema()["$defs"]
    if request.purpose == "prove":
        labels = options(fields["Quote"]["properties"]["artifact"])
        return proof(quotes=[(label, WORDS.format(label[1:])) for label in labels[:2]]) | {
            "still_open": rng.random() < 0.8
        }
    if rng.random() < 0.2:
        return {"thought": "", "problems": []}
    labels = options(fields["Problem"]["properties"]["artifacts"]["items"])
    due = f"2026-0{rng.choice('2456')}-12"
    task = problem(
        rng.sample(labels, min(2, len(labels))), rng.choice(POOL), "create_task", title="Look", due=due, notes=""
    )
    return {"thought": "", "problems": [task]}


def options(schema):
    return schema.get("enum", [schema.get("const")])


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The bytes of a store with many mails, before anything was discovered."""
    path = tmp_path_factory.mktemp("filled") / "tide.sqlite"
    with Store(path) as store:
        fill(
            store,
            [
                replace(
                    artifacts()[0], key=f"k{n}", title=f"Mail {n}", text=f"Mail number {n} of many.", thread=""
                )
                for n in range(1, MAILS + 1)
            ],
        )
    return path.read_bytes()


def result(path):
    with Store(path) as store:
        assert store.problems() == []
        run = store.runs.last()
        findings = [finding.model_dump(exclude={"id", "run"}) for finding in store.findings.all()]
        counts = [count.model_dump(exclude={"seconds"}) for count in run.rounds]
        return findings, counts, run.dropped, run.calls


def test_killed_at_any_moment_it_ends_the_same(filled, tmp_path):
    whole = tmp_path / "whole.sqlite"
    whole.write_bytes(filled)
    begun = time.monotonic()
    start(whole, 0.02).wait(120)
    lasts = time.monotonic() - begun
    expected = result(whole)
    assert len(expected[0]) >= 5
    assert expected[2]

    rng = random.Random(11)
    broken_off = 0
    for number in range(KILLS):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(filled)
        process = start(path, 0.02)
        time.sleep(lasts * rng.uniform(0.3, 0.98))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        with Store(path) as store:
            assert store.problems() == []
            broken_off += store.runs.last() is None
        assert start(path, 0.0).wait(120) == 0
        assert result(path)[:3] == expected[:3]
    assert broken_off >= KILLS // 2


def start(path, pause):
    root = Path(__file__).parents[2]
    code = f"from tests.inference.test_kill_discover import worker, Path; worker(Path({str(path)!r}), {pause})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=root)
