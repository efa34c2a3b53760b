"""`tide forget`: no byte of a source stays anywhere under TIDE_HOME, and nothing of another source goes."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import keyring
import numpy as np
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError
from typer.testing import CliRunner

from desktop.cli import app
from inference.index import VectorIndex
from tests.desktop.conftest import NOW
from workspace import (
    Account,
    Accounts,
    Action,
    Artifact,
    Batch,
    Dropped,
    Evidence,
    Finding,
    Folders,
    Gone,
    Kind,
    Note,
    Person,
    Put,
    Role,
    Run,
)
from workspace.store import Marked, Reading, Store, Vector, worker_lock

Tide = Callable[..., Any]

GONE = (
    *("zqtext", "zqquoted", "zqsubject", "zqsender", "zqplace", "zqthread", "zqfolder", "zqorigin", "zqdefect"),
    *("zqnote", "zqfact", "zqmark", "zqfinding", "zqcited", "zqreason", "zqreply", "zqdropped", "zqproblem"),
    *("zqserver", "zqlost", "zqearlier", "zqsource"),
)
"""Words of which each stands in another place; the last is the name of the source."""

KEPT = tuple(f"zk{word[2:]}" for word in GONE if word not in ("zqreply", "zqdropped", "zqearlier"))
VECTOR = np.arange(5, 389, dtype="<f4")
MODEL = "embedder"


class Ring(KeyringBackend):
    """A keyring in memory that can be locked."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get(username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.locked:
            raise KeyringLocked("locked")
        if self.held.pop(username, None) is None:
            raise PasswordDeleteError("none")


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    ring = Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def planted(home: Folders) -> Folders:
    """Two sources that hold the same things in other words, and all that Tide makes of them."""
    with Store(home.store) as store:
        for letter, seed in (("q", 1.0), ("k", 2.0)):
            plant(store, letter, seed)
        run = store.runs.begin("done", NOW)
        dropped = Dropped(round=1, template="x", description="zqdropped", check="quote", detail="zqdropped too")
        record = Run(id=run.id, strategy="tide", model="m", started=NOW, dropped=[dropped], revision=2)
        store.runs.finish(record, (), NOW)
        store.runs.keep_reply(store.runs.begin("open", NOW).id, "r", '{"text": "zqreply"}')
        VectorIndex.open(store, MODEL, len(VECTOR), home.index)
    Accounts(
        {
            f"z{letter}source": Account(address=f"z{letter}server@x.example", host=f"z{letter}server.example")
            for letter in "qk"
        }
    ).save(home.accounts)
    backup = home.store.with_name(f"{home.store.name}.before-1001")
    backup.write_bytes(b"zqtext zktext")
    assert found(home, GONE) == set(GONE)
    assert VECTOR.tobytes() in held_bytes(home)
    return home


