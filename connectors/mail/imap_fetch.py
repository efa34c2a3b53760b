"""Mails downloaded from an IMAP server: many at a time, large ones part by part, and those that it does not give
told apart from a server that is away.

A mail that is refused, or breaks the connection each time it is asked for, is put aside. Only when the server gave
another one after it, it counts as unreadable; where it gives none, the server is at fault and not the mail.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from connectors.mail.imap_answers import Answer, Token, compressed, fields, number
from connectors.mail.imap_folders import Folder
from connectors.mail.imap_listing import search
from connectors.mail.imap_session import Broken, Refused, Server, Session
from connectors.mail.imap_structure import Part, assembled, left_out, planned
from connectors.mail.message import MAX_ATTACHMENT
from connectors.mail.workers import Piece
from workspace import ServerAway, SourceProblem

MESSAGES_PER_BATCH = 500
_BYTES_PER_BATCH = 8 * 1024 * 1024
_ALWAYS_WHOLE = 64 * 1024  # bytes of a mail that is not worth taking apart
_SPARE = 1024 * 1024  # bytes that an answer may have beside its bodies
_NOT_GIVEN = "the server does not give it"
_TRIES = 3  # of a mail that breaks the connection
_MOST_ASIDE = 20  # refused one after the other: then it is no longer the mails


@dataclass(frozen=True, slots=True)
class Message:
    """Where a mail is. `item` is its name in the cursor, `origin` its address."""

    item: str
    folder: Folder
    validity: int
    uid: int
    origin: str


@dataclass(frozen=True, slots=True)
class _Aside:
    message: Message
    why: str
    broke: bool


class Download:
    """The download of a sync. `largest` is how many bytes an attachment may have."""

    def __init__(self, server: Server, largest: int) -> None:
        self._server = server
        self._largest = min(largest, MAX_ATTACHMENT)
        self._aside: list[_Aside] = []
        self._limit = max(self._largest, _ALWAYS_WHOLE)

    def pieces(self, messages: Sequence[Message]) -> Iterator[Piece]:
        """The mails as they come; those that are no longer there are left out.

        Raises:
            SourceProblem: if the server gives no more. What was yielded before is good.
        """
        for (folder, validity), some in groupby(messages, lambda one: (one.folder, one.validity)):
            run = list(some)
            for start in range(0, len(run), MESSAGES_PER_BATCH):
                batch = {one.uid: one for one in run[start : start + MESSAGES_PER_BATCH]}
                yield from self._batch(folder, validity, batch)
        for one in self._aside:
            if one.broke:
                raise ServerAway(one.why)
        yield from self._unreadable()

    def _batch(self, folder: Folder, validity: int, batch: Mapping[int, Message]) -> Iterator[Piece]:
        sizes = self._server.persistently(
            lambda session: _sizes(self._opened(session, folder, validity), list(batch))
        )
        whole = [one for uid, one in batch.items() if sizes.get(uid, 0) <= self._limit]
        for group in _groups(whole, sizes):
            yield from self._whole(folder, validity, group, sizes)
        for uid, one in batch.items():
            if sizes.get(uid, 0) > self._limit:
                yield from self._alone(one, sizes[uid])

    def _whole(
        self, folder: Folder, validity: int, group: Sequence[Message], sizes: Mapping[int, int]
    ) -> Iterator[Piece]:
        """Download mails with one command; where that fails, find the one that it fails for."""
        pending = [list(group)]
        while pending:
            some = pending.pop()
            by_uid = {one.uid: one for one in some}
            got = False
            try:
                session = self._opened(self._server.session, folder, validity)
                for uid, data in _bodies(session, list(by_uid), sum(sizes.get(uid, 0) for uid in by_uid)):
                    one = by_uid.pop(uid)
                    got = True
                    yield from self._given(Piece(one.item, "", one.origin, data=data))
                # What is missing may be gone in between: only what is still there is asked for again, alone.
                there = search(session, b"UID " + compressed(by_uid)) if by_uid else set()
                left = [one for uid, one in by_uid.items() if uid in there]
                if len(some) == 1 and left:
                    self._put_aside(left[0], _NOT_GIVEN, broke=False)
                else:
                    pending += [[one] for one in reversed(left)]
            except Refused as error:
                left = list(by_uid.values())
                if len(some) == 1:
                    self._put_aside(some[0], _refused(error), broke=False)
                elif left:
                    half = len(left) // 2
                    pending += [part for part in (left[half:], left[:half]) if part]
            except Broken as error:
                self._server.broke(error)
                left = list(by_uid.values())
                if left and not got:
                    # They come in the order of their UIDs: it broke off at the first.
                    first = min(left, key=lambda one: one.uid)
                    yield from self._alone(first, 0)
                    left.remove(first)
                    if left:
                        pending.append(left)
                elif left:
                    pending.append(left)

    def _alone(self, one: Message, size: int) -> Iterator[Piece]:
        """Download one mail. Of a large one, what its structure tells to be text or small, else its beginning."""
        tries = 0
        while True:
            try:
                session = self._opened(self._server.session, one.folder, one.validity)
                try:
                    piece = self._in_parts(session, one) if size > self._limit else None
                except Refused:
                    piece = None
                if piece is None:
                    piece = self._beginning(session, one, size)
                there = piece is not None or one.uid in search(session, b"UID %d" % one.uid)
            except Refused as error:
                self._put_aside(one, _refused(error), broke=False)
            except Broken as error:
                self._server.broke(error)
                tries += 1
                if tries < _TRIES:
                    continue
                self._put_aside(one, str(error), broke=True)
            else:
                if piece is not None:
                    yield from self._given(piece)
                elif there:
                    self._put_aside(one, _NOT_GIVEN, broke=False)
            return

    def _in_parts(self, session: Session, one: Message) -> Piece | None:
        structure = _fetched(session, one.uid, [b"BODYSTRUCTURE"], 0).get(b"BODYSTRUCTURE")
        mail = planned(structure, self._largest)
        if mail is None:
            return None
        data = _assembled(session, one.uid, mail)
        return None if data is None else Piece(one.item, "", one.origin, data=data, left_out=left_out(mail))

    def _beginning(self, session: Session, one: Message, size: int) -> Piece | None:
        data = _fetched(session, one.uid, [b"BODY.PEEK[]<0.%d>" % self._limit], self._limit).get(b"BODY[]")
        if not isinstance(data, bytes):
            return None
        defect = f"only the first {self._limit / 2**20:.1f} MB of {size / 2**20:.1f} MB read"
        return Piece(one.item, "", one.origin, data=data, defect=defect if len(data) < size else "")

    def _opened(self, session: Session, folder: Folder, validity: int) -> Session:
        """The session with this folder selected.

        Raises:
            SourceProblem: if it is no longer the folder that was listed.
        """
        if session.selected != folder.wire:
            session.examine(folder.wire)
        if session.validity != validity:
            raise SourceProblem(
                f"The folder {folder.name} was made anew at the server while it was read. The next sync reads it."
            )
        return session

    def _given(self, piece: Piece) -> Iterator[Piece]:
        self._server.went_on()
        yield piece
        yield from self._unreadable()

    def _put_aside(self, one: Message, why: str, *, broke: bool) -> None:
        self._aside.append(_Aside(one, why, broke))
        if len(self._aside) >= _MOST_ASIDE:
            raise SourceProblem(f"The server gives no mail of {one.folder.name}: {why}. It is tried again later.")

    def _unreadable(self) -> Iterator[Piece]:
        aside, self._aside = self._aside, []
        for one in aside:
            why = "the connection breaks whenever it is asked for" if one.broke else one.why
            yield Piece(one.message.item, "", one.message.origin, why=why)


def _refused(error: Refused) -> str:
    return f"the server refuses to give it ({error.said})"


def _groups(messages: Sequence[Message], sizes: Mapping[int, int]) -> Iterator[list[Message]]:
    group: list[Message] = []
    size = 0
    for one in messages:
        more = sizes.get(one.uid, 0)
        if group and size + more > _BYTES_PER_BATCH:
            yield group
            group, size = [], 0
        group.append(one)
        size += more
    if group:
        yield group


def _sizes(session: Session, uids: Sequence[int]) -> dict[int, int]:
    """RFC822.SIZE by UID."""
    found = {}
    for one in session.ask(b"UID FETCH " + compressed(uids) + b" (UID RFC822.SIZE)"):
        said = _said_of(one)
        if b"RFC822.SIZE" in said:
            found[number(said.get(b"UID"))] = number(said[b"RFC822.SIZE"])
    return found


def _bodies(session: Session, uids: Sequence[int], size: int) -> Iterator[tuple[int, bytes]]:
    """Whole mails as they come, each once."""
    awaited = set(uids)
    command = b"UID FETCH " + compressed(uids) + b" (UID BODY.PEEK[])"
    for one in session.ask(command, most=2 * size + _SPARE):
        said = _said_of(one)
        body = said.get(b"BODY[]")
        # Some servers leave the UID out; it is clear which one is meant where only one was asked for.
        uid = number(said.get(b"UID")) if b"UID" in said else uids[0] if len(uids) == 1 else 0
        if isinstance(body, bytes) and uid in awaited:
            awaited.remove(uid)
            yield uid, body


def _fetched(session: Session, uid: int, items: Sequence[bytes], size: int) -> dict[bytes, Token]:
    """Some items of one mail."""
    found: dict[bytes, Token] = {}
    command = b"UID FETCH %d (UID " % uid + b" ".join(items) + b")"
    for one in session.ask(command, most=2 * size + 8 * _SPARE):
        said = _said_of(one)
        if number(said.get(b"UID")) in (uid, 0):
            found |= said
    return found


def _said_of(one: Answer) -> dict[bytes, Token]:
    return fields(one.tokens[0]) if one.kind == b"FETCH" and one.tokens else {}


def _assembled(session: Session, uid: int, mail: Part) -> bytes | None:
    """A mail put together from its header and the parts that are wanted; None where the server gives not all."""
    numbers = [part.number for part in mail.parts()]
    heads: dict[bytes, Token] = _fetched(session, uid, [b"BODY.PEEK[HEADER]"], 0)
    for start in range(0, len(numbers), 100):
        some = numbers[start : start + 100]
        heads |= _fetched(session, uid, [f"BODY.PEEK[{one}.MIME]".encode() for one in some], 0)
    bodies: dict[bytes, Token] = {}
    for leaf in mail.leaves():
        if leaf.wanted:
            cut = f"<0.{leaf.wanted}>" if leaf.wanted < leaf.octets else ""
            bodies |= _fetched(session, uid, [f"BODY.PEEK[{leaf.number}]{cut}".encode()], leaf.wanted)
            if not isinstance(bodies.get(f"BODY[{leaf.number}]".encode()), bytes):
                return None
    return assembled(
        mail,
        _octets(heads, "HEADER"),
        {one: _octets(heads, f"{one}.MIME") for one in numbers},
        {leaf.number: _octets(bodies, leaf.number) for leaf in mail.leaves()},
    )


def _octets(found: Mapping[bytes, Token], section: str) -> bytes:
    octets = found.get(f"BODY[{section}]".encode())
    return octets if isinstance(octets, bytes) else b""
