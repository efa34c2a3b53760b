"""Calendars read in the limited process: what is asked of it and what it answers, as JSON."""

from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from workspace import Artifact, Kind, Person, Role, Trust

if TYPE_CHECKING:
    from connectors.calendars.calendar import CalendarReading, Window
    from connectors.calendars.component import Context

_TIMES = ("time", "end", "due")


def question(context: "Context", window: "Window") -> dict[str, Any]:
    """What the limited process has to know to read a calendar."""
    return {
        "source": context.source,
        "zone": context.zone.key,
        "own": sorted(context.own),
        "known": sorted(context.known),
        "origin": context.origin,
        "now": window.now.isoformat(),
        "past_days": window.past_days,
        "future_days": window.future_days,
    }


def reading_of(reply: dict[str, Any]) -> "CalendarReading":
    """The reading that an answer tells of."""
    from connectors.calendars.calendar import CalendarReading

    return CalendarReading(tuple(_artifact(one) for one in reply["artifacts"]), str(reply["reason"]))


def answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The answer to a question about the bytes of a calendar: runs in the limited process."""
    from connectors.calendars.calendar import Window, read_calendar
    from connectors.calendars.component import Context

    zone = ZoneInfo(job["zone"])
    context = Context(job["source"], zone, frozenset(job["own"]), frozenset(job["known"]), job["origin"])
    window = Window(datetime.fromisoformat(job["now"]), job["past_days"], job["future_days"], zone)
    reading = read_calendar(data, context, window)
    return {"artifacts": [_plain(one) for one in reading.artifacts], "reason": reading.reason}


def _plain(artifact: Artifact) -> dict[str, Any]:
    found = {field.name: getattr(artifact, field.name) for field in fields(artifact)}
    found["people"] = [[one.role, one.name, one.email, one.status] for one in artifact.people]
    for name in _TIMES:
        found[name] = found[name].isoformat() if found[name] else None
    return found


def _artifact(found: dict[str, Any]) -> Artifact:
    people = tuple(Person(Role(role), name, email, status) for role, name, email, status in found["people"])
    times = {name: datetime.fromisoformat(found[name]) if found[name] else None for name in _TIMES}
    special = {"kind": Kind(found["kind"]), "trust": Trust(found["trust"]), "defects": tuple(found["defects"])}
    return Artifact(**(found | times | special | {"people": people}))
