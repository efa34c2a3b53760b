"""Covering: in which order stories are asked, and which of them are one with others.

What a call may find is a connection of artifacts that nothing has shown side by side before. So a story is worth
the links, squared, between those two of its members each that no story before it holds, and `OBSERVED` for each
observation; the story that adds most is always the next. Links are known of seeds and of what was followed from
them, which is what the story is about.

A story is one with those before it where they show its seed already, and beside it each two of the artifacts that
the seed is tied to: that a problem's evidence is two by two on different pages is not enough.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from inference.growth import FLOOR, Story

if TYPE_CHECKING:
    import numpy.typing as npt

    from inference.links import Links

OBSERVED = 2.0
"""What an observation is worth beside two artifacts that are linked as strongly as can be."""

LEFT = 0.1
"""The part of what ties a seed's neighbours to it and through it to each other that may be missed by joining."""


def in_order(stories: Sequence[Story], observed: Sequence[Sequence[int]], links: Links) -> list[int]:
    """The numbers of the stories, always the one next that adds most; the earlier where two add the same.

    `observed` are for each story the numbers of the observations that it holds whole.
    """
    held, worth = _connections(stories, observed, links)
    new = np.ones(len(worth), dtype=bool)
    gains = [(-float(worth[numbers].sum()), number) for number, numbers in enumerate(held)]
    heapq.heapify(gains)
    order = []
    while gains:
        known, number = heapq.heappop(gains)
        mine = held[number]
        gain = float(worth[mine] @ new[mine])
        if gain < -known - _EVEN and gains and -gains[0][0] > gain + _EVEN:
            heapq.heappush(gains, (-gain, number))
            continue
        order.append(number)
        new[mine] = False
    return order


def joined(stories: Sequence[Story], links: Links) -> list[tuple[int, list[int]]]:
    """The stories that are asked, by number, each with the seeds that it stands for; given in order."""
    asked: list[tuple[int, list[int]]] = []
    holding: dict[int, list[int]] = defaultdict(list)
    members = [frozenset(story.members) for story in stories]
    for number, story in enumerate(stories):
        before = holding[story.seed]
        if before and _shown(story, [members[asked[place][0]] for place in before], links):
            asked[before[0]][1].append(story.seed)
            continue
        for artifact in story.members:
            holding[artifact].append(len(asked))
        asked.append((number, [story.seed]))
    return asked


def _shown(story: Story, before: Sequence[frozenset[int]], links: Links) -> bool:
    """Whether stories that all hold the seed show what the story would."""
    others = [artifact for artifact in story.members if artifact != story.seed]
    ties = np.array([_worth(story.seed, other, links) for other in others])
    together = np.outer(ties, ties)
    beside = np.array([[artifact in held for held in before] for artifact in others], dtype=np.float64)
    if not others or (total := float(together.sum())) <= _EVEN:
        return all(any(artifact in held for held in before) for artifact in others)
    missed = float(together[(beside @ beside.T) == 0].sum())
    return missed <= LEFT * total


def _connections(
    stories: Sequence[Story], observed: Sequence[Sequence[int]], links: Links
) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.float64]]:
    """For each story the numbers of the connections that it holds, and what each connection is worth."""
    numbers: dict[tuple[int, int], int] = {}
    worth: list[float] = []

    def number(connection: tuple[int, int], value: float) -> int:
        found = numbers.setdefault(connection, len(worth))
        if found == len(worth):
            worth.append(value)
        return found

    def held(story: Story, told: Sequence[int]) -> Iterator[int]:
        for pair in combinations(sorted(story.members), 2):
            yield numbers[pair] if pair in numbers else number(pair, _worth(*pair, links))
        for observation in told:
            yield number((-1, observation), OBSERVED)

    found = [np.fromiter(held(*one), dtype=np.int64) for one in zip(stories, observed, strict=True)]
    return found, np.array(worth)


def _worth(one: int, other: int, links: Links) -> float:
    strength = links.known(one, other)
    return min(1.0, strength) ** 2 if strength >= FLOOR else 0.0


_EVEN = 1e-9
