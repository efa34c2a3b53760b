"""Results on stdout: text for the person, JSON for a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from desktop.plain import one_line

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100


def console() -> Console:
    """Where text for the person goes: colour on terminals alone (and never with NO_COLOR), lines of a readable
    width."""
    from rich.console import Console

    found = Console(highlight=False, markup=False, emoji=False)
    if found.width > WIDEST:
        found.width = WIDEST
    return found


def print_json(value: Any) -> None:
    """One JSON document. Only ASCII, so that no character in it can do anything to a terminal."""
    print(json.dumps(value, indent=2))


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; the last column takes the room that is left and wraps. Cells are made plain."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in header[:-1]:
        table.add_column(name, no_wrap=True)
    table.add_column(header[-1], overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console().print(table)


def say(line: str) -> None:
    """A line for the person that is no result, on stderr."""
    print(one_line(line), file=sys.stderr)
