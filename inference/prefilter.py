"""Templates that fit: each evidence flow held against each story, step by step, by vector and by word.

How well an artifact answers a step is the cosine of the two and the share of the step's words that it has, each
brought to mean 0 and deviation 1 over all artifacts of all stories, and added. A flow is answered by as many
different artifacts as it has steps; its score is half their mean and half the weakest of them, since a flow with
a step missing is no evidence, blended with how well the seed answers the step that it answers best, since a story
is about its seed. The score is only good for bringing templates into an order: as an order of stories it was worse
than what stories add to each other (see `inference.covering`), alone and blended with it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inference.marks import plain

if TYPE_CHECKING:
    import numpy.typing as npt

    from inference.embedding import Embedder
    from inference.index import VectorIndex
    from templates import Template

MOST_TEMPLATES = 6
"""Templates that are named for one story at most."""

WORDS_WEIGHT = 0.5
"""What the words count beside the cosine."""

SEED_SHARE = 0.4
"""The part of a score that rests on the seed alone."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well the best template fits a story (0 to 1), and the ids of those that fit, best first."""

    score: float
    templates: tuple[str, ...]


def fits(
    stories: Sequence[tuple[Sequence[int], Sequence[int]]],
    texts: Mapping[int, str],
    index: VectorIndex,
    embedder: Embedder,
    templates: Sequence[Template],
) -> list[Fit]:
    """How each story is fitted by the templates. A story is its seeds, and all its artifacts, seeds included.

    `texts` holds what each artifact shows.
    A template fits if its flow is answered better than the average artifact would answer it.
    """
    pool = sorted({artifact for _, members in stories for artifact in members})
    if not pool or not templates:
        return [Fit(0.0, ()) for _ in stories]
    steps = [step for template in templates for step in template.evidence_flow]
    answers = _even(_cosines(steps, pool, index, embedder)) + WORDS_WEIGHT * _even(
        _shared_words(steps, pool, texts)
    )
    answers /= 1.0 + WORDS_WEIGHT
    place = {artifact: number for number, artifact in enumerate(pool)}
    ends = np.cumsum([len(template.evidence_flow) for template in templates]).tolist()
    found = []
    for seeds, members in stories:
        part = answers[:, [place[artifact] for artifact in members]]
        of_seeds = answers[:, [place[artifact] for artifact in seeds]]
        scores = {}
        begin = 0
        for template, end in zip(templates, ends, strict=True):
            of_seed = float(of_seeds[begin:end].max())
            scores[template.id] = (1 - SEED_SHARE) * _flow_score(part[begin:end]) + SEED_SHARE * of_seed
            begin = end
        best = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))
        score = max(scores.values())
        found.append(Fit(round(1 / (1 + math.exp(-score)), 4), tuple(best[:MOST_TEMPLATES])))
    return found


def _flow_score(answers: npt.NDArray[np.float64]) -> float:
    """The score of one flow: (steps, artifacts) answers, the best left one taken again and again."""
    left = answers.copy()
    taken = []
    for _ in range(min(left.shape)):
        step, artifact = np.unravel_index(int(np.argmax(left)), left.shape)
        taken.append(float(left[step, artifact]))
        left[step, :] = -np.inf
        left[:, artifact] = -np.inf
    taken += [_UNANSWERED] * (len(answers) - len(taken))
    return sum(taken) / len(taken) / 2 + min(taken) / 2


def _cosines(
    steps: Sequence[str], pool: Sequence[int], index: VectorIndex, embedder: Embedder
) -> npt.NDArray[np.float64]:
    """(steps, artifacts): the cosine of each step and the nearest part of each artifact."""
    asked = embedder.embed(steps)
    found = np.zeros((len(steps), len(pool)))
    parts = index.vectors_of(pool)
    for number, artifact in enumerate(pool):
        if artifact in parts:
            found[:, number] = (asked @ parts[artifact].T).max(axis=1)
    return found


def _shared_words(steps: Sequence[str], pool: Sequence[int], texts: Mapping[int, str]) -> npt.NDArray[np.float64]:
    """(steps, artifacts): the share of a step's words that an artifact has, a word counting by its rarity."""
    asked = [_stems(step) for step in steps]
    wanted = set().union(*asked)
    said = [_stems(texts.get(artifact, "")) & wanted for artifact in pool]
    carried = Counter(stem for stems in said for stem in stems)
    worth = {stem: math.log(1 + len(pool) / (1 + carried[stem])) for stem in wanted}
    numbers = {stem: number for number, stem in enumerate(sorted(wanted))}
    of_steps = np.zeros((len(steps), len(numbers)))
    for row, stems in enumerate(asked):
        for stem in stems:
            of_steps[row, numbers[stem]] = worth[stem]
    of_pool = np.zeros((len(numbers), len(pool)))
    for column, stems in enumerate(said):
        for stem in stems:
            of_pool[numbers[stem], column] = 1.0
    shares: npt.NDArray[np.float64] = of_steps @ of_pool / np.maximum(of_steps.sum(axis=1, keepdims=True), 1e-9)
    return shares


def _even(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Every row brought to mean 0 and deviation 1."""
    spread = scores.std(axis=1, keepdims=True)
    even: npt.NDArray[np.float64] = scores - scores.mean(axis=1, keepdims=True)
    even /= np.where(spread > 1e-6, spread, 1.0)
    return even


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM_LETTERS] for word in _WORD.findall(plain(text)) if len(word) > 2)


_WORD = re.compile(r"[^\W\d_]+")
_STEM_LETTERS = 6
_UNANSWERED = -1.0
