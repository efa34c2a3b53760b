"""`tide add`: mail, calendars, documents and contacts, on this machine and at servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from desktop.commands import accounts
from desktop.commands.options import Json, Name, Person

group = typer.Typer(help="Add mail, a calendar, documents or contacts. Tide reads there and never writes.")

# What is on this machine: what its help says, and an example.
_LOCAL = {
    "maildir": ("Mail in Maildir folders, as mbsync makes them.", "~/Mail --email you@example.org"),
    "mbox": ("Mail in an mbox file.", "~/archive.mbox --email you@example.org"),
    "eml": ("Mail in a folder of .eml files.", "~/Letters --email you@example.org"),
    "calendar": ("A calendar: an .ics file, or a folder of them.", "~/calendar.ics"),
    "folder": (
        "A folder of documents.\n\nOf these it reads: txt, md, html, csv, pdf, docx, xlsx, pptx, odt and eml.",
        "~/Documents/Work",
    ),
    "contacts": ("Contacts: a .vcf file, or a folder of them.", "~/contacts.vcf"),
}

Emails = Annotated[
    list[str] | None,
    typer.Option(
        "--email", metavar="ADDRESS", help="An address of yours; may be given again for each.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="add")
    accounts.register_kinds(group)
    for kind, (told, example) in _LOCAL.items():
        group.command(kind, help=told, epilog=f"Example: tide add {kind} {example}")(_adding(kind))


def _adding(kind: str) -> Callable[..., None]:
    def add(
        place: Annotated[str, typer.Argument(metavar="PATH", help="The file or folder.", show_default=False)],
        name: Name = "",
        email: Emails = None,
        person: Person = "",
        json: Json = False,
    ) -> None:
        from desktop.adding import Place, add_source
        from desktop.pipeline import looking
        from workspace import UserError

        if not place:
            raise UserError(f"The path is empty. Name the file or folder: tide add {kind} PATH")
        if kind == "calendar" and accounts.is_address(place):
            accounts.add_webcal(place, name=name, emails=email or (), person=person, json=json)
            return
        with looking() as work:
            added = add_source(work, Place(kind), Path(place), name=name, emails=email or (), person=person)
        accounts.tell(added, json)

    return add
