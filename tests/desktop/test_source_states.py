"""What becomes of a source in trouble: its state, who tries it again, and what the person reads of it."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from desktop import pipeline
from desktop.pipeline import Synced, at_work, sync
from desktop.progress import Mode
from workspace import (
    Artifact,
    Batch,
    CertificateRefused,
    Folders,
    KeyringLocked,
    Kind,
    Put,
    QuotaReached,
    ServerAway,
    SignInFailed,
    SourceProblem,
)
from workspace.store import Store

Tide = Callable[..., Any]


class Server:
    """A source that brings two artifacts in two batches, and then the problem, if there is one."""

    def __init__(self) -> None:
        self.source = "work"
        self.problem: SourceProblem | None = None
        self.asked = 0

    def sync(self, cursor: Any, *, allow_empty: bool = False) -> Iterable[Batch]:
        self.asked += 1
        for number in range(2):
            yield Batch(
                (Put(Artifact("work", f"m{number}", Kind.EMAIL, title="Tide tables")),), {str(number): "1"}
            )
        if self.problem is not None:
            raise self.problem

    def wait(self, stop: Event, seconds: float) -> bool:
        return stop.wait(seconds)

    def check(self) -> str:
        return "two mails"


@pytest.fixture
def server(home: Folders, files: Path, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The source `work`, of which a test says what is wrong, before the source `documents` on this machine."""
    made = Server()
    real = pipeline.connector
    monkeypatch.setattr(
        pipeline, "connector", lambda work, name, *rest: made if name == "work" else real(work, name, *rest)
    )
    with Store(home.store) as store:
        store.artifacts.add_source("work", "imap", "imaps://nora@mail.example:993", datetime.now(UTC))
    assert tide("add", "folder", files / "documents").exit_code == 0
    return made


def synced(only: str = "") -> list[Synced]:
    with at_work(Mode.NONE) as work:
        return sync(work, only)


def listed(tide: Tide) -> dict[str, dict[str, Any]]:
    return {source["name"]: source for source in json.loads(tide("sources", "--json").stdout)}


@pytest.mark.parametrize(
    ("problem", "state", "words"),
    [
        (ServerAway("mail.example does not answer."), "away", "away"),
        (QuotaReached("mail.example wants to be asked less often."), "quota", "asked too often"),
        (CertificateRefused("The certificate of mail.example has expired."), "certificate", "certificate refused"),
        (KeyringLocked("The keyring is locked."), "locked", "no secret"),
        (SourceProblem("mail.example leads round in a circle."), "problem", "in trouble"),
    ],
)
def test_trouble_is_told_kept_and_tried_again(
    problem: SourceProblem, state: str, words: str, server: Server, tide: Tide
) -> None:
    server.problem = problem
    work, documents = synced()
    assert (work.state, work.problem, work.changed, work.held) == (state, str(problem), 2, 2)
    assert (documents.state, documents.held) == ("", 2)
    assert (listed(tide)["work"]["state"], listed(tide)["work"]["problem"]) == (state, str(problem))
    assert listed(tide)["documents"]["state"] == "well"
    shown = tide("sources").stdout
    assert words in shown
    assert str(problem) in shown
    server.problem = None
    assert [item.state for item in synced()] == ["", ""]
    assert server.asked == 2
    assert listed(tide)["work"]["state"] == "well"


def test_a_refused_sign_in_is_told_once_and_not_tried_again(server: Server, tide: Tide) -> None:
    server.problem = SignInFailed("mail.example refuses the password of nora.")
    work, documents = synced()
    assert (work.state, documents.state) == ("sign-in", "")
    assert work.problem == "mail.example refuses the password of nora. Then sign in again: tide sign-in work"
    for only in ("", "work"):
        done = tide("sync", only) if only else tide("sync")
        assert done.exit_code == 1
        assert "work: Left alone until you sign in again: tide sign-in work" in done.stderr
    assert server.asked == 1
    assert listed(tide)["work"]["problem"] == work.problem
    assert "sign in again" in tide("sources").stdout


def test_a_source_that_was_away_does_not_keep_the_others_waiting(server: Server, home: Folders) -> None:
    server.problem = ServerAway("mail.example does not answer.")
    synced()
    order: list[str] = []
    with at_work(Mode.NONE) as work:
        take = work.store.artifacts.mark_source
        work.store.artifacts.mark_source = lambda name, **how: (order.append(name), take(name, **how))  # type: ignore[method-assign]
        done = sync(work)
    assert order == ["documents", "work"]
    assert [item.source for item in done] == ["work", "documents"]


def test_since_when_a_source_is_away(server: Server, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    synced()
    server.problem = ServerAway("mail.example does not answer.")
    monkeypatch.setenv("TIDE_NOW", "2026-05-20T09:00")
    synced()
    assert "away since yesterday 08:40" in tide("sources").stdout


def test_sources_fit_a_terminal_of_80_columns(server: Server, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    server.problem = ServerAway(f"mail.example does not answer. {'It is far away. ' * 9}")
    synced()
    shown = tide("sources").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "imaps://nora@mail.example:993" in shown


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[work]\nport = 99999\n", "work.port"),
        ("[work]\npasword = 'kelp'\n", "work.pasword: there is no such key"),
        ("[work\n", "at line 1"),
        ("[other]\nhost = 'x'\n", "no table [work]"),
    ],
)
def test_accounts_that_are_wrong_are_named_and_leave_the_rest_alone(
    content: str, place: str, home: Folders, files: Path, tide: Tide
) -> None:
    with Store(home.store) as store:
        store.artifacts.add_source("work", "imap", "imaps://nora@mail.example:993", datetime.now(UTC))
    assert tide("add", "folder", files / "documents").exit_code == 0
    home.accounts.write_text(content)
    work, documents = synced()
    assert (work.state, documents.state, documents.held) == ("problem", "", 2)
    assert "accounts.toml" in work.problem
    assert place in work.problem
    assert "\n" not in work.problem
    assert "kelp" not in work.problem


def test_doctor_tells_of_sources_in_trouble_and_of_accounts(server: Server, home: Folders, tide: Tide) -> None:
    server.problem = SignInFailed("mail.example refuses the password of nora.")
    synced()
    assert "tide sign-in work" in checked(tide, "source work")["found"]
    home.accounts.write_text("[work\n")
    assert checked(tide, "accounts")["level"] == "problem"


def checked(tide: Tide, name: str) -> dict[str, str]:
    return next(check for check in json.loads(tide("doctor", "--json").stdout) if check["name"] == name)
