"""Calendars that are published at an address, secret or not."""

import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trustme

from connectors.calendars import entry, published
from connectors.calendars.published import PublishedCalendar
from tests.connectors.caldav_world import NOW, ReadHere, surroundings
from tests.servers.web_server import Asked, Said, WebServer, web_server
from workspace import Account, SignInFailed, SourceEmpty, SourceProblem, UserError

CALENDAR = "text/calendar; charset=utf-8"
SERIES = {
    "DTSTART;TZID=Europe/Berlin": "20260105T090000",
    "DTEND;TZID=Europe/Berlin": "20260105T100000",
    "RRULE": "FREQ=DAILY",
}


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "Reader", ReadHere)


@dataclass
class Site:
    """A web server with one calendar, at `path`. `said` is what it says instead, whatever is asked."""

    server: WebServer
    body: bytes = b""
    etag: str = ""
    modified: str = ""
    said: Said | None = None
    path: str = "/s3cret/token/basic.ics"
    statuses: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.server.url}{self.path}"

    def answer(self, asked: Asked) -> Said:
        said = self.said or self._calendar(asked)
        self.statuses.append(said.status)
        return said

    def _calendar(self, asked: Asked) -> Said:
        if asked.path != self.path:
            return Said(404)
        told = {"etag": self.etag, "last-modified": self.modified}
        headers = {name: value for name, value in told.items() if value}
        for name, value in (("if-none-match", self.etag), ("if-modified-since", self.modified)):
            if value and asked.headers.get(name) == value:
                return Said(304, headers=headers)
        return Said(200, self.body, headers | {"content-type": CALENDAR})

    def connector(self, now: datetime = NOW, **about: Any) -> PublishedCalendar:
        account = Account.model_validate({"url": self.url, "sign_in": "none"} | about)
        return PublishedCalendar("test", account, surroundings(now), sleep=lambda seconds: None)

    def secret(self, address: str = "") -> PublishedCalendar:
        around = surroundings(word=address or self.url)
        return PublishedCalendar("test", Account(), around, sleep=lambda seconds: None)


def serving(stack: ExitStack, tls: ssl.SSLContext | None = None) -> Site:
    server = stack.enter_context(web_server(lambda asked: site.answer(asked), tls))
    site = Site(server)
    return site


@pytest.fixture
def site() -> Iterator[Site]:
    with ExitStack() as stack:
        yield serving(stack)


@pytest.fixture
def fill(site: Site, make_event: Callable[..., str], make_calendar: Callable[..., bytes]) -> Callable[..., None]:
    def write(*numbers: int, **lines: str) -> None:
        site.body = make_calendar(*(make_event(number, **lines) for number in numbers))

    return write


