"""The evaluation at work: models are opened when they are needed, and what was done is not done again."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop import choice
from desktop.evaluating import opened
from inference.asking import DoesNotFit
from inference.embedding import EMBEDDED
from inference.evaluation.judge import Judge
from inference.evaluation.results import Row, asked_of_judge, record, rows, scored
from inference.evaluation.running import Cell, Evaluation, Runner
from inference.evaluation.scoring import Expressed, by_phrase
from inference.evaluation.strategies import Strategy
from workspace import Settings
from workspace.file import WorkspaceFile

if TYPE_CHECKING:
    from desktop.choice import Choice
    from desktop.progress import Reporter
    from inference.evaluation.selection import SelectionTable
    from inference.models import LanguageModel


@dataclass(frozen=True, slots=True)
class Measured:
    """What an evaluation came to: a row for each strategy, and all of it for programs."""

    table: list[Row]
    record: dict[str, Any]


def measured(
    evaluation: Evaluation,
    settings: Settings,
    chosen: Choice,
    judge: str | None,
    trace: Path | None,
    told: Reporter,
) -> Measured:
    """Run what was not run before, have it judged by the model of the name `judge`, and score all of it.

    Raises:
        UserError: if a model cannot be opened or reached, or a workspace does not fit it.
    """
    files = {file.id: file for file in evaluation.files}
    with _Models(settings, chosen, trace, told) as models:
        cells = _cells(evaluation, models, told)
        expressed: Expressed = by_phrase
        if judge is not None:
            expressed = decided = Judge(judge, evaluation.folder / "judge")
            missing = decided.unanswered(asked_of_judge(cells, files))
            if missing:
                decided.ask(models.judge(judge), missing, told.progress)
        runs = [scored(cell, files, expressed) for cell in cells]
    table = rows(runs)
    return Measured(table, record(table, runs, _about(evaluation, cells, chosen, judge)))


def measured_selection(workspaces: Sequence[WorkspaceFile], folder: Path, told: Reporter) -> list[SelectionTable]:
    """The selection on each workspace: from its notes, if it has any, and its texts, with MiniLM and without."""
    from inference.evaluation.selection import measure

    minilm = choice.LateEmbedder(EMBEDDED)
    tables = []
    for file in workspaces:
        told.say(f"{file.id}: what is put together.")
        for notes in (True, False) if file.notes else (False,):
            for embedder in (minilm, None):
                home = folder / f"{file.id}.selection"
                with opened(file, home, seed=1, notes=notes) as found:
                    tables.append(measure(found, embedder, home / "index", notes=notes, on_progress=told.progress))
                shutil.rmtree(home)
    return tables


@dataclass(slots=True)
class _Models:
    """The model that is evaluated and the judge, of which only one is open at a time, and none for nothing."""

    settings: Settings
    chosen: Choice
    trace: Path | None
    told: Reporter
    _open: ExitStack = field(default_factory=ExitStack)
    _name: str = ""
    _model: LanguageModel | None = None

    def __enter__(self) -> _Models:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def evaluated(self) -> LanguageModel:
        return self._opened(self.chosen)

    def judge(self, name: str) -> LanguageModel:
        if name == self.chosen.name:
            return self._opened(self.chosen)
        chosen = choice.choose(self.settings, self.chosen.folders, model=name)
        self.told.say(f"Judge: {chosen.why}")
        return self._opened(chosen)

    def _opened(self, chosen: Choice) -> LanguageModel:
        if self._model is None or self._name != chosen.name:
            self._open.close()
            model = choice.open_chosen(chosen, self.settings, self.told, self.trace)
            self._name, self._model = chosen.name, self._open.enter_context(model)
        return self._model


def _cells(evaluation: Evaluation, models: _Models, told: Reporter) -> list[Cell]:
    """The cell of every task: what was finished before is taken as it is.

    Raises:
        DoesNotFit: if none could be run.
    """
    tasks = evaluation.tasks()
    cells: list[Cell] = []
    refused: DoesNotFit | None = None
    runner = Runner(evaluation, opened, on_progress=told.progress)
    for number, task in enumerate(tasks, start=1):
        cell = evaluation.finished(task)
        if cell is None:
            told.say(f"Run {number} of {len(tasks)}: {task.file.id}, {task.strategy.value}, seed {task.seed}.")
            if task.strategy is not Strategy.OBSERVED or evaluation.fit:
                runner.model = models.evaluated()
                runner.embedder = runner.embedder or choice.embedder(models.chosen)
            try:
                cell = runner.run(task)
            except DoesNotFit as error:
                # The other strategies are compared nevertheless.
                told.say(f"  Left out: {error}")
                refused = error
                continue
            told.say(f"  {len(cell.told)} told, {len(cell.run.calls)} calls; {cell.run.ended}.")
        cells.append(cell)
    if refused is not None and not cells:
        raise refused
    return cells


def _about(evaluation: Evaluation, cells: Sequence[Cell], chosen: Choice, judge: str | None) -> dict[str, Any]:
    """What the figures are figures of."""
    return {
        "model": next((cell.run.model for cell in cells if cell.run.model), ""),
        "named": chosen.name,
        "judge": judge or "none: words are compared",
        "notes": evaluation.notes,
        "seeds": list(evaluation.seeds),
        "rounds": evaluation.base.rounds,
        "new_per_round": evaluation.base.new_per_round,
        "views": evaluation.base.views,
        "view_tokens": evaluation.base.view_tokens,
        "observations": evaluation.switches.observations,
        "proof": evaluation.switches.proof,
        "cut_to_fit": evaluation.fit,
        "workspaces": {
            file.id: {"artifacts": len(file.artifacts), "problems": len(file.problems)}
            for file in evaluation.files
        },
    }
