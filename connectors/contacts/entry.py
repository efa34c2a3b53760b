"""One vCard as an artifact: its facts in plain lines, and a person for each of its addresses."""

import hashlib
import re
from datetime import UTC, datetime

from connectors.contacts.vcard import Property, VCard
from connectors.text import clean, clean_line, cut
from workspace import Artifact, Kind, Person, Role, Trust
from workspace.card import DEPARTMENT, MAIL, MANAGER, ORGANISATION, TITLE, lay_out

WANTED = frozenset(
    {
        "FN", "N", "NICKNAME", "ORG", "TITLE", "ROLE", "EMAIL", "TEL", "ADR", "BDAY", "ANNIVERSARY", "URL", "IMPP",
        "CATEGORIES", "NOTE", "RELATED", "UID", "REV", "X-ABLABEL", "X-ABRELATEDNAMES", "X-MANAGER",
        "X-EVOLUTION-MANAGER", "X-KADDRESSBOOK-X-MANAGERSNAME", "X-MS-MANAGER", "X-SPOUSE", "X-EVOLUTION-SPOUSE",
        "X-ASSISTANT", "X-EVOLUTION-ASSISTANT", "X-ANNIVERSARY",
    }
)  # fmt: skip
_MAX_ADDRESSES = 50
_MAX_FACTS = 200
_ADDRESS = re.compile(r"[^\s<>@,;:\"()]+@[^\s<>@,;:\"()]+")
_DAY = re.compile(r"(\d{4}|--?)-?(\d{2})-?(\d{2})(?!\d)")
# Types that say how a number or an address is reached rather than which it is.
_NO_LABEL = frozenset({"internet", "pref", "voice", "x400", "text", "other", "uri"})
_SPOKEN = {"cell": "mobile"}
_RELATIONS = {
    "X-MANAGER": "manager",
    "X-EVOLUTION-MANAGER": "manager",
    "X-KADDRESSBOOK-X-MANAGERSNAME": "manager",
    "X-MS-MANAGER": "manager",
    "X-SPOUSE": "spouse",
    "X-EVOLUTION-SPOUSE": "spouse",
    "X-ASSISTANT": "assistant",
    "X-EVOLUTION-ASSISTANT": "assistant",
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def artifact_of(card: VCard, source: str, origin: str, modified: datetime | None) -> Artifact:
    """The artifact of a card, at the time of its last revision or else `modified`."""
    defects = list(card.defects)
    labels = {one.group: _plain_label(one.text) for one in card.all("X-ABLABEL") if one.group}
    emails = _emails(card, defects)
    organisation = _line(card, "ORG", 0)
    name = clean_line(_line(card, "FN") or _from_parts(card)).strip("\"'")
    nickname = _line(card, "NICKNAME")
    called = name or organisation or nickname
    title = called or next(iter(emails), "")
    if not title:
        defects.append("no name")
    facts = [
        (ORGANISATION, organisation),
        (DEPARTMENT, _rest(card, "ORG")),
        (TITLE, _line(card, "TITLE")),
        ("Role", _line(card, "ROLE")),
        ("Nickname", nickname),
        *((MAIL, _labelled(email, one, labels)) for email, one in emails.items()),
        *(("Phone", _labelled(_number(one.text), one, labels)) for one in card.all("TEL")),
        *(("Address", _labelled(", ".join(filter(None, one.parts())), one, labels)) for one in card.all("ADR")),
        *(("Birthday", _day(one)) for one in card.all("BDAY")[:1]),
        *(("Anniversary", _day(one)) for one in [*card.all("ANNIVERSARY"), *card.all("X-ANNIVERSARY")][:1]),
        *_related(card, labels),
        *(("Web", one.text) for one in card.all("URL")),
        *(("Chat", one.text) for one in card.all("IMPP")),
        *(("Categories", ", ".join(one.parts(","))) for one in card.all("CATEGORIES")),
    ]
    text = lay_out(facts[:_MAX_FACTS], "\n".join(one.text for one in card.all("NOTE")))
    text, odd = clean(text)
    text, long = cut(text)
    people = [Person(Role.CONTACT, called[:200], email) for email in emails or ("",)]
    return Artifact(
        source=source,
        key=_key(card, title, text),
        kind=Kind.DOCUMENT,
        title=title[:1_000],
        text=text,
        people=tuple(people),
        time=_revised(card, defects) or modified,
        origin=origin,
        trust=Trust.SELF,
        defects=tuple(dict.fromkeys([*defects, *filter(None, (odd, long))]))[:20],
    )


def _emails(card: VCard, defects: list[str]) -> dict[str, Property]:
    """The addresses in lower case, the preferred ones first."""
    found: dict[str, Property] = {}
    for one in sorted(card.all("EMAIL"), key=lambda one: not _preferred(one)):
        address = _ADDRESS.search(clean_line(one.text).removeprefix("mailto:"))
        if address is None:
            if one.text.strip():
                defects.append("a mail address can't be read")
        elif len(found) < _MAX_ADDRESSES:
            found.setdefault(address[0].lower()[:320], one)
    return found


def _preferred(one: Property) -> bool:
    return "pref" in one.types or "pref" in one.params


def _line(card: VCard, name: str, component: int | None = None) -> str:
    """The first property of this name that says something, on one line; one component of a structured one."""
    for one in card.all(name):
        text = one.text if component is None else one.parts()[component]
        if text.strip():
            return clean_line(text)
    return ""


def _rest(card: VCard, name: str) -> str:
    one = card.first(name)
    return clean_line(", ".join(filter(None, one.parts()[1:]))) if one else ""


def _from_parts(card: VCard) -> str:
    """The name by its components: family; given; additional; prefixes; suffixes (RFC 6350, section 6.2.2)."""
    one = card.first("N")
    if one is None:
        return ""
    family, given, more, before, after = (*one.parts(), "", "", "", "", "")[:5]
    return " ".join(part.replace(",", " ") for part in (before, given, more, family, after) if part)


def _labelled(value: str, one: Property, labels: dict[str, str]) -> str:
    label = labels.get(one.group) or ", ".join(_SPOKEN.get(t, t) for t in one.types if t not in _NO_LABEL)
    return f"{value} ({clean_line(label)[:60]})" if value.strip() and label else value


def _plain_label(label: str) -> str:
    """Apple writes its own labels as `_$!<Home>!$_`."""
    return clean_line(label).removeprefix("_$!<").removesuffix(">!$_").lower()


def _number(value: str) -> str:
    return value.strip().removeprefix("tel:")


def _related(card: VCard, labels: dict[str, str]) -> list[tuple[str, str]]:
    """(label, who) of everybody the card relates to; the manager has a label of its own."""
    found: list[tuple[str, str]] = []
    for one in card.properties:
        if one.name in _RELATIONS:
            relation = _RELATIONS[one.name]
        elif one.name == "X-ABRELATEDNAMES":
            relation = labels.get(one.group, "")
        elif one.name == "RELATED":
            relation = labels.get(one.group) or next((t for t in one.types if t not in _NO_LABEL), "")
        else:
            continue
        who = clean_line(one.text).removeprefix("mailto:")
        if relation == "manager":
            found.append((MANAGER, who))
        elif who:
            found.append(("Related", f"{who} ({relation})" if relation else who))
    return found


def _day(one: Property) -> str:
    """`1980-03-12`, or `12 March` where the year is not told; any other text as it stands."""
    text = clean_line(one.text)
    found = _DAY.match(text)
    if not found or not 1 <= int(found[2]) <= 12:
        return text
    year, month, day = found.groups()
    if year.startswith("-") or one.params.get("x-apple-omit-year") == (year,):
        return f"{int(day)} {_MONTHS[int(month) - 1]}"
    return f"{year}-{month}-{day}"


def _revised(card: VCard, defects: list[str]) -> datetime | None:
    text = _line(card, "REV")
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        defects.append("the time of its revision can't be read")
        return None


def _key(card: VCard, title: str, text: str) -> str:
    uid = _line(card, "UID")
    if 0 < len(uid) <= 250 and not uid.startswith(("digest:", "unread:")):
        return uid
    return "digest:" + hashlib.sha256(f"{title}\x1f{text}".encode("utf-8", "replace")).hexdigest()
