"""`tide eval`: how good each way of looking is, measured on workspaces of which the problems are known."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import Json, Model, NewPerRound, Progress, Rounds, Trace
from desktop.progress import Mode

if TYPE_CHECKING:
    from desktop.choice import Choice
    from desktop.measuring import Measured
    from desktop.progress import Reporter
    from inference.evaluation.strategies import Strategy
    from workspace import Settings
    from workspace.file import WorkspaceFile


class NotesFrom(StrEnum):
    MODEL = "model"
    FILE = "file"
    NONE = "none"


ALL = "all"
MARKER = ".tide-eval"


def register(app: typer.Typer) -> None:
    app.command(
        name="eval",
        epilog="Examples: tide eval office.json --strategy observed"
        " · tide eval *.json --strategy all --model gpu-24 --seeds 3 --output ./figures"
        " · tide eval *.json --prefilter-only",
    )(evaluate)


def evaluate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="Workspace files (tide-workspace/1).", show_default=False)
    ],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="observed, single, multi, tide, tide-no-templates, tide-cases, tide-whole, tide-text, published,"
            " or all; may be given several times (tide).",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="A model that decides what a finding expresses; without it, its words are compared.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, max=100, help="Run each so often, in another order.")
    ] = 1,
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="Where results and plots go; a new folder.")
    ] = Path("tide-eval"),
    rounds: Rounds = None,
    k: NewPerRound = None,
    views: Annotated[
        int | None,
        typer.Option("--views", metavar="N", min=0, help="At most so many views, 0 for all.", show_default=False),
    ] = None,
    view_tokens: Annotated[
        int | None,
        typer.Option(
            "--view-tokens",
            metavar="N",
            min=500,
            help="At most so many tokens of artifacts a view; as the model's profile says if not given.",
            show_default=False,
        ),
    ] = None,
    notes: Annotated[
        NotesFrom | None,
        typer.Option(
            "--notes",
            metavar="FROM",
            help="Connect notes by the model, from the file, or none (model; file if it is too small to).",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        int, typer.Option("--context", metavar="N", min=0, help="Lower the context of the model to N tokens.")
    ] = 0,
    fit: Annotated[
        bool, typer.Option("--fit", help="Cut each workspace to what the model can be shown at once.")
    ] = False,
    no_observations: Annotated[
        bool, typer.Option("--no-observations", help="Compute nothing beside the model.")
    ] = False,
    no_proof: Annotated[
        bool, typer.Option("--no-proof", help="Take what the model names at its word, without proof and checks.")
    ] = False,
    prefilter_only: Annotated[
        bool, typer.Option("--prefilter-only", help="Ask no model; measure what the selection puts together.")
    ] = False,
    trace: Trace = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Measure how good each way of looking is, on workspaces of which the problems are known.

    Scores coverage, precision and F1 of retrieval, identification and resolution. Goes on where it was if it was
    stopped; results.json and the plots are in the output folder. Your own sources and findings stay as they are.
    """
    from dataclasses import replace

    from desktop import choice
    from desktop.measuring import measured
    from desktop.output import print_json, print_rows, say
    from desktop.pipeline import stoppable
    from desktop.progress import reporter
    from inference.evaluation.results import COST_HEADER, SCORE_HEADER, cost_cells, reasons, score_cells
    from inference.evaluation.running import Evaluation
    from inference.evaluation.strategies import Switches
    from workspace import Settings, expanded
    from workspace.file import read_workspace
    from workspace.store import worker_lock

    workspaces = _distinct([read_workspace(expanded(path)) for path in files])
    folder = expanded(output).absolute()
    _make(folder)
    settings = Settings(context=context)
    with stoppable(), worker_lock(folder / "evaluation"), reporter(progress) as told:
        if prefilter_only:
            _selection(workspaces, folder, told, json)
            return
        strategies = _strategies(strategy)
        chosen = _chosen(settings, strategies, model)
        told.say(chosen.why)
        base = choice.options(settings, chosen, rounds=rounds, new_per_round=k, full_text=False)
        written = notes or (NotesFrom.MODEL if chosen.capable else NotesFrom.FILE)
        evaluation = Evaluation(
            files=workspaces,
            strategies=strategies,
            seeds=tuple(range(1, seeds + 1)),
            base=replace(
                base,
                views=base.views if views is None else views,
                view_tokens=view_tokens or base.view_tokens,
            ),
            switches=Switches(observations=not no_observations, proof=not no_proof),
            notes=written.value,
            fit=fit and chosen.strategy == "tide",
            model=f"{chosen.name} {context}" if chosen.strategy == "tide" else "",
            embedding=chosen.embedding,
            folder=folder,
        )
        result = measured(evaluation, settings, chosen, judge, trace, told)
        told.pause()
        _keep(result, folder)
        if json:
            print_json(result.record)
        else:
            print("Coverage / precision / F1, in per cent, and how many problems a run told:\n")
            print_rows(SCORE_HEADER, [score_cells(row) for row in result.table])
            print("\nCalls and prompt tokens a run, and the share of candidates that was dropped:\n")
            print_rows(COST_HEADER, [cost_cells(row) for row in result.table])
            for row in result.table:
                if row.dropped:
                    print(f"\n{row.strategy.value}, dropped a run: {reasons(row)}")
            say(f"All of it, and the plots, are in {folder}.")


