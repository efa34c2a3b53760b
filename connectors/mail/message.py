"""One mail, as bytes, becomes artifacts: the mail itself, and each of its attachments and forwarded mails.

Where the bytes come from (Maildir, mbox, a server) is none of this module's business. Nothing raises: what is
odd is kept and named in the defects. Limits bound what one mail can cost.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from connectors.html import tame, to_text, without_tags
from connectors.mail.headers import Fields, date, decoded, ids, mailboxes
from connectors.mail.parts import content_type, parameter, payload
from connectors.mail.quoting import split
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from connectors.text import clean, cut, decode
from workspace import Artifact, Kind, Person, Role, Trust

MAX_PARTS = 500
MAX_DEPTH = 20
MAX_ATTACHMENT = 25 * 1024 * 1024
MAX_MESSAGE = 60 * 1024 * 1024
_UTC = ZoneInfo("UTC")
NOTHING_LEFT_OUT: Mapping[str, int] = MappingProxyType({})
_MAX_DEFECTS = 20
_MAX_BYTES_OF_TEXT = 4_000_000  # more than the characters that are kept

_NOREPLY = re.compile(
    r"^(?:.*[-_.+])?(?:no-?_?reply|do-?_?not-?_?reply|mailer-daemon|postmaster|bounces?|notifications?|noresponse)"
    r"(?:[-_.+].*)?@"
)
_SIGNATURES = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_ENCRYPTED = frozenset({"application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})


@dataclass(frozen=True, slots=True)
class Mailbox:
    """What is the same for all mails of a source: its name, the person's and the known addresses, their zone, the
    reader."""

    source: str
    own: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    documents: Reader | None = None
    zone: ZoneInfo = _UTC


def mailbox_of(source: str, surroundings: Surroundings) -> Mailbox:
    """The mailbox of a source of this person's."""
    return Mailbox(source, surroundings.own, surroundings.known, zone=surroundings.zone)


def read_message(
    data: bytes,
    mailbox: Mailbox,
    *,
    origin: str = "",
    name: str = "",
    left_out: Mapping[str, int] = NOTHING_LEFT_OUT,
) -> tuple[Artifact, ...]:
    """The artifacts of one mail, itself first. `name` stands in as the title where there is no subject.

    `left_out` names parts whose body was not downloaded (part number of RFC 3501, section 6.4.5 -> octets).
    """
    defects: list[str] = []
    if len(data) > MAX_MESSAGE:
        defects.append(f"larger than {MAX_MESSAGE // 2**20} MB; the rest not read")
        data = data[:MAX_MESSAGE]
    return tuple(_Reading(mailbox, origin).artifacts(_parsed(data, defects), defects, name=name))


def unreadable(mailbox: Mailbox, item: str, why: str, origin: str) -> Artifact:
    """The artifact that stands for a mail which could not be read at all."""
    title = clean(item.rpartition("/")[2])[0]
    return Artifact(mailbox.source, f"unread:{item}", Kind.EMAIL, title, origin=origin, defects=(why,))


def _parsed(data: bytes, defects: list[str]) -> "Message[str, str]":
    try:
        return BytesParser(policy=compat32).parsebytes(data)
    except RecursionError:
        defects.append("parts nested too deep; read as plain text")
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, LookupError, AssertionError) as error:
        defects.append(f"structure can't be read ({type(error).__name__}); read as plain text")
    head, _, body = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    message = BytesHeaderParser(policy=compat32).parsebytes(head[:1_000_000] + b"\n\n")
    message.set_payload(body.decode("ascii", "surrogateescape"))
    del message["Content-Type"], message["Content-Transfer-Encoding"]
    return message


