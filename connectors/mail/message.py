"""One mail, as bytes, becomes artifacts: itself, its attachments, forwarded mails, and the events it invites to.

Where the bytes come from (Maildir, mbox, a server) is none of this module's business. Nothing raises: what is
odd is kept and named in the defects. Limits bound what one mail can cost.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.message import Message
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from connectors.calendars.exchange import Invitation
from connectors.mail.body import Body, Carried, plain
from connectors.mail.headers import Fields, date, decoded, ids, mailboxes
from connectors.mail.parts import bounded, content_type, parameter, parsed, payload
from connectors.mail.quoting import split
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from connectors.text import clean, cut
from workspace import Artifact, Kind, Person, Role, Trust

MAX_PARTS = 500
MAX_DEPTH = 20
MAX_ATTACHMENT = 25 * 1024 * 1024
MAX_INVITATION = 1024 * 1024
MAX_MESSAGE = 60 * 1024 * 1024
_UTC = ZoneInfo("UTC")
NOTHING_LEFT_OUT: Mapping[str, int] = MappingProxyType({})
_MAX_DEFECTS = 20

_NOREPLY = re.compile(
    r"^(?:.*[-_.+])?(?:no-?_?reply|do-?_?not-?_?reply|mailer-daemon|postmaster|bounces?|notifications?|noresponse)"
    r"(?:[-_.+].*)?@"
)
_SIGNATURES = frozenset(
    {"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_MAIL = frozenset({"message/rfc822", "message/global"})
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
    start = bounded(data[:MAX_MESSAGE])
    if len(start) < min(len(data), MAX_MESSAGE):
        defects = ["more lines or parts than any mail has; the rest not read"]
    reading = _Reading(mailbox, origin, left_out, cut=bool(defects))
    return tuple(reading.artifacts(parsed(start, defects), defects, name=name))


def unreadable(mailbox: Mailbox, item: str, why: str, origin: str) -> Artifact:
    """The artifact that stands for a mail which could not be read at all."""
    title = clean(item.rpartition("/")[2])[0]
    return Artifact(mailbox.source, f"unread:{item}", Kind.EMAIL, title, origin=origin, defects=(why,))


@dataclass(slots=True)
class _Reading:
    """One mail being read; counts its parts and knows what its invitations said, over all levels."""

    mailbox: Mailbox
    origin: str
    left_out: Mapping[str, int]
    cut: bool  # then it is no wonder that the last part is
    parts: int = 0
    said: set[tuple[str, ...]] = field(default_factory=set)

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
        body = Body()
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
        noted = [note for note in ("" if self.cut else long, odd) if note]
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
                yield from self._carried(one, mail)

    def _collect(self, part: "Message[str, str]", fields: Fields, number: str, depth: int, body: Body) -> None:
        """Sort the parts of a mail into what is its body and what it carries."""
        self.parts += 1
        if self.parts > MAX_PARTS:
            if not self.cut:
                body.note(f"more than {MAX_PARTS} parts; the rest not read")
            return
        kind = content_type(fields)
        inner: Any = part.get_payload()  # a list of messages, or text
        if isinstance(inner, list):
            if depth >= MAX_DEPTH:
                body.note(f"parts nested more than {MAX_DEPTH} deep; not read")
            elif number in self.left_out:
                name = decoded(parameter(fields, "filename") or parameter(fields, "name") or "")
                body.carried.append(Carried(name, number, kind, left_out=self.left_out[number]))
            elif kind in _MAIL and inner:
                name = decoded(parameter(fields, "name") or "")
                body.carried.append(Carried(name, number or "1", kind, depth=depth + 1, message=inner[0]))
            elif kind.startswith("message/"):
                lines = [f"{key}: {decoded(str(value))}" for one in inner for key, value in one.raw_items()]
                body.carried.append(Carried("", number or "1", kind, "\n".join(lines).encode(), charset="utf-8"))
            else:
                self._collect_many(kind, inner, number, depth, body)
            return
        self._collect_leaf(part, fields, kind, number or "1", body)

    def _collect_many(
        self, kind: str, parts: "list[Message[str, str]]", number: str, depth: int, body: Body
    ) -> None:
        inner = Body() if kind == "multipart/alternative" else body
        for place, part in enumerate(parts, 1):
            if self.parts > MAX_PARTS:
                break
            fields = Fields(part)
            if kind == "multipart/related" and place > 1 and _is_ornament(fields):
                continue
            self._collect(part, fields, f"{number}.{place}" if number else str(place), depth + 1, inner)
        if inner is not body:
            body.add_best_of(inner)

    def _collect_leaf(self, part: "Message[str, str]", fields: Fields, kind: str, number: str, body: Body) -> None:
        if kind in _SIGNATURES:
            return
        if kind in _ENCRYPTED:
            body.note("encrypted; its content is not read")
        name = decoded(parameter(fields, "filename") or parameter(fields, "name") or "")
        disposition = fields.raw("content-disposition").partition(";")[0].strip().lower()
        left_out = self.left_out.get(number, 0)
        data, defect = (b"", "") if left_out else payload(part, fields)
        if defect and not self.cut:
            body.note(defect)
        is_text = kind in ("text/plain", "text/html", "text/enriched", "text/x-amp-html")
        if is_text and disposition != "attachment" and not (name and body.pieces):
            if left_out:
                body.note(_not_downloaded(left_out))
            elif kind != "text/x-amp-html":
                body.pieces.append((kind, data, parameter(fields, "charset") or ""))
            return
        charset = parameter(fields, "charset") or ""
        body.carried.append(Carried(name, number, kind, data, charset=charset, left_out=left_out))

    def _carried(self, one: Carried, mail: Artifact) -> Iterator[Artifact]:
        """The artifacts of a part: one, or those of the events it invites to; none if they were named before."""
        text = ""
        defects: tuple[str, ...] = ()
        documents = self.mailbox.documents
        if one.left_out:
            defects = (_not_downloaded(one.left_out),)
        elif one.size > MAX_ATTACHMENT:
            defects = (f"larger than {MAX_ATTACHMENT // 2**20} MB; not read",)
        elif one.is_calendar or one.kind.startswith("message/"):
            mailbox = self.mailbox
            found: Invitation | str = Invitation()
            if one.is_calendar and one.size > MAX_INVITATION:
                found = f"larger than {MAX_INVITATION // 2**20} MB; its events are not read"
            elif one.is_calendar and documents is not None:
                found = documents.invitation(one.data, mailbox.source, mailbox.zone, self.origin)
            if isinstance(found, Invitation) and (found.events or found.text):
                yield from self._invitation(found, one, mail)
                return
            text, defects = plain(one.data, one.charset)
            defects += (found,) if isinstance(found, str) else ()
        elif documents is not None and one.data:
            text, defects = documents.document(one.name, one.kind, one.data, one.charset) or ("", ())
        kind = Kind.EMAIL if one.kind in _MAIL else Kind.DOCUMENT
        title = clean(one.name)[0][:300] or one.kind
        yield self._part(Artifact("", "", kind, title, text, time=mail.time, defects=defects), one.number, mail)

    def _invitation(self, found: Invitation, one: Carried, mail: Artifact) -> Iterator[Artifact]:
        """The events of an invitation, or what an answer to one says, but for what another part said already."""
        if found.text and (found.text,) not in self.said:
            self.said.add((found.text,))
            answer = Artifact("", "", Kind.DOCUMENT, found.title[:300], found.text, time=mail.time)
            yield self._part(answer, one.number, mail)
        more = (f"{found.more:,} more events in it not read",) if found.more else ()
        for place, event in enumerate(found.events):
            if (event.series, event.key) not in self.said:
                self.said.add((event.series, event.key))
                event = replace(event, defects=(*event.defects, *(more if place == 0 else ())))
                yield self._part(event, f"{one.number}.{place}" if place else one.number, mail)

    def _part(self, artifact: Artifact, number: str, mail: Artifact) -> Artifact:
        """The artifact as that of a part of a mail."""
        return replace(
            artifact,
            source=mail.source,
            key=f"{mail.key.partition('#')[0]}#{number}",
            thread=mail.thread,
            parent=mail.key,
            origin=mail.origin,
            trust=mail.trust,
            automatic=mail.automatic,
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


def _not_downloaded(octets: int) -> str:
    size = f"{octets / 2**20:,.0f} MB" if octets >= 2**20 else f"{octets / 2**10:,.0f} KB"
    return f"{size}; not downloaded"


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
