"""An artifact: one mail, event, document, task or function of the person's world, as Tide keeps it."""

import hashlib
from dataclasses import dataclass, fields
from datetime import datetime, tzinfo
from enum import StrEnum


class Kind(StrEnum):
    EMAIL = "email"
    EVENT = "event"
    DOCUMENT = "document"
    TASK = "task"
    FUNCTION = "function"


class Trust(StrEnum):
    """Who an artifact comes from: the person, somebody they deal with, or anybody."""

    SELF = "self"
    KNOWN = "known"
    UNKNOWN = "unknown"


class Role(StrEnum):
    FROM = "from"
    TO = "to"
    CC = "cc"
    ORGANIZER = "organizer"
    ATTENDEE = "attendee"
    CONTACT = "contact"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody named by an artifact.

    `email` is lower case, "" where only a name is known. `status` is the answer of an attendee: accepted,
    declined, tentative, needs-action, or "" for everybody else.
    """

    role: Role
    name: str
    email: str
    status: str = ""

    def __str__(self) -> str:
        if not self.email:
            return self.name
        return f"{self.name} <{self.email}>" if self.name else self.email


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a connector brings. `(source, key)` is its identity and survives a second download.

    All times are aware. `time` is when it was sent, starts or was modified; `end` of an event is exclusive. The
    days of an all-day event or task belong to no zone and are kept as midnight UTC: read times by `local`.
    The text of a mail is what its author wrote anew; what they quoted is in `quoted`. `id` is the row of the
    store, 0 before it is stored.
    """

    source: str
    key: str
    kind: Kind
    title: str = ""
    text: str = ""
    quoted: str = ""
    people: tuple[Person, ...] = ()
    time: datetime | None = None
    end: datetime | None = None
    due: datetime | None = None
    all_day: bool = False
    busy: bool = True
    cancelled: bool = False
    status: str = ""
    location: str = ""
    thread: str = ""
    parent: str = ""
    series: str = ""
    recurrence: str = ""
    origin: str = ""
    trust: Trust = Trust.UNKNOWN
    automatic: bool = False
    defects: tuple[str, ...] = ()
    id: int = 0

    @property
    def label(self) -> str:
        """The short name by which prompts, actions and the command line refer to a stored artifact."""
        return f"a{self.id}"

    @property
    def uid(self) -> str:
        """The UID of an event (RFC 5545, 3.8.4.7), which it shares with the other occurrences of its series, its
        copies in other calendars and the invitations to it in mail; that of a recurring task; else ""."""
        return self.series or (self.key if self.kind is Kind.EVENT else "")

    @property
    def is_invitation(self) -> bool:
        """Whether it is an event that a mail tells of, not an entry of a calendar."""
        return self.kind is Kind.EVENT and bool(self.parent)

    @property
    def is_card(self) -> bool:
        """Whether it is a card of the person's address book: facts in lines (see `workspace.card`), no message."""
        return any(person.role is Role.CONTACT for person in self.people)

    @property
    def sender(self) -> Person | None:
        """Who wrote a mail or called a meeting."""
        for person in self.people:
            if person.role in (Role.FROM, Role.ORGANIZER):
                return person
        return None

    def local(self, moment: datetime, zone: tzinfo) -> datetime:
        """One of the artifact's times as the person in `zone` reads it; all-day dates are the same in any zone."""
        return moment if self.all_day else moment.astimezone(zone)

    @property
    def digest(self) -> str:
        """SHA-256 of all that the artifact says, as 64 hexadecimal digits; changes when its content does."""
        said = [_canonical(getattr(self, field.name)) for field in fields(self) if field.name not in _NOT_CONTENT]
        return hashlib.sha256("\x1f".join(said).encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: object) -> str:
    return str(int(value.timestamp())) if isinstance(value, datetime) else str(value)


_NOT_CONTENT = frozenset({"source", "key", "origin", "trust", "defects", "id"})


@dataclass(frozen=True, slots=True)
class Put:
    """A change: the artifact is new or other than before."""

    artifact: Artifact


@dataclass(frozen=True, slots=True)
class Gone:
    """A change: the source no longer has the artifact of this key."""

    key: str


Change = Put | Gone
