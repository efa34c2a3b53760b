"""Telling how far the work is: bars on a terminal, a plain line now and then elsewhere, JSON lines for a window.

All of it goes to stderr, so that stdout holds results alone.
"""

from __future__ import annotations

import json
import sys
import time
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from desktop.plain import one_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_SECONDS = 10.0
"""A plain line at most this often, and none for work that is done sooner."""
EVENT_SECONDS = 0.1


class Mode(StrEnum):
    AUTO = "auto"
    JSON = "json"
    NONE = "none"


class Reporter(Protocol):
    """What the work tells: `progress` of a step (`total` 0: not known), and lines that matter."""

    def progress(self, step: str, done: int, total: int) -> None: ...

    def say(self, line: str) -> None: ...

    def pause(self) -> None:
        """Make room for a question."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def reporter(mode: Mode) -> Reporter:
    """The reporter of a mode; `auto` is bars on a terminal and plain lines elsewhere."""
    if mode is Mode.JSON:
        return JsonLines()
    if mode is Mode.NONE:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()


class Silent:
    """Tells nothing."""

    def progress(self, step: str, done: int, total: int) -> None:
        pass

    def say(self, line: str) -> None:
        pass

    def pause(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(Silent):
    """Plain lines, for logs."""

    def __init__(self) -> None:
        self._step, self._last = "", time.monotonic()

    def progress(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if step != self._step:
            self._step, self._last = step, now
        elif now - self._last >= LINE_SECONDS:
            self._last = now
            self.say(f"{step}: {done} of {total}" if total else f"{step}: {done}")

    def say(self, line: str) -> None:
        print(one_line(line), file=sys.stderr, flush=True)


class JsonLines(Silent):
    """One JSON object a line: `{"event": "progress", "step", "done", "total"}`, `{"event": "message", "text"}`."""

    def __init__(self) -> None:
        self._step, self._last = "", 0.0

    def progress(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if step == self._step and done != total and now - self._last < EVENT_SECONDS:
            return
        self._step, self._last = step, now
        emit("progress", step=step, done=done, total=total)

    def say(self, line: str) -> None:
        emit("message", text=one_line(line))


class Bars(Silent):
    """A bar for each step, drawn by rich and gone when the work is done."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def progress(self, step: str, done: int, total: int) -> None:
        bars = self._shown()
        if step not in self._tasks:
            self._tasks[step] = bars.add_task(one_line(step, 40), total=None)
        bars.update(self._tasks[step], completed=done, total=total or None)

    def say(self, line: str) -> None:
        from rich.text import Text

        self._shown().console.print(Text(one_line(line)))

    def pause(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._tasks = {}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def _shown(self) -> Progress:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True, highlight=False),
                transient=True,
            )
            self._progress.start()
        return self._progress


def emit(event: str, **values: Any) -> None:
    """Write one event as a JSON line to stderr."""
    print(json.dumps({"event": event, **values}), file=sys.stderr, flush=True)
