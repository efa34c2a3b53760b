"""Where the calendars of an account are, and which of them there are."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from connectors.accounts.transport import host_of
from connectors.calendars import dav
from connectors.calendars.dav import Dav, Resource, Unlisted
from connectors.text import clean_line
from workspace import SourceProblem, UserError

_ABOUT = (dav.RESOURCE_TYPE, dav.DISPLAY_NAME, dav.COMPONENTS, dav.CTAG)
_LEADS = (dav.RESOURCE_TYPE, dav.HOME_SET, dav.PRINCIPAL)
_WANTED = {"VEVENT", "VTODO"}
_NO_CALENDARS = {"schedule-inbox", "schedule-outbox", "deleted-calendar", "notification", "free-busy-url"}


@dataclass(frozen=True, slots=True)
class Place:
    """An address that is asked for calendars: one of them, or a `home` that holds them."""

    url: str
    home: bool

    def __str__(self) -> str:
        return f"{'home' if self.home else 'calendar'} {self.url}"

    @classmethod
    def parse(cls, text: str) -> "Place":
        kind, _, url = text.partition(" ")
        return cls(url, kind == "home")


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar at its server. `url` ends with `/`; `tag` changes when anything in it does, "" if not told."""

    url: str
    title: str
    tag: str

    @property
    def path(self) -> str:
        """The beginning of the items of its entries, without a `/` at its ends."""
        return path_of(self.url)

    def called(self, name: str) -> bool:
        """Whether the person means this one: by its title, its address, or the end of that."""
        name = name.strip()
        if name.casefold() == self.title.casefold() or name == unquote(self.path.rpartition("/")[2]):
            return True
        return "/" in name and dav.absolute(self.url, name).rstrip("/") == self.url.rstrip("/")


def path_of(url: str) -> str:
    """The path of an address, without a `/` at its ends."""
    return urlsplit(url).path.strip("/")


def find_places(server: Dav, start: str) -> list[Place]:
    """Where to ask, from the address of a calendar, a home of calendars, a person or a whole server (RFC 6764).

    Raises:
        Unlisted: if there is nothing (`missing`), or the server does not speak CalDAV there.
        UserError: if there is no calendar.
    """
    begin = dav.absolute(start, "")
    starts = [begin]
    if not path_of(begin):
        starts.append(urljoin(begin, "/.well-known/caldav"))
    trouble: Unlisted | None = None
    for url in starts:
        try:
            found = _places(server, url)
        except Unlisted as error:
            trouble = trouble or error
            continue
        if found:
            return found
    if trouble is not None:
        raise trouble
    raise UserError(f"{host_of(start)}: no calendars at {start}. Check the address.")


def _places(server: Dav, url: str) -> list[Place]:
    listed = server.properties(url, _LEADS)
    here = listed[0] if listed else Resource(url, 200)
    if dav.CALENDAR in here.types():
        return [Place(here.url, home=False)]
    homes = here.urls(dav.HOME_SET)
    if not homes and f"{dav.DAV}collection" in here.types():
        try:
            held = server.properties(here.url, (dav.RESOURCE_TYPE,), members=True)
        except Unlisted:  # some list nothing at their root
            held = []
        if any(dav.CALENDAR in one.types() for one in held):
            homes = [here.url]
    if not homes:
        for principal in here.urls(dav.PRINCIPAL)[:1]:
            for one in server.properties(principal, (dav.HOME_SET,))[:1]:
                homes = one.urls(dav.HOME_SET)
    return [Place(home, home=True) for home in dict.fromkeys(homes)]


def calendars_at(server: Dav, places: Iterable[Place]) -> list[Calendar]:
    """The calendars with events or tasks at these places.

    Raises:
        Unlisted: if one of them cannot be listed: then it is not known which calendars there are.
        SourceProblem: if a home names calendars at another host.
    """
    found: dict[str, Calendar] = {}
    for place in places:
        for one in server.properties(place.url, _ABOUT, members=place.home):
            calendar = _calendar(one)
            if calendar is None:
                continue
            if urlsplit(one.url)[:2] != urlsplit(place.url)[:2]:
                raise SourceProblem(f"{host_of(place.url)} names calendars at another host. They are not read.")
            found.setdefault(calendar.url, calendar)
    return list(found.values())


def calendar_at(server: Dav, url: str) -> Calendar | None:
    """The calendar at an address; None where the server says that there is none any more.

    Raises:
        Unlisted: if it says anything else.
    """
    try:
        listed = server.properties(url, _ABOUT)
    except Unlisted as error:
        if error.missing:
            return None
        raise
    return _calendar(listed[0]) if listed else None


def _calendar(one: Resource) -> Calendar | None:
    types = {name.rpartition("}")[2] for name in one.types()}
    components = frozenset(one.components())
    if dav.CALENDAR not in one.types() or types & _NO_CALENDARS or (components and not components & _WANTED):
        return None
    url = f"{one.url.rstrip('/')}/"
    title = clean_line(one.text(dav.DISPLAY_NAME))[:200] or unquote(path_of(url).rpartition("/")[2])
    return Calendar(url, title, clean_line(one.text(dav.CTAG))[:500])


def chosen(calendars: list[Calendar], names: tuple[str, ...], host: str) -> list[Calendar]:
    """Those that the person named, all where they named none.

    Raises:
        SourceProblem: if there is none of a name: what was brought in from it stays until that is settled.
    """
    for name in names:
        if not any(one.called(name) for one in calendars):
            there = ", ".join(sorted(one.title for one in calendars)) or "none"
            raise SourceProblem(
                f"{host} has no calendar {name!r}; it has: {there[:300]}. Correct `calendars` in accounts.toml."
            )
    return [one for one in calendars if not names or any(one.called(name) for name in names)]
