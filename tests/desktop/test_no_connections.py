"""Tide opens connections to the configured accounts and to this machine alone: every attempt is written down."""

import ipaddress
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.conftest import NOW
from workspace import Account, Accounts, Folders
from workspace.store import Store

Watched = Callable[..., tuple[int, list[Any]]]

HOOK = """
import json, os, sys

def hook(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        place = args[1]
        place = "unix" if isinstance(place, (str, bytes)) else list(place[:2]) if place else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        place = [os.fsdecode(args[0]) if args[0] else None, None]
    else:
        return
    if place is not None:
        with open(os.environ["TRIED"], "a") as file:
            file.write(json.dumps([event, place]) + "\\n")
        if place != "unix" and not str(place[0] or "localhost").startswith(("127.", "localhost", "::1")):
            raise ConnectionRefusedError(f"{event} {place}")

sys.addaudithook(hook)
"""


@pytest.fixture
def watched(home: Folders, tmp_path: Path) -> Watched:
    """Run Python with these words; its exit code, and what it and all that it started tried to reach."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK)
    tried = tmp_path / "tried"

    def run(*words: str) -> tuple[int, list[Any]]:
        tried.write_text("")
        done = subprocess.run(
            [sys.executable, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "hook"), "TRIED": str(tried)},
        )
        assert "Traceback" not in done.stderr or words[0] == "-c", done.stderr
        return done.returncode, [json.loads(line)[1] for line in tried.read_text().splitlines()]

    return run


def outside(places: list[Any]) -> list[Any]:
    """Those of the places that are not on this machine."""
    return [place for place in places if place != "unix" and not is_here(place[0])]


def is_here(host: str | None) -> bool:
    if host in (None, "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def test_what_is_tried_is_seen(watched: Watched) -> None:
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    assert outside(watched("-c", code)[1]) == [["192.0.2.1", None]]
    code = "import socket; socket.socket().connect(('192.0.2.1', 9))"
    assert outside(watched("-c", code)[1]) == [["192.0.2.1", 9]]
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    assert outside(watched("-c", code)[1]) == [["192.0.2.1", 9]]


def test_local_sources_need_no_connection(added: Path, watched: Watched) -> None:
    for words in (
        ("run", "--strategy", "observed"),
        ("index",),
        ("sources",),
        ("search", "crate"),
        ("forget", "mail", "--yes"),
    ):
        code, places = watched("-m", "desktop", *words)
        assert (words, code, outside(places)) == (words, 0, [])
    assert outside(watched("-m", "desktop", "doctor")[1]) == []


def test_an_account_is_reached_where_it_says_and_nowhere_else(home: Folders, watched: Watched) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.2", 0))  # and does not listen, so that nobody is there
        port = taken.getsockname()[1]
        account = Account(
            address="nora@museum.example",
            host="127.0.0.2",
            port=port,
            security="none",
            secret_command="echo secret",
        )
        Accounts({"away": account}).save(home.accounts)
        with Store(home.store) as store:
            store.artifacts.add_source("away", "imap", "imap://127.0.0.2", NOW)
        code, places = watched("-m", "desktop", "sync")
    assert code == 1
    assert {host for host, _ in (place for place in places if place != "unix")} == {"127.0.0.2"}