@dataclass(slots=True)
class _Reading:
    """One mail being read; counts its parts over all levels."""

    mailbox: Mailbox
    origin: str
    parts: int = 0

    def artifacts(
        self,
        message: "Message[str, str]",
        defects: list[str],
        *,
        name: str = "",
        outer: Artifact | None = None,
        number: str = "",
        depth: int = 0,
    ) -> Iterator[Artifact]:
        """The mail itself, then what it carries. `outer` and `number` are set for a mail inside another."""
        fields = Fields(message)
        body = _Body()
        several = content_type(fields).startswith("multipart/") and isinstance(message.get_payload(), list)
        first = number if several else f"{number}.1".lstrip(".")
        self._collect(message, fields, first, depth, body)
        whole, long = cut(body.text(defects, self.mailbox.documents))
        text, quoted = split(whole)
        people = _people(fields)
        sender = people[0].email if people and people[0].role is Role.FROM else ""
        time = _time(fields, defects)
        if not sender:
            defects.append("no sender")
        trust = self._trust(sender, fields, defects)
        subject = fields.text("subject")[:1_000]
        own = _own_id(fields)
        key = f"{outer.key.partition('#')[0]}#{number}" if outer else own
        if not key:
            said = (
                str(time),
                str(people),
                subject,
                text,
                quoted,
                *(f"{one.name}{one.size}" for one in body.carried),
            )
            key = "digest:" + hashlib.sha256("\x1f".join(said).encode("utf-8", "replace")).hexdigest()
        title, odd = clean(subject or name)
        noted = [note for note in (long, odd) if note]
        mail = Artifact(
            source=self.mailbox.source,
            key=key,
            kind=Kind.EMAIL,
            title=title,
            text=text,
            quoted=quoted,
            people=people,
            time=time,
            thread=_thread(fields) or own or key,
            parent=outer.key if outer else "",
            origin=self.origin,
            trust=min(trust, outer.trust, key=_TRUSTING.index) if outer else trust,
            automatic=_automatic(fields, sender),
            defects=tuple(dict.fromkeys(defects + body.defects + noted))[:_MAX_DEFECTS],
        )
        yield mail
        for one in body.carried:
            if one.message is not None:
                yield from self.artifacts(
                    one.message, [], name=one.name, outer=mail, number=one.number, depth=one.depth
                )
            else:
                yield self._attachment(one, mail)

    def _collect(self, part: "Message[str, str]", fields: Fields, number: str, depth: int, body: "_Body") -> None:
        """Sort the parts of a mail into what is its body and what it carries."""
        self.parts += 1
        if self.parts > MAX_PARTS:
            body.note(f"more than {MAX_PARTS} parts; the rest not read")
            return
        kind = content_type(fields)
        inner: Any = part.get_payload()  # a list of messages, or text
        if isinstance(inner, list):
            if depth >= MAX_DEPTH:
                body.note(f"parts nested more than {MAX_DEPTH} deep; not read")
            elif kind in ("message/rfc822", "message/global") and inner:
                name = decoded(parameter(fields, "name") or "")
                body.carried.append(_Carried(name, number or "1", kind, depth=depth + 1, message=inner[0]))
            elif kind.startswith("message/"):
                lines = [f"{key}: {decoded(str(value))}" for one in inner for key, value in one.raw_items()]
                body.carried.append(_Carried("", number or "1", kind, "\n".join(lines).encode(), charset="utf-8"))
            else:
                self._collect_many(kind, inner, number, depth, body)
            return
        self._collect_leaf(part, fields, kind, number or "1", body)

    def _collect_many(
        self, kind: str, parts: "list[Message[str, str]]", number: str, depth: int, body: "_Body"
    ) -> None:
        inner = _Body() if kind == "multipart/alternative" else body
        for place, part in enumerate(parts, 1):
            if self.parts > MAX_PARTS:
                break
            fields = Fields(part)
            if kind == "multipart/related" and place > 1 and _is_ornament(fields):
                continue
            self._collect(part, fields, f"{number}.{place}" if number else str(place), depth + 1, inner)
        if inner is not body:
            body.add_best_of(inner)

    def _collect_leaf(
        self, part: "Message[str, str]", fields: Fields, kind: str, number: str, body: "_Body"
    ) -> None:
        if kind in _SIGNATURES:
            return
        if kind in _ENCRYPTED:
            body.note("encrypted; its content is not read")
        name = decoded(parameter(fields, "filename") or parameter(fields, "name") or "")
        disposition = fields.raw("content-disposition").partition(";")[0].strip().lower()
        data, defect = payload(part, fields)
        if defect:
            body.note(defect)
        is_text = kind in ("text/plain", "text/html", "text/enriched", "text/x-amp-html")
        if is_text and disposition != "attachment" and not (name and body.pieces):
            if kind != "text/x-amp-html":
                body.pieces.append((kind, data, parameter(fields, "charset") or ""))
            return
        charset = parameter(fields, "charset") or ""
        body.carried.append(_Carried(name, number, kind, data, charset=charset))

    def _attachment(self, one: "_Carried", mail: Artifact) -> Artifact:
        text = ""
        defects: tuple[str, ...] = ()
        if one.size > MAX_ATTACHMENT:
            defects = (f"larger than {MAX_ATTACHMENT // 2**20} MB; not read",)
        elif one.kind.startswith("message/") or one.kind == "text/calendar":
            text, defects = _plain(one.data, one.charset)
        elif self.mailbox.documents is not None and one.data:
            text, defects = self.mailbox.documents.document(one.name, one.kind, one.data, one.charset) or ("", ())
        return Artifact(
            source=self.mailbox.source,
            key=f"{mail.key.partition('#')[0]}#{one.number}",
            kind=Kind.DOCUMENT,
            title=clean(one.name)[0][:300] or one.kind,
            text=text,
            time=mail.time,
            thread=mail.thread,
            parent=mail.key,
            origin=mail.origin,
            trust=mail.trust,
            automatic=mail.automatic,
            defects=defects,
        )

    def _trust(self, sender: str, fields: Fields, defects: list[str]) -> Trust:
        if sender in self.mailbox.own or sender in self.mailbox.known:
            # A failed check can only take trust away, so it does not matter who wrote this field.
            if any("dmarc=fail" in value.lower() for value in fields.all("authentication-results")):
                defects.append("the sender's address did not pass authentication (dmarc=fail)")
                return Trust.UNKNOWN
            return Trust.SELF if sender in self.mailbox.own else Trust.KNOWN
        return Trust.UNKNOWN


