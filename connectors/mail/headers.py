"""Header fields of mail from outside, read by accessors that cannot raise.

The standard library's parser keeps each field as it stands (bytes that are not ASCII as surrogates); decoding
(RFC 2047), addresses (RFC 5322), dates and ids are read here, leniently and in linear time.
"""

import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.message import Message
from email.utils import parsedate_tz

from connectors.text import clean_line, decode

_MAX_FIELD = 100_000
_MAX_PEOPLE = 500

_WORD = re.compile(r"=\?([^?\s*]{1,40})(?:\*[^?\s]{0,20})?\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?[^?\s]{1,60}\?[bBqQ]\?)")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\([^()]*\)|<[^<>]*>|[,;]|[^",;<(]+|.', re.DOTALL)
_ADDRESS = re.compile(r"[^\s<>@,;:\"()]+@[^\s<>@,;:\"()]+")
_ID = re.compile(r"<([^<>\s]+)>")
_SIMPLE = re.compile(r'\s*(?:"([^"\\]*)"|([^"\\,;:<>()@=]*))\s*<([^\s<>@,;:"()=]+@[^\s<>@,;:"()=]+)>\s*$')


class Fields:
    """The header fields of one message or part, by lower-case name, undecoded and in order."""

    __slots__ = ("_values",)

    def __init__(self, message: "Message[str, str]") -> None:
        values: dict[str, list[str]] = {}
        for name, value in message.raw_items():
            values.setdefault(name.lower(), []).append(str(value)[:_MAX_FIELD])
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def raw(self, name: str) -> str:
        """The first field of this name as it stands, "" if there is none."""
        found = self._values.get(name)
        return found[0] if found else ""

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def text(self, name: str) -> str:
        """The first field of this name, decoded, on one line."""
        found = self._values.get(name)
        return decoded(found[0]) if found else ""


def decoded(value: str) -> str:
    """An unstructured field as text on one line: encoded words decoded, raw bytes by their likely charset."""
    if not value.isascii():
        value = decode(
            value.encode("ascii", "surrogateescape") if _is_raw(value) else value.encode("utf-8", "replace")
        )[0]
    if "=?" in value:
        value = "".join(_words(_BETWEEN_WORDS.sub(r"\1", value)))
    return clean_line(value)


def mailboxes(values: list[str]) -> list[tuple[str, str]]:
    """(name, address) of each mailbox in address fields, the address in lower case, "" where there is none."""
    found: list[tuple[str, str]] = []
    for value in values:
        simple = _SIMPLE.match(value) if len(value) < 300 and value.isascii() else None
        if simple:
            found.append((clean_line(simple[1] or simple[2] or ""), simple[3].lower()))
        else:
            found += _mailboxes(value)
    return list(dict.fromkeys(found))[:_MAX_PEOPLE]


def ids(value: str) -> list[str]:
    """The message ids in a field, without their angle brackets."""
    if not value.isascii():
        value = decode(value.encode("utf-8", "surrogateescape"))[0]
    found = _ID.findall(value) or value.split()
    return [one for one in (clean_line(one).replace(" ", "") for one in found) if one]


def date(value: str) -> tuple[datetime | None, str]:
    """The moment a date field names (aware; UTC where it names no zone), and a defect or ""."""
    try:
        parts = parsedate_tz(value[:200])
        if parts is None:
            return None, "date can't be read"
        year, month, day, hour, minute, second = parts[:6]
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=_zone(parts[9]))
        moment = moment.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError, AttributeError):
        return None, "date can't be read"
    return moment, ""


def _zone(offset: int | None) -> timezone:
    return timezone(timedelta(seconds=offset)) if offset else UTC


def _is_raw(value: str) -> bool:
    """Whether all that is not ASCII in the value are bytes kept as surrogates."""
    return all(character < "\x80" or "\udc80" <= character <= "\udcff" for character in value)


def _words(value: str) -> Iterator[str]:
    """Decode encoded words; neighbours of one charset are joined first, as senders split in mid-character."""
    place = 0
    pending, charset = b"", ""
    for word in _WORD.finditer(value):
        between = value[place : word.start()]
        if pending and (between or word[1].lower() != charset):
            yield decode(pending, charset)[0]
            pending = b""
        yield between
        charset = word[1].lower()
        pending += _base64(word[3]) if word[2] in "bB" else _quoted(word[3])
        place = word.end()
    if pending:
        yield decode(pending, charset)[0]
    yield value[place:]


def _base64(text: str) -> bytes:
    data = _NOT_BASE64.sub(b"", text.encode("ascii", "replace"))
    data = data[:-1] if len(data) % 4 == 1 else data
    try:
        return binascii.a2b_base64(data + b"=" * (-len(data) % 4))
    except binascii.Error:
        return b""


def _quoted(text: str) -> bytes:
    return binascii.a2b_qp(text.encode("utf-8", "replace"), header=True)


def _mailboxes(value: str) -> list[tuple[str, str]]:
    if not value.isascii():
        raw = value.encode("ascii", "surrogateescape") if _is_raw(value) else value.encode("utf-8", "replace")
        value = decode(raw)[0]
    value = _BETWEEN_WORDS.sub(r"\1", value)
    # Encoded words may hold commas once decoded, so the field is cut up before.
    found: list[tuple[str, str]] = []
    name: list[str] = []
    comment, address = "", ""
    for token in (*_TOKEN.findall(value), ","):
        first = token[0]
        if token in (",", ";"):
            _add(found, "".join(name), address, comment)
            name, comment, address = [], "", ""
        elif first == '"' and len(token) > 1:
            name.append(re.sub(r"\\(.)", r"\1", token[1:-1]))
        elif first == "(" and len(token) > 1:
            comment = token[1:-1]
        elif first == "<" and len(token) > 1:
            address = token[1:-1]
        elif ":" in token and "@" not in token.partition(":")[0]:
            name = [token.partition(":")[2]]  # what stands before the colon names a group
        else:
            name.append(token)
    return found


def _add(found: list[tuple[str, str]], name: str, address: str, comment: str) -> None:
    inside = _ADDRESS.search(address) or (None if address.strip() else _ADDRESS.search(name))
    if inside and not address.strip():
        name = name.replace(inside[0], " ")
    email = clean_line(inside[0]).strip("'").lower() if inside else ""
    label = decoded(name).strip("'\" ") or decoded(comment)
    if not email and address.strip() and not label:
        label = decoded(address)
    if email or label:
        found.append(("" if label.lower() == email else label[:200], email[:320]))
