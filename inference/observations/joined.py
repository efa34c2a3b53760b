"""Events joined: an event is in several calendars, and several mails invite to it, and yet it is one.

The calendar knows best: an invitation whose event it holds says nothing beside it. Where no calendar does, the
last invitation tells of the event, and whether it still stands; that is how somebody has events whose calendar is
not among the sources.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from workspace import Artifact, Kind, Person, Trust


def each_once(artifacts: Iterable[Artifact], is_own: Callable[[Person], bool]) -> list[Artifact]:
    """The events among the artifacts, each once.

    Of two copies in calendars the one that names the person, as `is_own` tells, is taken. A series that is known
    from invitations alone is the occurrence that the last of them describes, and that of the last change of a
    single one. Where somebody known invited, a stranger who has learnt the UID changes nothing.
    """
    entries: dict[str, list[Artifact]] = defaultdict(list)
    invitations: dict[str, list[Artifact]] = defaultdict(list)
    sent: dict[tuple[str, str], datetime | None] = {}
    for artifact in artifacts:
        if artifact.is_invitation:
            invitations[artifact.uid].append(artifact)
        elif artifact.kind is Kind.EVENT:
            entries[artifact.uid].append(artifact)
        elif artifact.kind is Kind.EMAIL:
            sent[artifact.source, artifact.key] = artifact.time

    def last(found: list[Artifact]) -> list[Artifact]:
        """The one of the mail that was sent last, if there is any."""
        return sorted(found, key=lambda one: (sent.get((one.source, one.parent)) or _NEVER, one.id))[-1:]

    kept = [one for copies in entries.values() for one in _without_copies(copies, is_own)]
    for uid, found in invitations.items():
        if uid in entries:
            continue
        trusted = [one for one in found if one.trust is not Trust.UNKNOWN] or found
        starts = {one.time for one in trusted if one.recurrence}
        single: list[Artifact] = []
        whole: list[Artifact] = []
        for one in trusted:
            # What has no rule and yet begins where the series does is on all of it, as when that is cancelled.
            (whole if not starts or one.recurrence or one.time in starts else single).append(one)
        kept += last(whole) + last(single)
    return kept


def _without_copies(entries: list[Artifact], is_own: Callable[[Person], bool]) -> list[Artifact]:
    kept: dict[str, list[Artifact]] = defaultdict(list)
    for one in sorted(entries, key=lambda one: (not any(map(is_own, one.people)), one.id)):
        others = kept[one.key]
        # Programs that number their entries from 1 give the same UID to events that have nothing in common.
        if not any(other.time == one.time or other.title == one.title for other in others):
            others.append(one)
    return [one for others in kept.values() for one in others]


_NEVER = datetime.min.replace(tzinfo=UTC)
