"""`tide demo`: all of Tide's work on the sample workspace, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import FullText, Json, Model, NewPerRound, Progress, Rounds, StrategyOption, Trace
from desktop.progress import Mode

if TYPE_CHECKING:
    from desktop.choice import Choice
    from workspace.file import WorkspaceFile


def register(app: typer.Typer) -> None:
    app.command(epilog="Examples: tide demo · tide demo --keep ./tide-demo · tide demo --json")(demo)


def demo(
    model: Model = None,
    rounds: Rounds = None,
    k: NewPerRound = None,
    full_text: FullText = False,
    strategy: StrategyOption = None,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Leave everything in this new folder.", show_default=False),
    ] = None,
    trace: Trace = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Run everything on a sample: the files of a fictional person.

    They are real mail, calendar and document files, made on the spot. Your own sources and findings stay as
    they are.
    """
    from desktop import choice
    from desktop.errors import Stopped
    from desktop.output import print_json, say
    from workspace import Folders, Settings, UserError, expanded

    keep = expanded(keep).absolute() if keep else None
    if keep is not None and keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise UserError(f"{keep} is there already. Name a new folder with --keep.")
    # Weights and model servers stay where they always are, so that they need not be fetched or made again.
    chosen = choice.choose(
        Settings(), Folders.find(), model=model or "", strategy=strategy.value if strategy else ""
    )
    with TemporaryDirectory(prefix="tide-demo-") as temporary:
        home = keep or Path(temporary)
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{home}: {error.strerror}. Name another folder with --keep.") from error
        sample = _sample()
        moment = sample.now.isoformat(timespec="minutes")
        with _environment({"TIDE_HOME": str(home), "TIDE_NOW": moment}):
            try:
                result = _run(sample, home, chosen, progress, trace, json, rounds, k, full_text)
            except KeyboardInterrupt as error:
                raise Stopped(f"Stopped. What was done is in {keep}." if keep else "Stopped.") from error
    if json:
        print_json(result)
    elif keep is not None:
        say(f"Everything is left in {keep}. Look around: TIDE_HOME={keep} TIDE_NOW={moment} tide show 1")
    else:
        say("This was fictional mail, and is gone again (--keep FOLDER leaves it). Yours: tide add --help")


def _run(
    sample: WorkspaceFile,
    home: Path,
    chosen: Choice,
    progress: Mode,
    trace: Path | None,
    json: bool,
    rounds: int | None,
    new_per_round: int | None,
    full_text: bool,
) -> dict[str, object]:
    from connectors.export import export_files
    from desktop import choice
    from desktop.adding import Place, add_source
    from desktop.commands.work import whole_run
    from desktop.digest import make_digest, print_digest, record
    from desktop.evaluating import profile_of
    from desktop.output import console
    from desktop.pipeline import at_work
    from workspace import Folders

    profile_of(sample).save(Folders.find().profile)
    with at_work(progress) as work:
        work.told.say(f"The sample workspace: {sample.persona.name}, {sample.persona.occupation}.")
        work.told.say(chosen.why)
        with work.step("export"):
            export_files(sample, home / "files")
        for kind, place in (
            (Place.MAILDIR, "mail"),
            (Place.CALENDAR, "calendar/calendar.ics"),
            (Place.FOLDER, "documents"),
        ):
            add_source(work, kind, home / "files" / place)
        options = choice.options(
            work.settings, chosen, rounds=rounds, new_per_round=new_per_round, full_text=full_text
        )
        whole_run(work, chosen, options, trace=trace)
        made = make_digest(work.store, work.profile.persona.name, work.now, work.profile.zone)
        work.told.pause()
        if not json:
            print_digest(made, console())
        whole = record(made)
        return {
            "workspace": sample.id,
            "now": whole["now"],
            "why": chosen.why,
            "artifacts": whole["artifacts"],
            "findings": whole["findings"],
            "run": whole["run"],
            "seconds": dict(work.seconds),
            "dropped": whole["dropped"],
            "hint": whole["hint"],
        }


def _sample() -> WorkspaceFile:
    from importlib.resources import as_file, files

    from workspace.file import read_workspace

    with as_file(files("workspace") / "sample.json") as path:
        return read_workspace(path)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
