"""Calendars at a CalDAV server: a Radicale, and one that is not quite itself."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from lxml import etree

from connectors.accounts.web import Web
from connectors.calendars import dav, entry
from tests.connectors.caldav_world import (
    DAV,
    NOW,
    Between,
    Password,
    ReadHere,
    between,
    calendars,
    edited,
    is_sync,
    plainly,
    refusing,
    without,
)
from tests.servers.radicale_server import Radicale, User
from tests.servers.web_server import Asked, Said
from workspace import Kind, Role, SignInFailed, SourceProblem, Trust, UserError


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "Reader", ReadHere)


@pytest.fixture
def user(radicale: Radicale) -> User:
    """Somebody with an empty calendar called Work."""
    found = radicale.user()
    found.calendar("work")
    return found


@pytest.fixture
def far(user: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    """A server between the user and the real one."""
    with between(user) as found:
        plainly(monkeypatch)
        yield found


@pytest.fixture
def put(user: User, make_event: Callable[..., str], make_calendar: Callable[..., bytes]) -> Callable[..., Path]:
    """`put("work/1", "Title", **lines)` writes an entry with the key `e1`."""

    def write(name: str, title: str = "", **lines: str) -> Path:
        path = user.home / f"{name}.ics"
        path.write_bytes(make_calendar(make_event(int(path.stem), title, **lines)))
        return path

    return write


def keys(kept: Any) -> set[str]:
    return set(kept.artifacts)


SERIES = {
    "DTSTART;TZID=Europe/Berlin": "20260105T090000",
    "DTEND;TZID=Europe/Berlin": "20260105T100000",
    "RRULE": "FREQ=DAILY",
}


class TestWhereCalendarsAre:
    @pytest.mark.parametrize("begin", ["{home}", "{home}work/", "{home}work", "{root}", "{home}%77ork/"])
    def test_they_are_found_from_wherever_the_person_begins(
        self, user: User, put: Any, kept: Any, begin: str
    ) -> None:
        put("work/1")
        account = user.account(begin.format(home=user.url, root=user.server.url))
        kept.take(calendars(account).sync({}))
        assert keys(kept) == {"e1"}
        assert kept.artifacts["e1"].origin == f"{user.url}work/1.ics"
        assert list(calendars(account).sync(kept.cursor)) == []

    def test_a_server_that_shows_nothing_at_its_root_is_asked_for_its_well_known_place(
        self, far: Between, put: Any, kept: Any
    ) -> None:
        put("work/1")

        def change(asked: Asked, said: Said) -> Said:
            if asked.path == "/":
                return Said(405)
            if asked.path == "/.well-known/caldav":
                return Said(301, headers={"location": f"/{far.user.name}/"})
            return said

        far.change = change
        kept.take(calendars(far.user.account(far.server.url)).sync({}))
        assert keys(kept) == {"e1"}

    def test_what_is_no_calendar_of_events_or_tasks_is_left_out(self, far: Between, put: Any, kept: Any) -> None:
        for name, components in (("notes", "VJOURNAL"), ("tasks", "VTODO"), ("any", ""), ("inbox", "VEVENT")):
            far.user.calendar(name, components=components)
            put(f"{name}/{len(name)}")

        def inbox(root: etree._Element) -> None:
            for response in root.iter(f"{DAV}response"):
                if response.findtext(f"{DAV}href", "").endswith("/inbox/"):
                    for kind in response.iter(f"{DAV}resourcetype"):
                        etree.SubElement(kind, f"{dav.CALDAV}schedule-inbox")

        far.change = lambda asked, said: edited(said, inbox)
        put("work/1")
        kept.take(far.connector().sync({}))
        assert {one.origin.split("/")[-2] for one in kept.artifacts.values()} == {"work", "tasks", "any"}

    @pytest.mark.parametrize("name", ["Team plan", "team PLAN", "plan", "{home}plan/", "{home}plan"])
    def test_the_person_chooses_by_title_or_address(self, user: User, put: Any, kept: Any, name: str) -> None:
        user.calendar("plan", "Team plan")
        put("work/1")
        put("plan/2")
        kept.take(calendars(user.account(calendars=[name.format(home=user.url)])).sync({}))
        assert keys(kept) == {"e2"}

    def test_a_calendar_that_is_no_longer_chosen_goes(self, user: User, put: Any, kept: Any) -> None:
        user.calendar("plan")
        put("work/1")
        put("plan/2")
        kept.take(calendars(user.account()).sync({}))
        kept.take(calendars(user.account(calendars=["plan"])).sync(kept.cursor))
        assert keys(kept) == {"e2"}

    def test_a_name_that_no_calendar_has_removes_nothing(self, user: User, put: Any, kept: Any) -> None:
        put("work/1")
        kept.take(calendars(user.account()).sync({}))
        with pytest.raises(SourceProblem, match=r"no calendar 'Wrok'; it has: Work\. Correct `calendars`"):
            kept.take(calendars(user.account(calendars=["Wrok"])).sync(kept.cursor))
        assert keys(kept) == {"e1"}

    def test_another_address_brings_what_is_there(self, user: User, put: Any, kept: Any) -> None:
        user.calendar("plan")
        put("work/1")
        put("plan/2")
        kept.take(calendars(user.account()).sync({}))
        kept.take(calendars(user.account(f"{user.url}plan/")).sync(kept.cursor))
        assert keys(kept) == {"e2"}

    def test_a_check_says_what_there_is(self, user: User, put: Any) -> None:
        user.calendar("plan", "Team plan")
        for number in range(3):
            put(f"work/{number}")
        said = calendars(user.account()).check()
        assert said == "2 calendars with 3 entries at localhost: Team plan, Work"

    def test_a_home_without_a_calendar_is_an_error_when_it_is_added(self, radicale: Radicale) -> None:
        with pytest.raises(UserError, match="holds no calendar"):
            calendars(radicale.user().account()).check()

    def test_a_wrong_password_is_told_once(self, user: User) -> None:
        with pytest.raises(SignInFailed, match="tide sign-in test"):
            list(calendars(user.account(), word="wrong").sync({}))


class TestWhatIsAsked:
    def test_nothing_new_costs_one_request(self, far: Between, put: Any, kept: Any) -> None:
        far.user.calendar("plan")
        put("work/1")
        put("plan/2")
        kept.take(far.connector().sync({}))
        far.requests()
        assert list(far.connector().sync(kept.cursor)) == []
        assert far.requests() == ["PROPFIND"]

    def test_a_change_is_asked_for_alone(self, far: Between, put: Any, kept: Any) -> None:
        for number in range(5):
            put(f"work/{number}")
        kept.take(far.connector().sync({}))
        far.requests()
        put("work/3", "Another")
        (far.user.home / "work/4.ics").unlink()
        kept.take(far.connector().sync(kept.cursor))
        last = far.asked[-1].body
        assert far.requests() == ["PROPFIND", "REPORT sync-collection", "REPORT calendar-multiget"]
        assert last.count(b"<d:href>") == 1
        assert keys(kept) == {"e0", "e1", "e2", "e3"}
        assert kept.artifacts["e3"].title == "Another"

    def test_a_new_day_reads_the_series_alone(self, far: Between, put: Any, kept: Any) -> None:
        for number in range(5):
            put(f"work/{number}")
        put("work/9", **SERIES)
        kept.take(far.connector().sync({}))
        before = keys(kept)
        far.requests()
        kept.take(far.connector(NOW + timedelta(days=1)).sync(kept.cursor))
        last = far.asked[-1].body
        assert far.requests() == ["PROPFIND", "REPORT calendar-multiget"]
        assert last.count(b"<d:href>") == 1
        assert before - keys(kept) == {"e9|20260214T080000Z"}
        assert keys(kept) - before == {"e9|20260415T070000Z"}
        assert list(far.connector(NOW + timedelta(days=1)).sync(kept.cursor)) == []
        assert far.requests() == ["PROPFIND"]

    def test_a_series_that_begins_later_is_noticed_then(self, far: Between, put: Any, kept: Any) -> None:
        late = {"DTSTART;TZID=Europe/Berlin": "20260601T090000", "DTEND;TZID=Europe/Berlin": "20260601T100000"}
        put("work/9", RRULE="FREQ=DAILY", **late)
        kept.take(far.connector().sync({}))
        assert keys(kept) == set()
        kept.take(far.connector(NOW + timedelta(days=70)).sync(kept.cursor))
        assert "e9|20260601T070000Z" in keys(kept)

    def test_a_server_without_any_short_cut_is_listed(self, far: Between, put: Any, kept: Any) -> None:
        no_tag = without(dav.CTAG)
        far.change = lambda asked, said: Said(403) if is_sync(asked) else no_tag(asked, said)
        put("work/1")
        put("work/2")
        kept.take(far.connector().sync({}))
        far.requests()
        assert list(far.connector().sync(kept.cursor)) == []
        assert far.requests() == ["PROPFIND", "PROPFIND"]
        put("work/1", "Another")
        (far.user.home / "work/2.ics").unlink()
        kept.take(far.connector().sync(kept.cursor))
        assert {key: one.title for key, one in kept.artifacts.items()} == {"e1": "Another"}

    @pytest.mark.parametrize("status", [400, 403, 405, 409, 412, 500, 501])
    def test_a_token_that_is_not_taken_costs_nothing_but_a_list(
        self, far: Between, put: Any, kept: Any, status: int
    ) -> None:
        for number in range(3):
            put(f"work/{number}")
        kept.take(far.connector().sync({}))
        far.change = refusing(b"<d:sync-token>http", status)
        put("work/1", "Another")
        (far.user.home / "work/2.ics").unlink()
        kept.take(far.connector().sync(kept.cursor))
        assert {key: one.title for key, one in kept.artifacts.items()} == {"e0": "Event 0", "e1": "Another"}
        far.requests()
        assert list(far.connector().sync(kept.cursor)) == []
        assert far.requests() == ["PROPFIND"]

    def test_a_server_that_loses_its_memory_loses_nothing_here(self, far: Between, put: Any, kept: Any) -> None:
        put("work/1")
        kept.take(far.connector().sync({}))

        def forgetful(asked: Asked, said: Said) -> Said:
            """Takes no token, and has nothing to tell where it is asked for all."""
            if is_sync(asked) and b"<d:sync-token>http" in asked.body:
                return Said(403)
            if is_sync(asked):
                return Said(207, b'<multistatus xmlns="DAV:"><sync-token>urn:new</sync-token></multistatus>')
            return said

        far.change = forgetful
        put("work/2")
        kept.take(far.connector().sync(kept.cursor))
        assert keys(kept) == {"e1", "e2"}
        assert kept.gone == []

    @pytest.mark.parametrize("ends", [True, False])
    def test_changes_that_come_in_parts_are_all_taken(self, far: Between, put: Any, kept: Any, ends: bool) -> None:
        def in_parts(asked: Asked, said: Said) -> Said:
            """Gives two changes at a time; without an end, always the first two."""
            told = re.search(rb"more#(\d+)", asked.body)
            start = int(told[1]) if told else 0

            def part(root: etree._Element) -> None:
                responses = root.findall(f"{DAV}response")
                for one in [*responses[:start], *responses[start + 2 :]]:
                    root.remove(one)
                if start + 2 < len(responses):
                    cut = etree.SubElement(root, f"{DAV}response")
                    etree.SubElement(cut, f"{DAV}href").text = asked.path
                    etree.SubElement(cut, f"{DAV}status").text = "HTTP/1.1 507 Insufficient Storage"
                    token = root.find(f"{DAV}sync-token")
                    assert token is not None
                    token.text = f"more#{start + 2 if ends else 0}"

            return edited(said, part) if is_sync(asked) else said

        for number in range(7):
            put(f"work/{number}")
        far.ask = lambda asked: replace(asked, body=re.sub(rb"more#\d+", b"", asked.body))
        far.change = in_parts
        kept.take(far.connector().sync({}))
        assert keys(kept) == {f"e{number}" for number in range(7)}
        lists = [name for name in far.requests() if "sync" in name]
        assert len(lists) == (4 if ends else 2)
        assert list(far.connector().sync(kept.cursor)) == []

    def test_entries_come_one_by_one_where_they_do_not_come_together(
        self, far: Between, put: Any, kept: Any
    ) -> None:
        far.change = refusing(b"calendar-multiget", 501)
        put("work/1")
        put("work/2")
        kept.take(far.connector().sync({}))
        assert keys(kept) == {"e1", "e2"}
        assert far.requests()[-2:] == ["GET", "GET"]

    def test_nothing_is_changed_at_the_server(self, far: Between, put: Any, kept: Any) -> None:
        for number in range(3):
            put(f"work/{number}")
        before = far.user.files()
        etags = dict(_etags(far))
        far.requests()
        far.connector().check()
        kept.take(far.connector().sync({}))
        kept.take(far.connector().sync(kept.cursor))
        assert {one.partition(" ")[0] for one in far.requests()} <= {"PROPFIND", "REPORT"}
        assert far.user.files() == before
        assert dict(_etags(far)) == etags


def _etags(far: Between) -> Iterator[tuple[str, str]]:
    with Web("test", far.user.account(far.server.url), Password()) as web:
        for one in dav.Dav(web).properties(f"{far.server.url}/{far.user.name}/work/", [dav.ETAG], members=True):
            yield one.url, one.text(dav.ETAG)


class TestWhatIsBrought:
    def test_events_and_tasks_of_every_kind(self, user: User, kept: Any) -> None:
        user.calendar("tasks", components="VTODO")
        for name, text in ENTRIES.items():
            body = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:test\n" + text.strip() + "\nEND:VCALENDAR\n"
            (user.home / name).write_text(body.replace("\n", "\r\n"), newline="")
        kept.take(calendars(user.account()).sync({}))
        found = kept.artifacts

        weekly = sorted(key for key in found if key.startswith("weekly|"))
        assert [key[7:15] for key in weekly] == ["20260302", "20260309", "20260316", "20260330", "20260406"]
        assert {found[key].recurrence for key in weekly} == {"FREQ=WEEKLY;COUNT=6"}
        moved = found["weekly|20260316T080000Z"]
        assert (moved.title, moved.time) == ("Moved", datetime(2026, 3, 17, 13, tzinfo=UTC))
        assert found["weekly|20260330T070000Z"].cancelled
        assert not found["weekly|20260309T080000Z"].cancelled

        later = sorted(key for key in found if key.startswith("later|"))
        assert [f"{found[key].time:%d %H:%M}" for key in later] == ["16 08:00", "17 08:00", "18 13:00", "19 13:00"]
        assert [found[key].title for key in later] == ["Stand-up", "Stand-up", "Late", "Late"]

        day = found["day"]
        assert (day.all_day, f"{day.time:%d}", f"{day.end:%d}") == (True, "20", "22")
        assert found["floating"].time == datetime(2026, 3, 20, 8, tzinfo=UTC)
        assert found["windows"].time == datetime(2026, 3, 20, 16, tzinfo=UTC)
        assert found["off"].cancelled

        met = found["windows"]
        assert met.trust is Trust.KNOWN
        assert {person.email: person.status for person in met.people if person.role is Role.ATTENDEE} == {
            "me@example.org": "accepted",
            "bob@example.net": "declined",
        }

        task = found["task"]
        assert (task.kind, task.status, task.due) == (Kind.TASK, "open", datetime(2026, 3, 20, tzinfo=UTC))
        assert found["done"].status == "done"
        assert [one.defects for one in found.values() if one.defects] == []

    def test_an_event_in_two_calendars_is_one(self, user: User, put: Any, kept: Any) -> None:
        user.calendar("aside")
        put("work/1", "At work")
        put("aside/1", "Aside")
        kept.take(calendars(user.account()).sync({}))
        assert kept.artifacts["e1"].title == "Aside"
        (user.home / "aside/1.ics").unlink()
        kept.take(calendars(user.account()).sync(kept.cursor))
        assert kept.artifacts["e1"].title == "At work"
        assert kept.gone == []
        (user.home / "work/1.ics").unlink()
        kept.take(calendars(user.account()).sync(kept.cursor, allow_empty=True))
        assert kept.artifacts == {}

    def test_a_whole_calendar_that_moves_keeps_its_events(self, user: User, put: Any, kept: Any) -> None:
        for number in range(3):
            put(f"work/{number}")
        kept.take(calendars(user.account()).sync({}))
        (user.home / "work").rename(user.home / "old work")
        kept.take(calendars(user.account()).sync(kept.cursor))
        assert keys(kept) == {"e0", "e1", "e2"}
        assert kept.gone == []
        assert all("/old%20work/" in one.origin for one in kept.artifacts.values())

    def test_a_watch_waits_its_time_out(self, user: User) -> None:
        stop = Event()
        assert calendars(user.account()).wait(stop, 0.01) is False
        stop.set()
        assert calendars(user.account()).wait(stop, 60) is False


ENTRIES = {
    "work/weekly.ics": """
