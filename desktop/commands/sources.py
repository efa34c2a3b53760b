"""`tide add` and `tide sources`: which mail, calendars and folders Tide looks at."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import Json

if TYPE_CHECKING:
    from desktop.pipeline import Work
    from workspace import Profile


class Place(StrEnum):
    MAILDIR = "maildir"
    MBOX = "mbox"
    EML = "eml"
    CALENDAR = "calendar"
    FOLDER = "folder"


MAIL = (Place.MAILDIR, Place.MBOX, Place.EML)


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide add maildir ~/Mail --email you@example.org --person 'Ann Lee'")(add)
    app.command(name="sources", epilog="Example: tide sources --json")(show_sources)


def add(
    kind: Annotated[
        Place,
        typer.Argument(metavar="KIND", help="maildir, mbox, eml, calendar or folder.", show_default=False),
    ],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file or folder.", show_default=False)],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What to call it; made from the path if not given.")
    ] = "",
    email: Annotated[
        list[str] | None,
        typer.Option(
            "--email",
            metavar="ADDRESS",
            help="An address of yours; may be given again for each.",
            show_default=False,
        ),
    ] = None,
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="Your name.", show_default=False)] = "",
    json: Json = False,
) -> None:
    """Add mail, a calendar or a folder of documents.

    Tide reads there and never writes. maildir, mbox and eml are mail; calendar is an .ics file or a folder of
    them; folder holds documents (txt, md, html, csv, pdf, docx, xlsx).
    """
    from desktop.output import print_json, say
    from desktop.pipeline import looking

    with looking() as work:
        name, location, holds = add_source(work, kind, path, name=name, emails=email or (), person=person)
    if json:
        print_json({"name": name, "kind": kind.value, "location": location, "holds": holds})
    else:
        say(f"Added {name}: {holds}. Next: tide run")


def add_source(
    work: Work, kind: Place, path: Path, *, name: str = "", emails: Sequence[str] = (), person: str = ""
) -> tuple[str, str, str]:
    """Add a source, and what is said of the person to the profile; returns name, location and what it holds.

    Raises:
        UserError: if the place cannot be read, is there already, or mail is added while no address is known.
    """
    from desktop.pipeline import connector
    from workspace import UserError, expanded

    location = str(expanded(path).absolute())
    for told in (location, name, person):
        if re.search("[\ud800-\udfff]", told):
            raise UserError(
                f"{told!r} is not in UTF-8, so that it cannot be kept. Rename it, or name a link to it."
            )
    known = work.store.artifacts.sources()
    for source in known:
        # The same place may be named in several ways, through links and `..`.
        if source.kind == kind and os.path.realpath(source.location) == os.path.realpath(location):
            raise UserError(
                f"{location} is there already, as {source.name!r}. `tide sync {source.name}` brings it in."
            )
    profile = _with_person(work.profile, emails, person)
    if kind in MAIL and not profile.persona.emails:
        raise UserError("Tide must know which address is yours. Add it: --email you@example.org")
    if not os.path.exists(location):
        raise UserError(f"{location} does not exist. Name the file or folder that holds the {kind.value}.")
    name = name or _free_name(path, kind, {source.name for source in known})
    holds = connector(work, name, kind.value, location).check().rstrip(".")
    work.store.artifacts.add_source(name, kind.value, location, work.now)
    if profile != work.profile:
        profile.save(work.folders.profile)
    return name, location, holds


def show_sources(json: Json = False) -> None:
    """List the sources, and how their last sync went."""
    from desktop.moments import say as say_when
    from desktop.output import print_json, print_rows, say
    from desktop.pipeline import looking

    with looking() as work:
        artifacts, zone = work.store.artifacts, work.profile.zone
        found = [(source, artifacts.count_source(source.name)) for source in artifacts.sources()]
        now = work.now
    if json:
        print_json(
            [
                {
                    "name": source.name,
                    "kind": source.kind,
                    "location": source.location,
                    "artifacts": count,
                    "last_success": source.last_success.isoformat() if source.last_success else None,
                    "problem": source.problem,
                }
                for source, count in found
            ]
        )
    elif found:
        rows = [
            (
                source.name,
                source.kind,
                f"{count:,}",
                say_when(source.last_success, now, zone) if source.last_success else "never",
                source.problem or source.location,
            )
            for source, count in found
        ]
        print_rows(("name", "kind", "artifacts", "last sync", "where, or what is wrong"), rows)
    else:
        say("There are no sources yet. Add one, for example: tide add maildir ~/Mail --email you@example.org")


def _with_person(profile: Profile, emails: Sequence[str], person: str) -> Profile:
    from workspace import UserError

    for email in emails:
        if not email.isprintable() or not re.fullmatch(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+", email.strip()):
            raise UserError(f"{email!r} is no mail address. Write it like --email you@example.org")
    given = [email.strip().lower() for email in emails]
    all_emails = tuple(dict.fromkeys([*profile.persona.emails, *given]))
    persona = profile.persona.model_copy(update={"emails": all_emails, "name": person or profile.persona.name})
    return profile.model_copy(update={"persona": persona})


def _free_name(path: Path, kind: Place, taken: set[str]) -> str:
    stem = re.sub(r"[^\w]+", "-", path.absolute().name.rsplit(".", 1)[0] or path.name.lstrip("."))
    first = stem.strip("-_").lower() or kind.value
    name, number = first, 1
    while name in taken:
        number += 1
        name = f"{first}-{number}"
    return name
