"""What of WebDAV and CalDAV is needed to read calendars: questions as XML, and answers that may be anything.

RFC 4918 (WebDAV), RFC 4791 (CalDAV), RFC 5397 (current-user-principal) and RFC 6578 (sync-collection). Nothing
here can change anything at a server: there are PROPFIND, REPORT and GET, no more.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from connectors.accounts.transport import Answer, host_of
from workspace import SourceProblem

if TYPE_CHECKING:
    from lxml import etree

    from connectors.accounts.web import Web

DAV = "{DAV:}"
CALDAV = "{urn:ietf:params:xml:ns:caldav}"
CALENDARSERVER = "{http://calendarserver.org/ns/}"

RESOURCE_TYPE = f"{DAV}resourcetype"
DISPLAY_NAME = f"{DAV}displayname"
PRINCIPAL = f"{DAV}current-user-principal"
ETAG = f"{DAV}getetag"
MODIFIED = f"{DAV}getlastmodified"
HOME_SET = f"{CALDAV}calendar-home-set"
COMPONENTS = f"{CALDAV}supported-calendar-component-set"
CALENDAR = f"{CALDAV}calendar"
DATA = f"{CALDAV}calendar-data"
CTAG = f"{CALENDARSERVER}getctag"

MOST_ENTRY = 10 * 1024 * 1024
"""Bytes of one entry of a calendar that are read at most."""

MOST_LIST = 32 * 1024 * 1024
_MOST_PAGES = 1_000
_PREFIXES = {DAV: "d", CALDAV: "c", CALENDARSERVER: "s"}
_NAMESPACES = " ".join(f'xmlns:{prefix}="{name[1:-1]}"' for name, prefix in _PREFIXES.items())
_LONGEST_ETAG = 200


class Unlisted(SourceProblem):
    """A server gave no list where it was asked for one. `status` is its answer's, 207 if that can't be read."""

    def __init__(self, line: str, status: int) -> None:
        super().__init__(line)
        self.status = status

    @property
    def missing(self) -> bool:
        """Whether it says that there is nothing at that address."""
        return self.status in (404, 410)


@dataclass(frozen=True, slots=True)
class Resource:
    """What a list says of a resource. `url` is canonical; "" where the server names an address that is none."""

    url: str
    status: int
    properties: "dict[str, etree._Element]" = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The text of a property, "" where it is missing."""
        found = self.properties.get(name)
        return "" if found is None else (found.text or "").strip()

    def urls(self, name: str) -> list[str]:
        """The addresses that a property names."""
        found = self.properties.get(name)
        hrefs = [] if found is None else [one.text or "" for one in found.iter(f"{DAV}href")]
        return [url for href in hrefs if (url := _here(self.url, href))]

    def types(self) -> set[str]:
        """The kinds of resource that this is, as names with their namespace."""
        found = self.properties.get(RESOURCE_TYPE)
        return set() if found is None else {str(one.tag) for one in found}

    def components(self) -> set[str]:
        """Which components a calendar says it holds; empty where it does not say."""
        found = self.properties.get(COMPONENTS)
        return set() if found is None else {one.get("name", "").upper() for one in found.iter(f"{CALDAV}comp")}

    @property
    def version(self) -> str:
        """What changes when the resource does: its etag or, without one, its time; "" where neither is told."""
        said = " ".join(self.text(ETAG).split()) or " ".join(self.text(MODIFIED).split())
        return said if len(said) <= _LONGEST_ETAG else hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Listed:
    """A list (multistatus) as a server gave it."""

    resources: tuple[Resource, ...]
    token: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a calendar says has changed: entries with their versions, those that are gone, and the next token."""

    present: tuple[Resource, ...]
    gone: tuple[str, ...]
    token: str


class Dav:
    """The questions, asked over the web as the account sees it.

    Every method raises, beside what `Web.request` does, Unlisted if the server gives no list that can be read.
    """

    def __init__(self, web: "Web") -> None:
        self._web = web

    def properties(self, url: str, names: Sequence[str], *, members: bool = False) -> list[Resource]:
        """The properties of a resource, with `members` also of those in it (RFC 4918 section 9.1)."""
        wanted = "".join(_element(name) for name in names)
        body = f"<d:propfind {_NAMESPACES}><d:prop>{wanted}</d:prop></d:propfind>"
        listed = self._ask("PROPFIND", url, body, "1" if members else "0")
        if any(one.status == 507 for one in listed.resources):
            raise Unlisted(f"{host_of(url)} gives only a part of what it holds.", 507)
        return list(listed.resources)

    def changes(self, url: str, token: str) -> Changes:
        """What has changed in a calendar since a token, all that is in it since "" (RFC 6578 section 3).

        A server that gives a part at a time is asked on.
        """
        present: dict[str, Resource] = {}
        gone: dict[str, None] = {}
        for _ in range(_MOST_PAGES):
            body = (
                f"<d:sync-collection {_NAMESPACES}><d:sync-token>{_escaped(token)}</d:sync-token>"
                f"<d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>"
            )
            listed = self._ask("REPORT", url, body, "0")
            more = False
            for one in listed.resources:
                if one.status == 507:
                    more = True
                elif one.status in (404, 410):
                    present.pop(one.url, None)
                    gone[one.url] = None
                else:
                    gone.pop(one.url, None)
                    present[one.url] = one
            if not listed.token or (more and listed.token == token):
                break
            token = listed.token
            if not more:
                return Changes(tuple(present.values()), tuple(gone), token)
        raise Unlisted(f"{host_of(url)} comes to no end with its changes.", 507)

    def entries(self, url: str, wanted: Iterable[str]) -> dict[str, bytes]:
        """The entries of a calendar by their addresses, as many as it gives (RFC 4791 section 7.9)."""
        hrefs = "".join(f"<d:href>{urlsplit(one).path}</d:href>" for one in wanted)
        prop = "<d:prop><c:calendar-data/></d:prop>"
        body = f"<c:calendar-multiget {_NAMESPACES}>{prop}{hrefs}</c:calendar-multiget>"
        listed = self._ask("REPORT", url, body, "1")
        return {
            one.url: (one.properties[DATA].text or "").encode("utf-8")
            for one in listed.resources
            if DATA in one.properties
        }

    def entry(self, url: str) -> Answer:
        """One entry, whatever the server answers."""
        return self._web.request("GET", url, headers={"accept": "text/calendar, */*;q=0.1"}, most=MOST_ENTRY)

    def _ask(self, method: str, url: str, body: str, depth: str) -> Listed:
        headers = {"depth": depth, "content-type": "application/xml; charset=utf-8"}
        content = f'<?xml version="1.0" encoding="utf-8"?>\n{body}'.encode()
        answer = self._web.request(method, url, headers=headers, content=content, most=MOST_LIST)
        if answer.status != 207:
            raise Unlisted(
                f"{host_of(url)} answers with status {answer.status} where a calendar is asked for."
                " Check the address; it is tried again at the next sync.",
                answer.status,
            )
        return _listed(answer)


def absolute(base: str, href: str) -> str:
    """An address as it is written in one way only, "" where it is none: servers write the same one in several.

    Host in lower case, without query; in the path all is quoted but letters, digits and "_.-~" (RFC 3986,
    unreserved). Some servers take a bare ";" for more than a letter.
    """
    try:
        parts = urlsplit(urljoin(base, href.strip()))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return ""
    if ":" in host:
        host = f"[{host}]"
    if port not in (None, 443 if parts.scheme == "https" else 80):
        host = f"{host}:{port}"
    segments = [quote(unquote_to_bytes(one), safe="") for one in parts.path.lstrip("/").split("/")]
    return f"{parts.scheme}://{host}/{'/'.join(segments)}"


def _here(base: str, href: str) -> str:
    """An address that a server names. What it says is at its own host is where it was asked: behind a proxy it
    may not know how it is reached."""
    url = absolute(base, href)
    asked, named = urlsplit(base), urlsplit(url)
    return f"{asked.scheme}://{asked.netloc}{named.path}" if url and named.hostname == asked.hostname else url


def _listed(answer: Answer) -> Listed:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        tree = etree.parse(BytesIO(answer.body), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _unreadable(answer) from error
    root = tree.getroot()
    if root.tag != f"{DAV}multistatus" or tree.docinfo.internalDTD is not None:
        raise _unreadable(answer)
    base = absolute(answer.url, "")
    resources = tuple(one for part in root.iterchildren(f"{DAV}response") for one in _resources(part, base))
    token = root.find(f"{DAV}sync-token")
    return Listed(resources, "" if token is None else (token.text or "").strip())


def _unreadable(answer: Answer) -> Unlisted:
    return Unlisted(f"{host_of(answer.url)} answers with something else than a list of calendar entries.", 207)


def _resources(response: "etree._Element", base: str) -> Iterator[Resource]:
    """What one response tells of: a resource and its properties, or several that have a status in common."""
    properties: dict[str, etree._Element] = {}
    for part in response.iterchildren(f"{DAV}propstat"):
        if _status(part) == 200:
            for group in part.iterchildren(f"{DAV}prop"):
                properties |= {str(one.tag): one for one in group}
    for href in response.iterchildren(f"{DAV}href"):
        url = _here(base, href.text) if href.text else ""
        yield Resource(url, _status(response) or 200, properties)


def _status(element: "etree._Element") -> int:
    """The number in a status line (`HTTP/1.1 200 OK`), 0 where there is none."""
    found = element.find(f"{DAV}status")
    words = [] if found is None else (found.text or "").split()
    return int(words[1]) if len(words) > 1 and words[1].isascii() and words[1].isdigit() else 0


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _element(name: str) -> str:
    namespace, _, local = name.rpartition("}")
    return f"<{_PREFIXES[namespace + '}']}:{local}/>"
