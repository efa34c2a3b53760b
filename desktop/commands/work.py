"""`tide sync`, `read`, `index`, `discover` and `run`: the work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from desktop.commands.options import (
    AllowEmpty,
    FullText,
    Json,
    Model,
    NewPerRound,
    Progress,
    Rounds,
    Strategy,
    StrategyOption,
    Trace,
)
from desktop.plain import one_line
from desktop.progress import Mode

if TYPE_CHECKING:
    from desktop.choice import Choice
    from desktop.pipeline import Ask, Synced, Work
    from inference.discovery import Options
    from inference.models import LanguageModel
    from workspace import Run

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="Only this source.", show_default=False)]


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide sync mail")(sync)
    app.command(epilog="Example: tide read --model cpu")(read)
    app.command(epilog="Example: tide index")(index)
    app.command(epilog="Example: tide discover --rounds 3 --trace ./trace")(discover)
    app.command(epilog="Example: tide run --strategy observed")(run)


def sync(
    source: Source = "", allow_empty: AllowEmpty = False, json: Json = False, progress: Progress = Mode.AUTO
) -> None:
    """Bring in what changed at the sources. Goes on where it was if it was stopped."""
    from desktop import pipeline
    from desktop.output import print_json, say

    with pipeline.at_work(progress) as work:
        done = pipeline.sync(work, source, allow_empty=allow_empty, ask=_ask(progress))
    if json:
        print_json({"sources": synced_records(done), "seconds": work.seconds})
    else:
        for line in synced_lines(done):
            say(line)
    _end(done)


def read(model: Model = None, trace: Trace = None, json: Json = False, progress: Progress = Mode.AUTO) -> None:
    """Have the model read what is new, into notes."""
    from desktop import choice, pipeline
    from desktop.output import print_json, say

    with pipeline.at_work(progress) as work:
        chosen = choice.choose(work.settings, work.folders, model=model or "", strategy="tide" if model else "")
        work.told.say(chosen.why)
        with opened(work, chosen, trace) as language_model:
            count = pipeline.read(work, language_model) if language_model else 0
    if json:
        print_json({"read": count, "model": chosen.name, "why": chosen.why, "seconds": work.seconds})
    elif chosen.strategy == "tide":
        say(f"Read {count:,} artifacts.")
    else:
        say("Nothing was read: that takes a language model. `tide models` shows which fits this machine.")


def index(json: Json = False, progress: Progress = Mode.AUTO) -> None:
    """Embed what is new, so that nearness in meaning is known."""
    from desktop import choice, pipeline
    from desktop.output import print_json, say

    with pipeline.at_work(progress) as work:
        chosen = choice.choose(work.settings, work.folders)
        count = pipeline.index(work, choice.embedder(chosen))
    if json:
        print_json({"indexed": count, "seconds": work.seconds})
    else:
        say(f"Indexed {count:,} artifacts.")


def discover(
    rounds: Rounds = None,
    k: NewPerRound = None,
    model: Model = None,
    full_text: FullText = False,
    strategy: StrategyOption = None,
    trace: Trace = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Look for problems in what was brought in."""
    from desktop import choice, pipeline
    from desktop.digest.record import run_record
    from desktop.output import print_json, say

    with pipeline.at_work(progress) as work:
        chosen = choice.choose(work.settings, work.folders, model=model or "", strategy=_value(strategy))
        work.told.say(chosen.why)
        with opened(work, chosen, trace) as language_model:
            embedder = choice.embedder(chosen) if language_model else None
            options = choice.options(work.settings, chosen, rounds=rounds, new_per_round=k, full_text=full_text)
            record = pipeline.discover(work, options, language_model, embedder)
        said = ran(work, record)
    if json:
        print_json({"run": run_record(record), "why": chosen.why, "seconds": work.seconds})
    else:
        say(said)


def run(
    rounds: Rounds = None,
    k: NewPerRound = None,
    model: Model = None,
    full_text: FullText = False,
    strategy: StrategyOption = None,
    allow_empty: AllowEmpty = False,
    trace: Trace = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Sync, read, index, discover, and print the digest."""
    from desktop import choice, pipeline
    from desktop.commands.findings import print_current
    from desktop.digest import make_digest, record
    from desktop.output import print_json

    with pipeline.at_work(progress) as work:
        chosen = choice.choose(work.settings, work.folders, model=model or "", strategy=_value(strategy))
        work.told.say(chosen.why)
        options = choice.options(work.settings, chosen, rounds=rounds, new_per_round=k, full_text=full_text)
        done = whole_run(work, chosen, options, allow_empty=allow_empty, progress=progress, trace=trace)
        digest = make_digest(work.store, work.profile.persona.name, work.now, work.profile.zone)
        work.told.pause()
        if json:
            result = {**record(digest), "why": chosen.why, "synced": synced_records(done), "seconds": work.seconds}
            print_json(result)
        else:
            print_current(work.store, digest)
    _end(done)


def whole_run(
    work: Work,
    chosen: Choice,
    options: Options,
    *,
    allow_empty: bool = False,
    progress: Mode = Mode.NONE,
    trace: Path | None = None,
) -> list[Synced]:
    """Sync, read, index and discover; returns how the sync went. No model is started for nothing."""
    from desktop import choice, pipeline

    done = pipeline.sync(work, allow_empty=allow_empty, ask=_ask(progress))
    for line in synced_lines(done):
        work.told.say(line)
    if chosen.model and not pipeline.has_work(work, options, chosen.model, reads=chosen.capable):
        work.told.say("Nothing changed since the last run, so that no model was started.")
        return done
    embedder = None
    with opened(work, chosen, trace) as language_model:
        if language_model is not None:
            pipeline.read(work, language_model)
            embedder = choice.embedder(chosen)
            pipeline.index(work, embedder)
        found = pipeline.discover(work, options, language_model, embedder)
    work.told.say(ran(work, found))
    return done


def opened(work: Work, chosen: Choice, trace: Path | None = None) -> AbstractContextManager[LanguageModel | None]:
    """The chosen model, opened, or None where none is used."""
    from desktop import choice

    if chosen.strategy == "observed":
        return nullcontext()
    with work.step("model"):
        return choice.open_chosen(chosen, work.settings, work.told, trace)


def synced_lines(done: Sequence[Synced]) -> list[str]:
    """One line a source."""
    return [
        f"{item.source}: {item.problem}"
        if item.problem
        else f"{item.source}: {item.changed:,} new or changed, {item.gone:,} gone, {item.held:,} held."
        for item in done
    ]


def synced_records(done: Sequence[Synced]) -> list[dict[str, Any]]:
    """How the sync of each source went, for programs."""
    from dataclasses import asdict

    return [asdict(item) for item in done]


def ran(work: Work, record: Run) -> str:
    """What a run did, in one line."""
    new = sum(finding.run == record.id for finding in work.store.findings.all())
    said = f"Looked by {record.strategy}{f' with {record.model}' if record.model else ''}: {new} new"
    if record.strategy == "observed":
        return f"{said}."
    rounds = len(record.rounds)
    said += f" in {rounds} {'round' if rounds == 1 else 'rounds'}, {len(record.dropped)} dropped by checks"
    return f"{said}; {record.ended}."


def _ask(progress: Mode) -> Ask:
    if progress is not Mode.AUTO or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return lambda question: False
    return lambda question: typer.confirm(one_line(question), default=False, err=True)


def _value(strategy: Strategy | None) -> str:
    return strategy.value if strategy else ""


def _end(done: Sequence[Synced]) -> None:
    if any(item.problem for item in done):
        raise typer.Exit(1)
