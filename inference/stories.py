"""Stories and views: what is put before the model at once.

A story is a new or changed artifact with its strongest neighbours, up to a budget of tokens, whatever else the
store holds. A view is one or several overlapping stories that fit one call.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from inference.blocks import Blocks
from inference.covering import in_order, joined
from inference.growth import STEPS_ON, Story, grow
from inference.links import Links
from inference.prefilter import MOST_TEMPLATES, Fit, fits
from workspace import Profile

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.index import VectorIndex
    from inference.observations import Observation
    from templates import Template
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""

STORY_TOKENS = 4000
"""The most that one story takes, however large a view may be."""


@dataclass(frozen=True, slots=True)
class View:
    """What one call shows.

    `artifacts` in the order in which `text` shows them, `seeds` those for whose sake the view exists (of two
    copies of a message, and of the occurrences of a series that are alike, one is shown), `templates` the ids of
    those that fit, best first. `text` is the blocks of the artifacts and the observations, the same bytes for the
    same contents; it holds foreign text wherever an artifact has no note. `digest` is over all that decides the
    answer, but not the wording of observations, which count days: a view of a known digest has been asked before.
    """

    artifacts: tuple[int, ...]
    seeds: tuple[int, ...]
    observations: tuple[Observation, ...]
    templates: tuple[str, ...]
    text: str
    digest: str


@dataclass(frozen=True, slots=True)
class Selected:
    """The `stories` as they were grown, and the `views` that they were joined and packed into; both in the order
    in which they are best asked."""

    stories: list[Story]
    views: list[View]


def select(
    store: Store,
    index: VectorIndex,
    embedder: Embedder,
    observations: Sequence[Observation],
    templates: Sequence[Template],
    profile: Profile,
    now: datetime,
    *,
    seeds: Sequence[int],
    window: Sequence[int] | None,
    view_tokens: int,
    count: Callable[[str], int],
    full_text: bool = False,
    on_progress: Progress = lambda step, done, total: None,
) -> Selected:
    """The stories and views in which the seeds are looked at, in the order in which they are best asked.

    Where all artifacts of the `window` (ids; None for no window) and the seeds fit `view_tokens` there is one
    view. Otherwise there is a story for each seed; stories come in the order of what each adds to those before it,
    those that add nothing are one with others (see `inference.covering`), and they are packed into as few views as
    go. `count` gives the tokens of a text; every block is counted once.
    """
    story_tokens = min(view_tokens, STORY_TOKENS)
    blocks = Blocks(store, profile, now, count, story_tokens // 2, full_text=full_text)
    told = _Told(observations, count)
    seeds = _one_of_each(seeds, blocks, told)
    blocks.load(seeds)
    present = [seed for seed in seeds if blocks.get(seed) is not None]
    if not present:
        return Selected([], [])
    whole = _whole(present, window, blocks, told, view_tokens)
    if whole is not None:
        among = set(whole)
        stories = [Story(present[0], whole, sum(blocks[artifact].tokens for artifact in whole))]
        about = [([seed for seed in present if seed in among], whole)]
    else:
        links = Links(store, index, now)
        stories = _stories(present, links, blocks, told, story_tokens, on_progress)
        order = in_order(stories, [told.within(story.members) for story in stories], links)
        stories = [stories[number] for number in order]
        about = [(seeds, stories[number].members) for number, seeds in joined(stories, links)]
    texts = {artifact: blocks[artifact].text(0) for _, members in about for artifact in members}
    fitted = fits(about, texts, index, embedder, templates)
    drafts = [_Draft(list(members), own, fit) for (own, members), fit in zip(about, fitted, strict=True)]
    packed = _pack(drafts, blocks, told, view_tokens)
    return Selected(stories, [_view(draft, blocks, told, view_tokens, count) for draft in packed])


def _one_of_each(artifacts: Sequence[int], blocks: Blocks, told: _Told) -> list[int]:
    """The artifacts, with one occurrence of a series for all that are alike, and those that were observed."""
    stands_for = blocks.stands_for(artifacts)
    return list(dict.fromkeys(one if told.knows(one) else stands_for[one] for one in artifacts))


def _stories(
    seeds: Sequence[int], links: Links, blocks: Blocks, told: _Told, budget: int, on_progress: Progress
) -> list[Story]:
    # The links of all that is likely to be followed are looked up at once: one search of the index is cheap.
    strongest = [list(found)[:STEPS_ON] for found in links.of(seeds).values()]
    links.of([artifact for part in strongest for artifact in part])
    stories = []
    for number, seed in enumerate(seeds):
        on_progress("select", number, len(seeds))
        evidence, reserved = told.about(seed)
        stories.append(grow(seed, evidence, links, blocks, budget - min(reserved, budget // 2)))
    on_progress("select", len(seeds), len(seeds))
    return stories


class _Told:
    """The observations, by the artifacts that they rest on, with their lines and tokens."""

    def __init__(self, observations: Sequence[Observation], count: Callable[[str], int]) -> None:
        self._by_artifact: dict[int, list[int]] = defaultdict(list)
        self.observations = observations
        self.evidence = [frozenset(item.artifact for item in one.evidence) for one in observations]
        self.lines = [_line(one) for one in observations]
        self.tokens = [count(line + "\n") for line in self.lines]
        self.heading_tokens = count(f"\n{_HEADING}\n")
        for number, artifacts in enumerate(self.evidence):
            for artifact in artifacts:
                self._by_artifact[artifact].append(number)

    def about(self, artifact: int) -> tuple[list[int], int]:
        """The artifacts of the observations that rest on this one, and the tokens of those observations."""
        numbers = self._by_artifact.get(artifact, [])
        evidence = dict.fromkeys(other for number in numbers for other in sorted(self.evidence[number]))
        return list(evidence), self.cost(numbers)

    def knows(self, artifact: int) -> bool:
        """Whether an observation rests on it."""
        return artifact in self._by_artifact

    def within(self, artifacts: Iterable[int]) -> list[int]:
        """The numbers of the observations of which all evidence is among these."""
        among = set(artifacts)
        numbers = {number for artifact in among for number in self._by_artifact.get(artifact, ())}
        return sorted(number for number in numbers if self.evidence[number] <= among)

    def cost(self, numbers: Sequence[int]) -> int:
        return self.heading_tokens + sum(self.tokens[number] for number in numbers) if numbers else 0


@dataclass(slots=True)
class _Draft:
    """A view in the making. `members` are in the order in which they may be given up, the last one first."""

    members: list[int]
    seeds: list[int]
    fit: Fit

    def absorb(self, other: _Draft, blocks: Blocks) -> None:
        held = {blocks[artifact].message for artifact in self.members}
        self.members += [artifact for artifact in other.members if blocks[artifact].message not in held]
        self.seeds += other.seeds
        best, second = sorted((self.fit, other.fit), key=lambda fit: -fit.score)
        named = tuple(dict.fromkeys((*best.templates, *second.templates)))[:MOST_TEMPLATES]
        self.fit = Fit(best.score, named)


def _whole(
    seeds: Sequence[int], window: Sequence[int] | None, blocks: Blocks, told: _Told, view_tokens: int
) -> list[int] | None:
    """Everything at once, where it fits."""
    if window is None:
        return None
    everything = list(dict.fromkeys((*seeds, *_one_of_each(window, blocks, told))))
    tokens = told.cost(range(len(told.lines)))
    members: list[int] = []
    messages: set[tuple[str, str]] = set()
    for start in range(0, len(everything), _CHUNK):
        part = everything[start : start + _CHUNK]
        blocks.load(part)
        for artifact in part:
            block = blocks.get(artifact)
            if block is None or block.message in messages:
                continue
            messages.add(block.message)
            members.append(artifact)
            tokens += block.tokens
            if tokens > view_tokens:
                return None
    return members


def _pack(drafts: Sequence[_Draft], blocks: Blocks, told: _Told, view_tokens: int) -> list[_Draft]:
    """The drafts in as few views as hold them: to the first that is left, always that which adds least."""
    left = list(drafts)
    packed: list[_Draft] = []
    while left:
        view = left.pop(0)
        while left:
            held = set(view.members)
            room = view_tokens - _cost(view.members, blocks, told)
            adds = [sum(blocks[a].tokens for a in other.members if a not in held) for other in left[:_LOOKED_AT]]
            least = min(range(len(adds)), key=lambda number: adds[number])
            if adds[least] > room or _cost({*held, *left[least].members}, blocks, told) > view_tokens:
                break
            view.absorb(left.pop(least), blocks)
        packed.append(view)
    return packed


def _cost(members: Iterable[int], blocks: Blocks, told: _Told) -> int:
    artifacts = set(members)
    return sum(blocks[artifact].tokens for artifact in artifacts) + told.cost(told.within(artifacts))


def _view(draft: _Draft, blocks: Blocks, told: _Told, view_tokens: int, count: Callable[[str], int]) -> View:
    """The view of a draft; artifacts are given up from its end, the weakest first, until it fits."""
    members = list(draft.members)
    text = _text(members, blocks, told)
    while len(members) > 1 and (_cost(members, blocks, told) > view_tokens or count(text) > view_tokens):
        members.pop()
        text = _text(members, blocks, told)
    ordered = sorted(members, key=lambda artifact: blocks[artifact].order)
    messages = {blocks[artifact].message for artifact in members}
    numbers = told.within(members)
    shown = tuple(told.observations[number] for number in numbers)
    identities = [
        f"{one.kind} {sorted(told.evidence[number])}" for number, one in zip(numbers, shown, strict=True)
    ]
    decides = "\n".join([*_lines_of(ordered, blocks), *sorted(identities)])
    return View(
        artifacts=tuple(ordered),
        seeds=tuple(sorted(seed for seed in draft.seeds if blocks[seed].message in messages)),
        observations=shown,
        templates=draft.fit.templates,
        text=text,
        digest=hashlib.sha256(decides.encode("utf-8", "replace")).hexdigest(),
    )


def _text(members: Sequence[int], blocks: Blocks, told: _Told) -> str:
    lines = _lines_of(sorted(members, key=lambda one: blocks[one].order), blocks)
    numbers = told.within(members)
    if numbers:
        lines += ["", _HEADING, *(told.lines[number] for number in numbers)]
    return "\n".join(lines)


def _lines_of(ordered: Sequence[int], blocks: Blocks) -> list[str]:
    """The blocks as they stand beside each other, in the order of time: each mail told of its later ones."""
    after: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    lines: list[str] = []
    for artifact in reversed(ordered):
        block = blocks[artifact]
        sent, _ = block.order
        here = sum(other > sent for other in after[block.thread].values()) if block.thread else 0
        lines.append(block.text(max(0, block.later - here)))
        if block.thread:
            after[block.thread][block.message] = sent
    return lines[::-1]


def _line(observation: Observation) -> str:
    labels = ", ".join(f"a{number}" for number in sorted({item.artifact for item in observation.evidence}))
    return f"- {' '.join(observation.sentence.split())} ({labels})"


_HEADING = "Observed by the program:"
_CHUNK = 200
_LOOKED_AT = 200
