"""What the tests of connectors share: sources of every kind to sync from, and a store that only remembers."""

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors import open_connector
from connectors.surroundings import Surroundings
from tests.servers.dovecot import PASSWORD, PLAINEST, USER, Dovecot
from tests.servers.radicale_server import Radicale, User
from tests.servers.web_server import Asked, Said, web_server
from workspace import (
    Account,
    Artifact,
    Batch,
    Connector,
    Gone,
    Keyring,
    Put,
    SecretStore,
    ServerAway,
    SourceEmpty,
    SourceProblem,
)

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=ZoneInfo("Europe/Berlin"))
CORPORA = Path(__file__).parents[3] / "shared" / "corpora"


def surroundings(now: datetime = NOW, secrets: SecretStore | None = None) -> Surroundings:
    """Those of a person in Berlin who knows Ann."""
    return Surroundings(
        own=frozenset({"me@example.org"}),
        known=frozenset({"ann@example.com"}),
        zone=ZoneInfo("Europe/Berlin"),
        now=lambda: now,
        past_days=30,
        future_days=30,
        secrets=secrets or Keyring(),
    )


@dataclass
class Kept:
    """A store: takes batches whole, or not at all."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    cursor: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)

    def take(self, batches: Iterable[Batch], most: int | None = None) -> int:
        """Take batches, at most so many as a killed worker would; say how many."""
        taken = 0
        for batch in batches:
            if taken == most:
                break
            taken += 1
            for change in batch.changes:
                if isinstance(change, Put):
                    self.artifacts[change.artifact.key] = change.artifact
                else:
                    assert isinstance(change, Gone)
                    assert change.key in self.artifacts, "what was never there is gone"
                    del self.artifacts[change.key]
                    self.gone.append(change.key)
            for item, state in batch.cursor.items():
                if state is None:
                    self.cursor.pop(item, None)
                else:
                    self.cursor[item] = state
        return taken

    def said(self) -> dict[str, str]:
        """Key -> digest of the content of all that is kept."""
        return {key: artifact.digest for key, artifact in self.artifacts.items()}


class Source(ABC):
    """A source that a test can fill and change, on disk if not said otherwise. Subclasses say how, for one kind of
    connector.

    One that was `never_there` is told by an error that reads so, and one that is away by `away_error`. With
    `stays` nothing is removed then, whatever the person allows: a server may be back soon.
    """

    kind = ""
    name = ""
    origin = "file:///"
    never_there = "Check the path"
    away_error: tuple[type[SourceProblem], str] = (SourceEmpty, "not there any more")
    stays = False
    key_is_first_path = False  # then an item that moves before it was ever read has another key

    def __init__(self, folder: Path) -> None:
        self.path = folder / self.name

    def close(self) -> None:  # noqa: B027  # most start nothing
        """End what was started for it."""

    def away(self) -> None:
        """Take the whole source away."""
        self.path.rename(self.path.with_name("away"))

    def back(self) -> None:
        """Bring it back as it was."""
        self.path.with_name("away").rename(self.path)

    def connector(self, now: datetime = NOW) -> Connector:
        return open_connector(self.kind, "test", str(self.path), surroundings(now))

    @abstractmethod
    def fill(self, count: int) -> set[str]:
        """Make the source with `count` artifacts, numbered from 0; return their keys."""

    @abstractmethod
    def add(self, number: int) -> str:
        """Add an artifact; return its key."""

    @abstractmethod
    def change(self, number: int) -> str:
        """Change the text of an artifact; return its key."""

    @abstractmethod
    def move(self, number: int) -> None:
        """Move an artifact elsewhere in the source, its content as before."""

    @abstractmethod
    def remove(self, number: int) -> str:
        """Remove an artifact; return its key."""

    @abstractmethod
    def empty(self) -> None:
        """Remove everything."""

    @abstractmethod
    def spoil(self) -> None:
        """Add something that can't be read."""

    def snapshot(self) -> dict[str, tuple[int, bytes]]:
        """Path -> (time of modification, bytes) of all that is there."""
        found = {}
        paths = [self.path, *sorted(self.path.rglob("*"))] if self.path.is_dir() else [self.path]
        for path in paths:
            status = path.lstat()
            found[str(path)] = (status.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        return found


def mail(number: int, text: str = "", **headers: str) -> bytes:
    """A plain mail of Ann's."""
    lines = {
        "From": "Ann <ann@example.com>",
        "To": "me@example.org",
        "Subject": f"Subject {number}",
        "Date": f"Mon, 16 Mar 2026 08:{number % 60:02}:00 +0100",
        "Message-ID": f"<m{number}@example.com>",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\n" for name, value in lines.items() if value)
    return f"{head}\n{text or f'Text of mail {number}.'}\n".encode()


class MaildirSource(Source):
    kind = "maildir"
    name = "Maildir"

    def fill(self, count: int) -> set[str]:
        for folder in ("cur", "new", "tmp", ".Archive/cur", ".Archive/new", ".Trash/cur"):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        (self.path / ".Trash/cur/1.a.host:2,S").write_bytes(mail(999))
        return {self.add(number) for number in range(count)}

    def add(self, number: int) -> str:
        (self.path / "new" / f"17000{number:05}.M{number}.host").write_bytes(mail(number))
        return f"m{number}@example.com"

    def _find(self, number: int) -> Path:
        (found,) = self.path.rglob(f"17000{number:05}.*")
        return found

    def change(self, number: int) -> str:
        self._find(number).write_bytes(mail(number, "Another text than before."))
        return f"m{number}@example.com"

    def move(self, number: int) -> None:
        old = self._find(number)
        old.rename(self.path / ".Archive" / "cur" / f"{old.name.partition(':')[0]}:2,RS")

    def remove(self, number: int) -> str:
        self._find(number).unlink()
        return f"m{number}@example.com"

    def empty(self) -> None:
        for path in list(self.path.rglob("1*")):
            path.unlink()

    def spoil(self) -> None:
        (self.path / "new" / "1800000001.odd").write_bytes(os.urandom(500))
        os.mkfifo(self.path / "new" / "1800000002.pipe")
        with open(os.fsencode(self.path / "new") + b"/1800000003.\xff\xfe", "wb") as file:
            file.write(mail(900)[:70])


class MboxSource(Source):
    kind = "mbox"
    name = "mail.mbox"

    def fill(self, count: int) -> set[str]:
        self.mails = {number: mail(number) for number in range(count)}
        self._write()
        return {f"m{number}@example.com" for number in range(count)}

    def _write(self) -> None:
        self.path.write_bytes(b"".join(self._framed(one) for one in self.mails.values()))

    def _framed(self, one: bytes) -> bytes:
        return b"From - Mon Mar 16 08:00:00 2026\n" + one + b"\n"

    def add(self, number: int) -> str:
        self.mails[number] = mail(number)
        with self.path.open("ab") as file:
            file.write(self._framed(self.mails[number]))
        return f"m{number}@example.com"

    def change(self, number: int) -> str:
        self.mails[number] = mail(number, "Another text than before.")
        self._write()
        return f"m{number}@example.com"

    def move(self, number: int) -> None:
        self.mails[number] = self.mails.pop(number)
        self._write()

    def remove(self, number: int) -> str:
        del self.mails[number]
        self._write()
        return f"m{number}@example.com"

    def empty(self) -> None:
        self.path.write_bytes(b"")

    def spoil(self) -> None:
        with self.path.open("ab") as file:
            file.write(b"From - Mon Mar 16 08:00:00 2026\n" + os.urandom(300).replace(b"From ", b"") + b"\n\n")


class FilesSource(Source):
    """A folder with a file for each artifact. Subclasses say what is in a file, and which key it has."""

    suffix = ""

    @abstractmethod
    def file(self, number: int, *, other: bool = False) -> bytes:
        """What stands in the file of an artifact, or something else than at first."""

    @abstractmethod
    def key(self, number: int) -> str: ...

    def fill(self, count: int) -> set[str]:
        (self.path / "sub").mkdir(parents=True)
        return {self.add(number) for number in range(count)}

    def add(self, number: int) -> str:
        self._path(number).write_bytes(self.file(number))
        return self.key(number)

    def change(self, number: int) -> str:
        self._path(number).write_bytes(self.file(number, other=True))
        return self.key(number)

    def move(self, number: int) -> None:
        self._path(number).rename(self.path / "sub" / f"z{number}{self.suffix.upper()}")

    def remove(self, number: int) -> str:
        self._path(number).unlink()
        return self.key(number)

    def empty(self) -> None:
        for path in list(self.path.rglob("*.*")):
            path.unlink()

    def _path(self, number: int) -> Path:
        return self.path / f"{number}{self.suffix}"


class EmlSource(FilesSource):
    kind = "eml"
    name = "mails"
    suffix = ".eml"

    def file(self, number: int, *, other: bool = False) -> bytes:
        return mail(number, "Another text than before." if other else "")

    def key(self, number: int) -> str:
        return f"m{number}@example.com"

    def spoil(self) -> None:
        (self.path / "odd.eml").write_bytes(os.urandom(500))
        os.mkfifo(self.path / "pipe.eml")
        (self.path / "folder.eml").mkdir()
        with open(os.fsencode(self.path) + b"/\xff\xfe.eml", "wb") as file:
            file.write(b"")


def event(number: int, title: str = "", **lines: str) -> str:
    properties = {
        "UID": f"e{number}",
        "SUMMARY": title or f"Event {number}",
        "DTSTART;TZID=Europe/Berlin": f"202603{number % 20 + 1:02}T100000",
        "DTEND;TZID=Europe/Berlin": f"202603{number % 20 + 1:02}T110000",
    } | lines
    body = "".join(f"{name}:{value}\r\n" for name, value in properties.items() if value)
    return f"BEGIN:VEVENT\r\n{body}END:VEVENT\r\n"


def calendar(*components: str) -> bytes:
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n{''.join(components)}END:VCALENDAR\r\n".encode()


class VdirSource(FilesSource):
    kind = "calendar"
    name = "calendars"
    suffix = ".ics"

    def file(self, number: int, *, other: bool = False) -> bytes:
        return calendar(event(number, "Another title" if other else ""))

    def key(self, number: int) -> str:
        return f"e{number}"

    def spoil(self) -> None:
        (self.path / "odd.ics").write_bytes(os.urandom(500))
        os.mkfifo(self.path / "pipe.ics")
        with open(os.fsencode(self.path) + b"/\xff\xfe.ics", "wb") as file:
            file.write(calendar(event(900))[:90])


class IcsSource(Source):
    kind = "calendar"
    name = "calendar.ics"

    def fill(self, count: int) -> set[str]:
        self.events = {number: event(number) for number in range(count)}
        self._write()
        return {f"e{number}" for number in range(count)}

    def _write(self) -> None:
        self.path.write_bytes(calendar(*self.events.values()))

    def add(self, number: int) -> str:
        self.events[number] = event(number)
        self._write()
        return f"e{number}"

    def change(self, number: int) -> str:
        self.events[number] = event(number, "Another title")
        self._write()
        return f"e{number}"

    def move(self, number: int) -> None:
        self.events[number] = self.events.pop(number)
        self._write()

    def remove(self, number: int) -> str:
        del self.events[number]
        self._write()
        return f"e{number}"

    def empty(self) -> None:
        self.path.write_bytes(b"")

    def spoil(self) -> None:
        self.path.write_bytes(
            calendar(*self.events.values(), "BEGIN:VEVENT\r\nSUMMARY:Odd\r\nDTSTART:\x01\r\n")[:-15]
        )


class FolderSource(FilesSource):
    kind = "folder"
    name = "documents"
    suffix = ".txt"
    key_is_first_path = True

    def file(self, number: int, *, other: bool = False) -> bytes:
        return b"Another text than before." if other else f"Text of document {number}.".encode()

    def key(self, number: int) -> str:
        return f"{number}.txt"

    def fill(self, count: int) -> set[str]:
        keys = super().fill(count)
        (self.path / ".hidden.txt").write_text("hidden")
        (self.path / "picture.png").write_bytes(b"no text")
        return keys

    def spoil(self) -> None:
        (self.path / "odd.pdf").write_bytes(os.urandom(500))
        (self.path / "cut.docx").write_bytes(b"PK\x03\x04 and no more")
        os.mkfifo(self.path / "pipe.txt")
        with open(os.fsencode(self.path) + b"/\xff\xfe.xlsx", "wb") as file:
            file.write(b"")


def card(number: int, name: str = "") -> bytes:
    return (
        f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c{number}\r\nFN:{name or f'Person {number}'}\r\n"
        f"EMAIL:p{number}@example.com\r\nREV:202603{number % 20 + 1:02}T100000Z\r\nEND:VCARD\r\n"
    ).encode()


class ContactsSource(FilesSource):
    kind = "contacts"
    name = "contacts"
    suffix = ".vcf"

    def file(self, number: int, *, other: bool = False) -> bytes:
        return card(number, "Another name" if other else "")

    def key(self, number: int) -> str:
        return f"c{number}"

    def spoil(self) -> None:
        (self.path / "odd.vcf").write_bytes(os.urandom(500))
        (self.path / "cut.vcf").write_bytes(card(901)[:50])
        os.mkfifo(self.path / "pipe.vcf")
        with open(os.fsencode(self.path) + b"/\xff\xfe.vcf", "wb") as file:
            file.write(card(900)[:70])


@dataclass(frozen=True)
class Known:
    """A keyring that knows one password for all."""

    password: str = PASSWORD

    def get(self, name: str) -> str | None:
        return self.password


class ImapSource(Source):
    """A mailbox at a Dovecot, which starts when it is filled."""

    kind = "imap"
    origin = "imap://me%40example.org@localhost:"
    never_there = "refuses the connection"
    away_error = (ServerAway, "refuses the connection")
    stays = True
    capability = ""

    def __init__(self, folder: Path) -> None:
        self.server = Dovecot(capability=self.capability)
        self.running = False

    def close(self) -> None:
        if self.running:
            self.server.__exit__()

    def connector(self, now: datetime = NOW) -> Connector:
        account = Account(address=USER, host="localhost", port=1)
        if self.running:
            account = self.server.account(secret_command="")
        return open_connector(self.kind, "test", "", surroundings(now, Known()), account)

    def fill(self, count: int) -> set[str]:
        self.server.__enter__()
        self.running = True
        self.server.fill("Trash", [mail(999)])
        return {self.add(number) for number in range(count)}

    def add(self, number: int) -> str:
        self.server.fill("INBOX", [mail(number)])
        return f"m{number}@example.com"

    def change(self, number: int) -> str:
        key = self.remove(number)
        self.server.fill("INBOX", [mail(number, "Another text than before.")])
        return key

    def move(self, number: int) -> None:
        folder, uid = self._find(number)
        self.server.move(folder, [uid], "Archive")

    def remove(self, number: int) -> str:
        folder, uid = self._find(number)
        self.server.expunge(folder, [uid])
        return f"m{number}@example.com"

    def empty(self) -> None:
        for folder in ("INBOX", "Archive"):
            self.server.empty(folder)

    def away(self) -> None:
        self.server.stop()

    def back(self) -> None:
        assert self.server.start()

    def spoil(self) -> None:
        self.server.fill("INBOX", [os.urandom(500), mail(900)[:70] + b"\xff\xfe"])

    def snapshot(self) -> dict[str, Any]:
        return self.server.snapshot()

    def _find(self, number: int) -> tuple[str, int]:
        for folder in ("INBOX", "Archive"):
            for uid, message_id in self.server.message_ids(folder).items():
                if message_id == f"m{number}@example.com":
                    return folder, uid
        raise LookupError(number)


class PlainImapSource(ImapSource):
    """One that can do no more than the protocol asks for."""

    capability = PLAINEST


class CaldavSource(Source):
    """The calendars of a user at a Radicale."""

    kind = "caldav"
    origin = "https://localhost:"
    never_there = "Check the address"
    radicale: Radicale

    def __init__(self, folder: Path) -> None:
        self.user: User | None = None

    def connector(self, now: datetime = NOW) -> Connector:
        user = self.user or self.radicale.user()
        account = user.account("" if self.user else f"{user.url}work/")
        return open_connector(self.kind, "test", "", surroundings(now, Known(user.password)), account)

    def fill(self, count: int) -> set[str]:
        self.user = self.radicale.user()
        self.path = self.user.calendar("work")
        self.user.calendar("aside")
        self.user.calendar("cards", tag="VADDRESSBOOK", components="")
        return {self.add(number) for number in range(count)}

    def add(self, number: int) -> str:
        (self.path / f"{number}.ics").write_bytes(calendar(event(number)))
        return f"e{number}"

    def change(self, number: int) -> str:
        (self.path / f"{number}.ics").write_bytes(calendar(event(number, "Another title")))
        return f"e{number}"

    def move(self, number: int) -> None:
        (self.path / f"{number}.ics").rename(self.path.with_name("aside") / f"moved {number}.ics")

    def remove(self, number: int) -> str:
        (self.path / f"{number}.ics").unlink()
        return f"e{number}"

    def empty(self) -> None:
        for path in list(self.path.parent.rglob("*.ics")):
            path.unlink()

    def away(self) -> None:
        self.path.parent.rename(self.path.parent.with_suffix(".away"))

    def back(self) -> None:
        self.path.parent.with_suffix(".away").rename(self.path.parent)

    def spoil(self) -> None:
        odd = event(900, **{"DTEND;TZID=Europe/Berlin": "20260301T090000"})
        (self.path / "\u00fc odd + %41.ics").write_bytes(calendar(odd))

    def snapshot(self) -> dict[str, Any]:
        assert self.user is not None
        return self.user.files()


class PublishedSource(IcsSource):
    """A calendar that a web server gives to everybody."""

    kind = "webcal"
    origin = "http://127.0.0.1:"
    never_there = "Check the address"

    def __init__(self, folder: Path) -> None:
        self.body = b""
        self.there = False
        self._running = web_server(self._answer)
        self.server = self._running.__enter__()

    def close(self) -> None:
        self._running.__exit__(None, None, None)

    def connector(self, now: datetime = NOW) -> Connector:
        account = Account(url=f"{self.server.url}/my.ics", sign_in="none")
        return open_connector(self.kind, "test", "", surroundings(now), account)

    def fill(self, count: int) -> set[str]:
        self.there = True
        return super().fill(count)

    def empty(self) -> None:
        self.events.clear()
        self._write()

    def away(self) -> None:
        self.there = False

    def back(self) -> None:
        self.there = True

    def spoil(self) -> None:
        self.body = calendar(*self.events.values(), "BEGIN:VEVENT\r\nSUMMARY:Odd\r\nDTSTART:\x01\r\n")[:-15]

    def snapshot(self) -> dict[str, Any]:
        assert {asked.method for asked in self.server.asked} <= {"GET"}
        return {}

    def _write(self) -> None:
        self.body = calendar(*self.events.values())

    def _answer(self, asked: Asked) -> Said:
        etag = f'"{zlib.crc32(self.body)}"'
        if not self.there:
            return Said(404)
        if asked.headers.get("if-none-match") == etag:
            return Said(304, headers={"etag": etag})
        return Said(200, self.body, {"etag": etag, "content-type": "text/calendar"})


LOCAL_SOURCES = (MaildirSource, MboxSource, EmlSource, VdirSource, IcsSource, FolderSource, ContactsSource)


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    """A calendar server; each test takes users of its own."""
    with Radicale(tmp_path_factory.mktemp("radicale")) as running:
        yield running


@pytest.fixture(params=[*LOCAL_SOURCES, ImapSource, PlainImapSource, CaldavSource, PublishedSource])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Source]:
    """An empty source of each kind in turn."""
    made: Source = request.param(tmp_path)
    if isinstance(made, CaldavSource):
        made.radicale = request.getfixturevalue("radicale")
    yield made
    made.close()


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def new_kept() -> Callable[[], Kept]:
    return Kept


@pytest.fixture
def make_mail() -> Callable[..., bytes]:
    return mail


@pytest.fixture
def make_event() -> Callable[..., str]:
    return event


@pytest.fixture
def make_calendar() -> Callable[..., bytes]:
    return calendar


@pytest.fixture
def now() -> datetime:
    return NOW.astimezone(UTC)


@pytest.fixture
def corpora() -> Path:
    """The public test files."""
    if not CORPORA.is_dir():
        pytest.skip(f"no corpora at {CORPORA}")
    return CORPORA
