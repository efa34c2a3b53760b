"""Calendars read in the limited process: what is asked of it and what it answers, as JSON."""

from dataclasses import fields
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from connectors.limited import Limited
from workspace import Artifact, Kind, Person, Role, Trust

if TYPE_CHECKING:
    from connectors.calendars.calendar import CalendarReading, Window
    from connectors.calendars.component import Context

_TIMES = ("time", "end", "due")


class CalendarReader:
    """Reads calendars in the limited process; a context manager whose end is `close`."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._limited = Limited(seconds)

    def read(self, data: bytes, context: "Context", window: "Window") -> "CalendarReading | str":
        """What a calendar holds, or one line on why it can't be read."""
        from connectors.calendars.calendar import CalendarReading

        job = {
            "job": "calendar",
            "source": context.source,
            "zone": context.zone.key,
            "own": sorted(context.own),
            "known": sorted(context.known),
            "origin": context.origin,
            "now": window.now.isoformat(),
            "past_days": window.past_days,
            "future_days": window.future_days,
        }
        reply = self._limited.ask(job, data)
        if isinstance(reply, str):
            return reply
        return CalendarReading(tuple(_artifact(one) for one in reply["artifacts"]), str(reply["reason"]))

    def close(self) -> None:
        self._limited.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Do a job of `CalendarReader`: runs in the limited process."""
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
