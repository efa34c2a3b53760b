"""What an evaluation comes to: scores and costs of each strategy, averaged over its runs, as a table and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from inference.evaluation.fitting import cut
from inference.evaluation.running import Cell
from inference.evaluation.scoring import METRICS, Expressed, Question, Scores, mean, questions, score
from inference.evaluation.strategies import Strategy
from workspace.file import WorkspaceFile


@dataclass(frozen=True, slots=True)
class Point:
    """How far a run was after so many calls of the model: F1 by metric."""

    calls: int
    f1: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """A run with its scores. `curve` has a point for the start and one for each round."""

    cell: Cell
    scores: Scores
    curve: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A strategy, averaged over its runs: scores, and what the model did a run.

    `computed_tokens` are prompt tokens that came from no cache of the run itself, `surfaced` how many problems
    were told, `dropped_share` the part of all candidates that checks and proof dropped, `dropped` how many by each
    check, `reading` the prompt tokens for notes, which are spent once for a workspace. `rounds` are new, known and
    dropped candidates a round.
    """

    strategy: Strategy
    runs: int
    scores: Mapping[str, Mapping[str, float]]
    calls: float
    prompt_tokens: float
    cached_tokens: float
    computed_tokens: float
    output_tokens: float
    reading: float
    surfaced: float
    dropped_share: float
    dropped: Mapping[str, float]
    curve: tuple[Point, ...]
    rounds: tuple[Mapping[str, float], ...]


def asked_of_judge(cells: Sequence[Cell], files: Mapping[str, WorkspaceFile]) -> list[Question]:
    """All that scoring these cells will ask, each once."""
    asked: dict[Question, None] = {}
    for cell in cells:
        file = seen(cell, files)
        for number in _rounds(cell):
            told = [one.prediction() for one in cell.told if one.round <= number]
            asked |= dict.fromkeys(questions(file, told))
    return list(asked)


def scored(cell: Cell, files: Mapping[str, WorkspaceFile], expressed: Expressed) -> Scored:
    """The scores of one run, of all that it told and of what it had told after each round."""
    file = seen(cell, files)
    told = [one.prediction() for one in cell.told]
    rounds = _rounds(cell)
    curve = []
    for number in rounds:
        until = score(file, [one for one in told if one.round <= number], expressed)
        # What is asked outside the rounds comes after them.
        calls = sum(call.round <= number and (call.round > 0 or number == rounds[-1]) for call in cell.run.calls)
        curve.append(Point(calls, {name: getattr(until, name).f1 for name in METRICS}))
    return Scored(cell, score(file, told, expressed), tuple(curve))


def seen(cell: Cell, files: Mapping[str, WorkspaceFile]) -> WorkspaceFile:
    """The workspace that the run saw."""
    file = files[cell.file]
    return file if cell.kept is None else cut(file, frozenset(cell.kept))


def rows(runs: Sequence[Scored]) -> list[Row]:
    """A row for each strategy, in the order in which they come."""
    by_strategy: dict[Strategy, list[Scored]] = {}
    for run in runs:
        by_strategy.setdefault(run.cell.strategy, []).append(run)
    return [_row(strategy, same) for strategy, same in by_strategy.items()]


def score_cells(row: Row) -> list[str]:
    """Coverage, precision and F1 of the three metrics, in per cent, as a table shows them."""
    cells = [row.strategy.value, str(row.runs)]
    for name in METRICS:
        values = row.scores[name]
        cells.append(" / ".join(f"{100 * values[part]:.0f}" for part in ("coverage", "precision", "f1")))
    return [*cells, f"{row.surfaced:.1f}"]


SCORE_HEADER = ("strategy", "runs", *METRICS, "told")


def cost_cells(row: Row) -> list[str]:
    """Calls and tokens a run, and the share of candidates that was dropped."""
    return [
        row.strategy.value,
        f"{row.calls:,.0f}",
        f"{row.prompt_tokens:,.0f}",
        f"{row.cached_tokens:,.0f}",
        f"{row.computed_tokens:,.0f}",
        f"{row.reading:,.0f}",
        f"{100 * row.dropped_share:.0f} %",
    ]


COST_HEADER = ("strategy", "calls", "prompt", "cached", "computed", "reading", "dropped")


