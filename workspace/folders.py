"""Where Tide keeps its things: the XDG folders, or everything below `TIDE_HOME` if that is set."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from workspace.errors import UserError


@dataclass(frozen=True, slots=True)
class Folders:
    """`config` holds what the person edits, `data` what must not be lost, `cache` what can be made again,
    `logs` the logs of servers that Tide starts."""

    config: Path
    data: Path
    cache: Path
    logs: Path

    @classmethod
    def find(cls) -> "Folders":
        """The folders of this person, created for their eyes alone (0700).

        Raises:
            UserError: if they cannot be created.
        """
        home = os.environ.get("TIDE_HOME")
        if home:
            root = expanded(home).absolute()
            found = cls(root / "config", root / "data", root / "cache", root / "logs")
        else:
            found = cls(
                platformdirs.user_config_path("tide"),
                platformdirs.user_data_path("tide"),
                platformdirs.user_cache_path("tide"),
                platformdirs.user_log_path("tide"),
            )
        for folder in (found.config, found.data, found.cache, found.logs):
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise UserError(
                    f"{folder}: {error.strerror}. Tide keeps its things there: make it a folder of yours, or set"
                    " TIDE_HOME to one."
                ) from error
        return found

    @property
    def settings(self) -> Path:
        return self.config / "settings.toml"

    @property
    def profile(self) -> Path:
        return self.config / "profile.toml"

    @property
    def accounts(self) -> Path:
        return self.config / "accounts.toml"

    @property
    def templates(self) -> Path:
        """The person's own templates (`workspace/*.toml`) and solved cases (`cases/*.json`)."""
        return self.config / "templates"

    @property
    def store(self) -> Path:
        return self.data / "tide.sqlite"

    @property
    def index(self) -> Path:
        return self.cache / "index"


def expanded(path: str | Path) -> Path:
    """The path with a leading `~` or `~name` put out; as it stands where there is no such person."""
    return Path(os.path.expanduser(path))


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner alone (0600)."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
