"""Moments as a person names them."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from desktop.moments import present, say, say_span, until
from workspace import UserError

ZONE = ZoneInfo("Europe/Dublin")
TUESDAY = datetime(2026, 5, 19, 8, 40, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("tomorrow", "2026-05-20T08:00"),
        ("Next  Week", "2026-05-25T08:00"),
        ("tuesday", "2026-05-26T08:00"),
        ("friday", "2026-05-22T08:00"),
        ("3d", "2026-05-22T08:00"),
        ("2 weeks", "2026-06-02T08:00"),
        ("4h", "2026-05-19T12:40"),
        ("2026-06-01", "2026-06-01T08:00"),
        ("2026-06-01 15:30", "2026-06-01T15:30"),
        ("2026-06-01t15:30", "2026-06-01T15:30"),
        ("2026-06-01T15:30Z", "2026-06-01T16:30"),
    ],
)
def test_a_moment_is_understood_in_the_zone_of_the_person(words: str, moment: str) -> None:
    assert until(words, TUESDAY, ZONE) == datetime.fromisoformat(moment).replace(tzinfo=ZONE)


@pytest.mark.parametrize(
    "words", ["", "soon", "yesterday", "2026-02-30", "99999d", "12", "0001-01-01T00:00+14:00"]
)
def test_words_that_name_no_moment_are_refused_with_those_that_do(words: str) -> None:
    with pytest.raises(UserError, match=r"names no moment\. Say tomorrow"):
        until(words, TUESDAY, ZONE)


@pytest.mark.parametrize("words", ["2026-05-19", "2020-01-01T10:00", "0d"])
def test_a_past_moment_is_refused(words: str) -> None:
    with pytest.raises(UserError, match="is past"):
        until(words, TUESDAY, ZONE)


def test_moments_are_said_by_nearness() -> None:
    assert say(TUESDAY + timedelta(hours=2), TUESDAY, ZONE) == "today 10:40"
    assert say(TUESDAY + timedelta(days=1), TUESDAY, ZONE) == "tomorrow 08:40"
    assert say(TUESDAY - timedelta(days=1), TUESDAY, ZONE) == "yesterday 08:40"
    assert say(TUESDAY + timedelta(days=2), TUESDAY, ZONE) == "Thu 21 May 08:40"
    assert say(TUESDAY.replace(year=2024), TUESDAY, ZONE) == "Sun 19 May 2024 08:40"


def test_spans_are_said_as_short_as_they_are_exact() -> None:
    assert [say_span(s) for s in (0.01, 0.4, 12.4, 185, 7810)] == [
        "0 s",
        "0.4 s",
        "12 s",
        "3 min 5 s",
        "2 h 10 min",
    ]


def test_the_present_can_be_set_for_looking_at_another_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDE_NOW", "2026-05-19T08:40")
    assert present(ZONE) == TUESDAY
    monkeypatch.setenv("TIDE_NOW", "noon")
    with pytest.raises(UserError, match="TIDE_NOW"):
        present(ZONE)
