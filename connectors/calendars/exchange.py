"""Calendars read in the limited process: what is asked of it and what it answers, as JSON."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from workspace import Artifact, Kind, Person, Role, Trust

if TYPE_CHECKING:
    from connectors.calendars.calendar import CalendarReading, Window
    from connectors.calendars.component import Context


@dataclass(frozen=True, slots=True)
class Invitation:
    """What an invitation in a mail says: `events` (and how many more there are), or a title and words on them.

    The key of an event is its UID, with `|` and a stamp if it is one occurrence of a series; `series` is the UID.
    """

    events: tuple[Artifact, ...] = ()
    more: int = 0
    title: str = ""
    text: str = ""


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

    artifacts = tuple(_artifact(one) for one in reply["artifacts"])
    return CalendarReading(artifacts, str(reply["reason"]), bool(reply["unread"]), bool(reply["recurs"]))


def answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The answer to a question about the bytes of a calendar: runs in the limited process."""
    from connectors.calendars.calendar import Window, read_calendar
    from connectors.calendars.component import Context

    zone = ZoneInfo(job["zone"])
    context = Context(job["source"], zone, frozenset(job["own"]), frozenset(job["known"]), job["origin"])
    window = Window(datetime.fromisoformat(job["now"]), job["past_days"], job["future_days"], zone)
    reading = read_calendar(data, context, window)
    return {
        "artifacts": [_plain(one) for one in reading.artifacts],
        "reason": reading.reason,
        "unread": reading.unread,
        "recurs": reading.recurs,
    }


def answer_invitation(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The answer to a question about the invitation in a mail: runs in the limited process."""
    from connectors.calendars.component import Context
    from connectors.calendars.invitation import read_invitation

    found = read_invitation(data, Context(job["source"], ZoneInfo(job["zone"]), origin=job["origin"]))
    events = [_plain(one) for one in found.events]
    return {"events": events, "more": found.more, "title": found.title, "text": found.text}


def invitation_of(reply: dict[str, Any]) -> Invitation:
    """The invitation that an answer tells of."""
    events = tuple(_artifact(one) for one in reply["events"])
    return Invitation(events, int(reply["more"]), str(reply["title"]), str(reply["text"]))


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
