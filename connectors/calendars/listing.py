"""What a calendar holds now: its entries with their versions, as cheaply as its server can tell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connectors.accounts.transport import host_of
from connectors.calendars import dav
from connectors.calendars.dav import Changes, Dav, Resource, Unlisted
from connectors.calendars.home import Calendar, path_of
from connectors.follow import RECORD
from workspace import Cursor, SourceProblem


@dataclass(frozen=True, slots=True)
class Held:
    """What the cursor has of a calendar: item -> version, and a record of when that was all it had."""

    versions: Mapping[str, str] = field(default_factory=dict)
    record: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a calendar holds. `record` is that of this moment, "" if this is not all for certain.

    `trouble` is for the person, once everything else is done.
    """

    versions: Mapping[str, str]
    record: str
    trouble: SourceProblem | None = None


def held_in(cursor: Cursor) -> dict[str, dict[str, str]]:
    """By the path of each calendar: what the cursor has of it, item -> version."""
    held: dict[str, dict[str, str]] = {}
    for item, state in cursor.items():
        if not item.startswith(RECORD):
            version = state.partition("\n")[0].partition("\t")[0]
            held.setdefault(item.rpartition("/")[0], {})[item] = version
    return held


def list_entries(server: Dav, calendar: Calendar, held: Held, now: str) -> Listing:
    """The entries of a calendar.

    By its tag where that is as before; by what it says has changed since (sync-token), if it takes the token; else
    by a list of all. One that had a record but no token is not asked for one again. `now` is a version for what
    has none.

    Raises:
        Unlisted: if the server does not say what there is.
        SourceProblem: as `Web.request`.
    """
    tag, _, token = held.record.partition("\n")
    if held.record and calendar.tag and calendar.tag == tag:
        return Listing(held.versions, held.record)
    by_token = bool(token) or not held.record
    if token:
        try:
            return _since(calendar, held, server.changes(calendar.url, token), now)
        except Unlisted:  # it is too old for the server, mostly
            pass
    if by_token:
        try:
            whole = server.changes(calendar.url, "")
        except Unlisted:  # it has no sync-collection, or none for so many
            whole = None
        if whole is not None and (whole.present or not held.versions):
            return _all(calendar, held, whole.present, whole.token, now)
    asked = (dav.ETAG, dav.MODIFIED, dav.RESOURCE_TYPE)
    return _all(calendar, held, server.properties(calendar.url, asked, members=True), "", now)


def _all(calendar: Calendar, held: Held, resources: Iterable[Resource], token: str, now: str) -> Listing:
    members, trouble = _members(calendar, resources)
    versions = {item: _version(one, held, token or calendar.tag or now, item) for item, one in members.items()}
    if trouble is not None:
        versions = {**held.versions, **versions}
    return _listing(calendar, versions, token, trouble)


def _since(calendar: Calendar, held: Held, changes: Changes, now: str) -> Listing:
    gone = {path_of(url) for url in changes.gone}
    members, trouble = _members(calendar, changes.present)
    versions = {item: version for item, version in held.versions.items() if item not in gone}
    versions |= {item: _version(one, held, changes.token or now, item) for item, one in members.items()}
    return _listing(calendar, versions, changes.token, trouble)


def _listing(calendar: Calendar, versions: dict[str, str], token: str, trouble: SourceProblem | None) -> Listing:
    return Listing(versions, f"{calendar.tag}\n{token}" if trouble is None else "", trouble)


def _version(one: Resource, held: Held, moment: str, item: str) -> str:
    """What changes when an entry does. One of which the server tells nothing is read whenever anything changes."""
    if one.status >= 400:
        return held.versions.get(item) or f"as of {moment}"
    return one.version or f"as of {moment}"


def _members(
    calendar: Calendar, resources: Iterable[Resource]
) -> tuple[dict[str, Resource], SourceProblem | None]:
    """The entries among what a list names, by item, and what is wrong where it names what is elsewhere."""
    members: dict[str, Resource] = {}
    elsewhere = 0
    for one in resources:
        name = one.url.removeprefix(calendar.url)
        if one.url and (f"{one.url}/" == calendar.url or not name or name.endswith("/")):
            continue  # the calendar itself, or a folder in it
        if f"{dav.DAV}collection" in one.types() or one.status in (404, 410):
            continue
        if name == one.url or "/" in name or name in (".", ".."):
            elsewhere += 1
        else:
            members[path_of(one.url)] = one
    if not elsewhere:
        return members, None
    where = f"Calendar {calendar.title!r} at {host_of(calendar.url)}"
    return members, SourceProblem(f"{where} names {elsewhere:,} entries that are elsewhere. They are not read.")
