"""Reading: every artifact once, by itself, into a note of typed facts; and the texts that views show.

Foreign text reaches the model here, one artifact at a time, between delimiters that change every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from workspace import Profile

if TYPE_CHECKING:
    from inference.models.contract import LanguageModel
    from workspace.store import Store

PROMPT_VERSION = 1
"""Raised whenever the prompt or the sections change in a way that should have artifacts read again."""

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""


def read_artifacts(
    store: Store,
    model: LanguageModel,
    profile: Profile,
    now: datetime,
    on_progress: Progress = lambda step, done, total: None,
) -> int:
    """Read every artifact that has no note of its present content, newest first; return how many were read.

    A batch is committed before the next is asked, so that a kill loses one batch at most. A model that is not
    `capable` reads nothing.

    Raises:
        UserError: if the model cannot be reached.
    """
    raise NotImplementedError


def shown_texts(store: Store, ids: Sequence[int], profile: Profile, *, full_text: bool = False) -> dict[int, str]:
    """What a view shows of each artifact: one block, the same bytes for the same content; gone ids are left out.

    A block is the artifact's note, or, where there is none, the beginning of its own text; with `full_text`
    always its text, up to a bound.
    """
    raise NotImplementedError
