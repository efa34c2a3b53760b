"""Reading: every artifact once, by itself, into a note of typed facts; and the texts that views show."""

from inference.reading.prompt import PROMPT_VERSION
from inference.reading.reader import read_artifacts
from inference.reading.shown import shown_texts

__all__ = ["PROMPT_VERSION", "read_artifacts", "shown_texts"]
