"""One event or task of a calendar, read by accessors that take what is broken for missing and say so."""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Component
from icalendar.error import BrokenCalendarProperty

from connectors.html import tame, to_text
from connectors.text import clean, clean_line, cut
from workspace import Artifact, Kind, Person, Role, Trust

_MAX_PEOPLE = 500
_HTML = re.compile(r"<(?:br|p|div|a|b|ul|ol|span|html)\b[^<>]*>", re.IGNORECASE)
_STATES = {"completed": "done", "cancelled": "done"}


@dataclass(frozen=True, slots=True)
class Context:
    """What is the same for all that a calendar holds."""

    source: str
    zone: ZoneInfo
    own: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    origin: str = ""


def artifact(
    component: Component,
    key: str,
    context: Context,
    *,
    series: str = "",
    recurrence: str = "",
    cancelled: bool = False,
    defects: tuple[str, ...] = (),
) -> Artifact:
    """The artifact of a VEVENT or VTODO."""
    found = list(defects)
    for name, _ in component.errors:
        found.append(f"{name or 'a line'} can't be read")
    is_task = component.name == "VTODO"
    start, end = when(component, "DTSTART"), when(component, "DUE" if is_task else "DTEND")
    _note_unknown_zones(component, context.zone, found)
    if _text(component, "X-MICROSOFT-CDO-ALLDAYEVENT").upper() == "TRUE":
        start, end = _day(start, context.zone), _day(end, context.zone)
    begin = moment(start, context.zone)
    finish = moment(end, context.zone)
    all_day = _is_date(end if is_task and end is not None else start)
    if finish is None and begin is not None:
        finish = _end_by_length(component, begin, start, context.zone, is_task)
    if not is_task:
        if begin is None:
            found.append("no start")
        elif finish is not None and finish < begin:
            found.append("ends before it starts")
            finish = begin
    people = _people(component)
    status = _text(component, "STATUS").lower()
    text, noted = _description(component)
    title, odd = clean(" ".join(_text(component, "SUMMARY").split()))
    found += [note for note in (*noted, odd) if note]
    return Artifact(
        source=context.source,
        key=key,
        kind=Kind.TASK if is_task else Kind.EVENT,
        title=title[:1_000],
        text=text,
        people=people,
        time=begin,
        end=None if is_task else finish,
        due=finish if is_task else None,
        all_day=all_day,
        busy=not is_task and _text(component, "TRANSP").upper() != "TRANSPARENT",
        cancelled=cancelled or status == "cancelled",
        status=_task_state(component, status) if is_task else status,
        location=clean_line(_text(component, "LOCATION"))[:1_000],
        series=series,
        recurrence=recurrence,
        origin=context.origin,
        trust=_trust(people, context),
        defects=tuple(dict.fromkeys(found))[:20],
    )


def uid_of(component: Component) -> str:
    """The UID, or a digest of the component where it has none that can be a key."""
    uid = clean_line(_text(component, "UID"))
    if 0 < len(uid) <= 250 and not uid.startswith(("digest:", "unread:")):
        return uid
    try:
        said = component.to_ical()
    except (ValueError, TypeError, AttributeError, KeyError):
        said = repr(component).encode("utf-8", "replace")
    return "digest:" + hashlib.sha256(said).hexdigest()


def when(component: Component, name: str) -> date | datetime | None:
    """A date or a time of a component as it stands, None where it is missing or broken."""
    value: Any = component.get(name)
    found = _dt(value[0] if isinstance(value, list) and value else value)
    return found if isinstance(found, date) else None


def moment(value: date | datetime | None, zone: ZoneInfo) -> datetime | None:
    """A time as a moment in UTC, read in the person's zone if it names none; a date as its midnight UTC."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        return datetime.combine(value, time(), UTC)
    try:
        return (value if value.tzinfo is not None else value.replace(tzinfo=zone)).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _day(value: date | datetime | None, zone: ZoneInfo) -> date | None:
    """The day on which a time falls for the person."""
    found = moment(value, zone) if isinstance(value, datetime) else None
    return value if found is None else found.astimezone(zone).date()


def _dt(value: Any) -> Any:
    """The Python value of a date, time or duration, None where it is missing or broken."""
    try:
        return value.dt
    except (AttributeError, ValueError, TypeError, BrokenCalendarProperty):
        return None


def _is_date(value: date | datetime | None) -> bool:
    return value is not None and not isinstance(value, datetime)


def _end_by_length(
    component: Component, begin: datetime, start: date | datetime | None, zone: ZoneInfo, is_task: bool
) -> datetime | None:
    """The end where only the length is told: DURATION, a day for an event on a date, nothing for one at a time."""
    length = _dt(component.get("DURATION"))
    try:
        if isinstance(length, timedelta):
            if length.seconds == 0 and start is not None:
                return moment(start + length, zone)  # days are days of the clock, whatever it is set to
            return begin + length
        if is_task or start is None:
            return None
        return moment(start + timedelta(days=1), zone) if _is_date(start) else begin
    except OverflowError:
        return begin


def _note_unknown_zones(component: Component, zone: ZoneInfo, found: list[str]) -> None:
    for name in ("DTSTART", "DTEND", "DUE"):
        value = component.get(name)
        named = getattr(value, "params", {}).get("TZID")
        stands = when(component, name)
        if named and isinstance(stands, datetime) and stands.tzinfo is None:
            found.append(f"unknown time zone {clean_line(str(named))[:60]!r}; read in {zone.key}")


def _people(component: Component) -> tuple[Person, ...]:
    people: list[Person] = []
    for role, name in ((Role.ORGANIZER, "ORGANIZER"), (Role.ATTENDEE, "ATTENDEE")):
        values: Any = component.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            params = getattr(value, "params", {})
            address = clean_line(str(value))
            if address[:7].lower() == "mailto:":
                address = address[7:]
            email = clean_line(str(params.get("EMAIL", ""))).lower() if "@" not in address else address.lower()
            label = clean_line(str(params.get("CN", ""))).strip("\"'")
            if not email and not label:
                label = address
            status = clean_line(str(params.get("PARTSTAT", ""))).lower() if role is Role.ATTENDEE else ""
            if email or label:
                people.append(
                    Person(role, "" if label.lower() == email else label[:200], email[:320], status[:40])
                )
    return tuple(dict.fromkeys(people))[:_MAX_PEOPLE]


def _trust(people: tuple[Person, ...], context: Context) -> Trust:
    """An entry that nobody called is the person's own; otherwise it is as trusted as who called it."""
    if not people:
        return Trust.SELF
    caller = next((person.email for person in people if person.role is Role.ORGANIZER), "")
    if caller in context.own:
        return Trust.SELF
    return Trust.KNOWN if caller in context.known else Trust.UNKNOWN


def _description(component: Component) -> tuple[str, tuple[str, ...]]:
    text, long = cut(_text(component, "DESCRIPTION"))
    if _HTML.search(text) and tame(text):
        text, noted = to_text(text.replace("\n", "<br>"))
        return text, (*noted, long)
    text, odd = clean(text)
    return text.strip(), (odd, long)


def _task_state(component: Component, status: str) -> str:
    done = "COMPLETED" in component or _text(component, "PERCENT-COMPLETE") == "100"
    return _STATES.get(status, "done" if done else "open")


def _text(component: Component, name: str) -> str:
    value: Any = component.get(name, "")
    if isinstance(value, list):
        value = value[0] if value else ""
    try:
        return str(value)
    except (ValueError, TypeError, BrokenCalendarProperty):
        return ""
