"""What the model is told: a constant part that opens every call of a run, then the matter, then the ask.

The order is that of how often things change, so that a server computes a prefix once: the constant part once a
run, a story once, and in later rounds only what was found since.
"""

from inference.foreign import clean, fence
from inference.prompts.budget import Budget, fitting_guides, plan
from inference.prompts.calls import (
    ask_messages,
    found_line,
    known_line,
    prove_messages,
    same_messages,
    story_part,
)
from inference.prompts.constant import catalogue, constant_part
from inference.prompts.guides import UNGUIDED, Guide

__all__ = [
    "UNGUIDED",
    "Budget",
    "Guide",
    "ask_messages",
    "catalogue",
    "clean",
    "constant_part",
    "fence",
    "fitting_guides",
    "found_line",
    "known_line",
    "plan",
    "prove_messages",
    "same_messages",
    "story_part",
]
