"""`tide export`: everything that was found, for other programs and for keeping."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import typer

if TYPE_CHECKING:
    from desktop.pipeline import Work


def register(app: typer.Typer) -> None:
    app.command(epilog="Examples: tide export · tide export findings.json · tide export ./folder")(export)


def export(
    to: Annotated[
        Path,
        typer.Argument(metavar="TO", help="A .json file or a folder; stdout if not given.", show_default=False),
    ] = Path("-"),
) -> None:
    """Write all findings, runs and sources as JSON.

    Nothing secret is in it; the files are yours alone (0600).
    """
    import json

    from desktop.commands.findings import write_file
    from desktop.output import print_json, say
    from desktop.pipeline import looking
    from workspace import UserError, expanded

    with looking() as work:
        parts = everything(work)
    if str(to) == "-":
        print_json(parts)
        return
    if to.suffix.lower() == ".json":
        write_file(to, json.dumps(parts, indent=2))
    else:
        try:
            expanded(to).mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UserError(f"{to}: {error.strerror}. Name a .json file or a folder.") from error
        for name, part in parts.items():
            write_file(to / f"{name}.json", json.dumps(part, indent=2))
    counts = ", ".join(f"{len(part):,} {name if len(part) != 1 else name[:-1]}" for name, part in parts.items())
    say(f"Wrote {counts} to {to}.")


def everything(work: Work) -> dict[str, list[dict[str, Any]]]:
    """Findings in all states, runs and sources."""
    from desktop.digest.digest import make_items
    from desktop.digest.record import finding_records

    items = make_items(work.store, work.store.findings.all(), work.now, work.profile.zone)
    return {
        "findings": finding_records(items),
        "runs": [run.model_dump(mode="json") for run in work.store.runs.all()],
        "sources": [
            {
                "name": source.name,
                "kind": source.kind,
                "location": without_secret(source.location),
                "last_success": source.last_success.isoformat() if source.last_success else None,
                "problem": source.problem,
            }
            for source in work.store.artifacts.sources()
        ],
    }


def without_secret(location: str) -> str:
    """A location without the user, password and query that an address may carry."""
    if "://" not in location:
        return location
    parts = urlsplit(location)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
