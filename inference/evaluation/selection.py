"""Selection, measured: is all the evidence of a problem put before the model together, and at what cost?

No model is asked. Every artifact of a workspace is a seed, whatever would fit into one view, as in a first run
over a mailbox that is too large for that. For each budget it is counted

* for how many problems a *story* (a seed and what was found around it) holds all evidence, and a *view* (what one
  call shows: stories joined and packed) does;
* what all views cost in tokens;
* how many problems are met where only the first stories are asked, or the first views, in the order in which they
  would be.

Of a recurring event any occurrence counts, and so does any of the copies of a document that several mails carry.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from inference.index import VectorIndex, index_artifacts
from inference.models.embedded import embedded_counter
from inference.observations import observe
from inference.stories import select
from templates import load_templates

if TYPE_CHECKING:
    import numpy.typing as npt

    from inference.embedding import Embedder
    from inference.evaluation.opened import Opened
    from inference.stories import Selected

BUDGETS = (1000, 2000, 3000, 4000, 8000)
SHARES = (10, 20, 30, 50)
"""Of the stories and views in the order of asking, the first so many per cent."""

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""


class LinksAlone:
    """An embedder that finds nothing near to anything: what is left are the links by what artifacts share."""

    name, dimensions = "links alone", 8

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.zeros((len(texts), self.dimensions), np.float32)


@dataclass(frozen=True, slots=True)
class Reach:
    """How many of the problems one budget reaches. `told` and `shown` are those within the first `SHARES` of the
    stories and of the views, `tokens` those of all views, `seconds` the time of selection."""

    budget: int
    stories: int
    in_stories: int
    told: tuple[int, ...]
    views: int
    in_views: int
    shown: tuple[int, ...]
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SelectionTable:
    """One workspace, from `source` (notes or raw text) and by `nearness` (an embedder's name, or links alone)."""

    workspace: str
    source: str
    nearness: str
    artifacts: int
    problems: int
    reached: tuple[Reach, ...]


def measure(
    opened: Opened,
    embedder: Embedder | None,
    index_folder: Path,
    *,
    notes: bool,
    budgets: Sequence[int] = BUDGETS,
    on_progress: Progress = lambda step, done, total: None,
    count: Callable[[str], int] | None = None,
) -> SelectionTable:
    """Measure the selection on one workspace; `embedder` None is for links alone.

    `notes` tells what the workspace was opened with. Tokens are those of the embedded model, SmolLM2, unless
    `count` gives others: for scripts other than Latin they are two to three times those of a larger vocabulary.

    Raises:
        UserError: if the embedded model is to count and is not installed.
    """
    by = embedder or LinksAlone()
    counted = count or embedded_counter()
    index_artifacts(opened.store, by, on_progress, zone=opened.profile.zone)
    index = VectorIndex.open(opened.store, by.name, by.dimensions, index_folder)
    artifacts = list(opened.store.artifacts.all())
    observations = observe(artifacts, opened.profile, opened.now)
    templates = load_templates()
    problems = [[opened.rows[name] for name in problem.evidence] for problem in opened.file.problems]
    reached = []
    for number, budget in enumerate(budgets):
        on_progress("measure", number, len(budgets))
        begun = time.monotonic()
        selected = select(
            opened.store,
            index,
            by,
            observations,
            templates,
            opened.profile,
            opened.now,
            seeds=[artifact.id for artifact in artifacts if not artifact.is_card],
            window=None,
            view_tokens=budget,
            count=counted,
        )
        reached.append(reach(selected, problems, budget, counted, time.monotonic() - begun))
    on_progress("measure", len(budgets), len(budgets))
    source = "notes" if notes else "raw text"
    return SelectionTable(opened.file.id, source, by.name, len(opened.rows), len(problems), tuple(reached))


def reach(
    selected: Selected,
    problems: Sequence[Sequence[Collection[int]]],
    budget: int,
    count: Callable[[str], int],
    seconds: float,
) -> Reach:
    """How many problems these stories and views hold. A problem is, for each piece of evidence, the rows of which
    any shows it."""
    stories = [frozenset(story.members) for story in selected.stories]
    views = [frozenset(view.artifacts) for view in selected.views]
    first_stories = [first for problem in problems if (first := _first(stories, problem)) is not None]
    first_views = [first for problem in problems if (first := _first(views, problem)) is not None]
    return Reach(
        budget=budget,
        stories=len(stories),
        in_stories=len(first_stories),
        told=_within(first_stories, len(stories)),
        views=len(views),
        in_views=len(first_views),
        shown=_within(first_views, len(views)),
        tokens=sum(count(view.text) for view in selected.views),
        seconds=seconds,
    )


HEADER = ("from", "nearness", "budget", "story", "view", "tokens", *(f"{share}%" for share in SHARES))
"""The names of the columns of `print_rows`: the share of the problems of which one story, and one view, of so many
tokens holds all evidence; the tokens of all views; and the share that is met within the first so many per cent of
the stories."""


def print_rows(tables: Sequence[SelectionTable]) -> list[list[str]]:
    """A row for each way and budget, over all workspaces."""
    return [_row(table, reached) for table in over_all(tables) for reached in table.reached]


def over_all(tables: Iterable[SelectionTable]) -> list[SelectionTable]:
    """The tables summed over the workspaces, one for each way of selecting."""
    ways: Mapping[tuple[str, str], list[SelectionTable]] = defaultdict(list)
    for table in tables:
        ways[table.source, table.nearness].append(table)
    return [
        SelectionTable(
            "all",
            source,
            nearness,
            sum(table.artifacts for table in same),
            sum(table.problems for table in same),
            tuple(_sum(parts) for parts in zip(*(table.reached for table in same), strict=True)),
        )
        for (source, nearness), same in ways.items()
    ]


def _first(shown: Sequence[frozenset[int]], problem: Sequence[Collection[int]]) -> int | None:
    """The place of the first that shows all evidence."""
    for number, artifacts in enumerate(shown):
        if all(not artifacts.isdisjoint(rows) for rows in problem):
            return number
    return None


def _within(firsts: Sequence[int], total: int) -> tuple[int, ...]:
    return tuple(sum(first < math.ceil(total * share / 100) for first in firsts) for share in SHARES)


def _sum(parts: Sequence[Reach]) -> Reach:
    return Reach(
        budget=parts[0].budget,
        stories=sum(part.stories for part in parts),
        in_stories=sum(part.in_stories for part in parts),
        told=tuple(map(sum, zip(*(part.told for part in parts), strict=True))),
        views=sum(part.views for part in parts),
        in_views=sum(part.in_views for part in parts),
        shown=tuple(map(sum, zip(*(part.shown for part in parts), strict=True))),
        tokens=sum(part.tokens for part in parts),
        seconds=sum(part.seconds for part in parts),
    )


def _row(table: SelectionTable, reached: Reach) -> list[str]:
    def share(number: int) -> str:
        return f"{number / table.problems:.0%}" if table.problems else "-"

    return [
        table.source,
        table.nearness,
        f"{reached.budget:,}",
        share(reached.in_stories),
        share(reached.in_views),
        f"{reached.tokens:,}",
        *map(share, reached.told),
    ]
