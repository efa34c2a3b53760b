"""The pieces that a mail's own text is made of, and the parts that it carries beside it."""

import re
from dataclasses import dataclass, field
from email.message import Message

from connectors.html import tame, to_text, without_tags
from connectors.reading import Reader
from connectors.text import clean, decode

_MAX_BYTES = 4_000_000  # more than the characters that are kept
_CALENDARS = frozenset({"text/calendar", "application/ics"})
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Carried:
    """A part that becomes an artifact of its own. `message` is set for a forwarded mail."""

    name: str
    number: str
    kind: str
    data: bytes = b""
    charset: str = ""
    depth: int = 0
    message: "Message[str, str] | None" = None
    left_out: int = 0  # octets that were not downloaded

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def is_calendar(self) -> bool:
        return self.kind in _CALENDARS or self.name.lower().endswith(".ics")


@dataclass(slots=True)
class Body:
    """The pieces of a mail's own text (type, bytes, charset), and what it carries."""

    pieces: list[tuple[str, bytes, str]] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)

    def note(self, defect: str) -> None:
        if defect not in self.defects:
            self.defects.append(defect)

    def add_best_of(self, other: "Body") -> None:
        """Of alternatives take the plain text, unless it says next to nothing beside the HTML."""
        self.carried += other.carried
        self.defects += other.defects
        plain = [piece for piece in other.pieces if piece[0] != "text/html"]
        rich = [piece for piece in other.pieces if piece[0] == "text/html"]
        short = sum(len(data.strip()) for _, data, _ in plain) < 80
        self.pieces += rich if rich and (not plain or short) else plain

    def text(self, defects: list[str], documents: Reader | None) -> str:
        texts = []
        for kind, data, charset in self.pieces:
            text, noted = _rich(data, charset, documents) if kind == "text/html" else plain(data, charset)
            defects += noted
            if text.strip():
                texts.append(text.strip("\n"))
        return "\n\n".join(texts)


def plain(data: bytes, charset: str) -> tuple[str, tuple[str, ...]]:
    text, odd = decode(data[:_MAX_BYTES], charset)
    text, invisible = clean(text)
    return text, tuple(note for note in (odd, invisible) if note)


def _rich(data: bytes, charset: str, documents: Reader | None) -> tuple[str, tuple[str, ...]]:
    html, odd = decode(data[:_MAX_BYTES], charset or _declared(data))
    if tame(html):
        text, noted = to_text(html)
    else:
        # A page that may take long to lay out belongs into the limited process.
        text, noted = (
            documents and documents.document("", "text/html", html.encode("utf-8", "replace"), "utf-8")
        ) or ("", ())
        if not text:
            text, noted = without_tags(html), ("HTML could not be laid out; hidden text may show", *noted)
    return text, (odd, *noted) if odd else noted


def _declared(data: bytes) -> str:
    found = _META.search(data[:2_000])
    return found[1].decode("ascii", "replace") if found else ""
