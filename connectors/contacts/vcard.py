"""vCards 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350), as bytes, into the properties that are wanted of them.

Address books write all three versions, and hardly any keeps to its own. So this reads leniently and in linear
time: lines are unfolded as bytes, since a fold may part a character; photos and other properties that nobody asked
for are passed over without being put together; what cannot be read is named in the defects of its card. Nothing
raises.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.text import decode

MAX_VALUE = 100_000  # bytes of one property
MAX_PROPERTIES = 1_000  # of one card

_LINE = re.compile(rb"[^\r\n]+")
_NAME = re.compile(rb"[ \t]*(?:([\w-]+)\.)?([A-Za-z0-9-]+)[ \t]*(?=[;:])")
_PARAMETERS = re.compile(rb'((?:;(?:[^:;"]|"[^"]*")*)*):')
_PARAMETER = re.compile(rb';((?:[^;"]|"[^"]*")*)')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ENCODINGS = frozenset({"quoted-printable", "base64", "7bit", "8bit"})
_BASE64 = ("b", "base64")


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a card. `name` is upper case; `value` is decoded, and still escaped if that is its form.

    `group` ties properties together, as in `item1.EMAIL` and `item1.X-ABLABEL`. `params` holds lower-case values
    by lower-case name; the bare types of version 2.1 are under `type`.
    """

    name: str
    group: str
    params: Mapping[str, tuple[str, ...]]
    value: str
    version: str = ""

    @property
    def types(self) -> tuple[str, ...]:
        return self.params.get("type", ())

    @property
    def text(self) -> str:
        """The value of a property that holds one text."""
        return self._unescaped(self.value)

    def parts(self, separator: str = ";") -> tuple[str, ...]:
        """The components of a structured value, or the members of a list."""
        component = re.compile(rf"(?:[^{separator}\\]|\\.?)*", re.DOTALL)
        found, place = [], 0
        while place <= len(self.value):
            part = component.match(self.value, place)
            assert part is not None
            found.append(self._unescaped(part[0]).strip())
            place = part.end() + 1
        return tuple(found)

    def _unescaped(self, text: str) -> str:
        # Version 2.1 knows no \n: there a backslash before a letter is a backslash.
        if self.version == "2.1":
            return re.sub(r"\\([;,:\\])", r"\1", text)
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], text)


@dataclass(slots=True)
class VCard:
    """What stands between BEGIN:VCARD and END:VCARD: the wanted properties in their order."""

    properties: list[Property] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)
    version: str = ""

    def all(self, name: str) -> list[Property]:
        return [one for one in self.properties if one.name == name]

    def first(self, name: str) -> Property | None:
        return next((one for one in self.properties if one.name == name), None)


def read_cards(data: bytes, wanted: frozenset[str]) -> Iterator[VCard]:
    """The cards of a file, with those of their properties that are wanted (upper-case names)."""
    card: VCard | None = None
    inner = 0  # cards inside the card: version 2.1 puts the AGENT there
    agent = False
    for name, line in _logical_lines(_as_utf8(data), wanted):
        mark = line.partition(b":")[2].strip().upper() if name in ("BEGIN", "END") else b""
        if name == "BEGIN" and mark == b"VCARD":
            if card is not None and (agent or inner):
                inner += 1
            else:
                if card is not None:
                    card.defects.append("the card has no end")
                    yield card
                card = VCard()
        elif name == "END" and mark == b"VCARD":
            if inner:
                inner -= 1
            elif card is not None:
                yield card
                card = None
        elif card is not None and not inner:
            _take(card, name, line)
        agent = name == "AGENT" and not line.partition(b":")[2].strip()
    if card is not None:
        card.defects.append("the card has no end")
        yield card


def count_cards(data: bytes) -> int:
    """How many cards a file seems to hold."""
    return len(re.findall(rb"^[ \t]*BEGIN[ \t]*:[ \t]*VCARD", _as_utf8(data), re.IGNORECASE | re.MULTILINE))


def _as_utf8(data: bytes) -> bytes:
    """UTF-16 and UTF-32 as UTF-8; what has no mark of its encoding stays as it is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return decode(data)[0].encode("utf-8", "replace")
    return data.removeprefix(b"\xef\xbb\xbf")


def _logical_lines(data: bytes, wanted: frozenset[str]) -> Iterator[tuple[str, bytes]]:
    """(name, whole line) of each wanted property, and of AGENT and the lines that begin and end cards.

    A line without a name comes as ("", line), and is the next line of the property before it: some write notes so.
    """
    wanted = wanted | {"BEGIN", "END", "VERSION", "AGENT"}
    name, line = "", bytearray()
    soft = False  # quoted-printable goes on in the next line
    for found in _LINE.finditer(data):
        physical = found[0]
        start = None if soft or physical[:1] in (b" ", b"\t") else _NAME.match(physical)
        if start is None:
            if name not in wanted or name in ("BEGIN", "END"):
                if not name or name in ("BEGIN", "END"):
                    yield "", physical
                soft = soft and physical.endswith(b"=")
                continue
            if soft:
                del line[-1:]
                more = physical
            elif physical[:1] in (b" ", b"\t"):
                more = physical[1:]
            else:
                yield "", physical
                more = b"\n" + physical
            soft = soft and physical.endswith(b"=")
            line += more[: max(0, MAX_VALUE - len(line))]
            continue
        if name in wanted:
            yield name, bytes(line)
        name = start[2].decode("ascii").upper()
        soft = physical.endswith(b"=") and b"QUOTED-PRINTABLE" in physical.partition(b":")[0].upper()
        line = bytearray(physical[:MAX_VALUE])
    if name in wanted:
        yield name, bytes(line)


def _take(card: VCard, name: str, line: bytes) -> None:
    if name == "AGENT":
        return
    start = _NAME.match(line) if name else None
    parameters = _PARAMETERS.match(line, start.end()) if start else None
    if start is None or parameters is None:
        _note(card, "a line can't be read as a property")
        return
    if len(card.properties) >= MAX_PROPERTIES:
        _note(card, f"more than {MAX_PROPERTIES:,} properties; the rest not read")
        return
    params = _params(parameters[1])
    value, defect = _value(line[parameters.end() :], params)
    if defect:
        _note(card, defect)
    if name == "VERSION":
        card.version = value.strip()
        return
    group = (start[1] or b"").decode("ascii", "replace").lower()
    card.properties.append(Property(name, group, params, value, card.version))


def _note(card: VCard, defect: str) -> None:
    if defect not in card.defects:
        card.defects.append(defect)


def _params(text: bytes) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for part in _PARAMETER.findall(text):
        name, mark, value = part.decode("utf-8", "replace").strip().lower().partition("=")
        if not mark:
            name, value = ("encoding" if name in _ENCODINGS else "type"), name
        values = tuple(one.strip(' "') for one in value.replace('"', "").split(",") if one.strip(' "'))
        found[name.strip()] = found.get(name.strip(), ()) + values
    return found


def _value(raw: bytes, params: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    """The value as text, and a defect or ""."""
    encoding = next(iter(params.get("encoding", ())), "")
    if encoding == "quoted-printable":
        raw = binascii.a2b_qp(raw)
    elif encoding in _BASE64:
        try:
            raw = binascii.a2b_base64(raw)
        except binascii.Error:
            return "", "base64 that can't be read"
    return decode(raw, next(iter(params.get("charset", ())), ""))
