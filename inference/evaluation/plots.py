"""Plots of an evaluation, PNG and SVG: the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inference.evaluation.results import Row
from inference.evaluation.scoring import METRICS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = ("coverage", "precision", "f1")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f", "#8c564b")
"""Told apart by people who see few colours; marks and dashes differ as well."""
MARKS = "osD^vP*Xh"
DASHES = ("-", "--", "-.", ":")


def draw(table: Sequence[Row], folder: Path) -> list[Path]:
    """Draw all plots into the folder; returns the files."""
    import matplotlib

    # Ids in an SVG are random unless they are salted; letters stay letters, so that they can be searched.
    with matplotlib.rc_context({"svg.hashsalt": "tide", "svg.fonttype": "none", "font.size": 9}):
        drawn = {"f1-by-calls": _by_calls(table), "scores": _scores(table)}
        if any(row.rounds for row in table):
            drawn["new-by-round"] = _by_round([row for row in table if row.rounds])
        return [path for name, figure in drawn.items() for path in _saved(figure, folder / name)]


def _by_calls(table: Sequence[Row]) -> Figure:
    """F1 against the number of calls so far, a panel for each metric."""
    figure, panels = _figure(1, len(METRICS), 3.6, 3.4)
    for panel, metric in zip(panels, METRICS, strict=True):
        for number, row in enumerate(table):
            panel.plot(
                [point.calls for point in row.curve],
                [100 * point.f1[metric] for point in row.curve],
                label=row.strategy.value,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKS[number % len(MARKS)],
                linestyle=DASHES[number % len(DASHES)],
                markersize=4,
                linewidth=1.4,
            )
        _light(panel, metric.capitalize(), "calls of the model", "F1, %")
        panel.set_ylim(-3, 103)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def _by_round(table: Sequence[Row]) -> Figure:
    """What each round brought: new, known already, and dropped, a panel for each strategy."""
    figure, panels = _figure(-(-len(table) // 3), min(3, len(table)), 3.6, 2.6)
    kinds = (("new", "#009e73", ""), ("known", "#e69f00", "//"), ("dropped", "#bbbbbb", ".."))
    most = max(len(row.rounds) for row in table)
    for panel, row in zip(panels, table, strict=False):
        rounds = range(1, len(row.rounds) + 1)
        below = [0.0] * len(row.rounds)
        for kind, colour, hatch in kinds:
            heights = [count[kind] for count in row.rounds]
            panel.bar(rounds, heights, 0.7, below, label=kind, color=colour, hatch=hatch, edgecolor="#555555")
            below = [low + height for low, height in zip(below, heights, strict=True)]
        _light(panel, row.strategy.value, "round (multi: agent)", "candidates a run")
        panel.set_xticks(range(1, most + 1))
        panel.set_xlim(0.4, most + 0.6)
        panel.set_ylim(bottom=0)
    for panel in panels[len(table) :]:
        panel.set_visible(False)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def _scores(table: Sequence[Row]) -> Figure:
    """Coverage, precision and F1 of each strategy, a panel for each metric."""
    figure, panels = _figure(1, len(METRICS), 3.6, 1.2 + 0.5 * len(table))
    places = range(len(table))
    for panel, metric in zip(panels, METRICS, strict=True):
        for number, part in enumerate(PARTS):
            widths = [100 * row.scores[metric][part] for row in table]
            heights = [place + (number - 1) * 0.26 for place in places]
            panel.barh(heights, widths, 0.24, label="F1" if part == "f1" else part, color=COLOURS[number])
            for height, width in zip(heights, widths, strict=True):
                panel.text(width + 1, height, f"{width:.0f}", va="center", fontsize=7)
        _light(panel, metric.capitalize(), "%", "")
        panel.set_yticks(list(places), [row.strategy.value for row in table])
        panel.set_xlim(0, 112)
        panel.invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def _figure(down: int, across: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * across, height * down + 0.4), layout="constrained", facecolor="white")
    panels = figure.subplots(down, across, squeeze=False)
    return figure, list(panels.flat)


def _light(panel: Axes, title: str, across: str, up: str) -> None:
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    panel.grid(visible=True, color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _saved(figure: Figure, path: Path) -> list[Path]:
    files = [path.with_suffix(".png"), path.with_suffix(".svg")]
    figure.savefig(files[0], dpi=150, metadata={"Software": None})
    figure.savefig(files[1], metadata={"Date": None})
    return files