def plant(store: Store, letter: str, seed: float) -> None:
    name = f"z{letter}source"
    word = {one[2:]: f"z{letter}{one[2:]}" for one in GONE}
    artifacts = [
        Artifact(
            name,
            f"{key}@{word['thread']}",
            Kind.EMAIL,
            f"{word['subject']} {key}",
            f"Please see {word['text']} {key}.",
            word["quoted"],
            (Person(Role.FROM, word["sender"].title(), f"{word['sender']}@x.example"),),
            NOW - timedelta(days=1),
            location=word["place"],
            thread=word["thread"],
            origin=f"file:///{word['origin']}/{key}",
            defects=(word["defect"],),
        )
        for key in (*(f"m{number}" for number in range(30)), word["lost"])
    ]
    store.artifacts.add_source(name, "imap", f"{word['server']}.example", NOW)
    # Pages that were freed by a program that left in them what they held.
    store._connection.execute("PRAGMA secure_delete = OFF")
    earlier = [replace(artifact, text=f"{word['earlier']} " * 2000) for artifact in artifacts]
    store.artifacts.take(name, Batch(tuple(map(Put, earlier)), {}))
    store.artifacts.take(name, Batch(tuple(map(Put, artifacts)), {f"{word['folder']}/1": "7"}))
    store.artifacts.mark_source(name, problem=word["problem"], state="away")
    ids = [artifact.id for artifact in store.artifacts.all() if artifact.source == name]
    empty: dict[str, Any] = {
        part: [] for part in ("people", "things", "commitments", "dates", "amounts", "states")
    }
    note = Note(**empty, rules=[word["fact"]], absences=[], line=word["note"])
    for artifact in store.artifacts.get(ids).values():
        store.readings.put_notes(artifact.id, [Reading(artifact.id, 0, "m", 1, artifact.digest, note)])
    data = (VECTOR * seed).astype("<f4").tobytes()
    store.readings.put_vectors([Vector(row, 0, MODEL, "d", data) for row in ids])
    store.ties.put([Marked(row, "s", (word["mark"], f"{word['mark']}{row}")) for row in ids])
    run = store.runs.begin(f"set-up {seed}", NOW).id
    for row in (ids[0], ids[-1]):
        finding = Finding(
            template="question-left-unanswered",
            description=word["finding"],
            why="No answer.",
            evidence=(Evidence(artifact=row, quote=word["cited"], title=word["lost"], origin=word["origin"]),),
            action=Action(function_name="reply_email", parameters={"message": f"a{row}", "body": "Yes."}),
            confidence=0.8,
        )
        stored = store.findings.add(finding, run, NOW)
        assert stored is not None
        store.findings.set_state(stored.id, stored.state, reason=word["reason"])
    # The mail that a finding quotes is gone from the source since.
    store.artifacts.take(name, Batch((Gone(artifacts[-1].key),), {}))
    store.runs.finish(Run(id=run, strategy="tide", model="m", started=NOW), (), NOW)


def held_bytes(home: Folders) -> bytes:
    """What stands in any file of Tide's, and how the files are called."""
    root = home.config.parent
    files = [path for path in root.rglob("*") if path.is_file()]
    return b"\n".join([path.read_bytes() + b"\n" + os.fsencode(path) for path in files])


def found(home: Folders, words: tuple[str, ...]) -> set[str]:
    everything = held_bytes(home).lower()
    return {word for word in words if word.encode() in everything}


def nothing_is_left(home: Folders) -> None:
    """Nothing of the forgotten source is, and all of the other one."""
    assert found(home, GONE) == set()
    assert VECTOR.tobytes() not in held_bytes(home)
    assert (VECTOR * 2.0).astype("<f4").tobytes() in held_bytes(home)
    assert not list(home.store.parent.glob("*.forgetting"))
    with Store(home.store) as store:
        assert store.problems() == []
        (source,) = store.artifacts.sources()
        assert (source.name, source.problem, source.state) == ("zksource", "zkproblem", "away")
        assert store.artifacts.cursor("zksource") == {"zkfolder/1": "7"}
        ids = [artifact.id for artifact in store.artifacts.all()]
        assert len(ids) == 30
        assert store.forgetting.traces("zksource").findings == 2
        assert [item.description for item in store.findings.all()] == ["zkfinding"] * 2
        assert len(store.artifacts.search("zktext", limit=99)) == 30
        assert store.artifacts.search("zqtext") == []
        assert store.ties.carriers("zkmark", 99) == ids
        assert len(store.readings.notes(ids)) == 30
        assert [owner for _, owner in store.readings.vector_owners(MODEL)] == ids
        assert len(VectorIndex.open(store, MODEL, len(VECTOR), home.index)) == 30
        assert [run.strategy for run in store.runs.all()] == ["tide"] * 3
        assert store.runs.reply("r") is None
    assert list(Accounts.load(home.accounts).root) == ["zksource"]


def test_no_byte_stays_and_nothing_of_another_source_goes(planted: Folders, tide: Tide, ring: Ring) -> None:
    ring.held = {"zqsource": "s3cret", "zksource": "other"}
    done = tide("forget", "zqsource", "--yes", "--progress", "none")
    assert done.exit_code == 0, done.stderr
    nothing_is_left(planted)
    assert found(planted, KEPT) == set(KEPT)
    assert ring.held == {"zksource": "other"}
    assert (
        done.stdout.splitlines()[0]
        == "Forgot zqsource: 30 artifacts, 2 findings from them, its account and its secret."
    )
    assert "zqserver.example:993 is as it was" in done.stdout
    assert "--trace" in done.stdout
    assert "solved cases that you made" in done.stdout


