from datetime import date

import pytest

from inference.observations.dates import named_days
from inference.observations.working import (
    next_working_day,
    previous_working_day,
    say_day,
    working_days_between,
)

WRITTEN = date(2026, 3, 18)  # a Wednesday


@pytest.mark.parametrize(
    ("sentence", "day", "limit"),
    [
        ("Can you come on 2026-04-02?", date(2026, 4, 2), False),
        ("I need it by 20 March.", date(2026, 3, 20), True),
        ("It is due on March 20th, 2027.", date(2027, 3, 20), True),
        ("Send it before Friday.", date(2026, 3, 20), True),
        ("Lunch on Friday?", date(2026, 3, 20), False),
        ("On Wednesday again?", date(2026, 3, 25), False),
        ("By tomorrow, please.", date(2026, 3, 19), True),
        ("Bis zum 20. März bitte.", date(2026, 3, 20), True),
        ("Geht es am 1.4.?", date(2026, 4, 1), False),
        ("bis Freitag", date(2026, 3, 20), True),
        ("avant le 2 avril", date(2026, 4, 2), True),
        ("d'ici vendredi", date(2026, 3, 20), True),
        ("antes del 20 de marzo", date(2026, 3, 20), True),
        ("para el viernes", date(2026, 3, 20), True),
        ("3월 20일까지 부탁드립니다", date(2026, 3, 20), True),
        ("금요일까지", date(2026, 3, 20), True),
        ("by the end of the week", date(2026, 3, 20), True),
        ("since 28 December", date(2025, 12, 28), False),
    ],
)
def test_a_named_day_is_read_from_the_day_of_writing(sentence, day, limit):
    (found,) = named_days(sentence, WRITTEN)
    assert (found.day, found.limit) == (day, limit)


@pytest.mark.parametrize(
    "sentence", ["31 February", "2026-02-30", "3/4", "version 1.2.3", "at 10.30", "May I?", ""]
)
def test_what_is_no_day_is_not_read(sentence):
    assert named_days(sentence, WRITTEN) == []


def test_days_stand_in_the_order_of_the_words():
    assert [item.day.day for item in named_days("moved from 27 March to 20 March", WRITTEN)] == [27, 20]


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        (date(2026, 3, 13), date(2026, 3, 18), 3),
        (date(2026, 3, 14), date(2026, 3, 16), 1),
        (date(2026, 3, 18), date(2026, 3, 18), 0),
        (date(2026, 3, 2), date(2026, 3, 18), 12),
    ],
)
def test_working_days_leave_out_the_weekend(first, last, days):
    assert working_days_between(first, last) == days


def test_working_days_before_and_after_a_weekend():
    assert next_working_day(date(2026, 3, 20)) == date(2026, 3, 23)
    assert previous_working_day(date(2026, 3, 22)) == date(2026, 3, 20)
    assert say_day(date(2026, 3, 20)) == "Fri 20 March 2026"