class TestWhatIsAsked:
    @pytest.mark.parametrize("told", ["etag", "modified"])
    def test_an_unchanged_calendar_is_not_fetched_again(self, site: Site, fill: Any, kept: Any, told: str) -> None:
        fill(1, 2)
        setattr(site, told, '"v1"' if told == "etag" else "Mon, 16 Mar 2026 07:00:00 GMT")
        kept.take(site.connector().sync({}))
        assert list(site.connector().sync(kept.cursor)) == []
        assert list(site.connector(NOW + timedelta(days=1)).sync(kept.cursor)) == []
        assert site.statuses == [200, 304, 304]
        fill(1)
        setattr(site, told, '"v2"' if told == "etag" else "Mon, 16 Mar 2026 08:00:00 GMT")
        kept.take(site.connector().sync(kept.cursor))
        assert set(kept.artifacts) == {"e1"}

    def test_one_that_says_nothing_is_compared(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1, 2)
        kept.take(site.connector().sync({}))
        assert list(site.connector().sync(kept.cursor)) == []
        assert site.statuses == [200, 200]

    def test_series_are_read_again_on_another_day(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1, **SERIES)
        site.etag = '"v1"'
        kept.take(site.connector().sync({}))
        before = set(kept.artifacts)
        assert list(site.connector(NOW + timedelta(hours=9)).sync(kept.cursor)) == []
        kept.take(site.connector(NOW + timedelta(days=1)).sync(kept.cursor))
        assert before - set(kept.artifacts) == {"e1|20260214T080000Z"}
        assert set(kept.artifacts) - before == {"e1|20260415T070000Z"}
        assert list(site.connector(NOW + timedelta(days=1)).sync(kept.cursor)) == []
        assert site.statuses == [200, 304, 200, 304]

    def test_a_series_beside_events_begins_in_time(
        self, site: Site, kept: Any, make_event: Any, make_calendar: Any
    ) -> None:
        late = {"DTSTART;TZID=Europe/Berlin": "20260601T090000", "DTEND;TZID=Europe/Berlin": "20260601T100000"}
        site.body = make_calendar(make_event(1), make_event(2, RRULE="FREQ=DAILY", **late))
        site.etag = '"v1"'
        kept.take(site.connector().sync({}))
        assert set(kept.artifacts) == {"e1"}
        kept.take(site.connector(NOW + timedelta(days=70)).sync(kept.cursor))
        assert "e2|20260601T070000Z" in kept.artifacts

    def test_only_get_is_asked(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1)
        site.connector().check()
        kept.take(site.connector().sync({}))
        assert {asked.method for asked in site.server.asked} == {"GET"}
        assert all("authorization" not in asked.headers for asked in site.server.asked)

    def test_a_calendar_behind_a_password_is_signed_in_to(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1)
        kept.take(site.connector(sign_in="password", user="me").sync({}))
        assert site.server.asked[0].headers["authorization"].startswith("Basic ")


