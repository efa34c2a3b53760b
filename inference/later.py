"""What came later on a matter, on whatever path: another thread, a note in a document, a task that is done.

Artifacts are looked up by what the claim and the artifacts that it cites name: names, numbers, references and rare
words, as marks and as words of the full text. Of one person counts one mark, however many parts a name has, and
people alone do not make a matter.

    worth of an artifact = sum over the things that it shares of w · rarity³, and the largest of the people's

where rarity is log(N / n) / log(N) for what n of N artifacts hold, and w is less for ordinary words and for days.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from inference.marks import STEM, marks_of, plain
from workspace import Artifact, Kind, Profile

if TYPE_CHECKING:
    from workspace.store import Store

MOST = 3
"""Artifacts that are returned at most."""

MOST_CARRIERS = 300
"""A mark that more artifacts carry says nothing."""

MOST_HITS = 30
"""Artifacts that are looked at for a word of the full text, the best matches first."""

MOST_MARKS = 12
"""Marks that are followed, the rarest first."""

WORD_WORTH = 0.5
DAY_WORTH = 0.5
"""What an ordinary word and a day are worth beside a name or number that is as rare."""

FLOOR = 0.1
"""What is worth less is of another matter."""


def later_on_matter(
    claim: str, cited: Sequence[Artifact], store: Store, profile: Profile, now: datetime
) -> list[Artifact]:
    """At most `MOST` artifacts later than the earliest cited one that are on its matter, the newest first.

    A task, which bears no date of its own, counts as later. `now` is the moment near which days in words lie.
    """
    times = [artifact.time for artifact in cited if artifact.time is not None]
    since = min(times, default=datetime.min.replace(tzinfo=UTC))
    people = _people(cited, profile)
    worths: dict[int, float] = defaultdict(float)
    by_people: dict[int, float] = defaultdict(float)
    for mark, (worth, carriers) in _followed(_matter(claim, cited, store, profile, now), store).items():
        for row in carriers:
            if _is_of(mark, people):
                by_people[row] = max(by_people[row], worth)
            else:
                worths[row] += worth
    for row, worth in by_people.items():
        if row in worths:
            worths[row] += worth
    for artifact in cited:
        worths.pop(artifact.id, None)
    rows = sorted(row for row, worth in worths.items() if worth >= FLOOR)
    found = [one for one in store.artifacts.get(rows).values() if _is_later(one, since) and not one.is_card]
    best = sorted(found, key=lambda one: (-worths[one.id], -_moment(one).timestamp(), one.id))[:MOST]
    return sorted(best, key=lambda one: (_moment(one), one.id), reverse=True)


def _matter(claim: str, cited: Sequence[Artifact], store: Store, profile: Profile, now: datetime) -> list[str]:
    """The marks of what a matter is about: what the claim and a cited artifact name, or two of them do."""
    notes = store.readings.notes([artifact.id for artifact in cited])
    said = [marks_of(Artifact("", "", Kind.DOCUMENT, text=claim, time=now), (), profile.zone)]
    for artifact in cited:
        said.append(marks_of(artifact, [reading.note for reading in notes.get(artifact.id, [])], profile.zone))
    own = _named([(profile.persona.name, email) for email in ("", *profile.persona.emails)])
    times = Counter(mark for marks in said for mark in dict.fromkeys(marks))
    return [mark for mark, number in times.items() if number > 1 and not _is_of(mark, own)]


def _followed(marks: Sequence[str], store: Store) -> dict[str, tuple[float, list[int]]]:
    """The worth of the rarest of the marks, and the artifacts that hold each."""
    total = max(_SMALL, sum(store.artifacts.counts().values()))
    found: dict[str, tuple[float, list[int]]] = {}
    carriers = {mark: store.ties.carriers(mark, MOST_CARRIERS + 1) for mark in marks}
    rare = sorted((mark for mark in marks if len(carriers[mark]) <= MOST_CARRIERS), key=lambda m: len(carriers[m]))
    for mark in rare[:MOST_MARKS]:
        rows = carriers[mark]
        if not _DAY.fullmatch(mark):
            # The marks of a long text are not all kept; its words are.
            hits = store.artifacts.search(mark.removeprefix(STEM), limit=MOST_HITS)
            rows = list(dict.fromkeys((*rows, *(hit.artifact.id for hit in hits))))
        if rows:
            rarity = max(0.0, math.log(total / len(rows)) / math.log(total))
            found[mark] = (_worth(mark) * rarity**3, rows)
    return found


def _people(cited: Sequence[Artifact], profile: Profile) -> set[str]:
    """The words of the names, and the addresses, of the people of these artifacts and of the profile."""
    met = [(person.name, person.email) for artifact in cited for person in artifact.people]
    return _named([*met, *((person.name, person.email) for person in profile.world_model.relationships)])


def _named(people: Iterable[tuple[str, str]]) -> set[str]:
    return {word for name, email in people for word in (email, *map(plain, _WORD.findall(name))) if word}


def _is_of(mark: str, people: set[str]) -> bool:
    """Whether a mark is part of a name or an address of these."""
    if mark.startswith(STEM):
        return any(word.startswith(mark.removeprefix(STEM)) for word in people)
    return mark in people


def _worth(mark: str) -> float:
    if mark.startswith(STEM):
        return WORD_WORTH
    return DAY_WORTH if _DAY.fullmatch(mark) else 1.0


def _is_later(artifact: Artifact, since: datetime) -> bool:
    return artifact.kind is Kind.TASK or (artifact.time is not None and artifact.time >= since)


def _moment(artifact: Artifact) -> datetime:
    return artifact.time or artifact.due or datetime.min.replace(tzinfo=UTC)


_SMALL = 200
"""Among fewer artifacts nothing could be told rare."""
_WORD = re.compile(r"\w+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
