"""Occurrences: which dates of a recurring event are looked at; thirty alike tell no more than one.

Of the occurrences of a series that are alike, the next to come stands for all, or the last where none is to come.
Those that differ from most (another text, other answers, moved, cancelled) stand for themselves, unless they are
many and alike as well. An invitation in mail is shown as the entry of the calendar that says the same, or as the
first of the invitations that do; one that differs from all of them stands for itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from workspace import Artifact, Profile

if TYPE_CHECKING:
    from workspace.store import Store

FEW = 3
"""As many that differ from most in the same way are each shown."""

MOVED = 3
"""A weekday and hour that this many times fewer share than the most common one is no turn of the series."""


class Occurrences:
    """The series of one state of the store; what was looked up once is remembered."""

    def __init__(self, store: Store, profile: Profile, now: datetime) -> None:
        self._store = store
        self._zone = profile.zone
        self._now = now
        self._stands_for: dict[int, int] = {}
        self._ahead: dict[str, list[int]] = {}

    def stands_for(self, artifact: Artifact) -> int:
        """The occurrence or entry that is shown for this one; the artifact itself outside a series."""
        if not artifact.series:
            return artifact.id
        if artifact.id not in self._stands_for:
            self._look_at(artifact)
        return self._stands_for[artifact.id]

    def ahead(self, artifact: Artifact) -> Sequence[int]:
        """The occurrences of its series that are to come and are shown, the next one first."""
        if not artifact.series:
            return ()
        if artifact.series not in self._ahead:
            self._look_at(artifact)
        return self._ahead[artifact.series]

    def _look_at(self, artifact: Artifact) -> None:
        ids = self._store.ties.occurrences(artifact.id)
        found = self._store.artifacts.get(ids)
        invitations = [found[one] for one in ids if one in found and found[one].is_invitation]
        occurrences = [found[one] for one in ids if one in found and not found[one].is_invitation]
        alike: dict[tuple[object, ...], list[Artifact]] = defaultdict(list)
        for one, turn in zip(occurrences, self._turns(occurrences), strict=True):
            alike[(*_said(one), turn)].append(one)
        # The first of the longest: the usual look of the series.
        usual = max(alike.values(), key=len, default=[])
        for group in alike.values():
            few = group is not usual and len(group) <= FEW
            shown = next((one for one in group if not self._over(one)), group[-1])
            self._stands_for.update((one.id, one.id if few else shown.id) for one in group)
        same = {_announced(one): self._stands_for[one.id] for one in reversed(occurrences)}
        # A series is announced by its first occurrence, which may lie before all that the calendar keeps.
        same.update({_rule(one): self._stands_for[one.id] for one in usual if one.recurrence})
        for one in sorted(invitations, key=lambda one: one.id):
            said = _rule(one) if one.recurrence else _announced(one)
            self._stands_for[one.id] = same.setdefault(said, one.id)
        self._ahead[artifact.series] = [
            one.id for one in occurrences if self._stands_for[one.id] == one.id and not self._over(one)
        ]

    def _turns(self, occurrences: Sequence[Artifact]) -> list[object]:
        """For each occurrence its weekday and hour where they are not among those of the series: it was moved."""
        rules = " ".join({one.recurrence for one in occurrences})
        # A day of the month, or of the year, falls on any weekday.
        weekdays = any(word in rules for word in ("WEEKLY", "DAILY", "BYDAY"))
        # A series of another zone shifts with the clocks here, which moves none of it.
        local, universal = ([_turn(one, zone, weekdays) for one in occurrences] for zone in (self._zone, UTC))
        seldom, never = _rare(local), _rare(universal)
        return [
            here if here in seldom and there in never else None
            for here, there in zip(local, universal, strict=True)
        ]

    def _over(self, occurrence: Artifact) -> bool:
        moment = occurrence.end or occurrence.time or occurrence.due
        if moment is None:
            return True
        return occurrence.local(moment, self._zone).replace(tzinfo=self._zone) < self._now


def _turn(occurrence: Artifact, zone: tzinfo, weekdays: bool) -> tuple[int, int, int] | None:
    moment = occurrence.time or occurrence.due
    if moment is None:
        return None
    local = occurrence.local(moment, zone)
    return local.weekday() if weekdays else 0, local.hour, local.minute


def _rare(turns: Sequence[object]) -> set[object]:
    held = Counter(turns)
    most = max(held.values(), default=0)
    return {turn for turn, times in held.items() if times * MOVED <= most}


def _announced(event: Artifact) -> tuple[object, ...]:
    """What somebody who is invited must know of an event; answers and standing words do not count."""
    return event.title, event.time, event.end, event.location, event.cancelled


def _rule(event: Artifact) -> tuple[object, ...]:
    """The same of a series."""
    return event.title, event.location, event.cancelled, event.recurrence


def _said(occurrence: Artifact) -> tuple[object, ...]:
    lasts = occurrence.end - occurrence.time if occurrence.end and occurrence.time else None
    said = (occurrence.title, occurrence.text, occurrence.location, occurrence.people)
    return (*said, occurrence.cancelled, occurrence.busy, occurrence.status, lasts)
