"""A Radicale on loopback: a calendar server as people have one, over TLS, with users and passwords.

What somebody else does to the calendars is done in its folder of collections, which is its whole state. It keeps
its caches elsewhere, so that a test sees whether anything was changed.
"""

import itertools
import json
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import trustme

from workspace import Account

PASSWORD = "tern-and-gannet-4"
_SECONDS = 20

_CONFIG = """
[server]
hosts = 127.0.0.1:{port}
ssl = True
certificate = {folder}/server.pem
key = {folder}/server.pem
max_connections = 50
delay_on_error = 0
[auth]
type = htpasswd
htpasswd_filename = {folder}/users
htpasswd_encryption = plain
delay = 0
[rights]
type = from_file
file = {folder}/rights
[storage]
filesystem_folder = {folder}/storage
filesystem_cache_folder = {folder}/cache
use_cache_subfolder_for_item = True
use_cache_subfolder_for_history = True
use_cache_subfolder_for_synctoken = True
use_mtime_and_size_for_item_cache = True
[web]
type = none
[logging]
level = warning
"""

# Everybody may write in calendars of their own: that nothing is written is up to the connector.
_RIGHTS = """
[root]
user: .+
collection:
permissions: R
[home]
user: .+
collection: {user}
permissions: R
[calendars]
user: .+
collection: {user}/[^/]+
permissions: rw
"""


class Radicale:
    """The server, running between `with` and its end. The authority of its certificate is in the file `ca`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.ca = folder / "ca.pem"
        self.cache = folder / "cache"
        self._numbers = itertools.count(1)

    def __enter__(self) -> "Radicale":
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.ca)
        issued = authority.issue_cert("localhost", "127.0.0.1")
        issued.private_key_and_cert_chain_pem.write_to_path(self._folder / "server.pem")
        (self._folder / "users").touch()
        (self._folder / "rights").write_text(_RIGHTS)
        for _ in range(5):  # another process may take a port that was free
            self.port = _free_port()
            if self._start():
                return self
        raise RuntimeError(f"Radicale does not start: {self.log()[-2000:]}")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_SECONDS)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/"

    def log(self) -> str:
        return (self._folder / "log").read_text()

    def user(self) -> "User":
        """A new user, without a calendar."""
        name = f"user{next(self._numbers)}"
        with (self._folder / "users").open("a") as file:
            file.write(f"{name}:{PASSWORD}\n")
        home = self._folder / "storage" / "collection-root" / name
        home.mkdir(parents=True)
        return User(self, name, home)

    def _start(self) -> bool:
        config = self._folder / "config"
        config.write_text(_CONFIG.format(port=self.port, folder=self._folder))
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "radicale", "--config", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        context = ssl.create_default_context(cafile=str(self.ca))
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with (
                    socket.create_connection(("127.0.0.1", self.port), 1) as raw,
                    context.wrap_socket(raw, server_hostname="localhost"),
                ):
                    return True
            except OSError:
                time.sleep(0.02)
        self._process.kill()
        self._process.wait()
        return False


class User:
    """Somebody with calendars at the server, and the folder where they lie."""

    password = PASSWORD

    def __init__(self, server: Radicale, name: str, home: Path) -> None:
        self.server = server
        self.name = name
        self.home = home

    @property
    def url(self) -> str:
        """The calendar home."""
        return f"{self.server.url}{self.name}/"

    def account(self, url: str = "", **more: Any) -> Account:
        about = {"user": self.name, "url": url or self.url, "certificate": str(self.server.ca)}
        return Account.model_validate(about | more)

    def calendar(
        self, name: str, title: str = "", components: str = "VEVENT,VTODO", tag: str = "VCALENDAR"
    ) -> Path:
        """A new, empty calendar; its folder, into which entries go."""
        folder = self.home / name
        folder.mkdir()
        about = {"tag": tag, "D:displayname": title or name.title()}
        if components:
            about["C:supported-calendar-component-set"] = components
        (folder / ".Radicale.props").write_text(json.dumps(about))
        return folder

    def lose_tokens(self) -> None:
        """Let the server forget which sync-tokens it gave."""
        for folder in self.server.cache.glob(f"collection-cache/{self.name}/*/.Radicale.cache/sync-token"):
            shutil.rmtree(folder)

    def files(self) -> dict[str, tuple[int, bytes]]:
        """Path -> (time of modification, bytes) of all that the server keeps of the user."""
        return {
            str(path.relative_to(self.home)): (
                path.stat().st_mtime_ns,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in sorted(self.home.rglob("*"))
        }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