def test_the_work_goes_on_afterwards_and_sees_what_is_new(
    added: Path, home: Folders, tide: Tide, put_mail: Callable[..., Path]
) -> None:
    """The mails were the newest of all; what comes after them is newer still."""
    assert tide("sync", "calendar").exit_code == 0
    assert tide("sync").exit_code == 0
    with Store(home.store) as store:
        before = store.artifacts.revision()
    done = tide("forget", "mail", "--yes", "--json", "--progress", "none")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {
        "name": "mail",
        "place": str(added / "mail"),
        "artifacts": 40,
        "findings": 0,
        "account": False,
    }
    assert found(home, ("jonas@x.example", "stands on the quay")) == set()
    (added / "documents" / "late.txt").write_text("The crane comes on Friday.\n")
    done = tide("run", "--strategy", "observed", "--json", "--progress", "none")
    assert done.exit_code == 0, done.stderr
    assert [source["source"] for source in json.loads(done.stdout)["synced"]] == ["calendar", "documents"]
    assert len(json.loads(done.stdout)["findings"]) == 1
    with Store(home.store) as store:
        (late,) = store.artifacts.get(store.artifacts.changed_since(before)).values()
        assert late.title == "late.txt"
    assert tide("add", "maildir", added / "mail").exit_code == 0
    assert tide("sync", "mail").exit_code == 0
    assert found(home, ("stands on the quay",)) == {"stands on the quay"}


