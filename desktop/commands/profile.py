"""`tide profile`: what the person said of themselves, what it could say beside, and whom they deal with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from desktop.commands.options import Json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from desktop.pipeline import Work
    from workspace.people import AddressBook, Contact
    from workspace.suggestions import Suggestion

SHOWN = 15
"""How many of the people most in touch are printed."""


def register(app: typer.Typer) -> None:
    app.command(epilog="Examples: tide profile --edit · tide profile --take · tide profile --take manager")(
        profile
    )


def profile(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUGGESTION]...",
            help="With --take: only these, by what they are about or by the address.",
            show_default=False,
        ),
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Open the profile in your editor.")] = False,
    take: Annotated[
        bool,
        typer.Option("--take", help="Take suggestions over: the facts, and of the guesses those you confirm."),
    ] = False,
    json: Json = False,
) -> None:
    """Show your profile, what it could say beside, and whom you are most in touch with.

    Suggestions come from your mail, meetings and contacts. None is used before you take it over.
    """
    from desktop.editing import edit_profile
    from desktop.pipeline import looking
    from workspace import Folders, UserError

    if what and not take:
        raise UserError("Suggestions are taken over with --take, as in: tide profile --take manager")
    if edit and (take or json):
        raise UserError("--edit goes alone: tide profile --edit")
    if edit:
        edit_profile(Folders.find().profile)
        return
    with looking() as work:
        if take:
            _take(work, what or [], json)
        else:
            _show(work, json)


def _show(work: Work, json: bool) -> None:
    from desktop.output import console, print_json
    from workspace.suggestions import suggest

    book = work.store.people.book(work.profile, work.now)
    suggestions = suggest(work.profile, book)
    if json:
        print_json(
            {
                "path": str(work.folders.profile),
                "profile": work.profile.model_dump(mode="json"),
                "suggestions": [_suggestion_record(one) for one in suggestions],
                "people": [_contact_record(one) for one in (*book.people, *book.automatic)],
            }
        )
        return
    out = console()
    for part in (*_said(work), *_suggested(suggestions), *_in_touch(book, work)):
        out.print(part)


def _said(work: Work) -> list[RenderableType]:
    """What stands in the profile, a line for each key that says something."""
    from rich.text import Text

    from desktop.plain import one_line

    told = work.profile
    persona, world = told.persona, told.world_model
    people = [f"{one.name} ({one.relation})" if one.relation else one.name for one in world.relationships]
    rows = [
        ("name", persona.name),
        ("addresses", ", ".join(persona.emails)),
        ("time zone", told.timezone),
        ("occupation", persona.occupation),
        ("about", persona.about),
        ("organization", ", ".join(filter(None, (world.organization.name, world.organization.department)))),
        ("reports to", world.organization.reports_to),
        ("priorities", "\n".join(map(one_line, world.priorities))),
        ("people", ", ".join(people)),
    ]
    path = work.folders.profile
    where = f"in {path}" if path.exists() else f"would stand in {path}, which is not written yet"
    parts: list[RenderableType] = [Text.assemble(("Your profile", "bold"), f" {where}", overflow="fold")]
    parts.append(_rows([(name, value) for name, value in rows if value], dim=True))
    return parts


def _suggested(suggestions: Sequence[Suggestion]) -> list[RenderableType]:
    from rich.text import Text

    if not suggestions:
        return []
    heading = Text.assemble(
        "\n", ("Suggestions", "bold"), ", not used until you take them over: tide profile --take"
    )
    rows = [
        ("fact" if one.fact else "guess", f"{_label(one)}\n{one.reason[:1].upper()}{one.reason[1:]}.")
        for one in suggestions
    ]
    return [heading, _rows(rows)]


def _in_touch(book: AddressBook, work: Work) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from desktop.plain import one_line

    found = [one for one in book.people if one.mails_from or one.mails_to or one.meetings]
    if not found:
        return [Text("\nNobody has been met in your mail and calendar yet. Next: tide sync")]
    # One row has all the addresses of a person; who bears the same name is told there, and not once more.
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("most in touch", overflow="fold")
    for name in ("from", "to", "met"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("last", "known from"):
        table.add_column(name, no_wrap=True)
    for one in found[:SHOWN]:
        lines = [one_line(one.name) or "(no name)", *map(one_line, one.addresses)]
        lines += [f"one person: {one.merged}"] if one.merged else []
        lines += [
            f"perhaps also {one_line(other.email)}: the same name; {_known(other.known)}"
            for other in one.namesakes
        ]
        said = Text("\n").join([Text(lines[0], "bold"), *(Text(f"  {line}", "dim") for line in lines[1:])])
        last = f"{one.last.astimezone(work.profile.zone):%Y-%m-%d}" if one.last else ""
        table.add_row(
            said, *map(str, (one.mails_from, one.mails_to, one.meetings)), last, one.known.value or "not known"
        )
    more = len(found) - SHOWN
    parts: list[RenderableType] = [Text(""), table]
    counts = ((more, "more person", "more people"), (len(book.automatic), "automatic sender", "automatic senders"))
    rest = [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count > 0]
    if rest:
        parts.append(Text(f"And {' and '.join(rest)}; --json lists all.", "dim"))
    return parts


def _rows(rows: Sequence[tuple[str, str]], *, dim: bool = False) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    from desktop.plain import one_line

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        lines = [one_line(line) for line in value.split("\n")]
        table.add_row(Text(f"  {name}", "dim" if dim else ""), Text("\n".join(lines)))
    return table


def _known(known: str) -> str:
    return f"known from {known}" if known else "not known"


def _label(one: Suggestion) -> str:
    """A suggestion in words: `manager: Helen Tierney`, `ben@example.org: Ben Ortiz, colleague`."""
    from workspace.suggestions import About

    if one.about is About.PERSON:
        return f"{one.email}: {one.value}, {one.relation}"
    if one.about is About.ADDRESS:
        return f"{one.value}: an address of yours"
    return f"{one.about.value}: {one.value}"


def _take(work: Work, wanted: Sequence[str], json: bool) -> None:
    from desktop.editing import at_terminal
    from desktop.output import print_json, say
    from desktop.plain import one_line
    from workspace import UserError
    from workspace.suggestions import suggest, taken

    found = suggest(work.profile, work.store.people.book(work.profile, work.now))
    names = {name.strip().lower() for name in wanted}
    for name in sorted(names - {one.handle for one in found}):
        raise UserError(f"There is no suggestion {name!r}. `tide profile` lists those that there are.")
    asks = not names and not json and at_terminal()
    took = []
    for one in found:
        question = one_line(f"{_label(one)} ({one.reason}). Is that so?")
        if one.handle in names or (not names and (one.fact or (asks and typer.confirm(question, default=False)))):
            took.append(one)
    if took:
        taken(work.profile, took).save(work.folders.profile)
    left = [one for one in found if one not in took]
    if json:
        records = {"taken": took, "left": left}
        print_json({name: [_suggestion_record(one) for one in ones] for name, ones in records.items()})
        return
    for one in took:
        say(f"Took over {_label(one)}.")
    if not found:
        say("There is nothing to take over.")
    elif not took and not left:
        say("Nothing was taken over.")
    elif left and not names and not asks:
        handles = " ".join(one.handle for one in left[:3])
        say(f"Guesses are left, and nobody was there to confirm them. Name them: tide profile --take {handles}")


def _suggestion_record(one: Suggestion) -> dict[str, Any]:
    record = {"suggestion": one.handle, "about": one.about.value, "value": one.value, "reason": one.reason}
    person = {"email": one.email, "relation": one.relation} if one.email else {}
    return {**record, **person, "fact": one.fact}


def _contact_record(one: Contact) -> dict[str, Any]:
    return {
        "name": one.name,
        "addresses": list(one.addresses),
        "names": list(one.names),
        "merged": one.merged,
        "known_from": one.known.value,
        "automatic": one.automatic,
        "mails_from": one.mails_from,
        "mails_to": one.mails_to,
        "meetings": one.meetings,
        "last": one.last.isoformat() if one.last else None,
        "same_name": [{"email": other.email, "known_from": other.known.value} for other in one.namesakes],
    }
