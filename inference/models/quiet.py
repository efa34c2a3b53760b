"""Loading weights without the progress bars and warnings that transformers prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Silence transformers while weights are loaded; what it raises still comes through."""
    from transformers.utils import logging

    # It has no types of its own.
    settings: Any = logging
    verbosity, bars = settings.get_verbosity(), settings.is_progress_bar_enabled()
    settings.set_verbosity_error()
    settings.disable_progress_bar()
    try:
        yield
    finally:
        settings.set_verbosity(verbosity)
        if bars:
            settings.enable_progress_bar()