BEGIN:VEVENT
UID:weekly
SUMMARY:Review
DTSTART;TZID=Europe/Berlin:20260302T090000
DURATION:PT1H
RRULE:FREQ=WEEKLY;COUNT=6
EXDATE;TZID=Europe/Berlin:20260323T090000
END:VEVENT
BEGIN:VEVENT
UID:weekly
SUMMARY:Moved
RECURRENCE-ID;TZID=Europe/Berlin:20260316T090000
DTSTART;TZID=Europe/Berlin:20260317T140000
DURATION:PT1H
END:VEVENT
BEGIN:VEVENT
UID:weekly
SUMMARY:Off
STATUS:CANCELLED
RECURRENCE-ID;TZID=Europe/Berlin:20260330T090000
DTSTART;TZID=Europe/Berlin:20260330T090000
DURATION:PT1H
END:VEVENT
""",
    "work/later.ics": """
BEGIN:VEVENT
UID:later
SUMMARY:Stand-up
DTSTART;TZID=Europe/Berlin:20260316T090000
DURATION:PT15M
RRULE:FREQ=DAILY;COUNT=4
END:VEVENT
BEGIN:VEVENT
UID:later
SUMMARY:Late
RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260318T090000
DTSTART;TZID=Europe/Berlin:20260318T140000
DURATION:PT15M
END:VEVENT
""",
    "work/day.ics": """
