"""Stories and views: what is put before the model at once.

A story is a new or changed artifact with its strongest neighbours, up to a budget of tokens, whatever else the
store holds. A view is one or several overlapping stories that fit one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workspace import Profile

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.index import VectorIndex
    from inference.observations import Observation
    from templates import Template
    from workspace.store import Store

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class View:
    """What one call shows.

    `artifacts` in the order in which `text` shows them, `seeds` those for whose sake the view exists,
    `templates` the ids of those that fit, best first; `fit` (0 to 1) how well the best does. `text` is the
    blocks of the artifacts and the observations, the same bytes for the same contents; it holds foreign text
    wherever an artifact has no note. `digest` is over all that decides the answer: a view of a known digest
    has been asked before.
    """

    artifacts: tuple[int, ...]
    seeds: tuple[int, ...]
    observations: tuple[Observation, ...]
    templates: tuple[str, ...]
    fit: float
    text: str
    digest: str


def build_views(
    store: Store,
    index: VectorIndex,
    embedder: Embedder,
    observations: Sequence[Observation],
    templates: Sequence[Template],
    profile: Profile,
    now: datetime,
    *,
    seeds: Sequence[int],
    window: Sequence[int] | None,
    view_tokens: int,
    count: Callable[[str], int],
    full_text: bool = False,
    on_progress: Progress = lambda step, done, total: None,
) -> list[View]:
    """The views in which the seeds are looked at, in the order in which they are best asked.

    Where all artifacts of the `window` (ids; None for no window) and the seeds fit `view_tokens` there is one
    view. `count` gives the tokens of a text; every block is counted once. Views with observations come first,
    then by fit.
    """
    raise NotImplementedError
