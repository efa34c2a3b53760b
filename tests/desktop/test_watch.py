"""`tide watch`: what changes at a source comes in while it runs, trouble is waited out, and it ends when told."""

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

import pytest

from desktop import pipeline, watching
from desktop.pipeline import Synced
from desktop.progress import Mode
from desktop.watching import Watching
from tests.servers.dovecot import Dovecot
from workspace import Accounts, Artifact, Batch, Folders, Kind, Put, ServerAway, SignInFailed, SourceProblem
from workspace.store import Store, worker_lock

Tide = Callable[..., Any]
GENEROUS = 60.0


class Running:
    """A `tide watch` under way, and what it tells."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._events: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._events.put(json.loads(line))

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first event that is wanted."""
        seen = []
        try:
            while not wanted(event := self._events.get(timeout=GENEROUS)):
                seen.append(event)
        except Empty:
            raise AssertionError(f"What was waited for did not come. What came: {seen[-20:]}") from None
        return event

    def synced(self, source: str, held: int) -> dict[str, Any]:
        """Wait until a source holds so much."""
        return self.until(
            lambda event: event["event"] == "synced" and (event["source"], event["held"]) == (source, held)
        )

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(GENEROUS)
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


@pytest.fixture
def watch(tide_process: Callable[..., subprocess.Popen[str]]) -> Iterator[Callable[..., Running]]:
    """Start `tide watch`; it is ended with the test."""
    started: list[Running] = []

    def start(**extra: str) -> Running:
        started.append(Running(tide_process("watch", "--progress", "json", **extra)))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)


@pytest.fixture
def documents(home: Folders, files: Path, tide: Tide) -> Path:
    """A folder of two documents, added as `documents`."""
    assert tide("add", "folder", files / "documents").exit_code == 0
    return files / "documents"


def test_a_document_comes_in_as_it_is_saved_and_sigterm_ends_it(
    documents: Path, home: Folders, watch: Callable[..., Running]
) -> None:
    running = watch()
    assert running.until(lambda event: event["event"] == "message")["text"].startswith("Watching 1 source.")
    running.synced("documents", 2)
    (documents / "berths.txt").write_text("The berth is let until June.\n")
    assert running.synced("documents", 3)["changed"] == 1
    (documents / "budget.txt").unlink()
    assert running.synced("documents", 2)["gone"] == 1
    assert running.end(signal.SIGTERM) == 130
    with Store(home.store) as store:
        assert store.artifacts.search("berth")
    with worker_lock(home.store):
        pass


def test_a_mail_comes_in_as_it_arrives_and_a_server_that_was_away_is_found_again(
    home: Folders, watch: Callable[..., Running]
) -> None:
    mail = (
        b"From: Ann <ann@example.com>\nTo: me@example.org\nSubject: Berth\nMessage-ID: <%d@example.com>\n\nLet.\n"
    )
    with Dovecot() as server:
        server.fill("INBOX", [mail % 1])
        Accounts({"work": server.account()}).save(home.accounts)
        with Store(home.store) as store:
            store.artifacts.add_source("work", "imap", "imaps://me%40example.org@localhost", datetime.now(UTC))
        running = watch()
        running.synced("work", 1)
        for number in range(2, 4):
            server.fill("INBOX", [mail % number])
            assert running.synced("work", number)["changed"] == 1
        server.stop()
        assert "localhost" in running.until(lambda event: event.get("state") == "away")["problem"]
        assert server.start()
        server.fill("INBOX", [mail % 4])
        assert running.synced("work", 4)["state"] == ""
        assert running.end() == 130
    with Store(home.store) as store:
        assert len(store.artifacts.search("berth")) == 4


def test_a_source_that_is_added_meanwhile_is_watched_too(
    documents: Path, watch: Callable[..., Running], tide: Tide, tmp_path: Path
) -> None:
    running = watch()
    running.synced("documents", 2)
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.txt").write_text("a")
    assert tide("add", "folder", tmp_path / "later").exit_code == 0
    running.synced("later", 1)
    (tmp_path / "later" / "b.txt").write_text("b")
    running.synced("later", 2)
    assert running.end() == 130


def test_another_worker_is_waited_for_and_ctrl_c_ends_it(
    documents: Path, home: Folders, watch: Callable[..., Running]
) -> None:
    with worker_lock(home.store):
        running = watch()
        running.until(lambda event: event.get("text", "").startswith("Another Tide is at work"))
    running.synced("documents", 2)
    assert running.end(signal.SIGINT) == 130


def test_without_a_source_there_is_nothing_to_watch(home: Folders, tide: Tide) -> None:
    done = tide("watch")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("There are no sources yet.")


@dataclass
class Clock:
    """A clock that a test sets: `monotonic` stands still while the machine sleeps."""

    awake: float = 1000.0
    asleep: float = 0.0

    def monotonic(self) -> float:
        return self.awake

    def time(self) -> float:
        return 1_800_000_000.0 + self.awake + self.asleep


