"""`tide models`: which models there are, which fit this machine and why, and fetching their weights."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    pass