class TestWhatGoesWrong:
    FAULTS: ClassVar[dict[str, tuple[Said, str]]] = {
        "a web page": (
            Said(200, b"<html>Sign in</html>", {"content-type": "text/html"}),
            "a web page, not with a",
        ),
        "something else": (Said(200, b"\x89PNG\x00\x00"), "can't be read: it is no calendar"),
        "refused": (Said(403), "status 403"),
        "broken": (Said(500), "status 500"),
        "busy": (Said(503, headers={"retry-after": "30"}), "try again in 30 seconds"),
        "broken off": (Said(200, b"BEGIN:VCALENDAR\r\n" * 99, {"content-type": CALENDAR}, cut=50), "broke"),
        "not a word": (Said(cut=0), "broke the connection off"),
        "unasked": (Said(304), "status 304"),
        "in a circle": (Said(302, headers={"location": "/s3cret/token/basic.ics"}), "in a circle"),
        "without encryption": (Said(302, headers={"location": "http://calendar.example/"}), "encryption"),
    }

    @pytest.mark.parametrize("fault", FAULTS)
    def test_nothing_is_lost_and_one_line_says_why(self, site: Site, fill: Any, kept: Any, fault: str) -> None:
        fill(1, 2)
        kept.take(site.connector().sync({}))
        site.said, why = self.FAULTS[fault]
        with pytest.raises(SourceProblem, match=why) as told:
            kept.take(site.connector().sync(kept.cursor, allow_empty=True))
        assert "\n" not in str(told.value)
        assert set(kept.artifacts) == {"e1", "e2"}
        site.said = None
        assert list(site.connector().sync(kept.cursor)) == []

    @pytest.mark.parametrize("body", [b"", b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"])
    def test_one_that_is_suddenly_empty_is_asked_about(
        self, site: Site, fill: Any, kept: Any, body: bytes
    ) -> None:
        fill(1, 2)
        site.etag = '"v1"'
        kept.take(site.connector().sync({}))
        site.body, site.etag = body, '"v2"'
        for _ in range(2):
            with pytest.raises(SourceEmpty, match=r"The calendar at 127\.0\.0\.1 is suddenly empty"):
                kept.take(site.connector().sync(kept.cursor))
        assert set(kept.artifacts) == {"e1", "e2"}
        kept.take(site.connector().sync(kept.cursor, allow_empty=True))
        assert kept.artifacts == {}
        fill(3)
        site.etag = '"v3"'
        kept.take(site.connector().sync(kept.cursor))
        assert set(kept.artifacts) == {"e3"}

    def test_one_of_which_all_has_passed_is_not_empty(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1, **(SERIES | {"RRULE": "FREQ=DAILY;COUNT=60"}))
        kept.take(site.connector().sync({}))
        assert kept.artifacts
        kept.take(site.connector(NOW + timedelta(days=300)).sync(kept.cursor))
        assert kept.artifacts == {}

    def test_one_that_is_too_large_is_not_read(
        self, site: Site, fill: Any, kept: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(1)
        kept.take(site.connector().sync({}))
        monkeypatch.setattr(published, "MAX_BYTES", 10_000)
        fill(*range(200))
        with pytest.raises(SourceProblem, match="more than"):
            kept.take(site.connector().sync(kept.cursor))
        assert set(kept.artifacts) == {"e1"}

    def test_one_that_was_never_there_is_told_when_it_is_added(self, site: Site) -> None:
        site.said = Said(410)
        with pytest.raises(UserError, match=r"no calendar at http://127\.0\.0\.1:\d+/s3cret/token/basic\.ics"):
            site.connector().check()

    def test_a_check_counts(self, site: Site, fill: Any) -> None:
        fill(1, 2)
        assert site.connector().check() == "calendar at 127.0.0.1 with 2 events and 0 tasks"


class TestASecretAddress:
    def test_it_is_enough(self, site: Site, fill: Any, kept: Any) -> None:
        fill(1)
        kept.take(site.secret().sync({}))
        assert set(kept.artifacts) == {"e1"}

    @pytest.mark.parametrize(
        "said", [None, Said(403), Said(404), Said(410), Said(500), Said(503), Said(429), Said(cut=0), Said(200)]
    )
    def test_it_is_never_told(
        self, site: Site, fill: Any, kept: Any, said: Said | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        fill(1)
        site.etag = '"v1"'
        kept.take(site.secret().sync({}))
        site.said = said
        told = []
        for cursor in ({}, kept.cursor):
            try:
                kept.take(site.secret().sync(cursor))
                told.append(site.secret().check())
            except UserError as error:
                told += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
        told += [
            repr(kept.artifacts),
            repr(kept.cursor),
            caplog.text,
            repr(site.secret().__dict__.get("_account")),
        ]
        assert site.server.asked
        assert "s3cret" not in " ".join(told)
        assert "token" not in " ".join(told)

    @pytest.mark.parametrize(
        "address", ["not an address", "ftp://host.example/s3cret", "https://", "http://[s3cret"]
    )
    def test_one_that_is_none_is_told_without_it(self, site: Site, address: str) -> None:
        with pytest.raises(SourceProblem) as told:
            list(site.secret(address).sync({}))
        assert "s3cret" not in str(told.value)

    def test_without_one_the_person_signs_in(self) -> None:
        with pytest.raises(SignInFailed, match="tide sign-in test"):
            list(PublishedCalendar("test", Account(), surroundings(word="")).sync({}))

    @pytest.mark.parametrize("scheme", ["webcal", "webcals", "https", "WEBCAL"])
    def test_webcal_is_https(
        self, tmp_path: Path, kept: Any, make_event: Any, make_calendar: Any, scheme: str
    ) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        with ExitStack() as stack:
            site = serving(stack, context)
            site.body = make_calendar(make_event(1))
            around = surroundings(word=site.url.replace("https", scheme))
            account = Account(certificate=str(tmp_path / "ca.pem"))
            kept.take(PublishedCalendar("test", account, around).sync({}))
        assert kept.artifacts["e1"].origin == "https://127.0.0.1/"

    def test_one_without_encryption_is_not_asked(self) -> None:
        around = surroundings(word="http://calendar.example/s3cret.ics")
        with pytest.raises(SourceProblem, match=r"calendar\.example is to be asked without encryption"):
            list(PublishedCalendar("test", Account(), around).sync({}))
