"""Waiting for the files of a source to change.

The file system tells of changes in the folders that are watched, none of which is reached through a link. Where
it cannot (a network folder that others write to, too many folders), waiting takes its whole time: a sync from
time to time is the truth, this is only what makes it prompt.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from connectors.tree import walk

if TYPE_CHECKING:
    from watchfiles.main import FileChange

_STEP = 500  # milliseconds without a change end a burst of them
_BURST = 5_000  # milliseconds after which a burst is told of though it goes on
_SLICE = 1_000  # milliseconds after which is looked for `stop`, and whether the root is still the same

_Identity = tuple[tuple[int, int], ...]


class Changes:
    """What happens to the file or folder `root`; from the first `wait` on nothing is missed between two of them.

    `folders` gives those that are watched where the root is one, if not all; `counts` says by its name whether a
    file in them is of any interest. For one thread at a time.
    """

    def __init__(
        self,
        root: Path,
        folders: Callable[[], Iterable[str]] | None = None,
        counts: Callable[[str], bool] = lambda name: True,
    ) -> None:
        self._root = root
        self._folders = folders or (lambda: walk(root, lambda name: False).folders)
        self._counts = counts
        self._watched: frozenset[str] = frozenset()
        self._told: Iterator[set[FileChange]] | None = None
        self._hears = False
        self._before: _Identity | None = None

    def wait(self, stop: Event, seconds: float) -> bool:
        """Block until something may have changed; false after so many seconds, or soon after `stop` is set."""
        end = time.monotonic() + seconds
        if self._before is None:
            self._before = self._identity()
        if self._told is None:
            self._begin()
        while not stop.is_set():
            now = self._identity()
            if now != self._before:  # it came, went, or is another one
                self._before, self._told = now, None
                return True
            if self._told is None:
                stop.wait(min(_SLICE / 1000, max(end - time.monotonic(), 0)))
            elif self._changed(self._told):
                return True
            if time.monotonic() >= end:
                break
        return False

    def _begin(self) -> None:
        from watchfiles import watch

        self._hears = False
        if self._root.is_dir():
            folders = set(self._folders())
        elif self._root.exists():
            # A file is replaced rather than written to, so it is the folder that tells; a link's own one, too.
            folders = {os.path.dirname(path) for path in self._names()}
        else:
            folders = set()
        self._watched = frozenset(filter(_can_be_watched, folders))
        if self._watched:
            self._told = watch(
                *sorted(self._watched),
                watch_filter=None,
                debounce=_BURST,
                step=_STEP,
                rust_timeout=_SLICE,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            )

    def _changed(self, told: "Iterator[set[FileChange]]") -> bool:
        try:
            paths = [path for _, path in next(told)]
        except (OSError, RuntimeError):
            # No more folders can be watched, or one went before; later on it is a change that can't be told of.
            self._told = None
            return self._hears
        self._hears = True
        if self._root.is_dir():
            if any(path in self._watched or os.path.isdir(path) for path in paths):
                self._told = None  # there are other folders to watch than before
                return True
            return any(self._counts(os.path.basename(path)) for path in paths)
        return not self._names().isdisjoint(paths)

    def _names(self) -> set[str]:
        return {os.path.abspath(self._root), os.path.realpath(self._root)}

    def _identity(self) -> _Identity:
        """What the root is: a folder by itself, a file by the folders that tell of it; () where it is missing."""
        try:
            status = os.stat(self._root)
            if not stat.S_ISDIR(status.st_mode):
                folders = [os.stat(os.path.dirname(path)) for path in sorted(self._names())]
                return tuple((one.st_dev, one.st_ino) for one in folders)
        except OSError:
            return ()
        return ((status.st_dev, status.st_ino),)


def _can_be_watched(path: str) -> bool:
    """Whether a path is UTF-8 throughout: watchfiles takes no other."""
    return path.encode("utf-8", "ignore").decode() == path
