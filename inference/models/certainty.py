"""How sure a model was of the decisions in its answer, from the probabilities of its tokens.

A decision is a field that is true or false. Where the engine tells how likely each token was, the probability of a
decision is that of the value it has, as a share of what both values had together: the rest went to tokens that the
form of the answer does not allow. The decisions of one answer come one after another, each with those before it in
view, so that the product of their probabilities is that of all of them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from inference.models.contract import Request

ALTERNATIVES = 5
"""How many of the likeliest tokens an engine is asked for at each place."""

DECIDING = "prove"
"""The purpose of the requests whose decisions count."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer, the logarithm of its probability, and those of the likeliest tokens at its place."""

    text: str
    logprob: float
    likeliest: Mapping[str, float]


def decisions(request: Request) -> tuple[str, ...]:
    """The fields of a request's answer that are true or false, where they decide something; () elsewhere."""
    if request.purpose != DECIDING:
        return ()
    return _flags(request.schema)


def certainty_of(tokens: Sequence[Token], names: Sequence[str]) -> float | None:
    """The probability, 0 to 1, of the values that an answer of these tokens gives to these fields, together.

    None where a field does not stand there as true or false, or its probability is none.
    """
    # Positions are those of the tokens' own texts, which need not add up to the answer: half a character in one
    # token and half in the next is told as two. What is looked for is plain ASCII.
    text = "".join(token.text for token in tokens)
    certainty = 1.0
    for name in names:
        found = re.search(rf'"{re.escape(name)}"\s*:\s*(true|false)', text)
        share = None if found is None else _share(tokens, found.start(1), found[1])
        if share is None:
            return None
        certainty *= share
    return certainty if names else None


def _flags(schema: type[BaseModel]) -> tuple[str, ...]:
    return tuple(name for name, field in schema.model_fields.items() if field.annotation is bool)


def _share(tokens: Sequence[Token], place: int, value: str) -> float | None:
    """The probability of the value that begins at `place`, among the two that it could have."""
    start = 0
    for token in tokens:
        if start <= place < start + len(token.text):
            break
        start += len(token.text)
    else:
        return None
    before = token.text[: place - start]
    odds = {"true": 0.0, "false": 0.0}
    for text, logprob in {**token.likeliest, token.text: token.logprob}.items():
        said = text.removeprefix(before).lstrip()
        for word in odds:
            if said and (word.startswith(said) or said.startswith(word)):
                odds[word] += _probability(logprob)
    other = "false" if value == "true" else "true"
    if not odds[other] and token.likeliest:
        # It was not told, so that it was no likelier than the least of those that were.
        odds[other] = min(odds[value], _probability(min(token.likeliest.values())))
    whole = odds["true"] + odds["false"]
    return odds[value] / whole if whole > 0 else None


def _probability(logprob: float) -> float:
    return math.exp(min(0.0, logprob))
