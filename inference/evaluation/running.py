"""The runs of an evaluation: each file by each strategy with each seed, one after the other, resumable.

What a run brought is kept as a cell, a JSON file with a digest of all that decides it. A cell that is there is not
run again; one that was stopped goes on in its store, through the journal of discovery.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from inference.discovery import discover
from inference.evaluation.fitting import cut, fitted
from inference.evaluation.notes import Cost, note
from inference.evaluation.opened import Opened
from inference.evaluation.scoring import Prediction
from inference.evaluation.strategies import Strategy, Switches, options_of, takes_notes
from inference.index import index_artifacts
from inference.options import Options
from inference.reading import PROMPT_VERSION
from templates import load_templates, render
from workspace import REFERENCES, Action, Run, write_private
from workspace.file import WorkspaceFile

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.models.contract import LanguageModel

Progress = Callable[[str, int, int], None]
Notes = Literal["model", "file", "none"]
"""Who wrote the notes that are connected: the model that is evaluated, or whoever wrote the file; or texts are."""


class Open(Protocol):
    """Brings a workspace file into a store below `home`; takes up again what an earlier call left there."""

    def __call__(
        self, file: WorkspaceFile, home: Path, *, seed: int, notes: bool
    ) -> AbstractContextManager[Opened]: ...


@dataclass(frozen=True, slots=True)
class Task:
    """One run of an evaluation."""

    file: WorkspaceFile
    strategy: Strategy
    seed: int

    @property
    def name(self) -> str:
        return f"{self.file.id}.{self.strategy}.{self.seed}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is compared, and how. `model` and `embedding` are as the person named them, `base` what all runs share,
    `fit` whether workspaces are cut to what the model can be shown at once. All is kept below `folder`."""

    files: tuple[WorkspaceFile, ...]
    strategies: tuple[Strategy, ...]
    seeds: tuple[int, ...]
    base: Options
    switches: Switches
    notes: Notes
    fit: bool
    model: str
    embedding: str
    folder: Path

    def tasks(self) -> list[Task]:
        return [
            Task(file, strategy, seed)
            for file in self.files
            for strategy in self.strategies
            for seed in self.seeds
        ]

    def options(self, task: Task) -> Options:
        return options_of(task.strategy, self.base, self.switches, task.seed)

    def digest(self, task: Task) -> str:
        """Over all that decides what the run brings."""
        asked = task.strategy is not Strategy.OBSERVED
        decides: list[Any] = [
            task.file.model_dump(mode="json"),
            task.seed,
            asdict(self.options(task)),
            self.notes if takes_notes(task.strategy) else "none",
            self.fit,
            [self.model, self.embedding] if asked else [],
            PROMPT_VERSION,
            [render(template) for template in load_templates()],
        ]
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def finished(self, task: Task) -> Cell | None:
        """The cell of a run that was finished before, by this very evaluation."""
        path = self._cell(task)
        try:
            cell = Cell.model_validate_json(path.read_text("utf-8")) if path.is_file() else None
        except ValidationError:
            return None
        return cell if cell is not None and cell.digest == self.digest(task) else None

    def keep(self, task: Task, cell: Cell) -> None:
        path = self._cell(task)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, json.dumps(cell.model_dump(mode="json"), indent=1))

    def _cell(self, task: Task) -> Path:
        return self.folder / "cells" / f"{task.name}.json"


class Told(BaseModel):
    """A prediction as it is kept."""

    model_config = ConfigDict(frozen=True)
    evidence: tuple[str, ...]
    description: str
    why: str
    action: Action
    round: int

    def prediction(self) -> Prediction:
        text = f"{self.description}\n{self.why}"
        return Prediction(frozenset(self.evidence), text, self.action, self.round)


class Cell(BaseModel):
    """What one run brought. `kept` are the artifacts of a workspace that was cut, None where it is whole."""

    model_config = ConfigDict(frozen=True)
    digest: str
    file: str
    strategy: Strategy
    seed: int
    kept: tuple[str, ...] | None
    told: tuple[Told, ...]
    run: Run
    reading: Cost


@dataclass(slots=True)
class Runner:
    """What runs need: a way to open workspaces, and for all strategies but `observed` a model and an embedder."""

    evaluation: Evaluation
    open: Open
    model: LanguageModel | None = None
    embedder: Embedder | None = None
    on_progress: Progress = lambda step, done, total: None
    _kept: dict[str, frozenset[str]] = field(default_factory=dict)

    def run(self, task: Task) -> Cell:
        """Run one task to its end, from where it was, and keep its cell.

        Raises:
            UserError: if the model cannot be reached, or the workspace does not fit its context.
        """
        evaluation = self.evaluation
        options = evaluation.options(task)
        asked = options.strategy == "tide"
        home = evaluation.folder / "work" / task.name
        kept = self._fitting(task.file) if evaluation.fit and self.model is not None else None
        file = task.file if kept is None else cut(task.file, kept)
        notes = evaluation.notes if takes_notes(task.strategy) else "none"
        with self.open(file, home, seed=task.seed, notes=notes == "file") as opened:
            reading = Cost()
            if notes == "model" and self.model is not None:
                reading = note(opened, self.model, evaluation.folder / "notes", self.on_progress)
            if asked and self.embedder is not None:
                zone = opened.profile.zone
                index_artifacts(opened.store, self.embedder, self.on_progress, zone=zone)
            run = discover(
                opened.store,
                opened.profile,
                opened.now,
                options,
                model=self.model if asked else None,
                embedder=self.embedder if asked else None,
                index_folder=home / "index",
                on_progress=self.on_progress,
            )
            told = tuple(_told(opened, run))
        cell = Cell(
            digest=evaluation.digest(task),
            file=task.file.id,
            strategy=task.strategy,
            seed=task.seed,
            kept=None if kept is None else tuple(sorted(kept)),
            told=told,
            run=run,
            reading=reading,
        )
        evaluation.keep(task, cell)
        shutil.rmtree(home)
        return cell

    def _fitting(self, file: WorkspaceFile) -> frozenset[str]:
        """The artifacts that are kept of a file, the same for all strategies and seeds."""
        if file.id not in self._kept and self.model is not None:
            evaluation = self.evaluation
            options = [
                options_of(strategy, evaluation.base, evaluation.switches, 0)
                for strategy in evaluation.strategies
                if strategy is not Strategy.OBSERVED
            ]
            self.on_progress("fit", 0, 0)
            home = evaluation.folder / "work" / f"{file.id}.whole"
            with self.open(file, home, seed=0, notes=False) as opened:
                self._kept[file.id] = fitted(opened, self.model, options)
        return self._kept[file.id]


def _told(opened: Opened, run: Run) -> Iterator[Told]:
    """The findings of the run in terms of the file, in the order of rounds."""
    findings = [finding for finding in opened.store.findings.all() if finding.run == run.id]
    findings.sort(key=lambda finding: (run.found.get(finding.about, 0), finding.id))
    for finding in findings:
        evidence = {opened.artifact_of(row) or f"row {row}" for row in finding.artifacts}
        yield Told(
            evidence=tuple(sorted(evidence)),
            description=finding.description,
            why=finding.why,
            action=_in_file(finding.action, opened),
            round=run.found.get(finding.about, 0),
        )


def _in_file(action: Action, opened: Opened) -> Action:
    """The action with ids of the file in place of labels."""
    parameters = dict(action.parameters)
    for name in REFERENCES.keys() & parameters.keys():
        label = str(parameters[name])
        if label[:1] == "a" and label[1:].isdecimal():
            parameters[name] = opened.artifact_of(int(label[1:])) or label
    return action.model_copy(update={"parameters": parameters})
