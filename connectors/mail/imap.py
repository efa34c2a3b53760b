"""Mail at a server that speaks IMAP. Nothing there is changed: what was unread stays unread.

An item is a message by its folder, UIDVALIDITY and UID; what it says never changes, so it is read once. The record
of a folder, which says how the server told it to be, is stored after all of its items: a sync that is cut off
anywhere goes on where it was.

The newest mail comes first, in turn from all folders. Mail of the last months comes at once, older mail in later
syncs, as many months further back each time.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from threading import Event
from urllib.parse import quote

from connectors.accounts.credentials import Credentials
from connectors.follow import RECORD, Read, follow, refuse_empty
from connectors.mail.imap_answers import Answer
from connectors.mail.imap_folders import Folder, chosen, listed
from connectors.mail.imap_listing import Record, Wanted, Window, record_name, status, wanted
from connectors.mail.imap_session import Refused, Server, Session
from connectors.surroundings import Surroundings
from workspace import Account, Batch, Cursor

_MESSAGE = "1"  # the fingerprint of every message
_POLL = 60.0  # seconds between two looks where the server has no IDLE
_LOOKS_AGAIN = 3
_IN_TURN = 500  # messages of one folder, then those of the next
_MEGABYTE = 1024 * 1024
_PORTS = (0, 143, 993)


class ImapMailbox:
    """The connector of a mailbox at an IMAP server."""

    def __init__(
        self,
        source: str,
        account: Account,
        surroundings: Surroundings,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.source = source
        self._account = account
        self._surroundings = surroundings
        self._credentials = Credentials(source, account, surroundings.secrets)
        self._sleep = sleep
        self._inbox: tuple[int, int, int] | None = None

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterator[Batch]:
        server = self._server()
        try:
            look = _Look(cursor)
            self._look(server, look)
            if not allow_empty:
                refuse_empty(look.listing, cursor, self._account.host)
            yield from follow(
                cursor, look.listing, lambda items: self._read(server, items, look), records=look.records
            )
        finally:
            server.close()

    def wait(self, stop: Event, seconds: float) -> bool:
        """Wait in IDLE on the inbox, or look now and then where the server has none. What came since the last sync
        counts too."""
        until = time.monotonic() + seconds
        server = self._server()
        try:
            before = _state(server.session)
            if self._inbox not in (None, before):
                return True
            if b"IDLE" in server.session.capabilities:
                return server.session.idle(stop, until, lambda one: _changes(one, before[2]))
            while not stop.is_set() and time.monotonic() < until:
                if stop.wait(min(_POLL, until - time.monotonic())):
                    return False
                if _state(server.session) != before:
                    return True
            return False
        finally:
            server.close()

    def check(self) -> str:
        server = self._server()
        try:
            folders = chosen(listed(server.session), self._account.folders)
            states = [status(server.session, folder) for folder in folders]
        finally:
            server.close()
        messages = sum(state[2] for state in states if state is not None)
        names = ", ".join(folder.name for folder in folders[:8]) + (", …" if len(folders) > 8 else "")
        mails = "1 message" if messages == 1 else f"{messages:,} messages"
        places = "1 folder" if len(folders) == 1 else f"{len(folders):,} folders"
        return f"IMAP mailbox with {mails} in {places}: {names}"

    def _server(self) -> Server:
        return Server(self.source, self._account, self._credentials, self._sleep)

    def _look(self, server: Server, look: "_Look") -> None:
        """Find out what is wanted of each folder."""
        # First, since Dovecot goes through all files of a Maildir when it is asked for a status after a list.
        states = {folder.key: server.persistently(partial(status, folder=folder)) for folder in look.recorded}
        there = server.persistently(listed)
        folders = {folder.key: folder for folder in chosen(there, self._account.folders)}
        for folder in look.recorded:
            # One that the list lacks is gone only if the server does not tell of it either.
            if states[folder.key] is not None and folder.wire not in {one.wire for one in there}:
                folders.setdefault(folder.key, folder)
        window = Window(self._account.months, self._surroundings.midnight().date())
        found = self._wanted(server, look, folders.values(), window, states)
        missed = look.missing(found)
        for _ in range(_LOOKS_AGAIN):
            if not missed:
                break
            # What one folder lacks may have moved to another that was looked at before it came.
            found = self._wanted(server, look, folders.values(), window, {})
            before, missed = missed, look.missing(found)
            if missed <= before:
                break
        look.add(found)
        self._inbox = next((_told(one) for folder, one in found if folder.wire == b"INBOX"), None)

    def _wanted(
        self,
        server: Server,
        look: "_Look",
        folders: Iterable[Folder],
        window: Window,
        states: Mapping[str, tuple[int, int, int] | None],
    ) -> list[tuple[Folder, Wanted]]:
        """What is wanted of each folder; one whose state is as recorded is not opened."""
        found = []
        for folder in folders:
            one = look.as_recorded(folder, states.get(folder.key))
            try:
                one = one or server.persistently(partial(look.wanted, folder=folder, window=window))
            except Refused:
                look.keep(folder)
            else:
                found.append((folder, one))
        return found

    def _read(self, server: Server, items: list[str], look: "_Look") -> Iterator[Read]:
        # What reads mails takes as long to load as a look at a server that has nothing new.
        from connectors.mail.imap_fetch import Download, Message
        from connectors.mail.message import mailbox_of
        from connectors.mail.workers import read_pieces

        messages = []
        for item in items:
            key, validity, uid = _parts(item)
            folder = look.folders[key]
            messages.append(Message(item, folder, validity, uid, self._origin(folder, validity, uid)))
        download = Download(server, self._account.largest_mb * _MEGABYTE)
        mailbox = mailbox_of(self.source, self._surroundings)
        return read_pieces(download.pieces(messages), len(messages), mailbox)

    def _origin(self, folder: Folder, validity: int, uid: int) -> str:
        """The address of a message (RFC 5092)."""
        host = f"[{self._account.host}]" if ":" in self._account.host else self._account.host
        port = "" if self._account.port in _PORTS else f":{self._account.port}"
        user, name = quote(self._account.login, safe=""), quote(folder.name, safe="/")
        return f"imap://{user}@{host}{port}/{name};UIDVALIDITY={validity}/;UID={uid}"


class _Look:
    """What a look at the server gave: the listing and records for `follow`. `uids` are those of the cursor, by
    folder and UIDVALIDITY."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self.listing: dict[str, str] = {}
        self.records: dict[str, str | None] = {name: None for name in cursor if name.startswith(RECORD)}
        self.folders: dict[str, Folder] = {}
        uids: dict[str, set[int]] = defaultdict(set)
        for item in cursor:
            if not item.startswith(RECORD):
                beginning, _, uid = item.rpartition("/")
                uids[beginning].add(int(uid))
        self.uids: dict[str, dict[int, frozenset[int]]] = {}
        for beginning, some in uids.items():
            key, _, validity = beginning.rpartition("/")
            self.uids.setdefault(key, {})[int(validity)] = frozenset(some)

    @property
    def recorded(self) -> list[Folder]:
        """The folders that the cursor knows of."""
        return [Folder.of_key(key) for key in {**self.uids, **dict.fromkeys(name[1:] for name in self.records)}]

    def as_recorded(self, folder: Folder, state: tuple[int, int, int] | None) -> Wanted | None:
        """What is known of a folder, if that is all there is."""
        record = self._record(folder)
        if record is None or not record.agrees(state):
            return None
        return Wanted(record.validity, self.uids.get(folder.key, {}).get(record.validity, frozenset()), record)

    def wanted(self, session: Session, folder: Folder, window: Window) -> Wanted:
        return wanted(session, folder, self._record(folder), self.uids.get(folder.key, {}), window)

    def _record(self, folder: Folder) -> Record | None:
        return Record.parse(self._cursor.get(record_name(folder), ""))

    def keep(self, folder: Folder) -> None:
        """Leave a folder that can't be looked into as it was."""
        for validity, uids in self.uids.get(folder.key, {}).items():
            beginning = f"{folder.key}/{validity}/"
            for item in (f"{beginning}{uid}" for uid in uids):
                self.listing[item] = self._cursor[item].partition("\n")[0]
        self.folders[folder.key] = folder
        name = record_name(folder)
        if name in self._cursor:
            self.records[name] = self._cursor[name]

    def missing(self, found: list[tuple[Folder, Wanted]]) -> set[tuple[str, int, int]]:
        """What the cursor has and the server has no more: folder, UIDVALIDITY and UID."""
        there = {(folder.key, one.validity): one.uids for folder, one in found}
        return {
            (key, validity, uid)
            for key, those in self.uids.items()
            if key not in self.folders
            for validity, uids in those.items()
            for uid in uids - there.get((key, validity), frozenset())
        }

    def add(self, found: list[tuple[Folder, Wanted]]) -> None:
        """Put messages into the listing: the newest first, a batch of each folder in turn."""
        newest = [(f"{folder.key}/{one.validity}/", sorted(one.uids, reverse=True)) for folder, one in found]
        longest = max((len(uids) for _, uids in newest), default=0)
        for start in range(0, longest, _IN_TURN):
            for beginning, uids in newest:
                for uid in uids[start : start + _IN_TURN]:
                    self.listing[f"{beginning}{uid}"] = _MESSAGE
        for folder, one in found:
            self.folders[folder.key] = folder
            self.records[record_name(folder)] = str(one.record)


def _parts(item: str) -> tuple[str, int, int]:
    key, validity, uid = item.rsplit("/", 2)
    return key, int(validity), int(uid)


def _state(session: Session) -> tuple[int, int, int]:
    """UIDVALIDITY, UIDNEXT and count of the inbox."""
    state, _ = session.examine(b"INBOX")
    return state.get("UIDVALIDITY", 0), state.get("UIDNEXT", 0), state["EXISTS"]


def _told(one: Wanted) -> tuple[int, int, int] | None:
    record = one.record
    return (record.validity, record.next, record.exists) if record.exists >= 0 else None


def _changes(one: Answer, before: int) -> bool:
    """Whether an answer in IDLE says that something came or went."""
    return one.kind in (b"EXPUNGE", b"VANISHED") or (one.kind == b"EXISTS" and one.number != before)