def _strategies(named: Sequence[str] | None) -> tuple[Strategy, ...]:
    from inference.evaluation.strategies import Strategy
    from workspace import UserError

    wanted = named or [Strategy.TIDE.value]
    if ALL in wanted:
        return tuple(Strategy)
    for name in wanted:
        if name not in set(Strategy):
            raise UserError(f"There is no strategy {name!r}. Choose from {', '.join(Strategy)}, or {ALL}.")
    return tuple(dict.fromkeys(Strategy(name) for name in wanted))


def _distinct(workspaces: Sequence[WorkspaceFile]) -> tuple[WorkspaceFile, ...]:
    from workspace import UserError

    seen: set[str] = set()
    for workspace in workspaces:
        if workspace.id in seen:
            raise UserError(f"Two of the files are the workspace {workspace.id!r}. Name each once.")
        seen.add(workspace.id)
    return tuple(workspaces)


def _make(folder: Path) -> None:
    """The folder of results: a new or empty one, or that of an earlier evaluation."""
    from workspace import UserError

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / MARKER).is_file():
            if any(folder.iterdir()):
                raise UserError(f"{folder} holds something else. Name a new or an empty folder with --output.")
            (folder / MARKER).write_text("Written by tide eval, which goes on here where it was stopped.\n")
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}. Name another folder with --output.") from error


def _chosen(settings: Settings, strategies: Sequence[Strategy], model: str | None) -> Choice:
    from desktop import choice
    from inference.evaluation.strategies import Strategy
    from workspace import Folders

    asked = any(strategy is not Strategy.OBSERVED for strategy in strategies)
    return choice.choose(settings, Folders.find(), model=model or "", strategy="tide" if asked else "observed")


def _keep(result: Measured, folder: Path) -> None:
    from json import dumps

    from inference.evaluation.plots import draw
    from workspace import write_private

    write_private(folder / "results.json", dumps(result.record, indent=1))
    draw(result.table, folder)


def _selection(workspaces: Sequence[WorkspaceFile], folder: Path, told: Reporter, json: bool) -> None:
    """Measure the selection: on notes where a file brings them and on texts, with MiniLM and with links alone."""
    from dataclasses import asdict
    from json import dumps

    from desktop.measuring import measured_selection
    from desktop.output import print_json, print_rows
    from inference.evaluation.selection import HEADER
    from inference.evaluation.selection import print_rows as rows_of
    from workspace import write_private

    tables = measured_selection(workspaces, folder / "work", told)
    told.pause()
    record = [asdict(table) for table in tables]
    write_private(folder / "selection.json", dumps(record, indent=1))
    if json:
        print_json(record)
    else:
        print_rows(HEADER, rows_of(tables))
