"""Working days, local times in words, and free time in the person's calendar."""

from bisect import bisect_left
from collections.abc import Container, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY_BEGINS, DAY_ENDS = time(9), time(17)
_STEP = timedelta(minutes=30)
_SEARCH = timedelta(days=30)
_LOOKED_AT = 100
_NONE: Container[date] = ()
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def is_working_day(day: date, off: Container[date] = _NONE) -> bool:
    """Whether a day is Monday to Friday and not one of those that are `off`, such as public holidays."""
    return day.weekday() < 5 and day not in off


def next_working_day(day: date, off: Container[date] = _NONE) -> date:
    """The first working day after this one."""
    return _walk(day, 1, off)


def previous_working_day(day: date, off: Container[date] = _NONE) -> date:
    """The last working day before this one."""
    return _walk(day, -1, off)


def working_days_between(first: date, last: date, off: Container[date] = _NONE) -> int:
    """How many working days have passed: those after `first`, up to and with `last`.

    Days that are `off` are left out of the last hundred days alone; further back they are not worth the search.
    """
    span = (last - first).days
    weeks = max(span - _LOOKED_AT, 0) // 7
    passed = range(7 * weeks + 1, span + 1)
    return weeks * 5 + sum(is_working_day(first + timedelta(days=number), off) for number in passed)


def say_day(day: date) -> str:
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


def say_start(start: datetime, *, all_day: bool) -> str:
    return say_day(start.date()) if all_day else f"{say_day(start.date())} at {start:%H:%M}"


def say_span(start: datetime, end: datetime) -> str:
    """Two local times in words; the day is said once where it is the same."""
    if start.date() == end.date():
        return f"{say_day(start.date())}, {start:%H:%M}-{end:%H:%M}"
    return f"{say_day(start.date())}, {start:%H:%M} to {say_day(end.date())}, {end:%H:%M}"


def exists(local: datetime, zone: ZoneInfo) -> bool:
    """Whether a naive local time is on the clock; the hour skipped in spring is not."""
    return local.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local


def free_slot(
    start: datetime,
    end: datetime,
    taken: Sequence[tuple[datetime, datetime]],
    now: datetime,
    zone: ZoneInfo,
    off: Container[date] = _NONE,
) -> datetime | None:
    """The next start at which a meeting of this length collides with nothing, as naive local time.

    A meeting that lies in working hours (Mon-Fri, 9 to 17, on no day that is `off`) is moved within them, in
    steps of half an hour; any other keeps its time of day. `taken` are sorted pairs of start and end. None
    where 30 days hold no such time.
    """
    length = end - start
    local = start.astimezone(zone).replace(tzinfo=None)
    local_end = end.astimezone(zone).replace(tzinfo=None)
    inside = (
        is_working_day(local.date(), off)
        and local_end.date() == local.date()
        and local.time() >= DAY_BEGINS
        and local_end.time() <= DAY_ENDS
    )
    earliest = max(start, now + timedelta(hours=1))
    limit = earliest + _SEARCH
    until_limit = taken[: bisect_left(taken, limit + length, key=lambda span: span[0])]
    busy = [(since, until) for since, until in until_limit if until > earliest]
    candidate = local
    while candidate.replace(tzinfo=zone) < limit:
        candidate = _next_candidate(candidate, length, off) if inside else candidate + timedelta(days=1)
        moment = candidate.replace(tzinfo=zone).astimezone(UTC)
        if moment <= earliest or not exists(candidate, zone):
            continue
        if not any(since < moment + length and until > moment for since, until in busy):
            return candidate
    return None


def _next_candidate(local: datetime, length: timedelta, off: Container[date]) -> datetime:
    """The next half hour at which a meeting of this length fits into working hours."""
    following = local.replace(minute=30 if local.minute >= 30 else 0, second=0, microsecond=0) + _STEP
    if is_working_day(following.date(), off) and following + length <= datetime.combine(following, DAY_ENDS):
        return max(following, datetime.combine(following, DAY_BEGINS))
    return datetime.combine(next_working_day(local.date(), off), DAY_BEGINS)


def _walk(day: date, step: int, off: Container[date]) -> date:
    day += timedelta(days=step)
    while not is_working_day(day, off):
        day += timedelta(days=step)
    return day
