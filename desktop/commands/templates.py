"""`tide templates`: the classes of trouble that Tide looks for, the person's own among them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import Json, Model, Progress
from desktop.progress import Mode

if TYPE_CHECKING:
    from desktop.pipeline import Work
    from templates import Pool, SolvedCase, Template
    from workspace import Finding, Run, Settings

EXAMPLE = "Examples: tide templates list · tide templates test notice-period-closing · tide templates case 3"

group = typer.Typer(
    help="The classes of trouble that Tide looks for: see, change, switch off, try and make them.",
    epilog=EXAMPLE,
    no_args_is_help=True,
)
Id = Annotated[str, typer.Argument(metavar="ID", help="As `tide templates list` shows it.", show_default=False)]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="templates")


@group.command("list", epilog="Example: tide templates list --json")
def list_(json: Json = False) -> None:
    """List all templates, how many findings each had, and what you made of them."""
    from desktop.output import print_json, print_rows
    from desktop.pipeline import looking, pool_of
    from inference.weights import template_weights

    with looking() as work:
        pool = pool_of(work)
        findings = work.store.findings.all()
    weights = template_weights(findings)
    count = {name: sum(finding.template == name for finding in findings) for name in pool.templates}
    if json:
        print_json(
            [
                {
                    **_record(pool, pool.templates[name]),
                    "findings": count[name],
                    "weight": weights.get(name, 1.0),
                }
                for name in sorted(pool.templates)
            ]
        )
    else:
        rows = [
            (name, _state(pool, name), str(count[name] or ""), f"{weights.get(name, 1.0):.2f}", template.name)
            for name, template in sorted(pool.templates.items())
        ]
        print_rows(("id", "state", "found", "weight", "name"), rows)
    _tell_faults(pool)


@group.command(epilog="Example: tide templates show notice-period-closing")
def show(template: Id, json: Json = False) -> None:
    """Show a template whole, and the solved cases behind it."""
    from rich.padding import Padding
    from rich.text import Text

    from desktop.output import console, print_json
    from desktop.pipeline import looking, pool_of
    from desktop.plain import one_line

    with looking() as work:
        pool = pool_of(work)
    found = pool.get(template)
    if json:
        print_json(_record(pool, found))
        return
    out = console()
    out.print(Text.assemble((found.id, "bold cyan"), "  ", (found.name, "bold"), f"  [{_state(pool, found.id)}]"))
    out.print(Padding(Text(" ".join(found.pattern.split())), (0, 0, 0, 4), expand=False))
    for number, step in enumerate(found.evidence_flow, start=1):
        out.print(Padding(Text.assemble((f"{number}  ", "dim"), step), (0, 0, 0, 4), expand=False))
    out.print(Padding(Text(f"Usually resolved by: {', '.join(found.actions)}", "dim"), (0, 0, 0, 4), expand=False))
    for name in found.cases:
        case = pool.cases[name]
        out.print(Padding(Text(f"Case {name}: {one_line(case.problem, 400)}", "dim"), (0, 0, 0, 4), expand=False))


@group.command(epilog="Example: tide templates edit notice-period-closing")
def edit(template: Id) -> None:
    """Edit a template in your editor. One that comes with Tide is copied first, and the copy takes its place."""
    from desktop import editing
    from desktop.pipeline import looking, pool_of
    from templates import load_pool
    from workspace import UserError

    with looking() as work:
        pool, folder, command = pool_of(work), work.folders.templates, f"tide templates edit {template}"
        path = folder / "workspace" / f"{template}.toml"
        if path not in (folder / "workspace").glob("*.toml") or not path.exists():
            _write(path, pool.get(template))

    def read(path: Path) -> None:
        fault = next((fault for fault in load_pool(folder).faults if fault.startswith(str(path))), "")
        if fault:
            raise UserError(fault)

    editing.edit(path, read, command)


@group.command(epilog="Example: tide templates enable notice-period-closing")
def enable(template: Id) -> None:
    """Look for what a template describes, from the next run on."""
    _switch(template, on=True)


@group.command(epilog="Example: tide templates disable discount-about-to-lapse")
def disable(template: Id) -> None:
    """Do not look for what a template describes any more."""
    _switch(template, on=False)


@group.command("test", epilog="Example: tide templates test notice-period-closing")
def try_(
    template: Id,
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, max=365, help="What is new in so many days.")
    ] = 30,
    model: Model = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Try a template alone on what came in the last 30 days. Nothing is stored.

    Without a language model, what can be computed for it is shown.
    """
    from desktop.digest.digest import make_items
    from desktop.digest.record import finding_records, run_record
    from desktop.digest.text import print_item
    from desktop.output import console, print_json, say
    from desktop.pipeline import at_work

    with at_work(progress) as work:
        run, found = _dry_run(work, template, days, model or "")
        items = make_items(work.store, found, work.now, work.profile.zone)
        work.told.pause()
    if json:
        print_json({"findings": finding_records(items), "run": run_record(run)})
        return
    out = console()
    for item in items:
        print_item(item, out)
        out.print()
    checks = ", ".join(f"{item.check}: {item.description}" for item in run.dropped[:5])
    say(
        f"{len(items)} found in the last {days} days, {len(run.dropped)} dropped"
        + (f" ({checks}). " if checks else ". ")
        + "This was a trial: nothing of it is kept, and no finding has these numbers."
    )


