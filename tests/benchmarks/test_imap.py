"""Sync of an IMAP mailbox of 20,000 mails on loopback: the first, with nothing new, and with 100 new mails.

Beside it `mbsync`, which only downloads the mailbox, from the same server in the same run.
"""

import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.benchmarks.ordinary import Ordinary
from tests.servers.dovecot import PASSWORD, USER, Dovecot
from workspace import Accounts, Folders
from workspace.store import Store

COUNT = 20_000
NEW = 100
TIDE = str(Path(sys.executable).with_name("tide"))


def memory(process: int) -> float:
    """What a process and all below it hold of memory, in MB; pages that several share count once."""
    found, pending = 0, [process]
    while pending:
        one = pending.pop()
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
            found += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            for task in Path(f"/proc/{one}/task").iterdir():
                pending += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, StopIteration):
            continue  # it ended meanwhile
    return found / 1024


def measure(command, **environment):
    """Seconds of a command, and the peak of memory in MB of all its processes together."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    peak, ended = 0.0, threading.Event()

    def watch():
        nonlocal peak
        while not ended.wait(0.25):
            peak = max(peak, memory(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    took = time.perf_counter() - begin
    ended.set()
    watcher.join()
    assert status == 0, command
    return took, peak


def test_sync_over_imap(tmp_path, monkeypatch, figure):
    if shutil.which("mbsync") is None:
        pytest.skip("mbsync is not installed: apt-get install isync")
    ordinary = Ordinary()
    with Dovecot() as server:
        server.fill("INBOX", (ordinary.message(number).as_bytes() for number in range(COUNT)), received=now())
        server.message_ids("INBOX")  # lets the server make its own index first

        home = {"TIDE_HOME": str(tmp_path / "tide")}
        monkeypatch.setenv("TIDE_HOME", home["TIDE_HOME"])
        folders = Folders.find()
        Accounts({"mail": server.account("none")}).save(folders.accounts)
        with Store(folders.store) as store:
            store.artifacts.add_source("mail", "imap", "imap://localhost", now())

        mbsync, _ = measure(["mbsync", "-q", "-c", str(mbsync_config(tmp_path, server)), "mail"])
        first, peak = measure([TIDE, "sync"], **home)
        again = statistics.median(measure([TIDE, "sync"], **home)[0] for _ in range(5))
        server.fill(
            "INBOX", (ordinary.message(COUNT + number).as_bytes() for number in range(NEW)), received=now()
        )
        some, _ = measure([TIDE, "sync"], **home)
        with Store(folders.store) as store:
            mails = store.artifacts.counts()["email"]
    assert mails == COUNT + NEW

    speed = COUNT / first
    figure(
        f"first sync of {COUNT:,} mails over IMAP",
        f"{speed:.0f}/s",
        f"mbsync, download alone {COUNT / mbsync:.0f}/s",
        mbsync / first,
    )
    figure(f"first sync of {COUNT:,} mails over IMAP", f"{speed:.0f}/s", "limit 1000/s", speed / 1000)
    figure("its peak memory, all processes", f"{peak:.0f} MB", "limit 250 MB", peak / 250)
    figure(f"sync with nothing new, {COUNT:,} mails", f"{again:.2f} s", "limit 0.3 s", again / 0.3)
    figure(f"sync of {NEW} new among {COUNT:,} mails", f"{some:.2f} s", "limit 1 s", some)


def now():
    return datetime.now(UTC)


def mbsync_config(folder, server):
    for name in ("copy", "copies"):
        (folder / name).mkdir()
    config = folder / "mbsyncrc"
    config.write_text(
        f"""IMAPAccount a
Host localhost
Port {server.port}
User {USER}
Pass {PASSWORD}
SSLType None
AuthMechs LOGIN

IMAPStore far
Account a

MaildirStore near
Inbox {folder}/copy/
Path {folder}/copies/

Channel mail
Far :far:
Near :near:
Patterns INBOX
Create Near
SyncState *
"""
    )
    return config