def test_it_asks_first_and_takes_no_for_an_answer(
    planted: Folders, tide: Tide, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = tide("forget", "zqsource")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Nobody is here to be asked whether to forget it. Run: tide forget zqsource --yes\n"
    monkeypatch.setattr("desktop.commands.forget._somebody_is_here", lambda: True)
    for answer in ("n\n", ""):
        done = CliRunner().invoke(app, ["forget", "zqsource"], input=answer)
        assert done.exit_code == 130
        assert "30 artifacts, 2 findings from them, its account and its secret will be gone" in done.stderr
        assert done.stderr.endswith("Nothing was removed.\n")
        assert found(planted, GONE) == set(GONE)
    assert CliRunner().invoke(app, ["forget", "zqsource"], input="y\n").exit_code == 0
    nothing_is_left(planted)


def test_what_is_not_there_is_said_not_to_be(planted: Folders, tide: Tide) -> None:
    done = tide("forget", "nowhere", "--yes")
    assert (done.exit_code, done.stderr) == (
        1,
        "There is no source called 'nowhere'. `tide sources` lists them.\n",
    )
    with worker_lock(planted.store):
        assert tide("forget", "zqsource", "--yes").exit_code == 3
    assert found(planted, GONE) == set(GONE)


def test_a_locked_keyring_leaves_all_as_it_is(planted: Folders, tide: Tide, ring: Ring) -> None:
    ring.held, ring.locked = {"zqsource": "s3cret"}, True
    done = tide("forget", "zqsource", "--yes")
    assert done.exit_code == 1
    assert done.stderr.startswith(
        "Nothing was removed, since the secret of zqsource cannot be: The keyring is locked."
    )
    assert found(planted, GONE) == set(GONE)
    ring.locked = False
    assert tide("forget", "zqsource", "--yes").exit_code == 0
    nothing_is_left(planted)
    assert ring.held == {}


def test_the_secret_goes_where_the_account_went_by_hand(home: Folders, tide: Tide, ring: Ring) -> None:
    ring.held["mail"] = "kelp"
    with Store(home.store) as store:
        store.artifacts.add_source("mail", "imap", "imaps://x.example", NOW)
    assert tide("forget", "mail", "--yes").exit_code == 0
    assert ring.held == {}


def test_an_account_without_a_secret_in_the_keyring_needs_none(planted: Folders, tide: Tide, ring: Ring) -> None:
    accounts = Accounts.load(planted.accounts)
    changed = accounts.root["zqsource"].model_copy(update={"secret_command": "pass zqserver"})
    accounts.changed({"zqsource": changed}).save(planted.accounts)
    ring.locked = True
    assert tide("forget", "zqsource", "--yes").exit_code == 0
    nothing_is_left(planted)


KILLED = """
import os, signal, sys
import workspace.store.forgetting
from workspace.store.database import connect

place, count = int(sys.argv[1]), 0

def tick(*_):
    global count
    count += 1
    if count == place:
        os.kill(os.getpid(), signal.SIGKILL)

def ticking(path):
    connection = connect(path)
    connection.set_progress_handler(tick, 200)
    return connection

sys.addaudithook(lambda event, _: tick() if event in ("os.remove", "os.rename") else None)
workspace.store.connect = ticking
workspace.store.forgetting.BATCH = 4
sys.argv[1:] = ["forget", "zqsource", "--yes", "--progress", "none"]
from desktop.cli import main
try:
    main()
finally:
    print(count)
"""


def start(place: int, **limits: Any) -> subprocess.CompletedProcess[str]:
    """Forget in a process of its own that is killed at the tick of this number: at a moment of the database, or
    when a file is renamed or removed."""
    return subprocess.run(
        [sys.executable, "-c", KILLED, str(place)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
        **limits,
    )


def test_killed_at_any_moment_and_run_again_it_ends_the_same(planted: Folders, tide: Tide, ring: Ring) -> None:
    files = {path: path.read_bytes() for path in planted.config.parent.rglob("*") if path.is_file()}
    whole = start(0)
    assert whole.returncode == 0, whole.stderr
    ticks = int(whole.stdout.splitlines()[-1])
    nothing_is_left(planted)
    left: set[object] = set()
    for number in range(12):
        for path in planted.config.parent.rglob("*"):
            if path.is_file():
                path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
        assert start(1 + number * (ticks - 1) // 11).returncode == -signal.SIGKILL
        with Store(planted.store) as store:
            left.add(
                (
                    store.forgetting.unfinished,
                    store.forgetting.traces("zqsource"),
                    *planted.data.glob("*.before-*"),
                )
            )
        done = tide("forget", "zqsource", "--yes", "--progress", "none")
        if done.exit_code:
            # Killed after the last that there was to do.
            assert "There is no source" in done.stderr
        nothing_is_left(planted)
    assert len(left) > 5


@pytest.mark.parametrize(("room", "left"), [(100_000, 30), (3_000_000, 0)], ids=["removing", "writing anew"])
def test_a_full_disk_is_told_and_the_rest_is_done_when_there_is_room(
    room: int, left: int, planted: Folders, tide: Tide, ring: Ring
) -> None:
    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))

    with Store(planted.store) as store:
        other = next(artifact for artifact in store.artifacts.all() if artifact.source == "zksource")
        large = replace(other, defects=("zkdefect " * 500_000,))
        store.artifacts.take("zksource", Batch((Put(large),), {}))
    done = start(0, preexec_fn=no_room)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "run the command again" in done.stderr
    with Store(planted.store) as store:
        assert store.forgetting.traces("zqsource").artifacts == left
        assert store.forgetting.unfinished == "zqsource"
    done = tide("forget", "zqsource", "--progress", "none")
    assert done.exit_code == 0, done.stderr
    nothing_is_left(planted)


def test_a_program_that_reads_meanwhile_is_named_and_the_rest_done_later(
    planted: Folders, tide: Tide, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workspace.store import database

    def impatient(path: Path) -> Any:
        connection = database.connect(path)
        connection.execute("PRAGMA busy_timeout = 1")
        return connection

    with Store(planted.store) as reader:
        reading = reader._connection.execute("SELECT key FROM artifact")
        reading.fetchone()
        monkeypatch.setattr("workspace.store.connect", impatient)
        done = tide("forget", "zqsource", "--yes", "--progress", "none")
        assert done.exit_code == 1
        assert "Another program reads" in done.stderr
        reading.close()
    done = tide("forget", "zqsource")
    assert done.exit_code == 0, done.stderr
    nothing_is_left(planted)
