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
from templates import Template, render
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
    context: int, fixed: int, templates: Sequence[Template], count: Count, *, story: int, most: int
) -> Budget:
    """Share out `context` tokens. `fixed` is the size of the constant part without templates.

    `story` and `most` are what is wished for. They are kept where all templates fit beside them; in a smaller
    context stories and templates share what there is, and an answer is shorter and names fewer problems.

    Raises:
        UserError: if no useful story would fit.
    """
    bounds, most, ask, proof, same = _answers(context, templates, most)
    room = context - ask - fixed - MARGIN
    sizes = [count(render(template) + "\n") for template in templates]
    pool = sum(sizes)
    found = max(0, min(MAX_FOUND, room // 8))
    if pool + found + story > room:
        # A story that is cut loses evidence; a template that is missing loses only its class of problem.
        story = min(story, (room - found) * 11 // 20)
        pool = room - found - story
    if story < MIN_STORY or pool < min(sizes):
        raise UserError(
            f"The context of this model, {context:,} tokens, is too small for discovery."
            " Choose a model or a setting with at least 8,192."
        )
    return Budget(bounds, most, ask, proof, same, pool, story, found)


def fitting_templates(
    templates: Sequence[Template], wanted: Sequence[str], tokens: int, count: Count
) -> tuple[Template, ...]:
    """The templates that a run shows: those `wanted` first, as many as fit, in the order of the pool."""
    by_id = {template.id: template for template in templates}
    chosen: set[str] = set()
    for name in dict.fromkeys((*wanted, *by_id)):
        size = count(render(by_id[name]) + "\n")
        if size <= tokens:
            chosen.add(name)
            tokens -= size
    return tuple(template for template in templates if template.id in chosen)


def _answers(context: int, templates: Sequence[Template], most: int) -> tuple[Bounds, int, int, int, int]:
    """The roomiest answers that leave the larger part of the context to the prompt."""
    longest_label, longest_address = f"a{10**9}", "x" * MAX_ADDRESS
    choices = Choices(
        templates=tuple(template.id for template in templates),
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
