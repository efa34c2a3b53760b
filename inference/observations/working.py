"""Working days, local times in words, and free time in the person's calendar."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY_BEGINS, DAY_ENDS = time(9), time(17)
_STEP = timedelta(minutes=30)
_SEARCH = timedelta(days=30)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def is_working_day(day: date) -> bool:
    return day.weekday() < 5


def next_working_day(day: date) -> date:
    """The first working day after this one."""
    return _walk(day, 1)


def previous_working_day(day: date) -> date:
    """The last working day before this one."""
    return _walk(day, -1)


def working_days_between(first: date, last: date) -> int:
    """How many working days have passed: those after `first`, up to and with `last`."""
    weeks, rest = divmod((last - first).days, 7)
    return weeks * 5 + sum(is_working_day(first + timedelta(days=number)) for number in range(1, rest + 1))


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
    start: datetime, end: datetime, taken: Sequence[tuple[datetime, datetime]], now: datetime, zone: ZoneInfo
) -> datetime | None:
    """The next start at which a meeting of this length collides with nothing, as naive local time.

    A meeting that lies in working hours (Mon-Fri, 9 to 17) is moved within them, in steps of half an hour;
    any other keeps its time of day. `taken` are sorted pairs of start and end. None where 30 days hold no
    such time.
    """
    length = end - start
    local = start.astimezone(zone).replace(tzinfo=None)
    local_end = end.astimezone(zone).replace(tzinfo=None)
    inside = (
        is_working_day(local.date())
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
        candidate = _next_candidate(candidate, length) if inside else candidate + timedelta(days=1)
        moment = candidate.replace(tzinfo=zone).astimezone(UTC)
        if moment <= earliest or not exists(candidate, zone):
            continue
        if not any(since < moment + length and until > moment for since, until in busy):
            return candidate
    return None


def _next_candidate(local: datetime, length: timedelta) -> datetime:
    """The next half hour at which a meeting of this length fits into working hours."""
    following = local.replace(minute=30 if local.minute >= 30 else 0, second=0, microsecond=0) + _STEP
    if is_working_day(following.date()) and following + length <= datetime.combine(following, DAY_ENDS):
        return max(following, datetime.combine(following, DAY_BEGINS))
    return datetime.combine(next_working_day(local.date()), DAY_BEGINS)


def _walk(day: date, step: int) -> date:
    day += timedelta(days=step)
    while not is_working_day(day):
        day += timedelta(days=step)
    return day
