"""A sync that is killed anywhere leaves a sound store, and the next ones end as if nobody had killed it."""

import contextlib
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.imap_world import NOW
from tests.servers.dovecot import Dovecot
from tests.servers.proxy import Proxy
from workspace import Accounts, Folders, Persona, Profile
from workspace.store import Store

MakeMail = Callable[..., bytes]

KILLS = 50
IN_A_ROW = 10
MAILS = {"INBOX": 600, "Archive": 400, "Sent": 100}
_SIGN_IN = 4000  # bytes that the server says before it tells of mail, about


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    """An empty TIDE_HOME."""
    monkeypatch.setenv("TIDE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIDE_NOW", NOW.isoformat())
    folders = Folders.find()
    persona = Persona(name="Nora Keane", emails=("me@example.org",))
    Profile(timezone="Europe/Berlin", persona=persona).save(folders.profile)
    return folders


def test_fifty_kills(home: Folders, make_mail: MakeMail) -> None:
    with Dovecot() as server:
        number = 0
        for folder, count in MAILS.items():
            server.fill(folder, (make_mail(one, "Some words. " * 20) for one in range(number, number + count)))
            number += count
        server.copy("INBOX", list(range(1, 60)), "Archive")
        with Proxy(server.port) as proxy:
            use(home, server, proxy)
            finish()
            whole = proxy.received
        expected = contents(home.store)
        assert len(expected["artifacts"]) == number

        draw = random.Random(20260316)
        kills = 0
        while kills < KILLS:
            start_afresh(home.store)
            for _ in range(IN_A_ROW):
                with Proxy(server.port) as proxy:
                    use(home, server, proxy)
                    left = 1 - stored(home.store) / number
                    kills += killed(proxy, _SIGN_IN + draw.random() * left * whole, draw.uniform(0, 0.05))
                assert integrity(home.store) == ["ok"]
            with Proxy(server.port) as proxy:
                use(home, server, proxy)
                finish()
            assert contents(home.store) == expected


def use(home: Folders, server: Dovecot, proxy: Proxy) -> None:
    """Let the account be reached through this proxy."""
    Accounts({"test": server.account("none", port=proxy.port, months=0)}).save(home.accounts)
    if not home.store.exists():
        with Store(home.store) as store:
            store.artifacts.add_source("test", "imap", "", NOW)


def start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "desktop", "sync", "--progress", "none", "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish() -> None:
    process = start()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


def killed(proxy: Proxy, received: float, then: float) -> bool:
    """Kill a sync so many seconds after so many bytes came from the server; whether it was still at it."""
    process = start()
    try:
        while proxy.received < received and process.poll() is None:
            time.sleep(0.001)
        time.sleep(then)
    finally:
        process.kill()
        process.communicate(timeout=60)  # until all that it started to read mail with has ended too
    return process.returncode < 0


def start_afresh(store: Path) -> None:
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()


def stored(path: Path) -> int:
    with Store(path) as store:
        return store.artifacts.count_source("test")


def integrity(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("PRAGMA integrity_check")]


def contents(path: Path) -> dict[str, Any]:
    """All that a sync brings into the store, told without row ids and ports."""
    with Store(path) as store:
        (source,) = store.artifacts.sources()
        return {
            "artifacts": {one.key: (one.digest, one.defects) for one in store.artifacts.all()},
            "cursor": store.artifacts.cursor("test"),
            "source": (source.problem, source.state),
        }
