"""The `tide` command. What each of its parts needs is imported when it runs, so that it starts at once."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from desktop.commands import (
    add,
    demo,
    doctor,
    eval,
    export,
    findings,
    forget,
    models,
    profile,
    search,
    sign_in,
    sources,
    templates,
    watch,
    work,
    workspace_file,
)
from desktop.errors import EPILOG, Program


class Tide(Program):
    """Lists what one begins with first; Typer has groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: name != "add")


app = typer.Typer(
    name="tide",
    cls=Tide,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"tide {version('tide-assistant')}")
        except PackageNotFoundError:
            print("tide from its sources, not installed")
        raise typer.Exit


@app.callback()
def tide(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Finds the problems in your mail, calendar and files that nobody has noticed, on this machine alone.

    Begin with: tide demo. Then: tide add imap you@example.org (or another of tide add --help), and: tide run.
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


for part in (
    add,
    sign_in,
    sources,
    forget,
    profile,
    work,
    watch,
    findings,
    search,
    templates,
    models,
    doctor,
    export,
    workspace_file,
    demo,
    eval,
):
    part.register(app)


def main() -> None:
    """The entry point of the command."""
    # A terminal that lacks a character shows another one; it is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()
