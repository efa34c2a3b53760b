"""`tide sources`: what Tide looks at, and how each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

import typer

from desktop.commands.options import Json

if TYPE_CHECKING:
    from workspace.store import Source


def register(app: typer.Typer) -> None:
    app.command(name="sources", epilog="Example: tide sources --json")(show_sources)


def show_sources(json: Json = False) -> None:
    """List the sources and how each of them is."""
    from desktop.adding import place_of
    from desktop.moments import say as say_when
    from desktop.output import print_json, say
    from desktop.pipeline import looking
    from workspace import Accounts

    with looking() as work:
        artifacts, zone = work.store.artifacts, work.profile.zone
        accounts = Accounts.load(work.folders.accounts)
        found = [
            (
                replace(source, location=place_of(source, accounts.get(source.name))),
                artifacts.count_source(source.name),
            )
            for source in artifacts.sources()
        ]
        now = work.now
    if json:
        print_json([_record(source, count) for source, count in found])
        return
    if not found:
        say("There are no sources yet. Add one, for example: tide add imap you@example.org")
        return
    rows = [
        (
            source.name,
            source.kind,
            f"{count:,}",
            say_when(source.last_success, now, zone) if source.last_success else "never",
            in_words(source, now, zone),
        )
        for source, count in found
    ]
    _print(("name", "kind", "artifacts", "last success", "state"), rows, [_below(source) for source, _ in found])


def in_words(source: Source, now: datetime, zone: tzinfo) -> str:
    """How a source is."""
    from desktop.moments import say

    if not source.state:
        return "well" if source.last_success else "never synced"
    if source.state == "away":
        return f"away since {say(source.last_success, now, zone)}" if source.last_success else "away"
    return _STATES.get(source.state, "in trouble")


_STATES = {
    "sign-in": "sign in again",
    "certificate": "certificate refused",
    "quota": "asked too often",
    "locked": "no secret",
    "empty": "suddenly empty",
}


def _record(source: Source, count: int) -> dict[str, object]:
    return {
        "name": source.name,
        "kind": source.kind,
        "location": source.location,
        "artifacts": count,
        "last_success": source.last_success.isoformat() if source.last_success else None,
        "state": source.state or ("well" if source.last_success else "never"),
        "problem": source.problem,
    }


def _below(source: Source) -> list[str]:
    """The lines below a source: where it is, and what is wrong."""
    return [source.location, source.problem] if source.problem else [source.location]


def _print(header: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> None:
    """Each source in a line of columns, and what is long below it, over the whole width."""
    from rich.padding import Padding
    from rich.text import Text

    from desktop.output import console
    from desktop.plain import one_line

    out = console()
    cells = [[one_line(cell, 40) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [header, *cells]) for column in range(len(header))]
    right = header.index("artifacts")

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if column == right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    out.print(Text(line(header), "dim"))
    for row, lines in zip(cells, below, strict=True):
        out.print(Text(line(row)))
        for text in lines:
            out.print(Padding(Text(one_line(text), "dim", overflow="fold"), (0, 0, 0, 2), expand=False))
