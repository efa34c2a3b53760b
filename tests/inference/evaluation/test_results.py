"""What runs made by hand come to: curves, means, costs, and a judge's word."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from inference.evaluation.judge import Judge
from inference.evaluation.notes import Cost
from inference.evaluation.plots import draw
from inference.evaluation.results import (
    asked_of_judge,
    cost_cells,
    reasons,
    record,
    rows,
    score_cells,
    scored,
)
from inference.evaluation.running import Cell, Told
from inference.evaluation.scoring import Question, by_phrase
from inference.evaluation.strategies import Strategy
from tests.inference.scripted import Scripted
from workspace import Action, Call, RoundCount, Run
from workspace.file import WorkspaceFile, read_workspace


@pytest.fixture(scope="module")
def sample(pytestconfig: pytest.Config) -> WorkspaceFile:
    return read_workspace(pytestconfig.rootpath / "workspace" / "sample.json")


def perfect(sample: WorkspaceFile, number: int, found_in: int) -> Told:
    """The gold problem of this number, as a run would tell it."""
    problem = sample.problems[number]
    facts = problem.facts.model_dump()
    return Told(
        evidence=tuple(sorted(problem.evidence)),
        description=". ".join(phrases[0] for phrases in facts.values()),
        why="",
        action=Action(
            function_name=problem.resolution.function_name,
            parameters={name: str(value) for name, value in problem.resolution.parameters.items()},
        ),
        round=found_in,
    )


def call(purpose: str, number: int, prompt: int, cached: int) -> Call:
    return Call(purpose=purpose, round=number, prompt_tokens=prompt, cached_tokens=cached, output_tokens=5)


def cell(sample: WorkspaceFile, strategy: Strategy, *told: Told, rounds: int = 2, seed: int = 1) -> Cell:
    counts = [
        RoundCount(round=1, asked=1, candidates=4, new=1, known=1, dropped={"quote": 1, "known": 1}),
        RoundCount(round=2, asked=1, candidates=2, new=1, dropped={"open": 1}),
    ][:rounds]
    calls = [call("ask", 1, 100, 0), call("prove", 1, 50, 40), call("ask", 2, 100, 90), call("same", 0, 30, 0)]
    return Cell(
        digest="d", file=sample.id, strategy=strategy, seed=seed, kept=None, told=told,
        run=Run(
            strategy="tide", model="m", started=datetime(2026, 5, 1, tzinfo=UTC), rounds=counts, calls=calls,
            ended="all views closed",
        ),
        reading=Cost(calls=3, prompt_tokens=700),
    )  # fmt: skip


def test_the_curve_has_a_point_for_the_start_and_each_round(sample: WorkspaceFile) -> None:
    told = [perfect(sample, 0, 0), perfect(sample, 1, 1), perfect(sample, 2, 2)]
    run = scored(cell(sample, Strategy.TIDE, *told), {sample.id: sample}, by_phrase)
    assert [point.calls for point in run.curve] == [0, 2, 4]
    # Of six problems one, two, three, and nothing false: F1 is 2c / (c + 1).
    expected = [2 / 7, 1 / 2, 2 / 3]
    assert [point.f1["retrieval"] for point in run.curve] == pytest.approx(expected)
    assert [point.f1["identification"] for point in run.curve] == pytest.approx(expected)
    assert run.scores.retrieval.coverage == pytest.approx(1 / 2)
    assert run.scores.retrieval.precision == pytest.approx(1)


def test_rows_are_means_over_runs(sample: WorkspaceFile) -> None:
    files = {sample.id: sample}
    runs = [
        scored(one, files, by_phrase)
        for one in (
            cell(sample, Strategy.TIDE, *(perfect(sample, n, 1) for n in range(6))),
            cell(sample, Strategy.TIDE, rounds=1, seed=2),
            cell(sample, Strategy.SINGLE, perfect(sample, 0, 1), rounds=1),
        )
    ]
    tide, single = rows(runs)
    assert (tide.strategy, tide.runs, single.strategy, single.runs) == (Strategy.TIDE, 2, Strategy.SINGLE, 1)
    assert tide.scores["retrieval"] == pytest.approx({"coverage": 0.5, "precision": 0.5, "f1": 0.5})
    assert (tide.calls, tide.prompt_tokens, tide.cached_tokens, tide.computed_tokens) == (4, 280, 130, 150)
    assert (tide.surfaced, tide.reading) == (3, 700)
    # Of 4 + 2 + 4 candidates 2 + 1 + 2 were dropped.
    assert tide.dropped_share == pytest.approx(0.5)
    assert tide.dropped == {"known": 1, "open": 0.5, "quote": 1}
    assert reasons(tide) == "known 1.0, quote 1.0, open 0.5"
    # A run that is over after its first round brought nothing in the second, and stays where it was.
    assert [dict(count) for count in tide.rounds] == [
        {"new": 1, "known": 2, "dropped": 1}, {"new": 0.5, "known": 0, "dropped": 0.5},
    ]  # fmt: skip
    assert [point.f1["retrieval"] for point in tide.curve] == [0, 0.5, 0.5]
    assert score_cells(tide) == ["tide", "2", "50 / 50 / 50", "50 / 50 / 50", score_cells(tide)[4], "3.0"]
    assert cost_cells(tide) == ["tide", "4", "280", "130", "150", "700", "50 %"]


def test_a_cut_workspace_is_scored_by_what_is_left(sample: WorkspaceFile) -> None:
    left = tuple(sorted(sample.problems[0].evidence))
    one = cell(sample, Strategy.TIDE, perfect(sample, 0, 1)).model_copy(update={"kept": left})
    assert scored(one, {sample.id: sample}, by_phrase).scores.retrieval.f1 == 1


def test_plots_and_record_are_the_same_for_the_same_runs(sample: WorkspaceFile, tmp_path: Path) -> None:
    def drawn(name: str) -> tuple[dict[str, bytes], str]:
        files = {sample.id: sample}
        cells = [cell(sample, strategy, perfect(sample, 0, 1)) for strategy in Strategy]
        runs = [scored(one, files, by_phrase) for one in cells]
        (tmp_path / name).mkdir()
        paths = draw(rows(runs), tmp_path / name)
        return {path.name: path.read_bytes() for path in paths}, json.dumps(record(rows(runs), runs, {}))

    first, again = drawn("first"), drawn("again")
    assert first == again
    assert set(first[0]) == {
        f"{name}.{kind}" for name in ("f1-by-calls", "new-by-round", "scores") for kind in ("png", "svg")
    }
    assert all(content.startswith(b"\x89PNG") for name, content in first[0].items() if name.endswith("png"))
    assert b"tide-no-templates" in first[0]["scores.svg"]


def test_a_judge_is_asked_once_and_its_replies_are_kept(sample: WorkspaceFile, tmp_path: Path) -> None:
    told = Told(
        evidence=tuple(sample.problems[0].evidence), description="She cannot be at both.", why="", round=1,
        action=Action(function_name="create_task", parameters={"title": "x", "due": "2026-05-20", "notes": ""}),
    )  # fmt: skip
    cells = [cell(sample, Strategy.TIDE, told), cell(sample, Strategy.TIDE, told, seed=2)]
    files = {sample.id: sample}
    asked = asked_of_judge(cells, files)
    assert len(asked) == 1

    def answer(request: Any) -> dict[str, Any]:
        fields = request.schema.model_fields
        return {"thought": "Both.", **{name: name != "deadline" for name in fields if name != "thought"}}

    model = Scripted(answer)
    judge = Judge("big", tmp_path)
    seen: list[tuple[str, int, int]] = []
    judge.ask(model, asked, lambda *told: seen.append(told))
    judge.ask(model, asked, lambda *told: seen.append(told))
    assert (len(model.asked), seen) == (1, [("judge", 0, 1), ("judge", 1, 1)])
    assert "She cannot be at both." in model.asked[0].messages[1].content
    assert scored(cells[0], files, judge).scores.matches[0].identification == pytest.approx(0.8)
    (kept,) = tmp_path.iterdir()
    assert json.loads(kept.read_text())["judge"] == "big"
    # Another judge is another opinion.
    assert len(Judge("small", tmp_path).unanswered(asked)) == 1


def test_what_a_judge_cannot_answer_is_not_expressed(tmp_path: Path) -> None:
    question = Question("word " * 30_000, (("blocker", ("a phrase",)),))
    judge = Judge("big", tmp_path)
    model = Scripted(lambda request: "no JSON", context=4_096)
    judge.ask(model, [question], lambda step, done, total: None)
    assert judge(question) == frozenset()
    assert model.count(model.asked[0].messages) + model.asked[0].max_tokens <= 4_096
