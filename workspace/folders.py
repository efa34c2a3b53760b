"""Where Tide keeps its things: the XDG folders, or everything below `TIDE_HOME` if that is set."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


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
        """The folders of this person, created for their eyes alone (0700)."""
        home = os.environ.get("TIDE_HOME")
        if home:
            root = Path(home).expanduser().absolute()
            found = cls(root / "config", root / "data", root / "cache", root / "logs")
        else:
            found = cls(
                platformdirs.user_config_path("tide"),
                platformdirs.user_data_path("tide"),
                platformdirs.user_cache_path("tide"),
                platformdirs.user_log_path("tide"),
            )
        for folder in (found.config, found.data, found.cache, found.logs):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return found

    @property
    def settings(self) -> Path:
        return self.config / "settings.toml"

    @property
    def profile(self) -> Path:
        return self.config / "profile.toml"

    @property
    def store(self) -> Path:
        return self.data / "tide.sqlite"

    @property
    def index(self) -> Path:
        return self.cache / "index"


def write_private(path: Path, text: str) -> None:
    """Replace a file in one step, readable by its owner alone (0600)."""
    new = path.with_name(path.name + ".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
