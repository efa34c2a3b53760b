"""The strategies that are compared. They differ in what is named here alone, and share everything else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from inference.options import Method, Options


class Strategy(StrEnum):
    """`observed` asks no model. `single` and `multi` see the texts of everything, know no templates and look once:
    one agent, or as many as `tide` has rounds. `published` sees everything in each round, what was found first.
    """

    OBSERVED = "observed"
    SINGLE = "single"
    MULTI = "multi"
    TIDE = "tide"
    NO_TEMPLATES = "tide-no-templates"
    CASES = "tide-cases"
    WHOLE = "tide-whole"
    TEXT = "tide-text"
    PUBLISHED = "published"


AT_ONCE = 10
"""How many problems an agent may name that looks once; a small context allows fewer."""


@dataclass(frozen=True, slots=True)
class Switches:
    """What is taken away from every strategy that has it. `published` has neither."""

    observations: bool = True
    proof: bool = True


def options_of(strategy: Strategy, base: Options, switches: Switches, seed: int) -> Options:
    """How a run of the strategy goes. `base` gives what they share: rounds, budgets, days."""
    method = Method(
        observations=switches.observations,
        proof=switches.proof,
        # Another one for each strategy, so that none finds in the cache of a server what another has put there.
        nonce=hashlib.sha256(f"{strategy} {seed}".encode()).hexdigest()[:16],
    )
    everything = replace(base, full_text=True, views=0)
    once = replace(everything, new_per_round=AT_ONCE)
    match strategy:
        case Strategy.OBSERVED:
            return replace(base, strategy="observed", method=method)
        case Strategy.SINGLE:
            return replace(once, rounds=1, method=replace(method, whole=True, guides="none"))
        case Strategy.MULTI:
            return replace(once, method=replace(method, whole=True, guides="none", agents=base.rounds))
        case Strategy.TIDE:
            return replace(base, method=method)
        case Strategy.NO_TEMPLATES:
            return replace(base, method=replace(method, guides="none"))
        case Strategy.CASES:
            return replace(base, method=replace(method, guides="cases"))
        case Strategy.WHOLE:
            return replace(base, views=0, method=replace(method, whole=True))
        case Strategy.TEXT:
            return replace(base, full_text=True, method=method)
        case Strategy.PUBLISHED:
            bare = replace(method, whole=True, as_published=True, observations=False, proof=False)
            return replace(everything, new_per_round=1, method=bare)


def takes_notes(strategy: Strategy) -> bool:
    """Whether it connects notes; the others see the texts alone."""
    return strategy in (Strategy.TIDE, Strategy.NO_TEMPLATES, Strategy.CASES, Strategy.WHOLE)
