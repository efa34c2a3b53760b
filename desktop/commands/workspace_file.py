"""`tide workspace export`: a workspace file as real mail, calendar and documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

group = typer.Typer(help="Write a workspace file out as real files.")


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="workspace", epilog="Example: tide workspace export sample.json --to ./sample")


@group.command(epilog="Example: tide workspace export sample.json --to ./sample")
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tide-workspace/1 file.", show_default=False)],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder to write into.", show_default=False)],
) -> None:
    """Write a workspace file out as real files: mail/ (Maildir), calendar/calendar.ics and documents/."""
    from connectors.export import export_files
    from desktop.output import say
    from workspace import expanded
    from workspace.file import read_workspace

    read = read_workspace(expanded(file))
    export_files(read, expanded(to))
    say(f"Wrote {len(read.artifacts)} artifacts to {to}: mail/, calendar/ and documents/.")