BEGIN:VEVENT
UID:day
SUMMARY:Fair
DTSTART;VALUE=DATE:20260320
DTEND;VALUE=DATE:20260322
END:VEVENT
""",
    "work/floating.ics": """
BEGIN:VEVENT
UID:floating
SUMMARY:Wherever I am
DTSTART:20260320T090000
DURATION:PT1H
END:VEVENT
""",
    "work/windows.ics": """
BEGIN:VEVENT
UID:windows
SUMMARY:Call
DTSTART;TZID=Pacific Standard Time:20260320T090000
DURATION:PT1H
ORGANIZER;CN=Ann:mailto:ann@example.com
ATTENDEE;PARTSTAT=ACCEPTED:mailto:me@example.org
ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.net
END:VEVENT
""",
    "work/off.ics": """
BEGIN:VEVENT
UID:off
SUMMARY:Not any more
STATUS:CANCELLED
DTSTART:20260320T090000Z
DURATION:PT1H
END:VEVENT
""",
    "tasks/task.ics": """
BEGIN:VTODO
UID:task
SUMMARY:Pay
DUE;VALUE=DATE:20260320
END:VTODO
""",
    "tasks/done.ics": """
BEGIN:VTODO
UID:done
SUMMARY:Paid
COMPLETED:20260301T090000Z
END:VTODO
""",
}
