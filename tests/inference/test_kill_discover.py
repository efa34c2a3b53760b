"""A worker that is killed while it discovers loses nothing: taken up again, it ends with the same findings."""

import hashlib
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import inference.index
import inference.stories
from inference.discovery import Options, discover
from inference.models.contract import Reply
from inference.stories import Selected
from templates import load_templates
from tests.inference.scripted import NOW, PROFILE, Scripted, artifacts, fill, one_view, problem, proof
from workspace import Artifact, Kind, Person, Role, Trust
from workspace.store import Store

KILLS = 8
PAUSE = 0.01
MAILS = 45
LATE = 6
WORDS = "Mail number {} of many."
POOL = [template.id for template in load_templates()]


def worker(path: Path) -> None:
    """What runs in the process that is killed."""
    inference.index.VectorIndex.open = lambda *arguments: None
    inference.stories.select = three_at_a_time
    with Store(path) as store:
        discover(
            store,
            PROFILE,
            NOW,
            Options("tide", rounds=3),
            model=Slow(answer, certainty=0.8),
            embedder=SimpleNamespace(name="none", dimensions=2),
            index_folder=path.parent,
        )


class Slow(Scripted):
    """Says each reply aloud and takes its time over it, so that there is something to interrupt."""

    def _reply(self, request) -> Reply:
        print(request.purpose, flush=True)
        time.sleep(PAUSE)
        return super()._reply(request)


def late_task(number):
    """A task from which a finding is computed; it touches what the model may find in the mails."""
    days = timedelta(days=5 + number)
    jonas = (Person(Role.FROM, "Jonas Wehr", "jonas@hall.example"),)
    return Artifact(
        "tasks", f"late{number}", Kind.TASK, f"Pay bill number {number}", people=jonas, due=NOW - days,
        status="open", trust=Trust.SELF,
    )  # fmt: skip


def three_at_a_time(store, *arguments, window, **limits):
    rows = sorted(window)
    return Selected([], [one_view(rows[at : at + 4], store) for at in range(0, len(rows) - 1, 3)])


def answer(request):
    """An answer that follows from the prompt alone; some are empty, some repeat, some fail their proof."""
    # The delimiters differ from run to run.
    said = re.sub(r"data-[0-9a-f]+", "", request.messages[-1].content)
    rng = random.Random(hashlib.sha256(said.encode()).digest())
    schema = request.schema.model_json_schema()
    if request.purpose == "same":
        labels = options(schema["properties"]["same_as"])
        return {"reason": "So it seems.", "same_as": rng.choice(labels) if rng.random() < 0.4 else "none"}
    fields = schema["$defs"]
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
            ]
            + [late_task(n) for n in range(LATE)],
        )
    return path.read_bytes()


def result(path):
    """What the first run that finished came to."""
    with Store(path) as store:
        assert store.problems() == []
        run = store.runs.all()[0]
        return {
            "findings": [finding.model_dump(exclude={"id", "run"}) for finding in store.findings.all()],
            "rounds": [count.model_dump(exclude={"seconds"}) for count in run.rounds],
            "dropped": run.dropped,
            "proof": run.proof,
            "calls": run.calls,
            "ended": run.ended,
        }


def test_killed_at_any_moment_it_ends_the_same(filled, tmp_path):
    whole = tmp_path / "whole.sqlite"
    whole.write_bytes(filled)
    replies = len(start(whole).communicate(timeout=120)[0].splitlines())
    expected = result(whole)
    assert len(expected["findings"]) >= 5
    assert expected["dropped"]
    computed = [finding for finding in expected["findings"] if finding["confidence"] == 0.95]
    assert 0 < len(computed) < LATE

    rng = random.Random(11)
    for number in range(KILLS):
        path = tmp_path / f"{number}.sqlite"
        path.write_bytes(filled)
        with start(path) as process:
            for _ in range(rng.randrange(1, replies)):
                process.stdout.readline()
            time.sleep(rng.uniform(0, 2 * PAUSE))
            process.kill()
        with Store(path) as store:
            assert store.problems() == []
        start(path).communicate(timeout=120)
        assert result(path) == expected


def start(path):
    root = Path(__file__).parents[2]
    code = f"from tests.inference.test_kill_discover import worker, Path; worker(Path({str(path)!r}))"
    return subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)
