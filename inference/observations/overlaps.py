"""Two appointments of the person's at the same time."""

import heapq
from collections.abc import Iterator
from datetime import datetime, timedelta

from inference.observations.events import (
    Standing,
    commitments,
    holds_the_other,
    in_hand,
    is_note,
    length,
    long_note,
    others,
    same_meeting,
    series_of,
    standing,
    taken,
)
from inference.observations.observation import Observation
from inference.observations.working import free_slot, say_span
from inference.observations.world import World, called, cite_all
from workspace import Action, Artifact

# Nobody is in more places at once; the bound keeps broken calendars from costing a square.
_AT_ONCE = 24
# What is further off can still be moved in time when it has come nearer.
_AHEAD = timedelta(days=120)
# Meetings that run a few minutes into the next are seldom meant as a clash.
_BRIEF = timedelta(minutes=10)


def overlaps(world: World) -> Iterator[Observation]:
    """The next clash of every pair of commitments in the coming 120 days; a pair of series is told once."""
    told: set[frozenset[str]] = set()
    busy = sorted(taken(world))
    for first, second in _pairs(commitments(world), world.now):
        pair = frozenset({series_of(first), series_of(second)})
        if pair in told or _is_no_clash(first, second):
            continue
        told.add(pair)
        found = _observe(first, second, busy, world)
        if found is not None:
            yield found


def clashes(event: Artifact, bound: list[Artifact]) -> bool:
    """Whether one of the person's commitments stands against attending this event."""
    return any(
        _shared(event, other) > timedelta(0) and not same_meeting(event, other) and not is_note(other)
        for other in bound
        if other.id != event.id
    )


def _pairs(events: list[Artifact], now: datetime) -> Iterator[tuple[Artifact, Artifact]]:
    """Pairs that share time, of which at least the second is still to begin; by the start of the clash."""
    running: list[tuple[datetime, int, Artifact]] = []
    for number, event in enumerate(events):
        if event.time is None or event.end is None or event.end <= now:
            continue
        while running and running[0][0] <= event.time:
            heapq.heappop(running)
        if event.time > now + _AHEAD:
            return
        if event.time > now:
            for _, _, other in sorted(running[:_AT_ONCE]):
                yield other, event
        heapq.heappush(running, (event.end, number, event))


def _is_no_clash(first: Artifact, second: Artifact) -> bool:
    return is_note(first) or is_note(second) or same_meeting(first, second) or holds_the_other(first, second)


def _observe(
    first: Artifact, second: Artifact, busy: list[tuple[datetime, datetime]], world: World
) -> Observation | None:
    evidence = cite_all((first, second), world.zone)
    if evidence is None or second.time is None:
        return None
    shared = _shared(first, second)
    handled = in_hand(first, world) or in_hand(second, world)
    minutes = int(shared.total_seconds() // 60)
    days = (second.time - world.now) / timedelta(days=1)
    sentence = f"{_said(first, world)} and {_said(second, world)} overlap by {minutes} minutes." + (
        " A recent mail speaks of changing one of them." if handled else ""
    )
    return Observation(
        kind="overlap",
        sentence=sentence,
        evidence=evidence,
        certain=not handled and shared >= _BRIEF and not long_note(first, second),
        template="overlapping-commitments",
        why=f"You are bound to both, are free for neither, and have {minutes} minutes in common to give to one.",
        action=_action(first, second, busy, world),
        deadline=second.time,
        weight=max(0.4, 0.9 - 0.02 * days),
    )


def _action(first: Artifact, second: Artifact, busy: list[tuple[datetime, datetime]], world: World) -> Action:
    """Move a meeting that the person called; else answer an invitation; else move an entry of their own."""
    open_ones = [event for event in (first, second) if event.time is not None and event.time > world.now]
    ranked = sorted(open_ones, key=lambda event: (_importance(event, world), -event.id))
    for wanted in (Standing.ORGANIZES, Standing.ACCEPTED, Standing.OWN):
        for event in ranked:
            if standing(event, world) is not wanted or event.time is None or event.end is None:
                continue
            other = second if event is first else first
            if wanted is Standing.ACCEPTED:
                return _answer(event)
            slot = free_slot(event.time, event.end, busy, world.now, world.zone, world.holidays)
            if slot is not None:
                note = "Moved because of another appointment at the same time."
                return Action(
                    function_name="reschedule_meeting",
                    parameters={"event": event.label, "new_start": f"{slot:%Y-%m-%dT%H:%M}", "note": note},
                )
            return _remember(event, other, world)
    return _remember(second, first, world)


def _answer(event: Artifact) -> Action:
    note = "I have another appointment at that time. Could we find another slot, or can you go ahead without me?"
    return Action(
        function_name="respond_to_invitation",
        parameters={"event": event.label, "response": "declined", "note": note},
    )


def _remember(event: Artifact, other: Artifact, world: World) -> Action:
    title = f"Settle the clash of {called(event)[:60]} with {called(other)[:60]}"
    return Action(
        function_name="create_task",
        parameters={"title": title, "due": world.today.isoformat(), "notes": "No free time was found."},
    )


def _importance(event: Artifact, world: World) -> tuple[int, bool, timedelta]:
    """Meetings with more people, that happen once, and that last longer are the harder ones to move."""
    return len(others(event, world)), not event.series or not event.recurrence, length(event)


def _shared(a: Artifact, b: Artifact) -> timedelta:
    if not (a.time and a.end and b.time and b.end):
        return timedelta(0)
    return max(min(a.end, b.end) - max(a.time, b.time), timedelta(0))


def _said(event: Artifact, world: World) -> str:
    if event.time is None or event.end is None:
        return called(event)
    part = {
        Standing.ORGANIZES: "which you organise",
        Standing.ACCEPTED: "which you accepted",
        Standing.OWN: "in your own calendar",
    }.get(standing(event, world), "")
    return f"{called(event)} ({say_span(world.local(event.time), world.local(event.end))}, {part})"
