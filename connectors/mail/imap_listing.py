"""Which messages of an IMAP folder are wanted, found out with as little as the server allows.

A folder whose UIDVALIDITY, UIDNEXT and count are as recorded has nothing new: any mail that came raised UIDNEXT,
and one that went lowered the count. Otherwise the server tells what vanished (QRESYNC, RFC 7162), or all its UIDs
are compared with those known. What the server says of itself has to agree before anything counts as gone.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from connectors.follow import RECORD
from connectors.mail.imap_answers import Ranges, Token, fields, number, numbers, ranges
from connectors.mail.imap_folders import Folder, holds_all
from connectors.mail.imap_session import UIDS_ANSWER, Broken, Refused, Session
from connectors.mail.imap_sign_in import quoted

ALL = ""
"""The day since which all mail is wanted."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FIRST_YEAR = 1971
_NONE_SUCH = frozenset({"", "NONEXISTENT", "TRYCREATE"})  # RFC 5530; other codes refuse for another reason


@dataclass(frozen=True, slots=True)
class Record:
    """What the cursor has of a folder once all that was wanted of it is stored: how the server told it to be,
    and the day (ISO) since which mail is there, or ALL. `exists` is -1 where the server contradicted itself.
    """

    validity: int
    next: int
    exists: int
    modseq: int
    since: str

    @classmethod
    def parse(cls, text: str) -> "Record | None":
        parts = text.split(" ")
        if len(parts) != 5 or not all(part.removeprefix("-").isdecimal() for part in parts[:4]):
            return None
        return cls(int(parts[0]), int(parts[1]), int(parts[2]), int(parts[3]), parts[4])

    def agrees(self, state: tuple[int, int, int] | None) -> bool:
        """Whether nothing came and nothing went since, and nothing is left to be fetched; flags do not count."""
        return self.since == ALL and state == (self.validity, self.next, self.exists)

    def __str__(self) -> str:
        return f"{self.validity} {self.next} {self.exists} {self.modseq} {self.since}"


def record_name(folder: Folder) -> str:
    """The name of a folder's record in the cursor."""
    return RECORD + folder.key


@dataclass(frozen=True, slots=True)
class Wanted:
    """The UIDs that are wanted of a folder under a UIDVALIDITY, and what to record once they are there."""

    validity: int
    uids: frozenset[int]
    record: Record


@dataclass(frozen=True, slots=True)
class Window:
    """How far back mail is wanted: `months` before today at first, 0 for all, then as many more each time."""

    months: int
    today: date

    def since(self, record: Record | None, validity: int) -> str:
        """The day from which mail is wanted next. Where UIDs begin anew, it is all that was there before."""
        if not self.months:
            return ALL
        if record is None:
            return self._back(self.today)
        if record.since == ALL or record.validity != validity:
            return record.since
        return self._back(date.fromisoformat(record.since))

    def _back(self, day: date) -> str:
        months = day.year * 12 + day.month - 1 - self.months
        if months < _FIRST_YEAR * 12:
            return ALL
        return date(months // 12, months % 12 + 1, min(day.day, 28)).isoformat()


def wanted(
    session: Session, folder: Folder, record: Record | None, known: Mapping[int, frozenset[int]], window: Window
) -> Wanted:
    """What is wanted of a folder that is not as recorded. `known` are the UIDs of the cursor, by UIDVALIDITY.

    Raises:
        Refused: if the server does not open the folder.
        Broken: if the connection breaks, or the server talks nonsense.
    """
    same = (record.validity, record.modseq) if record is not None and record.modseq else None
    state, vanished = session.examine(
        folder.wire, same if session.quick_resync() else None, record.exists if record else 0
    )
    validity = state.get("UIDVALIDITY", 0)
    if not validity:
        raise Refused(session.host, f"{folder.name} has no UIDVALIDITY")
    before = record.next if record is not None and record.validity == validity else 0
    here = known.get(validity, frozenset())
    since = window.since(record, validity)
    found = None
    if vanished is not None and before and since == ALL and record is not None and record.since == ALL:
        found = _resynced(session, here, vanished, before)
    agreed = found is not None
    if found is None:
        found, agreed = _all(session)
        if not agreed:
            found |= here
    last = max(found, default=0)
    if holds_all(folder):
        found -= search(session, b"DRAFT")
    if since != ALL:
        inside = search(session, b"SINCE " + _day(since))
        new = {uid for uid in found if before and uid >= before}
        kept = found & (here | inside | new)
        since = ALL if agreed and kept == found else since
        found = kept
    return Wanted(
        validity,
        frozenset(found),
        Record(
            validity,
            state.get("UIDNEXT") or last + 1,
            state["EXISTS"] if agreed else -1,
            state.get("HIGHESTMODSEQ", 0),
            since,
        ),
    )


def status(session: Session, folder: Folder) -> tuple[int, int, int] | None:
    """UIDVALIDITY, UIDNEXT and count of a folder that is not selected, 0 where the server does not tell; None if
    it seems not to have it."""
    command = b"STATUS " + quoted(folder.wire) + b" (UIDVALIDITY UIDNEXT MESSAGES)"
    try:
        said = [one for one in session.answers(command) if one.kind == b"STATUS" and one.tokens]
    except Refused as error:
        return None if error.code in _NONE_SUCH else (0, 0, 0)
    found = fields(said[-1].tokens[-1]) if said else {}
    return number(found.get(b"UIDVALIDITY")), number(found.get(b"UIDNEXT")), number(found.get(b"MESSAGES"))


def search(session: Session, criteria: bytes) -> set[int]:
    """The UIDs of the selected folder that meet criteria; as ranges where the server can (RFC 4731)."""
    short = b"ESEARCH" in session.capabilities
    found: set[int] = set()
    for one in session.ask(b"UID SEARCH " + (b"RETURN (ALL) " if short else b"") + criteria, most=UIDS_ANSWER):
        if one.kind == b"ESEARCH":
            try:
                found |= numbers(ranges(_after(one.tokens, b"ALL")))
            except ValueError as error:
                raise Broken(f"{session.host} tells of {error}.") from error
        elif one.kind == b"SEARCH":
            found.update(number(token) for token in one.tokens)
    return found - {0}


def _resynced(session: Session, known: frozenset[int], vanished: Ranges, before: int) -> set[int] | None:
    """What is there, from what is known and what the server says vanished; None if the count tells otherwise."""
    new = {uid for uid in search(session, b"UID %d:*" % before) if uid >= before}
    starts = [first for first, _ in vanished]
    left = set()
    for uid in known | new:
        place = bisect_right(starts, uid) - 1
        if place < 0 or vanished[place][1] < uid:
            left.add(uid)
    return left if len(left) == session.exists else None


def _all(session: Session) -> tuple[set[int], bool]:
    """All UIDs of the selected folder, and whether they are as many as the server says there are. Mail may come
    or go in between, so it is asked twice."""
    found = search(session, b"ALL")
    if len(found) != session.exists:
        session.answers(b"NOOP")
        found = search(session, b"ALL")
    return found, len(found) == session.exists


def _after(told: Sequence[Token], name: bytes) -> Token:
    """The value that follows a name."""
    for token, value in pairwise(told):
        if isinstance(token, bytes) and token.upper() == name:
            return value
    return None


def _day(day: str) -> bytes:
    """A day as SEARCH writes it."""
    that = date.fromisoformat(day)
    return f"{that.day}-{_MONTHS[that.month - 1]}-{that.year}".encode()
