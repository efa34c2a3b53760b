"""A keyring for the tests of commands: secrets in one file that a test can read. Nobody else should use it.

A test sets PYTHON_KEYRING_BACKEND to `tests.servers.keyring_file.FileKeyring`, PYTHONPATH to the root of the
repository, and TIDE_TEST_KEYRING to the file. As text in that file `locked` is a keyring that is locked.
"""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class FileKeyring(KeyringBackend):
    # Below all others: only a test that names it may get it.
    priority = -1.0  # type: ignore[assignment]

    def _read(self) -> dict[str, str]:
        path = Path(os.environ["TIDE_TEST_KEYRING"])
        text = path.read_text("utf-8") if path.exists() else "{}"
        if text == "locked":
            raise KeyringLocked("Failed to unlock the collection!")
        found: dict[str, str] = json.loads(text)
        return found

    def _write(self, kept: dict[str, str]) -> None:
        Path(os.environ["TIDE_TEST_KEYRING"]).write_text(json.dumps(kept), "utf-8")

    def get_password(self, service: str, username: str) -> str | None:
        return self._read().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._read(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._read()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("No such password!")
        self._write(kept)
