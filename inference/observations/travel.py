"""Two appointments with less time between them than the way is said to take."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from inference.observations import travel_phrases as phrases
from inference.observations.dates import number_in_words
from inference.observations.events import (
    Standing,
    commitments,
    in_hand,
    is_note,
    same_meeting,
    series_of,
    standing,
    taken,
)
from inference.observations.observation import Observation
from inference.observations.requests import sentences
from inference.observations.words import plain, stems
from inference.observations.working import free_slot, say_span
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Evidence

_AHEAD = timedelta(days=60)
_LONGEST = timedelta(hours=6)
# Who gets there a few minutes late has got there.
_SLACK = timedelta(minutes=5)
_READ = 6000
_ONE = dict.fromkeys(("a", "an", "eine", "einer", "einen", "un", "une", "una"), 1)


@dataclass(frozen=True, slots=True)
class _Way:
    """How long the way to an event is said to take; `places` if the words name the place that it begins at."""

    takes: timedelta
    evidence: Evidence
    said: str
    places: bool


def too_far_apart(world: World) -> Iterator[Observation]:
    """Pairs of the coming 60 days that follow each other in different places, where the way is said to take longer
    than the time between them; a pair of series is told once.

    Certain where the event itself says so and names the other place, and nobody moves either of them.
    """
    told: set[frozenset[str]] = set()
    busy = sorted(taken(world))
    last: Artifact | None = None
    for event in commitments(world):
        if event.time is None or event.end is None or is_note(event) or event.time > world.now + _AHEAD:
            continue
        before = last
        if last is None or last.end is None or event.end >= last.end:
            last = event
        if before is None or before.end is None or event.time <= world.now:
            continue
        pair = frozenset({series_of(before), series_of(event)})
        gap = event.time - before.end
        if pair in told or not timedelta(0) <= gap < _LONGEST or same_meeting(before, event):
            continue
        found = _observe(before, event, gap, busy, world) if _elsewhere(before, event) else None
        if found is not None:
            told.add(pair)
            yield found


def _elsewhere(first: Artifact, second: Artifact) -> bool:
    """Whether two events are in different places, both to be gone to."""
    places = [plain(event.location).strip() for event in (first, second)]
    if not all(places) or any(
        phrases.ONLINE.search(f"{place} {plain(event.title)}")
        for place, event in zip(places, (first, second), strict=True)
    ):
        return False
    return not stems(places[0]) & stems(places[1]) and places[0] != places[1]


def _observe(
    first: Artifact, second: Artifact, gap: timedelta, busy: list[tuple[datetime, datetime]], world: World
) -> Observation | None:
    way = _way(first, second, world)
    shown = [cite(event, world.zone) for event in (first, second)]
    if way is None or way.takes <= gap + _SLACK or second.time is None or shown[0] is None or shown[1] is None:
        return None
    evidence = tuple(dict.fromkeys((shown[0], shown[1], way.evidence)))
    handled = in_hand(first, world) or in_hand(second, world)
    by_themselves = way.evidence.artifact in (first.id, second.id)
    return Observation(
        kind="too-far-apart",
        sentence=(
            f"{_at(first, world)} is followed by {_at(second, world)}, {_minutes(gap)} later. The way is said to "
            f'take {_minutes(way.takes)}: "{" ".join(way.said.split())[:240]}"'
            + (" A recent mail speaks of changing one of them." if handled else "")
        ),
        evidence=evidence,
        certain=by_themselves and way.places and not handled,
        template="no-time-to-get-there",
        why="They do not overlap in the calendar, and yet nobody can be at both from beginning to end.",
        action=_action(first, second, way.takes, busy, world),
        deadline=second.time,
        weight=0.7 if by_themselves else 0.5,
    )


def _way(first: Artifact, second: Artifact, world: World) -> _Way | None:
    """What the two events, else mails and documents on the second or its place, say of the way between them."""
    here, there = (stems(f"{event.location} {event.title}") for event in (first, second))
    texts = [second, first]
    for title in (second.title, second.location):
        texts += [mail for mail in world.mentions(title) if not mail.automatic] + world.documents_on(title)
    for text in texts:
        if not phrases.LENGTH.search(text.text[:_READ].lower()):
            continue
        inside = text is first or text is second
        for sentence in sentences(text.text[:_READ]):
            takes = travel_time(sentence)
            if takes is None:
                continue
            named = stems(sentence)
            other = here if text is second else there
            # Elsewhere both ends must be told, or else any way of anybody's would do.
            if not inside and not (named & here and named & there):
                continue
            if text is first and not named & there:
                continue
            evidence = cite(text, world.zone, sentence)
            if evidence is not None and evidence.where == "text":
                return _Way(takes, evidence, sentence, bool(named & other))
    return None


def travel_time(sentence: str) -> timedelta | None:
    """How long a way takes, as a sentence says; None where it says nothing of it, or leaves it open."""
    said = plain(sentence)
    if "?" in said or phrases.OPEN.search(said) or not phrases.WAY.search(said):
        return None
    found = []
    for match in phrases.LASTING.finditer(said):
        hours = _ONE.get(match["hours"] or "") or number_in_words(match["hours"] or "0")
        minutes = int(match["alone"] or match["minutes"] or 0)
        half = 30 if match["half"] or match["only_half"] or match["more"] else 0
        found.append(timedelta(hours=hours or 0, minutes=minutes + half))
    return found[0] if len(found) == 1 and timedelta(0) < found[0] <= _LONGEST else None


def _action(
    first: Artifact, second: Artifact, takes: timedelta, busy: list[tuple[datetime, datetime]], world: World
) -> Action:
    """Move what the person called to a time with room for the way on either side; else see to it."""
    roomy = [(since - takes, until + takes) for since, until in busy]
    for event in (second, first):
        if standing(event, world) is not Standing.ORGANIZES or event.time is None or event.end is None:
            continue
        slot = free_slot(event.time, event.end, roomy, world.now, world.zone, world.holidays)
        if event.time > world.now and slot is not None:
            note = "Moved, since the way from my appointment before takes longer than the time between."
            return Action(
                function_name="reschedule_meeting",
                parameters={"event": event.label, "new_start": f"{slot:%Y-%m-%dT%H:%M}", "note": note},
            )
    title = f"Settle how to get from {called(first)[:60]} to {called(second)[:60]} in time"
    notes = f"The way is said to take {_minutes(takes)}."
    return Action(
        function_name="create_task", parameters={"title": title, "due": world.today.isoformat(), "notes": notes}
    )


def _at(event: Artifact, world: World) -> str:
    if event.time is None or event.end is None:
        return called(event)
    span = say_span(world.local(event.time), world.local(event.end))
    return f"{called(event)} ({span}, {event.location.strip()[:80]})"


def _minutes(span: timedelta) -> str:
    return f"{int(span.total_seconds() // 60)} minutes"
