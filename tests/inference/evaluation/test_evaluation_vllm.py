"""What the published way and Tide's compute, side by side on one vLLM server, each to its end."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from desktop.evaluating import opened
from inference.evaluation.results import rows, scored
from inference.evaluation.running import Evaluation, Runner
from inference.evaluation.scoring import by_phrase
from inference.evaluation.strategies import Strategy, Switches
from inference.options import Options
from tests.inference.evaluation.careful import Careful
from tests.inference.test_discovery_vllm import Words
from workspace.file import read_workspace

pytestmark = pytest.mark.vllm

ROUNDS = 10


def test_prompts_computed_by_the_published_way_and_by_tide(vllm_server, pytestconfig, tmp_path):
    path = pytestconfig.rootpath / "tests" / "benchmarks" / "workspaces" / "development" / "office.json"
    file = read_workspace(path)
    evaluation = Evaluation(
        files=(file,),
        strategies=(Strategy.PUBLISHED, Strategy.TIDE),
        seeds=(1,),
        # Large enough for the notes of the whole workspace, as in the profiles of larger GPUs.
        base=Options("tide", rounds=ROUNDS, view_tokens=16_000),
        switches=Switches(),
        notes="file",
        fit=True,
        model="careful",
        embedding="words",
        folder=tmp_path,
    )
    published, tide = measured(evaluation, vllm_server)
    (unproved,) = measured(
        replace(evaluation, strategies=(Strategy.TIDE,), switches=Switches(proof=False)), vllm_server
    )
    print(f"computed: published {published.computed_tokens:,.0f}, tide {tide.computed_tokens:,.0f}", end=", ")
    print(f"tide without proof {unproved.computed_tokens:,.0f}")
    # Both name the same ten matters, of which those that are none are dropped by the proof alone.
    assert (len(published.rounds), len(tide.rounds)) == (ROUNDS, ROUNDS)
    assert published.surfaced == ROUNDS
    assert tide.dropped["stands"] > 0
    assert tide.scores["retrieval"]["f1"] > published.scores["retrieval"]["f1"]
    assert tide.computed_tokens < published.computed_tokens / 3
    assert unproved.computed_tokens < published.computed_tokens / 6


def measured(evaluation, server):
    file = evaluation.files[0]
    reader = Careful(server)

    @contextmanager
    def read(file, home, *, seed, notes):
        with opened(file, home, seed=seed, notes=notes) as found:
            reader.matters, reader.false = matters_of(found)
            yield found

    runner = Runner(evaluation, read, reader, Words())
    return rows([scored(runner.run(task), {file.id: file}, by_phrase) for task in evaluation.tasks()])


def matters_of(found):
    """The problems of the workspace, and pairs of distractors, so that there is something for ten rounds."""
    matters = [[found.rows[name] for name in problem.evidence] for problem in found.file.problems]
    alarms = [found.rows[name] for name in sorted(found.file.distractors) if found.rows[name]]
    pairs = [list(pair) for pair in zip(alarms[::2], alarms[1::2], strict=False)][: ROUNDS - len(matters)]
    return matters + pairs, len(pairs)
