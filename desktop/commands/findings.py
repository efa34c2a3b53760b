"""What was found and what the person makes of it: `tide digest`, `findings`, `show`, `done`, `dismiss`, `snooze`,
`reopen`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

import typer

from desktop.commands.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from desktop.digest import Digest, Item
    from desktop.pipeline import Work
    from workspace import Artifact
    from workspace.store import Store

AROUND = 240
"""Characters of the original that `tide show` prints before and after a quote."""
CUT = 280
"""The digest shows the beginning of an action's longer texts; `tide show` shows all."""
Number = Annotated[
    int,
    typer.Argument(metavar="ID", min=1, max=10**9, help="The number of the finding.", show_default=False),
]


_TRUST = {"self": "yourself", "known": "somebody you know", "unknown": "somebody you have not dealt with"}


class Format(StrEnum):
    TEXT = "text"
    HTML = "html"
    JSON = "json"


class StateName(StrEnum):
    CURRENT = "current"
    ALL = "all"
    NEW = "new"
    SEEN = "seen"
    SNOOZED = "snoozed"
    DISMISSED = "dismissed"
    DONE = "done"
    LAPSED = "lapsed"


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide digest --format html --output today.html")(digest)
    app.command(epilog="Example: tide findings --state dismissed")(findings)
    app.command(epilog="Examples: tide show 3 · tide show a17")(show)
    app.command(epilog="Example: tide done 3")(done)
    app.command(epilog="Examples: tide dismiss 3 --reason wrong · tide dismiss 3 --reason 'we have tents'")(
        dismiss
    )
    app.command(epilog="Examples: tide snooze 3 tomorrow · tide snooze 3 next week · tide snooze 3 2026-03-20")(
        snooze
    )
    app.command(epilog="Example: tide reopen 3")(reopen)


