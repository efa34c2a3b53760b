"""Every calendar of the public test files at a CalDAV server; those that it cannot serve itself, published."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from connectors.calendars import entry
from connectors.calendars.calendar import CalendarReading, Window, read_calendar
from connectors.calendars.component import Context
from connectors.calendars.published import PublishedCalendar
from tests.connectors.caldav_world import BERLIN, ReadHere, calendars, plainly, surroundings
from tests.servers.radicale_server import Radicale
from tests.servers.web_server import Said, web_server
from workspace import Account, Artifact, Put

# What is expected of broken ones: how many artifacts, the title of one, and what its defect says.
BROKEN = {
    "ical4j/invalid_bhav23-2.ics": (1, "See the IRB", "a line can't be read"),
    "ical4j/invalid_lastfm.ics": (33, "The Opposites", "GEO can't be read"),
    "ical4j/invalid_phpicalendar_sample.ics": (93, "Water Aloe Plant", "recurrence can't be worked out"),
    "ical4j/invalid_smallcluster.ics": (1, "Bastille Day Party", "recurrence can't be worked out"),
    "ical4j/invalid_twinkle.ics": (14, "Buy Pete's Birthday Gift", "only its title and start kept"),
    "icalendar/calendars_broken_dtstart.ics": (1, "", "DTSTART can't be read"),
    "icalendar/calendars_invalid_duration.ics": (1, "Event with an impractical", "DURATION can't be read"),
    "icalendar/calendars_issue_1081_invalid_rrule_freq.ics": (1, "Test Event", "recurrence can't be worked out"),
    "icalendar/calendars_issue_1081_invalid_start_valid_end.ics": (1, "Test Event", "no start"),
    "icalendar/calendars_issue_165_missing_event.ics": (1, "Sprint 25 Daily Standup", "RRULE can't be read"),
    "icalendar/calendars_issue_722_missing_VTIMEZONE_custom.ics": (1, "", "unknown time zone 'CUSTOM_tzid'"),
    "icalendar/calendars_multiple_timezones.ics": (3, "", "recurrence can't be worked out"),
    "icalendar/calendars_rfc_7529.ics": (4, "Chinese New Year", "recurrence can't be worked out"),
    "icalendar/events_issue_104_mark_events_broken.ics": (1, "Broken Eevnt", "a line can't be read"),
}


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "Reader", ReadHere)


@pytest.fixture
def files(corpora: Path) -> dict[str, bytes]:
    """Path -> content of all calendars."""
    folder = corpora / "calendars"
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.ics")}
    assert len(found) > 250
    assert set(BROKEN) <= set(found)
    return found


def read_directly(data: bytes) -> CalendarReading:
    around = surroundings()
    context = Context("test", BERLIN, around.own, around.known)
    return read_calendar(data, context, Window(around.midnight(), around.past_days, around.future_days, BERLIN))


def test_no_entry_that_the_server_serves_is_lost(radicale: Radicale, files: dict[str, bytes], kept: Any) -> None:
    user = radicale.user()
    folder = user.calendar("all")
    for name, data in files.items():
        (folder / name.replace("/", " ")).write_bytes(data)
    before = user.files()
    kept.take(calendars(user.account()).sync({}))
    served = {
        unquote(item.rpartition("/")[2]).replace(" ", "/"): state
        for item, state in kept.cursor.items()
        if not item.startswith("/")
    }
    assert len(served) > 80
    for name, state in served.items():
        keys = {line[1:] for line in state.split("\n")[2:]}
        assert keys <= set(kept.artifacts), name
        wanted = read_directly(files[name])
        assert wanted.artifacts or wanted.reason
        # Without a UID the server makes one.
        assert {one.key for one in wanted.artifacts if not one.key.startswith("digest:")} <= keys, name
        assert len(keys) == len(wanted.artifacts), name
    assert list(calendars(user.account()).sync(kept.cursor)) == []
    assert user.files() == before


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`publish(data)` gives the artifacts of a published calendar."""
    plainly(monkeypatch)
    body = b""
    with web_server(lambda asked: Said(200, body, {"content-type": "text/calendar"})) as server:
        account = Account(url=f"{server.url}/calendar.ics", sign_in="none")

        def read(data: bytes) -> list[Artifact]:
            nonlocal body
            body = data
            connector = PublishedCalendar("test", account, surroundings())
            return [one.artifact for batch in connector.sync({}) for one in batch.changes if isinstance(one, Put)]

        yield read


def test_every_calendar_can_be_published(publish: Any, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        wanted = read_directly(data)
        assert not wanted.unread, name
        assert {one.key for one in publish(data)} == {one.key for one in wanted.artifacts}, name


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ones_keep_what_can_be_kept(publish: Any, files: dict[str, bytes], name: str) -> None:
    count, title, defect = BROKEN[name]
    found = publish(files[name])
    assert len(found) == count
    assert any(one.title.startswith(title) and defect in " ".join(one.defects) for one in found)
