from datetime import date

import pytest

from inference.observations.dates import months_later, named_days
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
    ("sentence", "day"),
    [
        # English
        ("See you the day after tomorrow", date(2026, 3, 20)),
        ("next Monday", date(2026, 3, 23)),
        ("Friday next week", date(2026, 3, 27)),
        ("next week, on Tuesday", date(2026, 3, 24)),
        ("last Friday", date(2026, 3, 13)),
        ("this Friday", date(2026, 3, 20)),
        ("Friday 29 May", date(2026, 5, 29)),
        ("Mon 11 May: collection", date(2026, 5, 11)),
        ("in three days", date(2026, 3, 21)),
        ("two weeks from today", date(2026, 4, 1)),
        ("by the end of next week", date(2026, 3, 27)),
        ("by the end of May", date(2026, 5, 31)),
        ("on the 27th", date(2026, 3, 27)),
        ("by the 2nd", date(2026, 4, 2)),
        ("25/03/2026", date(2026, 3, 25)),
        # German
        ("übermorgen", date(2026, 3, 20)),
        ("bis morgen", date(2026, 3, 19)),
        ("kommenden Freitag", date(2026, 3, 20)),
        ("Freitag nächster Woche", date(2026, 3, 27)),
        ("letzten Montag", date(2026, 3, 16)),
        ("Montag, den 30. März", date(2026, 3, 30)),
        ("am 24. Mär. 2026", date(2026, 3, 24)),
        ("bis Ende nächster Woche", date(2026, 3, 27)),
        ("in einem Monat", date(2026, 4, 18)),
        ("Freitagabend", date(2026, 3, 20)),
        # French
        ("vendredi prochain", date(2026, 3, 20)),
        ("le lundi de la semaine prochaine", date(2026, 3, 23)),
        ("après-demain", date(2026, 3, 20)),
        ("avant le 12/04", date(2026, 4, 12)),
        ("le 1er avril", date(2026, 4, 1)),
        ("d'ici la fin du mois", date(2026, 3, 31)),
        ("dans deux semaines", date(2026, 4, 1)),
        # Spanish
        ("pasado mañana", date(2026, 3, 20)),
        ("mañana por la mañana", date(2026, 3, 19)),
        ("el viernes que viene", date(2026, 3, 20)),
        ("el lunes de la semana que viene", date(2026, 3, 23)),
        ("el viernes pasado", date(2026, 3, 13)),
        ("dentro de tres días", date(2026, 3, 21)),
        ("el 2 de abril de 2026", date(2026, 4, 2)),
        # Korean
        ("다음 주 금요일까지", date(2026, 3, 27)),
        ("지난주 금요일", date(2026, 3, 13)),
        ("이번 주 월요일", date(2026, 3, 16)),
        ("모레까지 부탁드립니다", date(2026, 3, 20)),
        ("3월 20일(금)까지", date(2026, 3, 20)),
        ("20일까지", date(2026, 3, 20)),
        ("2026. 3. 25.까지", date(2026, 3, 25)),
        ("2주 뒤", date(2026, 4, 1)),
        ("한 달 후", date(2026, 4, 18)),
        ("5월 말까지", date(2026, 5, 31)),
    ],
)
def test_days_in_words_are_read_in_five_languages(sentence, day):
    assert [found.day for found in named_days(sentence, WRITTEN)] == [day]


@pytest.mark.parametrize(
    "sentence",
    [
        "See you next Friday",
        "nächsten Freitag",
        "on Fridays",
        "every Friday",
        "freitags",
        "jeden Freitag",
        "tous les lundis",
        "los lunes",
        "매주 월요일",
        "Friday 28 May 2026",
        "3/4/2026",
        "guten Morgen",
        "am Morgen",
        "por la mañana",
        "next month",
        "in Mai",
    ],
)
def test_what_can_be_read_in_two_ways_or_again_and_again_is_no_day(sentence):
    assert named_days(sentence, WRITTEN) == []


@pytest.mark.parametrize(
    ("day", "months", "there"),
    [
        (date(2026, 7, 31), -2, date(2026, 5, 31)),
        (date(2026, 3, 31), -1, date(2026, 2, 28)),
        (date(2026, 1, 15), -3, date(2025, 10, 15)),
        (date(2025, 12, 1), 1, date(2026, 1, 1)),
    ],
)
def test_months_are_counted_to_the_same_day_or_the_last(day, months, there):
    assert months_later(day, months) == there


@pytest.mark.parametrize(
    "sentence", ["31 February", "2026-02-30", "3/4", "version 1.2.3", "at 10.30", "May I?", ""]
)
def test_what_is_no_day_is_not_read(sentence):
    assert named_days(sentence, WRITTEN) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "from 23 to 27 March",
        "23-27 March 2026",
        "23 \u2013 27 March",
        "vom 23. bis zum 27. März",
        "23./27. März",
        "du 23 au 27 mars",
        "del 23 al 27 de marzo",
        "3월 23일부터 3월 27일까지",
        "on 23 and 27 March",
    ],
)
def test_both_days_of_a_range_are_named(sentence):
    days = [date(2026, 3, 23), date(2026, 3, 27)]
    assert [found.day for found in named_days(sentence, WRITTEN)] == days


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
