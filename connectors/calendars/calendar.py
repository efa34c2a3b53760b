"""A calendar in the iCalendar format (RFC 5545), as bytes, becomes events and tasks.

Where the bytes come from is none of this module's business. A single event is always kept; a series becomes
its occurrences within a window around now. What is broken is kept, with its defect, where it has at least an
identity or a title. Runs in the limited process, in its main thread.
"""

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from time import process_time
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
from icalendar import Component
from icalendar.error import BrokenCalendarProperty
from recurring_ical_events import CalendarQuery

from connectors.calendars.component import Context, artifact, moment, uid_of, when
from connectors.child import TookTooLong, at_most
from connectors.text import clean_line, decode
from workspace import Artifact, Kind

MAX_OCCURRENCES = 1_000
MAX_ARTIFACTS = 50_000
_SECONDS_A_SERIES = 2.0
_SECONDS_IN_ALL = 10.0
_SECONDS_TO_PARSE = 12.0

_BLOCK = re.compile(
    r"^BEGIN:(VEVENT|VTODO|VTIMEZONE)[ \t]*$.*?(?:^END:\1[ \t]*$|(?=^BEGIN:\1[ \t]*$)|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_ENTRY = re.compile(r"^BEGIN:(?:VEVENT|VTODO)\b", re.MULTILINE | re.IGNORECASE)
_TOO_OFTEN = ("SECONDLY", "MINUTELY")


@dataclass(frozen=True, slots=True)
class Window:
    """The days around now in which occurrences are wanted; `zone` reads times that name none."""

    now: datetime
    past_days: int
    future_days: int
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        return self.now.astimezone(self.zone) - timedelta(days=self.past_days)

    @property
    def end(self) -> datetime:
        return self.now.astimezone(self.zone) + timedelta(days=self.future_days)


@dataclass(frozen=True, slots=True)
class CalendarReading:
    """What a calendar holds; `reason` says why, where that is nothing, and `unread` that it may hold something
    nevertheless. One that `recurs` holds something else in another window.
    """

    artifacts: tuple[Artifact, ...]
    reason: str = ""
    unread: bool = False
    recurs: bool = False


def read_calendar(data: bytes, context: Context, window: Window) -> CalendarReading:
    """The events and tasks of a calendar."""
    text, _ = decode(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parser warns of time zones that it has to guess
        calendars, broken = parse(text)
        found: dict[str, Artifact] = {}
        for one in _artifacts(calendars, context, window):
            found.setdefault(one.key, one)
            if len(found) >= MAX_ARTIFACTS:
                break
    for block in broken:
        salvaged = _salvaged(block, context, window)
        if salvaged is not None:
            found.setdefault(salvaged.key, salvaged)
    components = [one for calendar in calendars for one in calendar.walk() if one.name in ("VEVENT", "VTODO")]
    recurs = any(_recurs(component) for component in components)
    if found:
        return CalendarReading(tuple(found.values()), recurs=recurs)
    if components:
        return CalendarReading((), "all its events lie outside of the window", recurs=recurs)
    if _ENTRY.search(text):
        return CalendarReading((), "its events can't be parsed, or not in time", unread=True)
    if "BEGIN:" in text.upper():
        return CalendarReading((), "holds no events or tasks")
    return CalendarReading((), "is no calendar", unread=bool(text.strip()))


def parse(text: str) -> tuple[list[Component], list[str]]:
    """The calendars of a text, and those of its parts that can't be parsed."""
    try:
        with at_most(_SECONDS_TO_PARSE):
            calendars: list[Component] = list(icalendar.Calendar.from_ical(text, multiple=True))
        if calendars:
            return calendars, []
    except TookTooLong:
        return [], []
    except Exception:  # the parser fails in many ways; then each part is tried by itself
        pass
    zones: list[str] = []
    good: list[str] = []
    broken: list[str] = []
    unfolded = re.sub(r"\r\n?", "\n", text)
    unfolded = re.sub(r"\n[ \t]", "", unfolded)
    for found in _BLOCK.finditer(unfolded):
        block = found[0]
        try:
            icalendar.Calendar.from_ical(f"BEGIN:VCALENDAR\n{block}\nEND:VCALENDAR\n")
        except Exception:  # as above
            broken.append(block)
            continue
        (zones if found[1].upper() == "VTIMEZONE" else good).append(block)
    whole = "\n".join(["BEGIN:VCALENDAR", *zones, *good, "END:VCALENDAR", ""])
    return ([icalendar.Calendar.from_ical(whole)] if good else []), broken


def _artifacts(calendars: list[Component], context: Context, window: Window) -> Iterator[Artifact]:
    spent = process_time()
    for calendar in calendars:
        cancelled = str(calendar.get("METHOD", "")).upper() == "CANCEL"
        groups: dict[tuple[str, str], list[Component]] = {}
        for component in calendar.walk():
            if component.name in ("VEVENT", "VTODO"):
                groups.setdefault((component.name, uid_of(component)), []).append(component)
        for (name, uid), components in groups.items():
            if name == "VEVENT" and any(_recurs(component) for component in components):
                seconds = min(_SECONDS_A_SERIES, spent + _SECONDS_IN_ALL - process_time())
                yield from _series(uid, components, context, window, cancelled, seconds)
            else:
                for component in latest_of(components):
                    key, series = key_of(uid, component, window.zone)
                    yield kept(component, key, context, series=series, cancelled=cancelled)


def kept(component: Component, key: str, context: Context, **about: Any) -> Artifact:
    """The artifact of a component; only its title where a property is broken in a way nobody foresaw."""
    try:
        return artifact(component, key, context, **about)
    except Exception as error:  # whatever it is, it must not cost the rest of the calendar
        return Artifact(
            source=context.source,
            key=key,
            kind=Kind.TASK if component.name == "VTODO" else Kind.EVENT,
            title=clean_line(str(component.get("SUMMARY", "")))[:1_000],
            origin=context.origin,
            defects=(f"can't be read ({type(error).__name__}); only its title kept",),
        )


def _series(
    uid: str, components: list[Component], context: Context, window: Window, cancelled: bool, seconds: float
) -> Iterator[Artifact]:
    """The occurrences of a series within the window; the series itself, with a defect, where that can't be."""
    masters = [one for one in components if "RECURRENCE-ID" not in one] or components
    master = max(masters, key=_sequence)
    rule = rule_of(master)
    defect = ""
    occurrences: list[Component] = []
    if any(often in rule for often in _TOO_OFTEN):
        defect = "repeats within the hour; not spread out"
    elif seconds <= 0:
        defect = "not spread out: the calendar takes too long"
    else:
        try:
            with at_most(seconds):
                occurrences = _spread_out(components, window)
        except TookTooLong:
            defect = "not spread out: its recurrence takes too long"
        except Exception as error:  # a rule can be wrong in any way
            defect = f"its recurrence can't be worked out ({type(error).__name__})"
    if defect:
        yield kept(master, uid, context, series=uid, recurrence=rule, cancelled=cancelled, defects=(defect,))
        return
    cut: tuple[str, ...] = ()
    if len(occurrences) > MAX_OCCURRENCES:
        cut = (f"only {MAX_OCCURRENCES:,} of its {len(occurrences):,} occurrences kept",)
        occurrences.sort(key=lambda one: abs(_start(one, window) - window.now))
        occurrences = occurrences[:MAX_OCCURRENCES]
    moved = {_stamp(when(one, "RECURRENCE-ID"), window.zone): one for one in components if "RECURRENCE-ID" in one}
    for one in occurrences:
        key = f"{uid}|{_stamp(_recurrence_id(one, moved, window), window.zone)}"
        yield kept(one, key, context, series=uid, recurrence=rule, cancelled=cancelled, defects=cut)


def _spread_out(components: list[Component], window: Window) -> list[Component]:
    calendar = icalendar.Calendar()
    for component in components:
        calendar.add_component(_mended(component))
    # Times without a zone are the person's, so the window is given in their clock.
    start, end = window.start, window.end
    floating = not any(_aware(component) for component in components)
    if floating:
        start, end = start.replace(tzinfo=None), end.replace(tzinfo=None)
    return list(CalendarQuery(calendar, skip_bad_series=False).between(start, end))


def _aware(component: Component) -> bool:
    start = when(component, "DTSTART")
    return isinstance(start, datetime) and start.tzinfo is not None


def _recurrence_id(occurrence: Component, moved: dict[str, Component], window: Window) -> date | datetime | None:
    """Which occurrence of the rule this is. What changes this and all future ones names only the first."""
    named = when(occurrence, "RECURRENCE-ID")
    change = moved.get(_stamp(named, window.zone))
    if change is None or change["RECURRENCE-ID"].params.get("RANGE") != "THISANDFUTURE":
        return named
    now, first = when(occurrence, "DTSTART"), when(change, "DTSTART")
    if now is None or first is None or named is None:
        return named
    try:
        return now - (first - named)
    except TypeError:  # dates and times mixed
        return now


def key_of(uid: str, component: Component, zone: ZoneInfo) -> tuple[str, str]:
    """The key of a single event or task, and its series: that of its UID where it stands for one occurrence."""
    named = when(component, "RECURRENCE-ID")
    return (f"{uid}|{_stamp(named, zone)}", uid) if named is not None else (uid, "")


def _stamp(value: date | datetime | None, zone: ZoneInfo) -> str:
    """A recurrence id as part of a key: a date, or a moment in UTC, a time without zone being the person's."""
    if value is None:
        return ""
    if not isinstance(value, datetime):
        return f"{value:%Y%m%d}"
    found = moment(value, zone)
    return f"{found:%Y%m%dT%H%M%SZ}" if found else ""


def _start(component: Component, window: Window) -> datetime:
    return moment(when(component, "DTSTART"), window.zone) or window.now


def _recurs(component: Component) -> bool:
    return "RRULE" in component or "RDATE" in component


def latest_of(components: list[Component]) -> Iterable[Component]:
    """Of versions of the same component, the one with the highest SEQUENCE."""
    latest: dict[str, Component] = {}
    for component in components:
        name = str(when(component, "RECURRENCE-ID"))
        if name not in latest or _sequence(component) >= _sequence(latest[name]):
            latest[name] = component
    return latest.values()


def _mended(component: Component) -> Component:
    """The component without the lists of dates that are broken; the others still count."""
    if not component.errors:
        return component
    mended = component.copy()
    for name in ("EXDATE", "RDATE"):
        values: Any = mended.get(name, [])
        kept = [value for value in (values if isinstance(values, list) else [values]) if _has_dates(value)]
        mended.pop(name, None)
        if kept:
            mended[name] = kept
    return mended


def _has_dates(value: Any) -> bool:
    try:
        return bool(value.dts)
    except (AttributeError, BrokenCalendarProperty):
        return False


def _sequence(component: Component) -> int:
    try:
        return int(component.get("SEQUENCE", 0))
    except (TypeError, ValueError):
        return 0


def rule_of(component: Component) -> str:
    rules: Any = component.get("RRULE", [])
    texts = []
    for rule in rules if isinstance(rules, list) else [rules]:
        raw = rule.to_ical()
        texts.append(raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw))
    return clean_line(" ".join(texts))[:500]


def _salvaged(block: str, context: Context, window: Window) -> Artifact | None:
    """What can be said of a component that can't be parsed: its UID, title and start, if it has them."""

    def line(name: str) -> str:
        found = re.search(rf"^{name}[^:\n]*:(.*)$", block, re.MULTILINE | re.IGNORECASE)
        return clean_line(found[1].replace("\\,", ",").replace("\\n", " ")) if found else ""

    uid, title = line("UID"), line("SUMMARY")
    if (not uid and not title) or block[:15].upper().startswith("BEGIN:VTIMEZONE"):
        return None
    time = None
    stamp = re.match(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d))?", line("DTSTART"))
    if stamp:
        try:
            year, month, day, hour, minute = (int(part or 0) for part in stamp.groups())
            time = moment(datetime(year, month, day, hour, minute), window.zone)
        except ValueError:
            time = None
    kind = Kind.TASK if block[:11].upper() == "BEGIN:VTODO" else Kind.EVENT
    return Artifact(
        source=context.source,
        key=uid[:250] or "digest:" + hashlib.sha256(block.encode("utf-8", "replace")).hexdigest(),
        kind=kind,
        title=title,
        time=time,
        origin=context.origin,
        defects=("can't be parsed; only its title and start kept",),
    )