_TRUSTING = (Trust.UNKNOWN, Trust.KNOWN, Trust.SELF)


@dataclass(frozen=True, slots=True)
class _Carried:
    """A part that becomes an artifact of its own. `message` is set for a forwarded mail."""

    name: str
    number: str
    kind: str
    data: bytes = b""
    charset: str = ""
    depth: int = 0
    message: "Message[str, str] | None" = None

    @property
    def size(self) -> int:
        return len(self.data)


@dataclass(slots=True)
class _Body:
    """The pieces of a mail's own text (type, bytes, charset), and what it carries."""

    pieces: list[tuple[str, bytes, str]] = field(default_factory=list)
    carried: list[_Carried] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)

    def note(self, defect: str) -> None:
        if defect not in self.defects:
            self.defects.append(defect)

    def add_best_of(self, other: "_Body") -> None:
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
            text, noted = _rich(data, charset, documents) if kind == "text/html" else _plain(data, charset)
            defects += noted
            if text.strip():
                texts.append(text.strip("\n"))
        return "\n\n".join(texts)


def _plain(data: bytes, charset: str) -> tuple[str, tuple[str, ...]]:
    text, odd = decode(data[:_MAX_BYTES_OF_TEXT], charset)
    text, invisible = clean(text)
    return text, tuple(note for note in (odd, invisible) if note)


def _rich(data: bytes, charset: str, documents: Reader | None) -> tuple[str, tuple[str, ...]]:
    html, odd = decode(data[:_MAX_BYTES_OF_TEXT], charset or _declared(data))
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


_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)


def _declared(data: bytes) -> str:
    found = _META.search(data[:2_000])
    return found[1].decode("ascii", "replace") if found else ""


def _is_ornament(fields: Fields) -> bool:
    """Whether a part of multipart/related is a picture that the page shows."""
    return content_type(fields).startswith("image/") and "attachment" not in fields.raw("content-disposition")


def _people(fields: Fields) -> tuple[Person, ...]:
    people = []
    sender = mailboxes(fields.all("from")) or mailboxes(fields.all("sender"))
    for role, found in (
        (Role.FROM, sender),
        (Role.TO, mailboxes(fields.all("to"))),
        (Role.CC, mailboxes(fields.all("cc"))),
    ):
        people += [Person(role, name, email) for name, email in found]
    return tuple(people)


def _time(fields: Fields, defects: list[str]) -> datetime | None:
    """When it was sent: Date, or the moment the last server received it."""
    value = fields.raw("date")
    moment, defect = date(value) if value else (None, "no date")
    if moment is None or moment.year < 1971:
        defects.append(defect or "date can't be right")
        received = fields.raw("received").rpartition(";")[2]
        moment = date(received)[0] if received else None
    if moment is not None and moment.year > datetime.now(UTC).year + 20:
        defects.append("date lies far in the future")
    return moment


def _own_id(fields: Fields) -> str:
    """The Message-ID as a key, "" where there is none that can be one. `#` sets off parts, so none stays."""
    found = ids(fields.raw("message-id"))
    if not found or len(found[0]) > 250 or found[0].startswith(("digest:", "unread:")):
        return ""
    return found[0].replace("#", "%23")


def _thread(fields: Fields) -> str:
    found = ids(fields.raw("references")) or ids(fields.raw("in-reply-to"))
    return found[0][:250].replace("#", "%23") if found and "@" in found[0] else ""


def _automatic(fields: Fields, sender: str) -> bool:
    if fields.raw("auto-submitted").strip().lower() not in ("", "no"):
        return True
    if "list-id" in fields or "list-unsubscribe" in fields or _NOREPLY.match(sender):
        return True
    return fields.raw("precedence").strip().lower() in ("bulk", "list", "junk", "auto_reply")