def digest(
    format: Annotated[
        Format, typer.Option("--format", metavar="FORMAT", help="text, html or json.")
    ] = Format.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it into this file.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Print the findings of the day, the most pressing first."""
    from desktop.digest import make_digest
    from desktop.output import say
    from desktop.pipeline import looking

    format = Format.JSON if json else format
    with looking() as work:
        made = make_digest(work.store, work.profile.persona.name, work.now, work.profile.zone)
        if output is not None:
            write_file(output, _written(made, format))
            say(f"Wrote {output}.")
        elif format is Format.TEXT:
            print_current(work.store, made)
        else:
            print(_written(made, format))
        if format is Format.HTML:
            mark_seen(work.store, made)


def findings(
    state: Annotated[
        StateName,
        typer.Option(
            "--state", metavar="STATE", help="current, all, new, seen, snoozed, dismissed, done or lapsed."
        ),
    ] = StateName.CURRENT,
    json: Json = False,
) -> None:
    """List findings, one a line.

    Those that a digest shows, unless you ask for others.
    """
    from desktop.digest.digest import make_items, pressing
    from desktop.digest.record import finding_records
    from desktop.output import print_json, print_rows, say
    from desktop.pipeline import looking
    from workspace import State

    with looking() as work:
        if state is StateName.CURRENT:
            found = work.store.findings.current(work.now)
        elif state is StateName.ALL:
            found = work.store.findings.all()
        else:
            found = work.store.findings.all([State(state.value)])
        zone = work.profile.zone
        found.sort(key=lambda finding: pressing(finding, work.now, zone))
        items = make_items(work.store, found, work.now, zone)
    if json:
        print_json(finding_records(items))
    elif items:
        rows = [(f"#{item.id}", item.state, item.deadline or "—", item.description) for item in items]
        print_rows(("id", "state", "act before", "what is wrong"), rows)
    else:
        say("There are none. `tide run` looks for some; `tide findings --state all` lists all.")


def show(
    which: Annotated[
        str, typer.Argument(metavar="ID", help="A finding (3) or an artifact (a17).", show_default=False)
    ],
    json: Json = False,
) -> None:
    """Show a finding whole, or an artifact."""
    from desktop.pipeline import looking
    from workspace import UserError

    with looking() as work:
        said = which.lower().lstrip("#")
        if said.isdecimal() and len(said) < 10:
            _show_finding(work, int(said), json)
        elif said[:1] == "a" and said[1:].isdecimal() and len(said) < 11:
            artifact = work.store.artifacts.get([int(said[1:])]).get(int(said[1:]))
            if artifact is None:
                raise UserError(f"There is no artifact {said}. `tide search WORDS` finds artifacts.")
            _show_artifact(work, artifact, json)
        else:
            raise UserError(
                f"{which!r} is neither a finding (3) nor an artifact (a17). `tide findings` lists findings."
            )


def done(number: Number, json: Json = False) -> None:
    """Say that you have dealt with a finding.

    Tide then looks first for what its template finds.
    """
    from desktop.output import say
    from desktop.pipeline import looking
    from workspace import State

    with looking() as work:
        work.store.findings.set_state(number, State.DONE)
        if json:
            _print_finding(work, number)
        else:
            say(f"Finding {number} is done.")


def dismiss(
    number: Number,
    reason: Annotated[
        str,
        typer.Option(
            "--reason",
            metavar="WHY",
            help="known, wrong, unimportant, not-mine, or your own words.",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Put a finding away for good.

    The same matter does not come back. Templates whose findings are wrong, unimportant or not yours are looked
    for later than others.
    """
    from desktop.output import say
    from desktop.pipeline import looking
    from workspace import State

    with looking() as work:
        work.store.findings.set_state(number, State.DISMISSED, reason=reason)
        if json:
            _print_finding(work, number)
        else:
            say(f"Finding {number} is dismissed, and its matter does not come back.")


def snooze(
    number: Number,
    until: Annotated[
        list[str],
        typer.Argument(
            metavar="UNTIL", help="tomorrow, next week, friday, 3d, 2w, 4h, a date or a time.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Put a finding away until a later moment."""
    from desktop import moments
    from desktop.output import say
    from desktop.pipeline import looking
    from workspace import State

    with looking() as work:
        zone = work.profile.zone
        moment = moments.until(" ".join(until), work.now, zone)
        finding = work.store.findings.set_state(number, State.SNOOZED, snoozed_until=moment)
        if json:
            _print_finding(work, number)
            return
        said = f"Finding {number} comes back {moments.say(moment, work.now, zone)}"
        if finding.deadline is not None and work.now <= finding.deadline < moment:
            said += f"; it asks to act before {moments.say(finding.deadline, work.now, zone)}"
        say(f"{said}.")


def reopen(number: Number, json: Json = False) -> None:
    """Take a finding up again that is done, dismissed, snoozed or lapsed."""
    from desktop.output import say
    from desktop.pipeline import looking
    from workspace import State

    with looking() as work:
        before = work.store.findings.get(number)
        if before.state is State.LAPSED:
            # It would lapse again at the next run, for the reason that the person does not share.
            work.store.findings.update(before.model_copy(update={"kept": True}))
        work.store.findings.set_state(number, State.SEEN)
        if json:
            _print_finding(work, number)
        else:
            say(f"Finding {number} is open again.")


def print_current(store: Store, made: Digest) -> None:
    """Print the digest for the person, who has then seen what is new in it."""
    from desktop.digest import print_digest
    from desktop.output import console

    out = console()
    print_digest(made, out, cut=CUT)
    if made.items:
        out.print(
            _dim("Next: tide show ID · tide done ID · tide dismiss ID --reason WHY · tide snooze ID tomorrow")
        )
    mark_seen(store, made)


def mark_seen(store: Store, made: Digest) -> None:
    """What a digest showed as new, or back from a snooze, is seen."""
    from workspace import State

    for item in made.items:
        if item.mark:
            store.findings.set_state(item.id, State.SEEN)


def write_file(path: Path, text: str) -> None:
    """Write a file that is the person's alone (0600).

    Raises:
        UserError: if it cannot be written.
    """
    from workspace import UserError, expanded, write_private

    path = expanded(path)
    try:
        if path.exists() and not path.is_file():
            # A device or a pipe is written to; it must not be replaced by a file.
            path.write_text(text, encoding="utf-8")
        else:
            write_private(path, text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Name a file in a folder that you may write to.") from error


def _written(made: Digest, format: Format) -> str:
    import json
    from io import StringIO

    from desktop.digest import page, print_digest, record
    from desktop.output import WIDEST

    if format is Format.HTML:
        return page(made)
    if format is Format.JSON:
        return json.dumps(record(made), indent=2)
    from rich.console import Console

    text = StringIO()
    print_digest(made, Console(file=text, width=WIDEST, highlight=False, markup=False, emoji=False))
    return text.getvalue()


def _item(work: Work, number: int) -> Item:
    from desktop.digest.digest import make_items

    return make_items(work.store, [work.store.findings.get(number)], work.now, work.profile.zone)[0]


def _print_finding(work: Work, number: int) -> None:
    from desktop.digest.record import finding_records
    from desktop.output import print_json

    print_json(finding_records([_item(work, number)])[0])


def _show_finding(work: Work, number: int, json: bool) -> None:
    from desktop.digest.text import print_item
    from desktop.moments import say
    from desktop.output import console
    from workspace import State

    if json:
        _print_finding(work, number)
        return
    item = _item(work, number)
    out = console()
    print_item(item, out)
    finding = item.finding
    state = finding.state.value
    if finding.snoozed_until is not None:
        state += f" until {say(finding.snoozed_until, work.now, work.profile.zone)}"
    if finding.reason:
        state += f" ({finding.reason})"
    out.print()
    out.print(_dim(f"State: {state}. Template: {item.template}. Confidence: {item.confidence:.0%}."))
    artifacts = work.store.artifacts.get(sorted(finding.artifacts))
    for quote in item.quotes:
        artifact = artifacts.get(int(quote.label[1:]))
        out.print()
        if artifact is None:
            out.print(_dim(f"{quote.label} is no longer in the store."))
            continue
        out.print(_dim(f"{quote.label}, in the original:"))
        _print_passage(artifact, quote.text, out)
        if artifact.origin:
            out.print(_dim(unquote(artifact.origin.removeprefix("file://"))))
    if finding.state is State.NEW:
        work.store.findings.set_state(number, State.SEEN)


def _print_passage(artifact: Artifact, quote: str, out: Console) -> None:
    """The quote with what stands around it in the artifact, as it was; its title where it stands elsewhere."""
    from rich.text import Text

    from desktop.plain import plain

    for whole in (plain(artifact.text), plain(artifact.quoted)):
        at = whole.find(plain(quote))
        if at >= 0:
            start, end = max(0, at - AROUND), min(len(whole), at + len(plain(quote)) + AROUND)
            before, after = "… " * (start > 0), " …" * (end < len(whole))
            shown = Text(before + whole[start:end].strip() + after)
            shown.highlight_words([plain(quote)], "bold")
            out.print(shown)
            return
    beginning = plain(artifact.text).strip()[: 2 * AROUND]
    out.print(Text("\n".join(filter(None, (plain(artifact.title).strip(), beginning)))))


_KIN = 10  # mails and attachments that are named beside an artifact


def _show_artifact(work: Work, artifact: Artifact, json: bool) -> None:
    from desktop.digest.digest import whence
    from desktop.moments import say
    from desktop.output import console, print_json
    from desktop.plain import one_line, plain

    if json:
        print_json(artifact_record(artifact))
        return
    from rich.text import Text

    now, zone = work.now, work.profile.zone
    out = console()
    out.print(
        Text.assemble(
            (artifact.label, "bold cyan"), "  ", (one_line(artifact.title) or "(without a title)", "bold")
        )
    )
    out.print(_dim(whence(artifact, now, zone)))
    for person in artifact.people:
        out.print(_dim(f"{person.role.value}: {person}" + (f" ({person.status})" if person.status else "")))
    facts = {
        "ends": say(artifact.end, now, zone) if artifact.end else "",
        "due": say(artifact.due, now, zone) if artifact.due else "",
        "status": "cancelled" if artifact.cancelled else artifact.status,
        "where": artifact.location,
        "file": artifact.origin,
        "who": _TRUST[artifact.trust.value],
        "defects": "; ".join(artifact.defects),
    }
    for name, value in facts.items():
        if value:
            out.print(_dim(f"{name}: {value}"))
    kin = work.store.ties.kin(artifact.id, now, _KIN)
    beside = work.store.artifacts.get(list(dict.fromkeys((*kin.parents, *kin.attachments, *kin.invited))))
    for other in beside.values():
        title = one_line(other.title) or "(without a title)"
        out.print(_dim(f"belongs to: {other.label} {title} ({whence(other, now, zone)})"))
    for text in (artifact.text, artifact.quoted and f"Quoted:\n{artifact.quoted}"):
        if text.strip():
            out.print()
            out.print(Text(plain(text).strip()))


def artifact_record(artifact: Artifact) -> dict[str, Any]:
    """An artifact for programs."""
    from dataclasses import asdict
    from datetime import datetime

    values = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(artifact).items()
    }
    return {**values, "label": artifact.label}


def _dim(line: str) -> Any:
    from rich.text import Text

    from desktop.plain import one_line

    return Text(one_line(line), "dim")
