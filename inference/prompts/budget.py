"""How the context of a model is shared out, so that a prompt that is too long cannot come about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inference.candidate import (
    MAX_ADDRESS,
    ROOMY,
    SNUG,
    TIGHT,
    Bounds,
    Choices,
    ask_type,
    longest,
    proof_type,
    same_type,
)
from inference.prompts.guides import UNGUIDED, Guide, shown
from workspace import Kind, UserError

Count = Callable[[str], int]

MIN_STORY = 400
MAX_FOUND = 1600
MARGIN = 200
"""Tokens for the chat template, headings and the ask itself."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens for each part of a call, the bounds of the answers, and at most how many problems one names.

    The answers' tokens always suffice for an answer; `templates` are for the lines of the pool.
    """

    bounds: Bounds
    most: int
    ask_answer: int
    proof_answer: int
    same_answer: int
    templates: int
    story: int
    found: int


def plan(
    context: int,
    fixed: int,
    guides: Sequence[Guide],
    count: Count,
    *,
    story: int,
    most: int,
    whole: bool = False,
) -> Budget:
    """Share out `context` tokens. `fixed` is the size of the constant part without templates or other guides.

    `story` and `most` are what is wished for. They are kept where all guides fit beside them; in a smaller context
    stories and guides share what there is, and an answer is shorter and names fewer problems. With `whole` the
    story gets all that the guides leave.

    Raises:
        UserError: if no useful story would fit.
    """
    bounds, most, ask, proof, same = _answers(context, guides, most)
    room = context - ask - fixed - MARGIN
    sizes = [count(shown(guide) + "\n") for guide in guides]
    pool = sum(sizes)
    found = max(0, min(MAX_FOUND, room // 8))
    if whole:
        story = max(room - found - pool, (room - found) * 11 // 20)
        pool = min(pool, room - found - story)
    if pool + found + story > room:
        # A story that is cut loses evidence; a template that is missing loses only its class of problem.
        story = min(story, (room - found) * 11 // 20)
        pool = room - found - story
    if story < MIN_STORY or pool < min(sizes, default=0):
        raise UserError(
            f"The context of this model, {context:,} tokens, is too small for discovery."
            " Choose a model or a setting with at least 8,192."
        )
    return Budget(bounds, most, ask, proof, same, pool, story, found)


def fitting_guides(guides: Sequence[Guide], wanted: Sequence[str], tokens: int, count: Count) -> tuple[Guide, ...]:
    """The guides that a run shows: those `wanted` first, as many as fit, in the order of the pool."""
    by_id = {guide.id: guide for guide in guides}
    chosen: set[str] = set()
    for name in dict.fromkeys((*(name for name in wanted if name in by_id), *by_id)):
        size = count(shown(by_id[name]) + "\n")
        if size <= tokens:
            chosen.add(name)
            tokens -= size
    return tuple(guide for guide in guides if guide.id in chosen)


def _answers(context: int, guides: Sequence[Guide], most: int) -> tuple[Bounds, int, int, int, int]:
    """The roomiest answers that leave the larger part of the context to the prompt."""
    longest_label, longest_address = f"a{10**9}", "x" * MAX_ADDRESS
    choices = Choices(
        templates=tuple(guide.id for guide in guides) or (UNGUIDED,),
        labels=tuple((longest_label, kind) for kind in Kind),
        people=((longest_address, longest_address),),
    )
    levels = [(ROOMY, most), (SNUG, most), *((TIGHT, fewer) for fewer in range(most, 0, -1))]
    for bounds, number in levels:
        ask = longest(ask_type(choices, bounds, number)) + 1
        if ask <= context * 3 // 10:
            break
    proof = longest(proof_type((longest_label,), bounds)) + 1
    return bounds, number, ask, proof, longest(same_type((longest_label,), bounds)) + 1