@dataclass
class Server:
    """A source with one artifact more each time, and the problem that a test gives it."""

    source: str = "work"
    problem: SourceProblem | None = None
    asked: int = 0
    more: bool = True
    held: list[Event] = field(default_factory=list)

    def sync(self, cursor: Any, *, allow_empty: bool = False) -> Iterable[Batch]:
        self.asked += 1
        if self.problem is not None:
            raise self.problem
        if self.more:
            yield Batch((Put(Artifact("work", f"m{self.asked}", Kind.EMAIL, title="Tides")),), {})

    def wait(self, stop: Event, seconds: float) -> bool:
        self.held.append(stop)
        stop.wait(GENEROUS)
        return False

    def check(self) -> str:
        return "mails"


class Heard:
    """What a watch tells its listener."""

    def __init__(self) -> None:
        self.items: list[tuple[Synced, bool]] = []
        self.lines: list[str] = []

    def synced(self, item: Synced, *, news: bool) -> None:
        self.items.append((item, news))

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(watching, "time", made)
    return made


@pytest.fixture
def server(home: Folders, monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    for module in (pipeline, watching):
        monkeypatch.setattr(module, "connector", lambda *_: made)
    with Store(home.store) as store:
        store.artifacts.add_source("work", "imap", "imaps://nora@mail.example:993", datetime.now(UTC))
    return made


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def step(server: Server, clock: Clock, heard: Heard) -> Iterator[Callable[[float], int]]:
    """Let so many seconds go by, and what is due be done; says how often the server was asked by then."""
    with Watching(Mode.NONE, heard).listening() as made:

        def on(seconds: float) -> int:
            clock.awake += seconds
            made.look()
            made.sync_due()
            return server.asked

        yield on


def test_every_source_is_synced_every_quarter_of_an_hour(step: Callable[[float], int]) -> None:
    assert [step(0), step(60), step(watching.POLL_SECONDS - 61), step(1), step(watching.POLL_SECONDS)] == [
        1, 1, 1, 2, 3,
    ]  # fmt: skip


@pytest.mark.parametrize("asleep", [3600.0, -3600.0])
def test_after_sleep_and_a_set_clock_all_is_looked_at_at_once(
    asleep: float, step: Callable[[float], int], clock: Clock, server: Server
) -> None:
    assert [step(0), step(60)] == [1, 1]
    clock.asleep += asleep
    assert step(watching.LOOK_SECONDS) == 2
    assert [stop.is_set() for stop in server.held] == [True, False]


def test_a_server_that_is_away_is_tried_less_and_less_often(
    step: Callable[[float], int], server: Server, heard: Heard
) -> None:
    server.problem = ServerAway("mail.example does not answer.")
    step(0)
    for _ in range(4 * 3600):
        step(1)
    assert 15 < server.asked < 60
    assert [news for _, news in heard.items].count(True) == 1
    server.problem = None
    for _ in range(1000):
        step(1)
    assert heard.items[-1][0].problem == ""
    assert [news for _, news in heard.items].count(True) >= 2


def test_a_source_to_sign_in_to_is_left_alone_until_that_is_done(
    step: Callable[[float], int], server: Server, home: Folders, heard: Heard
) -> None:
    with Store(home.store) as store:
        store.artifacts.add_source("other", "imap", "imaps://nora@other.example:993", datetime.now(UTC))
        store.artifacts.mark_source("other", problem="Refused.", state="sign-in")
    server.problem = SignInFailed("mail.example refuses the password.")
    assert [step(0), step(100), step(10_000), step(10_000)] == [1] * 4
    assert len(heard.items) == 1
    assert heard.lines == ["other: Left alone until you sign in again: tide sign-in other"]
    assert all(stop.is_set() for stop in server.held)
    server.problem = None
    with Store(home.store) as store:
        store.artifacts.mark_source("work")
    assert step(watching.LOOK_SECONDS) == 2


def test_an_account_that_was_edited_is_tried_at_once(
    step: Callable[[float], int], server: Server, home: Folders
) -> None:
    assert step(0) == 1
    home.accounts.write_text('[work]\nhost = "mail.example"\n')
    assert step(watching.LOOK_SECONDS) == 2
    assert [stop.is_set() for stop in server.held] == [True, False]


def test_a_source_that_is_forgotten_is_not_listened_to(
    step: Callable[[float], int], server: Server, home: Folders
) -> None:
    assert step(0) == 1
    with Store(home.store) as store:
        store._connection.execute("DELETE FROM source")
    assert step(watching.POLL_SECONDS) == 1
    assert server.held[0].is_set()


def test_settings_that_break_meanwhile_are_told_once(
    step: Callable[[float], int], home: Folders, heard: Heard
) -> None:
    assert step(0) == 1
    home.settings.write_text("rounds = 0\n")
    assert [step(watching.POLL_SECONDS), step(60), step(60)] == [1] * 3
    assert [line.startswith(f"{home.settings}: rounds: ") for line in heard.lines] == [True]
    home.settings.unlink()
    assert step(60) == 2
