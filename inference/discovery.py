"""Discovery: from what the store holds to findings, and the record of how they were come by.

The strategy `observed` takes the computed observations that are certain. The strategy `tide` starts from them,
asks a language model in rounds, and proves each candidate at the originals. A run that was killed and is started
again with unchanged inputs goes on where it was and ends with the same findings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workspace import Profile, Run

if TYPE_CHECKING:
    from inference.embedder import Embedder
    from inference.models import LanguageModel
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step (observe, select, ask, prove), how much of it is done, and out of how much."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the person may choose about a run.

    `rounds` is the largest number of rounds, `new_per_round` how many new problems one call may name,
    `view_tokens` the budget of one story, `full_text` whether stories are made of texts instead of notes,
    `answer_days` after how many working days an unanswered question is told.
    """

    strategy: Literal["observed", "tide"]
    rounds: int = 10
    new_per_round: int = 1
    view_tokens: int = 3500
    full_text: bool = False
    answer_days: int = 3


def discover(
    store: Store,
    profile: Profile,
    now: datetime,
    options: Options,
    *,
    model: LanguageModel | None = None,
    embedder: Embedder | None = None,
    index_folder: Path | None = None,
    on_progress: Progress = lambda step, done, total: None,
) -> Run:
    """Look once, store what is found, and return the record of the run, which is stored too.

    `now` is aware. The strategy `tide` needs `model`, `embedder` and `index_folder`; `observed` needs none.
    Findings are stored one by one as they pass the checks. A run of the same inputs that was not finished is
    taken up again, with the `now` of its start.

    Raises:
        UserError: if the model cannot be reached, or its context is too small to hold a story.
        Cancelled: raised by `on_progress`; the run can be taken up again.
    """
    raise NotImplementedError
