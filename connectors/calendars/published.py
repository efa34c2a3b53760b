"""A calendar that is published at an address, as one .ics for all to read who know it.

The address may be a secret: then it is kept where secrets are, and nothing that is shown or stored names more of
it than its host. The calendar is one item. Its server is asked whether it has changed (RFC 9110, conditional
requests); where series are in it, it is read in any case on another day, since the window has moved on.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from threading import Event
from urllib.parse import urlsplit

from connectors.accounts.credentials import Credentials
from connectors.accounts.transport import Answer, host_of
from connectors.accounts.web import Web
from connectors.calendars.entry import Entries
from connectors.follow import RECORD, Read, follow
from connectors.surroundings import Surroundings
from workspace import Account, Batch, Cursor, Kind, SourceEmpty, SourceProblem, UserError

MAX_BYTES = 50 * 1024 * 1024
_ITEM = "calendar"
_UNCHANGED = f"{RECORD}unchanged"
_ASK = {"etag": "if-none-match", "last-modified": "if-modified-since"}


class PublishedCalendar:
    """The connector of a published calendar: at the account's address or, where that is "", at its secret."""

    def __init__(
        self,
        source: str,
        account: Account,
        surroundings: Surroundings,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source = source
        self._account = account
        self._surroundings = surroundings
        self._sleep = sleep

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterator[Batch]:
        url = self._url()
        validators = _validators(cursor, self._surroundings.window()) if _ITEM in cursor else {}
        answer = self._fetched(url, validators)
        if answer.status == 304 and validators:
            return
        if answer.status in (404, 410):
            if not cursor:
                raise self._nothing(url, answer.status)
            if not allow_empty:
                raise SourceEmpty(
                    f"{self._shown(url)} is not there any more. Nothing was removed; correct the address, or allow"
                    " it to be empty."
                )
            yield from follow(cursor, {}, lambda items: [], records=dict.fromkeys([_UNCHANGED]))
            return
        yield from self._brought(cursor, url, answer, allow_empty=allow_empty)

    def wait(self, stop: Event, seconds: float) -> bool:
        stop.wait(seconds)
        return False

    def check(self) -> str:
        url = self._url()
        answer = self._fetched(url, {})
        if answer.status in (404, 410):
            raise self._nothing(url, answer.status)
        read = self._read(url, answer)
        events = sum(one.kind is Kind.EVENT for one in read.artifacts)
        return f"calendar at {host_of(url)} with {events:,} events and {len(read.artifacts) - events:,} tasks"

    def _url(self) -> str:
        """The whole address, which may be a secret."""
        url = self._account.url
        if not url:
            url = Credentials(self.source, self._account, self._surroundings.secrets).secret().strip()
        scheme, colon, rest = url.partition(":")
        return f"https:{rest}" if colon and scheme.lower() in ("webcal", "webcals") else url

    def _shown(self, url: str) -> str:
        """As much of the address as may be seen."""
        if self._account.url:
            return url
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}/"

    def _fetched(self, url: str, validators: dict[str, str]) -> Answer:
        host = host_of(url)
        headers = {"accept": "text/calendar, */*;q=0.1", **validators}
        with Web(self.source, self._account, self._surroundings.secrets, sleep=self._sleep) as web:
            answer = web.request("GET", url, headers=headers, most=MAX_BYTES)
        if answer.status not in (200, 404, 410) and not (answer.status == 304 and validators):
            raise SourceProblem(f"{host} does not give the calendar (status {answer.status}). Check its address.")
        return answer

    def _nothing(self, url: str, status: int) -> UserError:
        return UserError(f"There is no calendar at {self._shown(url)} (status {status}). Check the address.")

    def _read(self, url: str, answer: Answer) -> Read:
        """What is in an answer.

        Raises:
            SourceProblem: if that is no calendar.
        """
        host = host_of(url)
        with Entries(self.source, self._surroundings) as entries:
            read = entries.read(_ITEM, answer.body, self._shown(url), f"calendar at {host}")
        for one in read.artifacts:
            if one.key == f"unread:{_ITEM}":
                if answer.headers.get("content-type", "").lower().startswith("text/html"):
                    raise SourceProblem(f"{host} answers with a web page, not with a calendar. Check the address.")
                raise SourceProblem(f"What {host} answers with can't be read: it {one.defects[0]}.")
        return read

    def _brought(self, cursor: Cursor, url: str, answer: Answer, *, allow_empty: bool) -> Iterator[Batch]:
        read = self._read(url, answer)
        holds = bool(read.artifacts or read.note)
        if _ITEM in cursor and not holds and not allow_empty:
            raise SourceEmpty(
                f"The calendar at {host_of(url)} is suddenly empty. Nothing was removed; if that is right, allow"
                " it to be empty."
            )
        fingerprint = f"{hashlib.sha256(answer.body).hexdigest()} {read.note}"
        headers = [f"{ask}: {answer.headers[name]}" for name, ask in _ASK.items() if answer.headers.get(name)]
        record = "\n".join([read.note, *headers]) if holds and headers else None
        listing = {_ITEM: fingerprint} if holds else {}
        yield from follow(cursor, listing, lambda items: [read] if items else [], records={_UNCHANGED: record})


def _validators(cursor: Cursor, window: str) -> dict[str, str]:
    """What to ask with whether the calendar has changed; nothing where it holds series and was read in another
    window."""
    read_in, *lines = cursor.get(_UNCHANGED, "").split("\n")
    return dict(line.split(": ", 1) for line in lines) if read_in in ("", window) else {}
