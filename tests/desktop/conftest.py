"""A home of its own for every test, the command as a function and as a process, and a store with two findings."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from desktop.cli import app
from workspace import (
    Action,
    Artifact,
    Batch,
    Dropped,
    Evidence,
    Finding,
    Folders,
    Kind,
    Person,
    Persona,
    Profile,
    Put,
    Role,
    Run,
)
from workspace.store import Store

DUBLIN = ZoneInfo("Europe/Dublin")
NOW = datetime(2026, 5, 19, 8, 40, tzinfo=DUBLIN)
HOSTILE = "\x1b[31mRe: crate\x1b[0m\x1b]0;owned\x07 <b onmouseover=alert(1)>\u202egnp.exe\u2066\x9b2J"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    """An empty TIDE_HOME of a person in Dublin, on 19 May 2026."""
    monkeypatch.setenv("TIDE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIDE_NOW", "2026-05-19T08:40")
    monkeypatch.delenv("TIDE_DEBUG", raising=False)
    folders = Folders.find()
    Profile(timezone="Europe/Dublin", persona=Persona(name="Nora Keane", emails=("nora@museum.example",))).save(
        folders.profile
    )
    return folders


@pytest.fixture
def tide() -> Callable[..., Any]:
    """Run the command in this process; the result has exit_code, stdout and stderr."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def tide_process(home: Folders) -> Callable[..., subprocess.Popen[str]]:
    """Start the command as a process of its own, in the home of the test."""

    def start(*words: str, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "desktop", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **extra},
        )

    return start


@pytest.fixture
def found(home: Folders) -> Store:
    """A store with a mail of hostile words, two events that overlap, and a finding about each."""
    store = Store(home.store)
    artifacts = [
        Artifact(
            "mail",
            "m1",
            Kind.EMAIL,
            title=HOSTILE,
            text="Can you confirm 400 euro?\x1b[2J",
            people=(Person(Role.FROM, "Jonas \x1b[5mFeld", "jonas@x.example"),),
            time=NOW - timedelta(days=5),
            origin="/mail/cur/1",
        ),
        Artifact("mail", "e1", Kind.EVENT, title="Board meeting", time=NOW + timedelta(days=2)),
        Artifact("mail", "e2", Kind.EVENT, title="Handling course", time=NOW + timedelta(days=2, minutes=20)),
    ]
    findings = [
        Finding(
            template="question-left-unanswered",
            description=f"Jonas waits for an answer: {HOSTILE}",
            why="No mail of yours answers his question.",
            evidence=(Evidence(artifact=1, quote="Can you confirm 400 euro?\x1b[2J"),),
            action=Action(function_name="reply_email", parameters={"message": "a1", "body": "Yes.\x1b[5m"}),
            confidence=0.8,
        ),
        Finding(
            template="overlapping-commitments",
            description="Two events that you accepted overlap.",
            why="You cannot be at both.",
            evidence=(
                Evidence(artifact=2, quote="Board meeting", where="title"),
                Evidence(artifact=3, quote="Handling course", where="title"),
            ),
            action=Action(
                function_name="reschedule_meeting",
                parameters={"event": "a3", "new_start": "2026-05-22T10:00", "note": ""},
            ),
            confidence=1.0,
            deadline=NOW + timedelta(days=2),
        ),
    ]
    store.artifacts.add_source("mail", "maildir", "/mail", NOW)
    store.artifacts.take("mail", Batch(tuple(map(Put, artifacts)), {}))
    store.artifacts.mark_source("mail", now=NOW)
    opened = store.runs.begin("test", NOW)
    for finding in findings:
        store.findings.add(finding, opened.id, NOW)
    run = Run(
        id=opened.id,
        strategy="observed",
        model="",
        started=NOW,
        finished=NOW + timedelta(seconds=3),
        ended="everything was looked at",
        dropped=[Dropped(round=0, template="x", description="y", check="quote", detail="z")] * 3,
        seconds={"sync": 1.25, "observe": 75.0},
    )
    store.runs.finish(run, (), NOW)
    store.close()
    return store


def write_mail(
    folder: Path, number: int, subject: str, body: str, sender: str = "Jonas Feld <jonas@x.example>"
) -> Path:
    """Put a mail into the Maildir, read, sent `number` hours before NOW."""
    message = EmailMessage()
    message["From"], message["To"] = sender, "Nora Keane <nora@museum.example>"
    message["Subject"] = subject
    message["Message-ID"] = f"<m{number}@x.example>"
    message["Date"] = format_datetime(NOW - timedelta(hours=number))
    message.set_content(body)
    path = folder / "cur" / f"{1779000000 - number}.M{number}.host:2,S"
    path.write_bytes(message.as_bytes())
    return path


@pytest.fixture
def put_mail() -> Callable[..., Path]:
    """Put a mail into a Maildir."""
    return write_mail


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Real files: a Maildir of forty mails, a calendar in which two accepted events overlap, two documents."""
    root = tmp_path / "files"
    for name in ("mail/cur", "mail/new", "mail/tmp", "documents/plans"):
        (root / name).mkdir(parents=True)
    for number in range(40):
        write_mail(
            root / "mail", number, f"Crate {number} for the quay", f"Crate {number} stands on the quay.\n" * 9
        )
    events = "".join(
        "BEGIN:VEVENT\r\n"
        f"UID:{uid}@museum.example\r\nDTSTAMP:20260501T080000Z\r\nSUMMARY:{title}\r\n"
        f"DTSTART;TZID=Europe/Dublin:20260521T{start}00\r\nDTEND;TZID=Europe/Dublin:20260521T{end}00\r\n"
        "ORGANIZER;CN=Helen Tierney:mailto:helen@museum.example\r\n"
        "ATTENDEE;CN=Nora Keane;PARTSTAT=ACCEPTED:mailto:nora@museum.example\r\n"
        "ATTENDEE;CN=Tomasz Wrona;PARTSTAT=ACCEPTED:mailto:tomasz@museum.example\r\n"
        "END:VEVENT\r\n"
        for uid, title, start, end in (
            ("board", "Board meeting", "1000", "1200"),
            ("course", "Handling course", "1030", "1500"),
            ("lunch", "Lunch with the printer", "1600", "1700"),
        )
    )
    (root / "calendar.ics").write_bytes(
        f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n{events}END:VCALENDAR\r\n".encode()
    )
    (root / "documents" / "budget.txt").write_text("The budget of Saltlines is 43,000 euro.\n")
    (root / "documents" / "plans" / "hall.md").write_text("# Hall\n\nEight cases stand along the wall.\n")
    return root


@pytest.fixture(scope="session")
def loaded_embedder() -> Any:
    from inference.embedding import SentenceEmbedder

    return SentenceEmbedder()


@pytest.fixture
def one_embedder(loaded_embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real embedder, loaded once for all tests in this process."""
    monkeypatch.setattr("desktop.choice.SentenceEmbedder", lambda name: loaded_embedder)


@pytest.fixture
def added(home: Folders, files: Path, tide: Callable[..., Any], one_embedder: None) -> Path:
    """The files, added as the sources mail, calendar and documents."""
    for words in (
        ("maildir", files / "mail"),
        ("calendar", files / "calendar.ics"),
        ("folder", files / "documents"),
    ):
        done = tide("add", *words)
        assert done.exit_code == 0, done.stderr
    return files
