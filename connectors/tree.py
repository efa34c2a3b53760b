"""A folder of the person's as a listing of items: walked without following links, names made fit to be kept."""

import os
import stat
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workspace import Cursor, SourceEmpty, UserError


@dataclass(frozen=True, slots=True)
class File:
    """A file found below a root. `item` is its path from there, with `/`; bytes that are no UTF-8 are escaped."""

    item: str
    path: str
    size: int
    modified: int  # nanoseconds
    regular: bool = True

    @property
    def fingerprint(self) -> str:
        return f"{self.size}:{self.modified}"

    @property
    def origin(self) -> str:
        return origin(self.path)


@dataclass(slots=True)
class Tree:
    """The files below a root, the folders they were looked for in (as paths), and those that could not be looked
    into (as beginnings of items)."""

    files: dict[str, File] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def listing(self, files: Iterable[File], cursor: Cursor) -> dict[str, str]:
        """Item -> fingerprint; what the cursor has from closed folders counts as still there, unchanged."""
        found = {file.item: file.fingerprint for file in files}
        if self.closed:
            kept = tuple(self.closed)
            for item, state in cursor.items():
                if item not in found and item.startswith(kept):
                    found[item] = state.partition("\n")[0]
        return found


class Rules(Protocol):
    """What is left out of a tree besides, by rules that the tree itself holds."""

    def within(self, folder: str, prefix: str, names: Collection[str]) -> "Rules":
        """The rules that hold in a folder which has files of these names and whose items begin with `prefix`."""
        ...

    def leave_out(self, item: str, *, folder: bool) -> bool: ...


def walk(
    root: Path,
    wanted: Callable[[str], bool],
    enter: Callable[[str], bool] = lambda name: True,
    *,
    odd: bool = False,
    rules: Rules | None = None,
) -> Tree:
    """Find the wanted files below a root, by name; `enter` says which folders to look into, by name.

    Links are not followed. What is neither file nor folder is left out, or kept as not regular with `odd`.
    """
    tree = Tree()
    pending = [(os.fspath(root), "", rules)]
    while pending:
        folder, prefix, outer = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            continue
        except OSError:
            tree.closed.append(prefix)
            continue
        tree.folders.append(folder)
        inner = outer and outer.within(folder, prefix, {entry.name for entry in entries})
        for entry in entries:
            item = prefix + safe(entry.name)
            try:
                if entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if enter(entry.name) and not (inner and inner.leave_out(item, folder=True)):
                        pending.append((entry.path, f"{item}/", inner))
                    continue
                if not wanted(entry.name) or (inner and inner.leave_out(item, folder=False)):
                    continue
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            regular = stat.S_ISREG(status.st_mode)
            if regular or odd:
                tree.files[item] = File(item, entry.path, status.st_size, status.st_mtime_ns, regular)
    return tree


def read_bytes(path: str, most: int) -> bytes:
    """At most so many bytes of a regular file.

    Raises:
        OSError: if it can't be read, or is no regular file: a pipe would never end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        return file.read(most)


def present(root: Path, cursor: Cursor, *, allow_empty: bool, what: str) -> bool:
    """Whether the root of a source is there.

    Raises:
        SourceEmpty: if it is not, where it was before, and that is not allowed.
        UserError: if it was never there.
    """
    try:
        root.stat()
        return True
    except OSError as error:
        if not cursor:
            raise UserError(f"{root}: no {what} there ({error.strerror}). Check the path.") from error
        if not allow_empty:
            raise SourceEmpty(
                f"{root} is not there any more. Nothing was removed; connect it, or allow it to be empty."
            ) from error
        return False


def safe(name: str) -> str:
    """A file name as text that can be kept: bytes that are no UTF-8 and line ends are escaped."""
    if name.isascii() and name.isprintable():
        return name
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "")


def origin(path: str) -> str:
    """The file as a link."""
    return Path(os.path.abspath(path)).as_uri()


def why(error: OSError) -> str:
    """One line on why a file could not be opened."""
    return f"can't be opened ({error.strerror or error})"
