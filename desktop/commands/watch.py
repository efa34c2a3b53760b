"""`tide watch`: the local copy kept in step while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from desktop.commands.options import Progress
from desktop.progress import Mode, emit

if TYPE_CHECKING:
    from desktop.pipeline import Synced


def register(app: typer.Typer) -> None:
    app.command(epilog="Example: tide watch --progress json")(watch)


def watch(progress: Progress = Mode.AUTO) -> None:
    """Keep what Tide holds in step with the sources, until Ctrl-C.

    New mail comes in as it arrives, and files as they are saved. Nothing is asked of a model: tide run does that,
    also while this goes on. With --progress json, each sync is a line with its source, what came in and its state.
    """
    from desktop import watching

    watching.watch(progress, _JsonLines() if progress is Mode.JSON else _Lines())


class _Lines:
    """A line for each thing that is new."""

    def synced(self, item: Synced, *, news: bool) -> None:
        from datetime import datetime

        from desktop.commands.work import synced_lines

        if news:
            (line,) = synced_lines([item])
            self.say(f"{datetime.now():%H:%M} {line}")

    def say(self, line: str) -> None:
        from desktop.output import say

        say(line)


class _JsonLines:
    """`{"event": "synced", "source", "kind", "changed", "gone", "held", "problem", "state"}` for each sync, and
    `{"event": "message", "text"}`."""

    def synced(self, item: Synced, *, news: bool) -> None:
        from dataclasses import asdict

        emit("synced", **asdict(item))

    def say(self, line: str) -> None:
        from desktop.plain import one_line

        emit("message", text=one_line(line))