@group.command(epilog="Example: tide templates case 3")
def case(
    finding: Annotated[
        int, typer.Argument(metavar="ID", min=1, help="A finding that is done.", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Make a solved case of a finding that you accepted (`tide done`)."""
    from desktop.output import print_json, say
    from desktop.pipeline import looking, pool_of

    with looking() as work:
        pool = pool_of(work)
        made = _case_of(work, pool, work.store.findings.get(finding))
        # Asked again, it is the case that it was.
        again = (one for one in pool.cases.values() if made == one.model_copy(update={"id": made.id}))
        made = next(again, made)
        path = _write_case(work.folders.templates, made)
    if json:
        print_json(made.model_dump(mode="json", by_alias=True))
    else:
        say(f"Wrote {path}. Next, a template of it: tide templates distill {made.id}")


@group.command(epilog="Example: tide templates distill allotment-committee my-case.json")
def distill(
    cases: Annotated[
        list[str],
        typer.Argument(metavar="CASE…", help="Ids or files of solved cases of one class.", show_default=False),
    ],
    model: Model = None,
    json: Json = False,
    progress: Progress = Mode.AUTO,
) -> None:
    """Make a template of solved cases with the language model, check it, and keep it as one of yours."""
    import secrets

    from desktop import choice
    from desktop.commands.work import opened
    from desktop.output import print_json, say
    from desktop.pipeline import at_work, pool_of
    from inference.distilling import distill as write
    from workspace import UserError

    with at_work(progress) as work:
        pool = pool_of(work)
        chosen_cases = [_case(pool, name) for name in cases]
        chosen = choice.choose(work.settings, work.folders, model=model or "", strategy="tide" if model else "")
        with opened(work, chosen) as language_model:
            if language_model is None:
                raise UserError(f"To distil a template takes a language model. {chosen.why}")
            names = [one.name for one in pool.templates.values()]
            others = [one for name, one in pool.cases.items() if name not in {mine.id for mine in chosen_cases}]
            made = write(
                chosen_cases,
                others,
                names,
                {*pool.templates, *_named(work, "workspace/*.toml")},
                language_model,
                choice.embedder(chosen),
                secrets.token_hex(8),
            )
        for one in chosen_cases:
            if one.id not in pool.cases:
                _write_case(work.folders.templates, one)
        path = work.folders.templates / "workspace" / f"{made.id}.toml"
        _write(path, made)
    if json:
        print_json(made.model_dump(mode="json"))
    else:
        say(f"Wrote {path}. Try it: tide templates test {made.id}")


def _record(pool: Pool, template: Template) -> dict[str, object]:
    return {
        **template.model_dump(mode="json"),
        "personal": template.id in pool.personal,
        "enabled": template.id not in pool.disabled,
    }


def _state(pool: Pool, template: str) -> str:
    own = "yours" if template in pool.personal else "Tide's"
    return f"{own}, off" if template in pool.disabled else own


def _tell_faults(pool: Pool) -> None:
    from desktop.output import say

    for fault in pool.faults:
        say(f"Left out: {fault}")


def _switch(template: str, *, on: bool) -> None:
    from desktop.output import say
    from desktop.pipeline import looking, pool_of

    with looking() as work:
        if not on or template not in work.settings.disabled_templates:
            pool_of(work).get(template)
        off = set(work.settings.disabled_templates) - {template} | (set() if on else {template})
        settings: Settings = work.settings.model_copy(update={"disabled_templates": tuple(sorted(off))})
        settings.save(work.folders.settings)
    say(f"{template} is {'on' if on else 'off'} from the next run on.")


def _dry_run(work: Work, template: str, days: int, model: str) -> tuple[Run, list[Finding]]:
    """Discovery by this template alone in a copy of the store that holds no finding and no run."""
    import sqlite3
    from contextlib import closing
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from desktop import choice, pipeline
    from desktop.commands.work import opened
    from workspace.store import Store

    only = pipeline.pool_of(work).get(template)
    chosen = choice.choose(work.settings, work.folders, model=model)
    work.told.say(chosen.why)
    with TemporaryDirectory(prefix="tide-test-") as folder:
        copy = Path(folder) / "tide.sqlite"
        with closing(sqlite3.connect(work.folders.store)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("PRAGMA foreign_keys = ON")
            for table in ("finding", "closed_view", "run"):
                target.execute(f"DELETE FROM {table}")
            target.commit()
        with Store(copy) as store, opened(work, chosen) as language_model:
            there = replace(work, store=store, folders=replace(work.folders, cache=Path(folder)), seconds={})
            options = choice.options(work.settings, chosen, rounds=None, new_per_round=None, full_text=False)
            options = replace(options, seed_days=days)
            embedder = None
            if language_model is not None:
                pipeline.read(there, language_model)
                embedder = choice.embedder(chosen)
                pipeline.index(there, embedder)
            run = pipeline.discover(there, options, language_model, embedder, (only,))
            return run, store.findings.all()


def _case_of(work: Work, pool: Pool, finding: Finding) -> SolvedCase:
    from templates import case_of
    from workspace import REFERENCES, State, UserError

    if finding.state is not State.DONE:
        raise UserError(f"Finding {finding.id} is {finding.state}. Accept it first: tide done {finding.id}")
    rows = set(finding.artifacts)
    rows |= {int(str(value)[1:]) for name, value in finding.action.parameters.items() if name in REFERENCES}
    if len(rows) == 1:
        # What one artifact shows is understood by what stands beside it.
        for row in sorted(rows):
            kin = work.store.ties.kin(row, work.now, 3)
            rows.update((*kin.parents, *kin.attachments, *kin.thread))
    template = pool.templates.get(finding.template)
    named = " ".join(template.pattern.split()) if template else finding.template
    taken = {*pool.cases, *_named(work, "cases/*.json")}
    return case_of(finding, work.store.artifacts.get(sorted(rows)), work.profile, named, taken)


def _named(work: Work, pattern: str) -> set[str]:
    """The names of the person's files, those that are left out among them, which must not be written over."""
    return {path.stem for path in work.folders.templates.glob(pattern)}


def _case(pool: Pool, name: str) -> SolvedCase:
    """A case by its id, else by its file."""
    from templates import read_case
    from workspace import UserError, expanded

    if name in pool.cases:
        return pool.cases[name]
    path = expanded(name)
    if path.suffix == ".json":
        return read_case(path)
    raise UserError(
        f"There is no solved case {name!r}. Name the .json file of one, or make one: tide templates case ID"
    )


def _write_case(folder: Path, case: SolvedCase) -> Path:
    import json

    path = folder / "cases" / f"{case.id}.json"
    _write_private(
        path, json.dumps(case.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=2) + "\n"
    )
    return path


def _write(path: Path, template: Template) -> None:
    import tomli_w

    said = template.model_dump(mode="json", exclude={"setting"})
    said["pattern"] = " ".join(template.pattern.split())
    _write_private(path, tomli_w.dumps(said, multiline_strings=True))


def _write_private(path: Path, text: str) -> None:
    from workspace import UserError, write_private

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Make sure that it is in a folder of yours.") from error
