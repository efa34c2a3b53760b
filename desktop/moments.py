"""Moments as the person says and reads them."""

import os
import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from workspace.errors import UserError

MORNING = time(8, 0)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPAN = re.compile(r"(\d{1,4})\s*(h|d|w|hours?|days?|weeks?)")
_HOW = "Say tomorrow, next week, friday, 3d, 2w, 4h, 2026-03-20 or 2026-03-20T15:00."


def present(zone: tzinfo) -> datetime:
    """The present moment, to the second. `TIDE_NOW` stands in for it, to look at a workspace of another day.

    Raises:
        UserError: if `TIDE_NOW` is no ISO 8601 moment, or so far away that there is no calendar around it.
    """
    told = os.environ.get("TIDE_NOW")
    if not told:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        moment = datetime.fromisoformat(told)
        if not 1970 < moment.year < 9000:
            raise ValueError(told)
    except ValueError as error:
        raise UserError(f"TIDE_NOW={told!r} is no moment. Write it like 2026-03-16T08:30, or unset it.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def until(words: str, now: datetime, zone: tzinfo) -> datetime:
    """The moment that words such as `tomorrow`, `next week`, `friday`, `3d` or a date name; days begin at 08:00.

    Raises:
        UserError: if they name none, or one that is past.
    """
    said = " ".join(words.lower().split())
    today = now.astimezone(zone).date()
    span = _SPAN.fullmatch(said)
    try:
        if said == "tomorrow":
            moment = _morning(today + timedelta(days=1), zone)
        elif said == "next week":
            moment = _morning(today + timedelta(days=7 - today.weekday()), zone)
        elif said in _DAYS:
            moment = _morning(today + timedelta(days=(_DAYS.index(said) - today.weekday() - 1) % 7 + 1), zone)
        elif span and span[2].startswith("h"):
            moment = now + timedelta(hours=int(span[1]))
        elif span:
            days = int(span[1]) * (7 if span[2].startswith("w") else 1)
            moment = _morning(today + timedelta(days=days), zone)
        else:
            moment = datetime.fromisoformat(said.upper())
            if len(said) <= len("2026-03-20"):
                moment = _morning(moment.date(), zone)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        moment = moment.astimezone(zone)
    except (ValueError, OverflowError) as error:
        raise UserError(f"{words!r} names no moment. {_HOW}") from error
    if moment <= now:
        raise UserError(f"{say(moment, now, zone)} is past. Name a later moment.")
    return moment


def _morning(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, MORNING, zone)


def say(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """`today 15:00`, `Tue 17 March 10:00`, or with the year where it is another one."""
    try:
        local = moment.astimezone(zone)
    except OverflowError:  # the first or the last day that there is, as mail may name it
        local = moment
    today = now.astimezone(zone).date()
    clock = f"{local:%H:%M}"
    away = (local.date() - today).days
    near = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(away)
    if near:
        return f"{near} {clock}"
    year = "" if local.year == today.year else f" {local.year}"
    return f"{local:%a} {local.day} {local:%B}{year} {clock}"


def say_day(moment: datetime, now: datetime, zone: tzinfo) -> str:
    """As `say`, without the time of day."""
    return say(moment, now, zone).rsplit(" ", 1)[0]


def say_span(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`."""
    if seconds < 0.05:
        return "0 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
