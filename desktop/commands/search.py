"""`tide search`: artifacts by their words."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from desktop.commands.options import Json


class KindName(StrEnum):
    EMAIL = "email"
    EVENT = "event"
    DOCUMENT = "document"
    TASK = "task"


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide search budget review --kind email")(search)


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help="All of them must occur.", show_default=False)
    ],
    kind: Annotated[
        KindName | None,
        typer.Option("--kind", metavar="KIND", help="Only email, event, document or task.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="At most so many.")] = 20,
    json: Json = False,
) -> None:
    """Find artifacts that hold all the words, the best first."""
    from desktop.commands.findings import artifact_record
    from desktop.digest.digest import whence
    from desktop.output import console, print_json, say
    from desktop.pipeline import looking
    from desktop.plain import one_line
    from workspace import Kind

    with looking() as work:
        now, zone = work.now, work.profile.zone
        hits = work.store.artifacts.search(" ".join(words), kind=Kind(kind.value) if kind else None, limit=limit)
    if json:
        print_json([{**artifact_record(hit.artifact), "passage": hit.passage} for hit in hits])
        return
    if not hits:
        say("Nothing holds all of these words. Try fewer, or the beginning of one.")
        return
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    for hit in hits:
        title = one_line(hit.artifact.title, 120) or "(without a title)"
        out.print(Text.assemble((hit.artifact.label, "bold cyan"), "  ", (title, "bold")))
        out.print(Padding(Text(whence(hit.artifact, now, zone), "dim"), (0, 0, 0, 4), expand=False))
        out.print(Padding(Text(one_line(hit.passage, 300)), (0, 0, 0, 4), expand=False))