def reasons(row: Row) -> str:
    """By which checks the candidates of a run were dropped, the strictest first; "" where none was."""
    why = sorted(row.dropped.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{check} {count:.1f}" for check, count in why)


def record(table: Sequence[Row], runs: Sequence[Scored], about: Mapping[str, Any]) -> dict[str, Any]:
    """All of it for programs. It holds no times, so that it is the same for the same runs."""
    return {
        **about,
        "strategies": [{**asdict(row), "strategy": row.strategy.value} for row in table],
        "runs": [_run_record(run) for run in runs],
    }


def _run_record(run: Scored) -> dict[str, Any]:
    cell = run.cell
    return {
        "file": cell.file,
        "strategy": cell.strategy.value,
        "seed": cell.seed,
        "artifacts_kept": None if cell.kept is None else len(cell.kept),
        "scores": {name: asdict(getattr(run.scores, name)) for name in METRICS},
        "problems": [asdict(match) for match in run.scores.matches],
        "told": [one.model_dump(mode="json") for one in cell.told],
        "curve": [asdict(point) for point in run.curve],
        "rounds": [count.model_dump(mode="json", exclude={"seconds"}) for count in cell.run.rounds],
        "dropped": [one.model_dump(mode="json") for one in cell.run.dropped],
        "calls": [call.model_dump(mode="json") for call in cell.run.calls],
        "reading": cell.reading.model_dump(mode="json"),
        "ended": cell.run.ended,
        "views": cell.run.views,
    }


def _row(strategy: Strategy, runs: Sequence[Scored]) -> Row:
    cells = [run.cell for run in runs]
    calls = [call for cell in cells for call in cell.run.calls]
    counts = [count for cell in cells for count in cell.run.rounds]
    dropped: Counter[str] = Counter()
    for count in counts:
        dropped.update(count.dropped)
    candidates = sum(count.candidates for count in counts)
    each = len(runs)
    prompt = sum(call.prompt_tokens for call in calls)
    cached = sum(_cached(cell) for cell in cells)
    return Row(
        strategy=strategy,
        runs=each,
        scores={name: asdict(mean([getattr(run.scores, name) for run in runs])) for name in METRICS},
        calls=len(calls) / each,
        prompt_tokens=prompt / each,
        cached_tokens=cached / each,
        computed_tokens=(prompt - cached) / each,
        output_tokens=sum(call.output_tokens for call in calls) / each,
        reading=sum(cell.reading.prompt_tokens for cell in cells) / each,
        surfaced=sum(len(cell.told) for cell in cells) / each,
        dropped_share=dropped.total() / candidates if candidates else 0.0,
        dropped={check: count / each for check, count in sorted(dropped.items())},
        curve=_mean_curve([run.curve for run in runs]),
        rounds=_mean_rounds(cells),
    )


def _cached(cell: Cell) -> int:
    """The prompt tokens that a run found in a cache which it had filled itself: what its first call finds there
    another run has left."""
    return sum(call.cached_tokens for call in cell.run.calls[1:])


def _rounds(cell: Cell) -> list[int]:
    """0 for the start, and the rounds in which the model was asked."""
    return [0, *(count.round for count in cell.run.rounds)]


def _mean_curve(curves: Sequence[Sequence[Point]]) -> tuple[Point, ...]:
    """The mean of several curves, round by round; one that is over stays where it ended."""
    longest = max(map(len, curves))
    even = [[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves]
    return tuple(
        Point(
            round(sum(point.calls for point in points) / len(points)),
            {name: sum(point.f1[name] for point in points) / len(points) for name in METRICS},
        )
        for points in zip(*even, strict=True)
    )


def _mean_rounds(cells: Sequence[Cell]) -> tuple[Mapping[str, float], ...]:
    """What a round brought in the mean; a run that was over by then brought nothing."""
    found: list[Mapping[str, float]] = []
    for counts in zip_longest(*(cell.run.rounds for cell in cells)):
        there = [count for count in counts if count is not None]
        found.append(
            {
                "new": _share(len(cells), (count.new for count in there)),
                "known": _share(len(cells), (count.known + count.dropped.get("known", 0) for count in there)),
                "dropped": _share(
                    len(cells), (sum(count.dropped.values()) - count.dropped.get("known", 0) for count in there)
                ),
            }
        )
    return tuple(found)


def _share(runs: int, values: Iterable[int]) -> float:
    return sum(values) / runs
