"""Links: how strongly one artifact belongs to another, from what they share and how near they are in meaning.

    strength = marks / (marks + HALF) + cosine² / 2 + 0.3 for one thread + ties of attachment, invitation, series

where `marks` is the sum, over the marks that both carry, of the cube of their rarity: log(N / n) / log(N) for a
mark that n of N artifacts carry. The powers are those that kept most problems together on the sample workspace,
alone and thrown together with the solved cases, from notes and from raw text.

Links are looked up outward from given artifacts, by the carriers of their rarer marks and by the index, so that
the cost follows what is new and not how much there is.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from inference.marks import STEM

if TYPE_CHECKING:
    import numpy.typing as npt

    from inference.index import VectorIndex
    from workspace.store import Kin, Store

SAME_THREAD = 0.3
SAME_SERIES = 0.3
ATTACHED = 0.8

HALF = 1.0
"""Shared marks of this worth make half of the most that marks can give."""

STEM_WORTH = 0.5
DAY_WORTH = 2.0
"""What an ordinary word and a day are worth beside a name or number that is as rare."""

MOST_CARRIERS = 300
"""A mark that more artifacts carry says nothing."""

NEAREST = 40
"""Artifacts that are looked at for their nearness alone."""

MOST_CANDIDATES = 150
"""Artifacts that are looked at for their marks, the best first."""

MOST_KIN = 40


class Links:
    """Links of one state of the store; what was looked up once is remembered."""

    def __init__(self, store: Store, index: VectorIndex, now: datetime) -> None:
        self._store = store
        self._index = index
        self._now = now
        self._total = max(2, store.ties.marked())
        self._carriers: dict[str, list[int]] = {}
        self._kin: dict[int, Kin] = {}
        self._found: dict[int, dict[int, float]] = {}

    def of(self, artifacts: Sequence[int]) -> dict[int, dict[int, float]]:
        """For each artifact those that it is linked to, with the strength, the strongest first."""
        missing = [artifact for artifact in dict.fromkeys(artifacts) if artifact not in self._found]
        marks = self._store.ties.marks(missing)
        vectors = self._index.vectors_of(missing)
        near = self._nearest(vectors)
        for artifact in missing:
            shared = self._shared(artifact, marks.get(artifact, ()))
            self._found[artifact] = self._strengths(
                artifact, shared, near.get(artifact, {}), vectors.get(artifact)
            )
        return {artifact: self._found[artifact] for artifact in artifacts}

    def known(self, one: int, other: int) -> float:
        """The strength of the link between two artifacts, if it was looked up from either; else 0."""
        nothing: dict[int, float] = {}
        return max(
            self._found.get(one, nothing).get(other, 0.0),
            self._found.get(other, nothing).get(one, 0.0),
        )

    def kin(self, artifact: int) -> Kin:
        """What belongs to it by structure."""
        if artifact not in self._kin:
            self._kin[artifact] = self._store.ties.kin(artifact, self._now, MOST_KIN)
        return self._kin[artifact]

    def _nearest(self, vectors: dict[int, npt.NDArray[np.float32]]) -> dict[int, dict[int, float]]:
        if not vectors:
            return {}
        owners = [artifact for artifact, parts in vectors.items() for _ in parts]
        scores, found = self._index.search(np.concatenate(list(vectors.values())), NEAREST + 1)
        near: dict[int, dict[int, float]] = defaultdict(dict)
        for owner, row_scores, row_found in zip(owners, scores.tolist(), found.tolist(), strict=True):
            for cosine, other in zip(row_scores, row_found, strict=True):
                if other not in (owner, -1):
                    near[owner][other] = max(cosine, near[owner].get(other, -1.0))
        return near

    def _shared(self, artifact: int, marks: Sequence[str]) -> dict[int, float]:
        """The worth of the marks shared with each other artifact, for those that share most."""
        shared: dict[int, float] = defaultdict(float)
        for mark in marks:
            carriers = self._who_carries(mark)
            if not 1 < len(carriers) <= MOST_CARRIERS:
                continue
            worth = self._rarity(len(carriers)) ** 3 * _worth(mark)
            for other in carriers:
                shared[other] += worth
        shared.pop(artifact, None)
        best = sorted(shared, key=lambda other: (-shared[other], other))[:MOST_CANDIDATES]
        return {other: shared[other] for other in best}

    def _strengths(
        self,
        artifact: int,
        shared: dict[int, float],
        near: dict[int, float],
        own: npt.NDArray[np.float32] | None,
    ) -> dict[int, float]:
        kin = self.kin(artifact)
        strengths: dict[int, float] = defaultdict(float)
        for other, worth in shared.items():
            strengths[other] += worth / (worth + HALF)
        for others, worth in (
            (kin.thread, SAME_THREAD),
            (kin.series, SAME_SERIES),
            ((*kin.parents, *kin.attachments, *kin.invited), ATTACHED),
        ):
            for other in others:
                strengths[other] += worth
        for other in near:
            strengths.setdefault(other, 0.0)
        if own is not None:
            unknown = [other for other in strengths if other not in near]
            cosines = dict(near)
            for other, parts in self._index.vectors_of(unknown).items():
                cosines[other] = float((own @ parts.T).max())
            for other, cosine in cosines.items():
                strengths[other] += max(0.0, cosine) ** 2 / 2
        return dict(sorted(strengths.items(), key=lambda item: (-item[1], item[0])))

    def _who_carries(self, mark: str) -> list[int]:
        if mark not in self._carriers:
            self._carriers[mark] = self._store.ties.carriers(mark, MOST_CARRIERS + 1)
        return self._carriers[mark]

    def _rarity(self, carriers: int) -> float:
        return max(0.0, math.log(self._total / carriers) / math.log(self._total))


def _worth(mark: str) -> float:
    if mark.startswith(STEM):
        return STEM_WORTH
    return DAY_WORTH if _DAY.fullmatch(mark) else 1.0


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
