"""Reading: every artifact once, by itself, into a note of typed facts; and the texts that views show."""

from inference.reading.prompt import PROMPT_VERSION
from inference.reading.reader import read_artifacts
from inference.reading.shown import Shown, show

__all__ = ["PROMPT_VERSION", "Shown", "read_artifacts", "show"]
