"""Working days and free time know the public holidays of the country whose clocks the person goes by."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from inference.observations.public_holidays import public_holidays
from inference.observations.working import (
    free_slot,
    is_working_day,
    next_working_day,
    previous_working_day,
    working_days_between,
)

GOOD_FRIDAY = date(2026, 4, 3)
GERMAN = public_holidays("Europe/Berlin")


@pytest.mark.parametrize(
    ("zone", "day", "name"),
    [
        ("Europe/Berlin", GOOD_FRIDAY, "Good Friday"),
        ("Europe/Paris", date(2026, 7, 14), "National Day"),
        ("Asia/Seoul", date(2026, 9, 25), "Chuseok"),
        ("Europe/Dublin", date(2026, 6, 1), "June Bank Holiday"),
        # No holiday: in another country, in a part of it alone, and where a zone has no country.
        ("Europe/Paris", GOOD_FRIDAY, ""),
        ("Europe/Berlin", date(2026, 6, 4), ""),
        ("UTC", date(2026, 12, 25), ""),
        ("Antarctica/Troll", date(2026, 12, 24), ""),
    ],
)
def test_a_zone_has_the_holidays_of_its_country(zone, day, name):
    assert public_holidays(zone).name(day) == name
    assert (day in public_holidays(zone)) is bool(name)


def test_the_country_is_named_with_the_day():
    assert GERMAN.say(GOOD_FRIDAY) == "Good Friday, a public holiday in most of Germany"


def test_a_holiday_is_no_working_day():
    assert not is_working_day(GOOD_FRIDAY, GERMAN)
    assert is_working_day(GOOD_FRIDAY)
    assert next_working_day(date(2026, 4, 2), GERMAN) == date(2026, 4, 7)
    assert previous_working_day(date(2026, 4, 7), GERMAN) == date(2026, 4, 2)
    assert working_days_between(date(2026, 4, 1), date(2026, 4, 8), GERMAN) == 3
    assert working_days_between(date(2026, 4, 1), date(2026, 4, 8)) == 5


@pytest.mark.parametrize("span", [0, 1, 6, 99, 100, 101, 107, 108, 700])
def test_working_days_are_counted_over_any_span(span):
    first = date.fromordinal(GOOD_FRIDAY.toordinal() - span)
    days = [date.fromordinal(first.toordinal() + number) for number in range(1, span + 1)]
    assert working_days_between(first, GOOD_FRIDAY) == sum(map(is_working_day, days))


def test_a_meeting_is_not_moved_to_a_holiday():
    zone = ZoneInfo("Europe/Berlin")
    start, end = (date_at(hour, zone) for hour in (15, 17))
    assert free_slot(start, end, [], start, zone, GERMAN) == date_at(9, None, day=7)


def date_at(hour, zone, day=2):
    return datetime(2026, 4, day, hour, tzinfo=zone)
