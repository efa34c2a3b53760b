"""How a story grows: from a seed to what is linked to it most strongly, as far as its budget of tokens goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inference.blocks import Blocks
    from inference.links import Links

STEPS_ON = 4
"""Of how many of its strongest members the links are followed as well."""

DAMPING = 0.6
"""What is left of a link at its second step."""

FLOOR = 0.1
"""A weaker link is none."""

MOST_MEMBERS = 28
"""Artifacts in one story at most: what is linked still more weakly is hardly on the matter."""

OCCURRENCES = 2
"""Occurrences of a series that come with one of it: the next of those that are unlike it."""


@dataclass(slots=True)
class Story:
    """A seed and what was found around it: `members` in the order in which they were taken, the seed first."""

    seed: int
    members: list[int]
    tokens: int


def grow(seed: int, together: Iterable[int], links: Links, blocks: Blocks, budget: int) -> Story:
    """The story of a seed within `budget` tokens. `together` are artifacts that belong in it whatever their links.

    An attachment comes with its mail, and a mail with its attachment. Of two copies of one artifact one is
    taken, and of the occurrences of a series that are alike.
    """
    growing = _Growing(seed, links, blocks, budget)
    growing.take(seed)
    for artifact in together:
        growing.take(artifact)
    scores = dict(links.of((seed,))[seed])
    near = [other for other in list(scores)[:_AHEAD] if scores[other] >= FLOOR]
    blocks.load(blocks.stands_for(near).values())
    followed = missed = 0
    while missed < _MISSES and (best := growing.best(scores)):
        strength = scores.pop(best)
        if blocks.stands_for((best,))[best] in growing.seen:
            continue
        taken = growing.offer(best)
        missed = 0 if taken else missed + 1
        if taken and followed < STEPS_ON:
            followed += 1
            for other, onward in links.of((best,))[best].items():
                reached = DAMPING * min(1.0, strength) * onward
                if reached > scores.get(other, 0.0) and other not in growing.seen:
                    scores[other] = reached
    return growing.story


class _Growing:
    """A story under way, with all that was offered to it."""

    def __init__(self, seed: int, links: Links, blocks: Blocks, budget: int) -> None:
        self.story = Story(seed, [], 0)
        self.seen: set[int] = set()
        self._links = links
        self._blocks = blocks
        self._budget = budget
        self._messages: set[tuple[str, str]] = set()

    def best(self, scores: dict[int, float]) -> int | None:
        """The strongest that is left; the lower id where two are equal. None is stronger than the floor: None."""
        found, strength = None, FLOOR
        for other, score in scores.items():
            if score > strength or (score == strength and (found is None or other < found)):
                found, strength = other, score
        return found

    def offer(self, artifact: int) -> bool:
        """Take an artifact, or the occurrences that are shown for it, with what rides with it; whether any was."""
        alike = self._blocks.stands_for((artifact,))[artifact]
        others = [one for one in self._blocks.ahead(artifact) if one != alike]
        taken = [self.take(one) for one in (alike, *others[:OCCURRENCES])]
        return any(taken)

    def take(self, artifact: int) -> bool:
        """Take one artifact if it is new to the story and fits."""
        block = self._blocks.get(artifact)
        if artifact in self.seen or block is None:
            return False
        self.seen.add(artifact)
        full = len(self.story.members) >= MOST_MEMBERS or self.story.tokens + block.tokens > self._budget
        if full or block.message in self._messages:
            return False
        self.story.members.append(artifact)
        self.story.tokens += block.tokens
        self._messages.add(block.message)
        kin = self._links.kin(artifact)
        for rider in self._blocks.stands_for((*kin.attachments, *kin.parents)).values():
            self.take(rider)
        return True


_AHEAD = 60
_MISSES = 8
