"""Benchmarks print their figures as one table at the end; nothing here asserts on time."""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Figure:
    what: str
    measured: str
    beside: str
    ratio: str


_FIGURES = pytest.StashKey[list]()


def pytest_configure(config):
    config.stash[_FIGURES] = []


@pytest.fixture
def figure(request):
    """`figure(what, measured, beside="", ratio=None)`: a line of the table. `beside` names the peer or limit."""

    def add(what, measured, beside="", ratio=None):
        shown = "" if ratio is None else f"{ratio:.2f}"
        request.config.stash[_FIGURES].append(Figure(what, measured, beside, shown))

    return add


def pytest_terminal_summary(terminalreporter, config):
    rows = [Figure("what", "measured", "peer or limit", "ratio"), *config.stash[_FIGURES]]
    widths = [max(len(getattr(row, name)) for row in rows) for name in ("what", "measured", "beside", "ratio")]
    terminalreporter.section("figures")
    for row in rows:
        cells = zip((row.what, row.measured, row.beside, row.ratio), widths, strict=True)
        terminalreporter.write_line("  ".join(text.ljust(width) for text, width in cells).rstrip())
