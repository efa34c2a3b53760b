"""Calendars, as bytes, into events and tasks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors.calendars.calendar import MAX_OCCURRENCES, CalendarReading, Window, read_calendar
from connectors.calendars.component import Context
from connectors.calendars.ics import IcsCalendar
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from workspace import Artifact, Kind, Person, Role, Trust

BERLIN = ZoneInfo("Europe/Berlin")
WINDOW = Window(datetime(2026, 3, 16, tzinfo=BERLIN), 30, 30, BERLIN)
CONTEXT = Context("test", BERLIN, frozenset({"me@example.org"}), frozenset({"ann@example.com"}), "file:///c.ics")


def starts(artifacts: list[Artifact]) -> list[str]:
    return [f"{one.time:%m-%dT%H:%M}" for one in artifacts if one.time]


def component(**lines: str) -> str:
    body = "".join(f"{name.replace('_', ';', 1)}:{value}\r\n" for name, value in lines.items())
    return f"BEGIN:VEVENT\r\n{body}END:VEVENT\r\n"


SERIES = {
    "UID": "s",
    "SUMMARY": "Weekly",
    "DTSTART_TZID=Europe/Berlin": "20260316T100000",
    "DTEND_TZID=Europe/Berlin": "20260316T110000",
    "RRULE": "FREQ=WEEKLY;COUNT=4",
}


def series(make_calendar: Callable[..., bytes], *more: str, **lines: str) -> list[Artifact]:
    data = make_calendar(component(**(SERIES | lines)), *more)
    found = read_calendar(data, CONTEXT, WINDOW).artifacts
    return sorted(found, key=lambda one: one.time or datetime.min.replace(tzinfo=UTC))


def test_a_single_event_is_kept_however_old(make_calendar: Callable[..., bytes]) -> None:
    data = make_calendar(
        "BEGIN:VEVENT\r\nUID:u\r\nSUMMARY:Kick-off\\, part 1\r\nDTSTART:19990101T090000Z\r\nDURATION:PT90M\r\n"
        "LOCATION:Room 1\r\nDESCRIPTION:<p>Bring</p><p>coffee</p>\r\nTRANSP:TRANSPARENT\r\n"
        "ORGANIZER;CN=Ann:MAILTO:Ann@example.com\r\n"
        "ATTENDEE;CN=Me;PARTSTAT=ACCEPTED:mailto:me@example.org\r\n"
        "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:bob@example.net\r\nEND:VEVENT\r\n"
    )
    (event,) = read_calendar(data, CONTEXT, WINDOW).artifacts
    assert (event.key, event.kind, event.title) == ("u", Kind.EVENT, "Kick-off, part 1")
    assert event.time == datetime(1999, 1, 1, 9, tzinfo=UTC)
    assert event.end == datetime(1999, 1, 1, 10, 30, tzinfo=UTC)
    assert event.text.split() == ["Bring", "coffee"]
    assert event.location == "Room 1"
    assert not event.busy
    assert event.trust is Trust.KNOWN
    assert event.people == (
        Person(Role.ORGANIZER, "Ann", "ann@example.com"),
        Person(Role.ATTENDEE, "Me", "me@example.org", "accepted"),
        Person(Role.ATTENDEE, "", "bob@example.net", "needs-action"),
    )


def test_a_series_keeps_its_hour_through_the_change_of_the_clocks(make_calendar: Callable[..., bytes]) -> None:
    found = series(make_calendar)
    assert starts(found) == ["03-16T09:00", "03-23T09:00", "03-30T08:00", "04-06T08:00"]
    assert [one.key for one in found] == [
        "s|20260316T090000Z",
        "s|20260323T090000Z",
        "s|20260330T080000Z",
        "s|20260406T080000Z",
    ]
    assert {one.series for one in found} == {"s"}
    assert {one.recurrence for one in found} == {"FREQ=WEEKLY;COUNT=4"}
    assert all(one.end and one.time and one.end - one.time == timedelta(hours=1) for one in found)


def test_excluded_added_moved_and_cancelled_occurrences(make_calendar: Callable[..., bytes]) -> None:
    moved = component(
        UID="s",
        SUMMARY="Moved",
        **{"RECURRENCE-ID_TZID=Europe/Berlin": "20260330T100000"},
        DTSTART="20260331T120000Z",
    )
    dropped = component(
        UID="s",
        SUMMARY="Off",
        STATUS="CANCELLED",
        **{"RECURRENCE-ID": "20260406T080000Z"},
        DTSTART="20260406T080000Z",
    )
    found = series(
        make_calendar,
        moved,
        dropped,
        **{"EXDATE_TZID=Europe/Berlin": "20260323T100000", "RDATE_TZID=Europe/Berlin": "20260401T150000"},
    )
    assert starts(found) == ["03-16T09:00", "03-31T12:00", "04-01T13:00", "04-06T08:00"]
    assert [one.title for one in found] == ["Weekly", "Moved", "Weekly", "Off"]
    assert [one.cancelled for one in found] == [False, False, False, True]
    assert found[1].key == "s|20260330T080000Z"


def test_a_change_of_this_and_all_future_occurrences(make_calendar: Callable[..., bytes]) -> None:
    change = component(
        UID="s",
        SUMMARY="Later",
        **{
            "RECURRENCE-ID_RANGE=THISANDFUTURE;TZID=Europe/Berlin": "20260323T100000",
            "DTSTART_TZID=Europe/Berlin": "20260323T140000",
            "DTEND_TZID=Europe/Berlin": "20260323T150000",
        },
    )
    found = series(make_calendar, change)
    assert starts(found) == ["03-16T09:00", "03-23T13:00", "03-30T12:00", "04-06T12:00"]
    assert len({one.key for one in found}) == 4
    assert [one.title for one in found] == ["Weekly", "Later", "Later", "Later"]


def test_windows_zones_own_zones_and_unknown_ones(make_calendar: Callable[..., bytes]) -> None:
    def start(zone: str, *more: str) -> Artifact:
        event = component(UID="u", SUMMARY="s", **{f"DTSTART_TZID={zone}": "20260710T100000"})
        return read_calendar(make_calendar(*more, event), CONTEXT, WINDOW).artifacts[0]

    own = (
        "BEGIN:VTIMEZONE\r\nTZID:Mine\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0300\r\n"
        "TZOFFSETTO:+0300\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    assert start("Pacific Standard Time").time == datetime(2026, 7, 10, 17, tzinfo=UTC)
    assert start("Mine", own).time == datetime(2026, 7, 10, 7, tzinfo=UTC)
    unknown = start("Atlantis/Center")
    assert unknown.time == datetime(2026, 7, 10, 8, tzinfo=UTC)
    assert unknown.defects == ("unknown time zone 'Atlantis/Center'; read in Europe/Berlin",)


def test_floating_times_are_the_persons(make_calendar: Callable[..., bytes]) -> None:
    data = make_calendar(component(UID="u", SUMMARY="s", DTSTART="20260316T090000", RRULE="FREQ=DAILY;COUNT=20"))
    found = read_calendar(data, CONTEXT, WINDOW).artifacts
    assert len(found) == 20
    assert {one.time.astimezone(BERLIN).hour for one in found if one.time} == {9}


def test_all_day_events_last_whole_days(make_calendar: Callable[..., bytes]) -> None:
    data = make_calendar(
        component(UID="one", SUMMARY="s", **{"DTSTART_VALUE=DATE": "20260316"}),
        component(UID="two", SUMMARY="s", **{"DTSTART_VALUE=DATE": "20260316", "DTEND_VALUE=DATE": "20260318"}),
    )
    one, two = read_calendar(data, CONTEXT, WINDOW).artifacts
    assert one.all_day
    assert one.time
    assert one.end
    assert two.end
    assert (one.end - one.time, two.end - one.time) == (timedelta(days=1), timedelta(days=2))


def test_tasks_have_a_due_date_and_are_open_or_done(make_calendar: Callable[..., bytes]) -> None:
    data = make_calendar(
        "BEGIN:VTODO\r\nUID:a\r\nSUMMARY:Pay\r\nDUE:20260320T120000Z\r\nEND:VTODO\r\n",
        "BEGIN:VTODO\r\nUID:b\r\nSUMMARY:Paid\r\nSTATUS:COMPLETED\r\nEND:VTODO\r\n",
    )
    first, second = read_calendar(data, CONTEXT, WINDOW).artifacts
    assert (first.kind, first.status, first.due) == (Kind.TASK, "open", datetime(2026, 3, 20, 12, tzinfo=UTC))
    assert (second.status, second.due, second.time) == ("done", None, None)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY;INTERVAL=5",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=YEARLY;BYSECOND=0,1,2,3,4,5,6,7,8,9;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYHOUR=0,1,2,3,4,5,6,7,8,9"
        ";BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12",
        "FREQ=NEVER",
        "FREQ=DAILY;UNTIL=yesterday",
    ],
)
def test_a_hostile_rule_costs_bounded_time_and_the_event_stays(
    make_calendar: Callable[..., bytes], rule: str
) -> None:
    found = series(make_calendar, RRULE=rule, **{"DTSTART_TZID=Europe/Berlin": "19700101T000000"})
    assert 1 <= len(found) <= MAX_OCCURRENCES
    assert found[0].title == "Weekly"
    assert found[0].defects


def test_a_long_series_keeps_the_occurrences_nearest_to_now(make_calendar: Callable[..., bytes]) -> None:
    hourly = component(UID="s", SUMMARY="s", DTSTART="20260101T000000Z", RRULE="FREQ=HOURLY")
    found = read_calendar(make_calendar(hourly), CONTEXT, WINDOW).artifacts
    assert len(found) == MAX_OCCURRENCES
    assert all(one.time and abs(one.time - WINDOW.now) < timedelta(days=22) for one in found)
    assert "occurrences kept" in found[0].defects[0]


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nSUMMARY:Cut\nDTSTART:20260316T1000", "Cut"),
        (b"BEGIN:VCALENDAR\nno line\nBEGIN:VEVENT\nUID:u\nSUMMARY:Odd\nEND:VEVENT\nEND:VCALENDAR\n", "Odd"),
        (b"BEGIN:VEVENT\nUID:u\nSUMMARY:Bare\nDTSTART:20260316T100000Z\nEND:VEVENT\n", "Bare"),
        (b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nSUMMARY:Bad\nDTSTART:soon\nEND:VEVENT\nEND:VCALENDAR\n", "Bad"),
    ],
)
def test_broken_calendars_keep_what_has_a_title(data: bytes, title: str) -> None:
    found = read_calendar(data, CONTEXT, WINDOW).artifacts
    assert [one.title for one in found] == [title]


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x00\xff" * 500, b"BEGIN:VCALENDAR\nEND:VCALENDAR\n"])
def test_what_is_no_calendar_has_a_reason(data: bytes) -> None:
    reading = read_calendar(data, CONTEXT, WINDOW)
    assert reading.artifacts == ()
    assert reading.reason


def test_the_limited_process_answers_as_reading_here_does(make_calendar: Callable[..., bytes]) -> None:
    data = make_calendar(
        component(**SERIES), "BEGIN:VTODO\r\nUID:t\r\nDUE:20260401\r\nSUMMARY:Pay\r\nEND:VTODO\r\n"
    )
    with Reader() as reader:
        assert reader.calendar(data, CONTEXT, WINDOW) == read_calendar(data, CONTEXT, WINDOW)


def test_every_calendar_of_the_corpora_is_read(corpora: Any) -> None:
    files = sorted((corpora / "calendars").rglob("*.ics"))
    assert len(files) > 250
    with Reader() as reader:
        for path in files:
            reading = reader.calendar(path.read_bytes(), CONTEXT, WINDOW)
            assert isinstance(reading, CalendarReading), (path, reading)
            assert reading.artifacts or reading.reason, path
            for artifact in reading.artifacts:
                assert artifact.key, path


def test_occurrences_follow_the_window_from_day_to_day(
    tmp_path: Path, kept: Any, make_calendar: Callable[..., bytes]
) -> None:
    path = tmp_path / "c.ics"
    daily = {"RRULE": "FREQ=DAILY", "DTSTART_TZID=Europe/Berlin": "20260101T100000"}
    path.write_bytes(make_calendar(component(UID="s", SUMMARY="s", DURATION="PT1H", **daily)))

    def connector(now: datetime) -> IcsCalendar:
        return IcsCalendar("test", path, Surroundings(frozenset(), frozenset(), BERLIN, lambda: now, 2, 2))

    morning = datetime(2026, 3, 16, 8, tzinfo=BERLIN)
    kept.take(connector(morning).sync({}))
    assert sorted(one.time.day for one in kept.artifacts.values()) == [14, 15, 16, 17]
    assert list(connector(morning + timedelta(hours=10)).sync(kept.cursor)) == []
    kept.take(connector(morning + timedelta(days=1)).sync(kept.cursor))
    assert sorted(one.time.day for one in kept.artifacts.values()) == [15, 16, 17, 18]
    assert kept.gone == ["s|20260314T090000Z"]
