"""The calendars of an account at a CalDAV server.

An item is an entry, named by its path; its fingerprint is its etag. A calendar tells by its tag (getctag) that
nothing is new, else by a sync-token what is (RFC 6578); where it can do neither, or takes the token no more, all
its etags are listed. The tag and the token are a record in the cursor, and stand there only while the cursor has
all and nothing but what the calendar had at that moment: the record goes before the first change is taken, and
comes back after the last. So whatever interrupts a sync, the next one compares everything.

An entry that is listed but not there may have moved on while it was looked for, so nothing is gone in that sync;
it is remembered, and where the server lists it again and does not give it, it stands as one that can't be read.

Occurrences are wanted in a window around today. Only entries that recur depend on it; they are read again on
another day.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from threading import Event
from urllib.parse import unquote, urlsplit

from connectors.accounts.transport import TooLarge, host_of
from connectors.accounts.web import Web
from connectors.calendars.dav import Dav, Unlisted
from connectors.calendars.entry import Entries
from connectors.calendars.home import Calendar, Place, calendar_at, calendars_at, chosen, find_places
from connectors.calendars.listing import Held, Listing, held_in, list_entries
from connectors.follow import RECORD, Read, follow, refuse_empty
from connectors.surroundings import Surroundings
from connectors.text import clean_line
from workspace import (
    Account,
    Batch,
    CertificateRefused,
    Cursor,
    SecretUnavailable,
    ServerAway,
    SignInFailed,
    SourceEmpty,
    SourceProblem,
    UserError,
)

_AT_ONCE = 100
_PLACES = f"{RECORD}places"
_CALENDAR = f"{RECORD}calendar/"
_MISSED = f"{RECORD}missed/"
# These concern the whole account; any other problem is one of a single calendar or entry.
_OF_ALL = (ServerAway, SignInFailed, CertificateRefused, SecretUnavailable)


class CaldavCalendars:
    """The connector of the calendars of an account."""

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
        with self._web() as web:
            server = Dav(web)
            try:
                survey = self._survey(server, cursor)
            except Unlisted as error:
                if not error.missing:
                    raise
                survey = self._absent(cursor, allow_empty=allow_empty)
            window = self._surroundings.window()
            listing = {
                item: _mark(cursor.get(item, ""), version, window)
                for one in survey.listings.values()
                for item, version in one.versions.items()
            }
            if not allow_empty:
                refuse_empty(listing, cursor, host_of(self._account.url))
            yield from self._brought(server, cursor, survey, listing)

    def wait(self, stop: Event, seconds: float) -> bool:
        stop.wait(seconds)
        return False

    def check(self) -> str:
        with self._web() as web:
            server = Dav(web)
            try:
                _, calendars = self._calendars(server, {})
            except Unlisted as error:
                raise (self._nothing_there() if error.missing else error) from error
            host = host_of(self._account.url)
            if not calendars:
                raise UserError(f"{host} holds no calendar with events or tasks. Check the address.")
            count = sum(len(list_entries(server, one, Held(), "").versions) for one in calendars)
        titles = ", ".join(one.title for one in calendars)
        found = "1 calendar" if len(calendars) == 1 else f"{len(calendars):,} calendars"
        entries = "1 entry" if count == 1 else f"{count:,} entries"
        return f"{found} with {entries} at {host}: {titles[:300]}"

    def _web(self) -> Web:
        return Web(self.source, self._account, self._surroundings.secrets, sleep=self._sleep)

    def _nothing_there(self) -> UserError:
        return UserError(f"There is nothing at {self._account.url}. Check the address.")

    def _absent(self, cursor: Cursor, *, allow_empty: bool) -> "_Survey":
        """What is to be made of an account at whose address there is nothing."""
        if not cursor:
            raise self._nothing_there()
        if not allow_empty:
            raise SourceEmpty(
                f"{self._account.url} is not there any more. Nothing was removed; correct the address, or allow"
                " it to be empty."
            )
        return _Survey("")

    def _calendars(self, server: Dav, cursor: Cursor) -> tuple[list[Place], list[Calendar]]:
        """Where the calendars are, as far as possible from what was found before, and those that are wanted."""
        start, *lines = cursor.get(_PLACES, "").split("\n")
        places = [Place.parse(line) for line in lines] if start == self._account.url else []
        found: list[Calendar] | None = None
        if places:
            try:
                found = calendars_at(server, places)
            except Unlisted:
                found = None  # the server was set up anew, perhaps
        if found is None:
            places = find_places(server, self._account.url)
            found = calendars_at(server, places)
        return places, chosen(found, self._account.calendars, host_of(self._account.url))

    def _survey(self, server: Dav, cursor: Cursor) -> "_Survey":
        """All that is in the calendars now, compared with what the cursor has."""
        places, calendars = self._calendars(server, cursor)
        held = held_in(cursor)
        records = {path: cursor.get(_CALENDAR + path, "") for path in {*held, *(one.path for one in calendars)}}
        survey = _Survey("\n".join([self._account.url, *(str(place) for place in places)]), places[0].url)
        same_place = cursor.get(_PLACES, "").partition("\n")[0] == self._account.url
        if same_place and not self._account.calendars:
            for path in sorted(set(held) - {one.path for one in calendars}):
                try:
                    missing = calendar_at(server, f"{survey.origin}/{path}/")
                except _OF_ALL:
                    raise
                except SourceProblem as error:
                    survey.listings[path] = Listing(held[path], "", error)
                else:
                    calendars += [missing] if missing is not None else []
        for one in calendars:
            before = Held(held.get(one.path, {}), records[one.path])
            survey.origins[one.path] = _origin(one.url)
            try:
                survey.listings[one.path] = list_entries(server, one, before, self._surroundings.now().isoformat())
            except _OF_ALL:
                raise
            except SourceProblem as error:
                trouble = SourceProblem(f"Calendar {one.title!r} is left as it was: {error}")
                survey.listings[one.path] = Listing(before.versions, "", trouble)
        survey.changed = {
            path for path, one in survey.listings.items() if one.versions != held.get(path, {}) and records[path]
        }
        return survey

    def _brought(self, server: Dav, cursor: Cursor, survey: "_Survey", listing: dict[str, str]) -> Iterator[Batch]:
        dropped = {_CALENDAR + path: None for path in sorted(survey.changed)}
        if dropped:
            yield Batch((), dropped)
        yield from follow(cursor, listing, lambda items: self._read(server, cursor, survey, items))
        news = _missed(survey) or self._records(cursor, survey, dropped)
        if news:
            yield Batch((), news)
        for one in survey.listings.values():
            if one.trouble is not None:
                raise one.trouble

    def _records(
        self, cursor: Cursor, survey: "_Survey", dropped: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        """What is to be remembered of a sync that went through."""
        records = {_CALENDAR + path: one.record for path, one in survey.listings.items() if one.record}
        for path in survey.unread:
            records.pop(_CALENDAR + path, None)
        if survey.places:
            records[_PLACES] = survey.places
        news: dict[str, str | None] = {
            name: state for name, state in records.items() if name in dropped or cursor.get(name) != state
        }
        for name in cursor:
            known = name == _PLACES if survey.places else False
            if name.startswith(_CALENDAR):
                known = name[len(_CALENDAR) :] in survey.listings
            if name.startswith(RECORD) and not known:
                news[name] = None
        return news

    def _read(self, server: Dav, cursor: Cursor, survey: "_Survey", items: list[str]) -> Iterator[Read]:
        with Entries(self.source, self._surroundings) as entries:
            for path, group in groupby(items, key=lambda item: item.rpartition("/")[0]):
                origin = survey.origins.get(path, survey.origin)
                of_calendar = list(group)
                for start in range(0, len(of_calendar), _AT_ONCE):
                    urls = {f"{origin}/{item}": item for item in of_calendar[start : start + _AT_ONCE]}
                    got = _fetched(server, f"{origin}/{path}/", urls)
                    for url, item in urls.items():
                        read = self._entry(server, entries, item, url, got.get(url, b""))
                        if read is None:  # "?" marks what could not be read before
                            version = survey.listings[path].versions[item]
                            if cursor.get(_MISSED + item) != version and not cursor.get(item, "").startswith("?"):
                                survey.missed[item] = version
                                continue
                            defect = "its server lists it but does not give it"
                            read = Read(item, (entries.unread(item, url, _title(item), defect),), failed=True)
                        if read.failed:
                            survey.unread.add(path)
                        yield read

    def _entry(self, server: Dav, entries: Entries, item: str, url: str, data: bytes) -> Read | None:
        """What an entry holds, fetched by itself where it did not come with the others; None if it is no more."""
        title = _title(item)
        if not data:
            try:
                answer = server.entry(url)
            except _OF_ALL:
                raise
            except TooLarge as error:  # that will be so as long as its etag is the same
                return Read(item, (entries.unread(item, url, title, str(error)),))
            except SourceProblem as error:
                return Read(item, (entries.unread(item, url, title, str(error)),), failed=True)
            if answer.status in (404, 410):
                return None
            if answer.status != 200:
                defect = f"its server does not give it (status {answer.status})"
                return Read(item, (entries.unread(item, url, title, defect),), failed=True)
            whole = b"END:VCALENDAR" in answer.body[-1_000:].upper()
            return replace(entries.read(item, answer.body, url, title), failed=not whole)
        return entries.read(item, data, url, title)


@dataclass
class _Survey:
    """What is at the server: by the path of each calendar its listing and where it is.

    `places` is the record of where to look. `changed` are the calendars with a record that does not hold any more;
    `unread` those with an entry that could not be read; `missed` are entries, with their versions, that were
    listed and not there.
    """

    places: str
    origin: str = ""
    listings: dict[str, Listing] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    missed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.origin = _origin(self.origin)


def _missed(survey: _Survey) -> dict[str, str | None]:
    """What is to be remembered of a sync that missed something."""
    return {_MISSED + item: version for item, version in survey.missed.items()}


def _title(item: str) -> str:
    return clean_line(unquote(item.rpartition("/")[2]))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _mark(state: str, version: str, window: str) -> str:
    """The fingerprint of an entry: its version, and where it recurs the window, if that was another before.

    As it stands in the cursor where nothing is to be read.
    """
    fingerprint, _, rest = state.partition("\n")
    note = rest.partition("\n")[0]
    if fingerprint.partition("\t")[0] != version:
        return version
    return fingerprint if note in ("", window) else f"{version}\t{window}"


def _fetched(server: Dav, calendar: str, urls: Iterable[str]) -> dict[str, bytes]:
    try:
        return server.entries(calendar, urls)
    except _OF_ALL:
        raise
    except SourceProblem:  # it cannot do that, or one of them spoils the answer: then each by itself
        return {}
