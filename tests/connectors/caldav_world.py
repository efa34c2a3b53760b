"""The person whose calendars the tests of CalDAV read, the connector without its pauses, and a server that is not
quite itself."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

import httpx
import pytest
from lxml import etree

from connectors.accounts import transport
from connectors.calendars.caldav import CaldavCalendars
from connectors.calendars.calendar import CalendarReading, Window, read_calendar
from connectors.calendars.component import Context
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from tests.servers.radicale_server import User
from tests.servers.web_server import Asked, Said, WebServer, web_server
from workspace import Account

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 16, 8, 30, tzinfo=BERLIN)
PASS_ON = ("authorization", "depth", "content-type", "accept")
DAV = "{DAV:}"


@dataclass(frozen=True)
class Password:
    """A keyring that knows one."""

    word: str = User.password

    def get(self, name: str) -> str | None:
        return self.word


def surroundings(now: datetime = NOW, word: str = User.password) -> Surroundings:
    return Surroundings(
        own=frozenset({"me@example.org"}),
        known=frozenset({"ann@example.com"}),
        zone=BERLIN,
        now=lambda: now,
        past_days=30,
        future_days=30,
        secrets=Password(word),
    )


def calendars(account: Account, now: datetime = NOW, word: str = User.password) -> CaldavCalendars:
    return CaldavCalendars("test", account, surroundings(now, word), sleep=lambda seconds: None)


def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask servers without TLS alone, and so without reading the system's authorities for each sync."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(transport, "tls_context", lambda account: context)


class ReadHere(Reader):
    """Reads calendars in this process, which is quicker. The limited one has tests of its own."""

    def calendar(self, data: bytes, context: Context, window: Window) -> CalendarReading:
        return read_calendar(data, context, window)


Change = Callable[[Asked, Said], Said]


@dataclass
class Between:
    """A server before the real one: it passes on what it is asked, as `ask` puts it, and answers by `change`."""

    user: User
    server: WebServer
    change: Change
    ask: Callable[[Asked], Asked]
    asked: list[Asked] = field(default_factory=list)

    def connector(self, now: datetime = NOW, **about: object) -> CaldavCalendars:
        account = self.user.account(f"{self.server.url}/{self.user.name}/", **about)
        return calendars(account, now)

    def requests(self) -> list[str]:
        """What was asked since this was last called: method and, of a report, its name."""
        found = []
        for asked in self.asked:
            name = etree.QName(etree.fromstring(asked.body)).localname if asked.method == "REPORT" else ""
            found.append(f"{asked.method} {name}".strip())
        self.asked.clear()
        return found


@contextmanager
def between(user: User) -> Iterator[Between]:
    context = ssl.create_default_context(cafile=str(user.server.ca))
    with httpx.Client(verify=context, base_url=user.server.url, timeout=60) as client:

        def answer(asked: Asked) -> Said:
            here.asked.append(asked)
            headers = {name: asked.headers[name] for name in PASS_ON if name in asked.headers}
            put = here.ask(asked)
            got = client.request(put.method, put.path, content=put.body, headers=headers)
            kept = {
                name: got.headers[name] for name in ("content-type", "location", "etag") if name in got.headers
            }
            return here.change(asked, Said(got.status_code, got.content, kept))

        with web_server(answer) as server:
            here = Between(user, server, change=lambda asked, said: said, ask=lambda asked: asked)
            yield here


def edited(said: Said, edit: Callable[[etree._Element], None]) -> Said:
    """A list that the server gave, edited; any other answer as it is."""
    if said.status != 207:
        return said
    root = etree.fromstring(said.body)
    edit(root)
    return Said(said.status, etree.tostring(root, encoding="utf-8"), said.headers)


def without(name: str) -> Change:
    """A server that does not tell a property."""

    def edit(root: etree._Element) -> None:
        for one in list(root.iter(name)):
            parent = one.getparent()
            assert parent is not None
            parent.remove(one)

    return lambda asked, said: edited(said, edit)


def refusing(name: bytes, status: int = 403) -> Change:
    """A server that refuses requests which say something."""
    return lambda asked, said: Said(status) if name in asked.body else said


def is_sync(asked: Asked) -> bool:
    return b"sync-collection" in asked.body


def is_list(asked: Asked) -> bool:
    return asked.method == "PROPFIND" and asked.headers["depth"] == "1"
