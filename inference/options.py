"""What may be chosen about a run of discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Method:
    """How a run goes, where an evaluation has it go otherwise than Tide does; as it stands, it is Tide's way.

    `guides` is what tells the model of classes of trouble: templates, raw solved cases, or nothing. `whole` shows
    everything in one view in place of selected stories. `agents`, if not 0, is how many look independently at each
    view, once, in place of rounds. `as_published` puts what was found before the story, so that no prefix of a
    story is met again, takes all that is named as new, and ends at an empty answer alone. Without `observations`
    nothing is computed; without `proof` a candidate is taken at its word. `nonce` marks foreign text where the
    mark must be the same in every run; a person's own mail must never meet one that can be known before.
    """

    guides: Literal["templates", "cases", "none"] = "templates"
    whole: bool = False
    agents: int = 0
    as_published: bool = False
    observations: bool = True
    proof: bool = True
    nonce: str = ""


TIDE = Method()


@dataclass(frozen=True, slots=True)
class Options:
    """What the person may choose about a run.

    `rounds` is the largest number of rounds, `new_per_round` how many new problems one call may name,
    `view_tokens` the budget of one story, `views` how many of the views a run asks at the most, the best first (0:
    all; the others wait for the next run), `full_text` whether stories are made of texts instead of notes,
    `answer_days` after how many working days an unanswered question is told. `seed_days` is how many days back
    what is new is looked at for its own sake (0: as far as anything matters). `method` is for evaluations.
    """

    strategy: Literal["observed", "tide"]
    rounds: int = 10
    new_per_round: int = 1
    view_tokens: int = 3500
    views: int = 0
    full_text: bool = False
    answer_days: int = 3
    seed_days: int = 0
    method: Method = TIDE
