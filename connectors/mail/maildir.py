"""Mail in a Maildir: the folder itself, Maildir++ folders beside it (`.Archive.2025`), or folders inside folders.

An item is a message by its folder and the unique part of its file name, so that flags (`:2,S`) and the move
from `new` to `cur` change nothing. The newest are read first.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

from connectors.changes import Changes
from connectors.follow import Read, follow, refuse_empty
from connectors.mail.folders import is_read
from connectors.mail.message import mailbox_of
from connectors.mail.workers import Piece, read_pieces
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, origin, present, safe, walk
from workspace import Batch, Cursor, UserError

_TIME = re.compile(r"\d{9,11}(?=\D)")
_INFO = re.compile(r"[:;!]2,[A-Za-z,=\d]*$")


class Maildir:
    """The connector of a Maildir."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path)
        self._mailbox = mailbox_of(source, surroundings)

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="Maildir"):
            return follow(cursor, {}, lambda items: [])
        messages, tree, folders = self._messages()
        if not folders and not cursor:
            raise self._no_maildir()
        listing = tree.listing(sorted(messages.values(), key=_age), cursor)
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        return follow(cursor, listing, lambda items: self._read(items, messages))

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="Maildir")
        messages, _, folders = self._messages()
        if not folders:
            raise self._no_maildir()
        return f"Maildir with {len(messages):,} messages in {folders:,} folders"

    def _messages(self) -> tuple[dict[str, File], Tree, int]:
        """The messages by item, the tree they were found in, and how many folders of mail it has."""
        tree = walk(self._path, lambda name: not name.startswith("."), lambda name: name != "tmp", odd=True)
        messages: dict[str, File] = {}
        folders = {safe(folder.parent.name) for folder in self._path.glob("*/cur")}
        folders |= {""} if any((self._path / inside).is_dir() for inside in ("cur", "new")) else set()
        for file in tree.files.values():
            folder, _, inside = os.path.dirname(file.item).rpartition("/")
            if inside not in ("cur", "new"):
                continue
            folders.add(folder)
            if is_read(folder):
                item = f"{folder}/{_unique(file.item)}" if folder else _unique(file.item)
                messages[item] = File(item, file.path, file.size, file.modified, file.regular)
        return messages, tree, len(folders)

    def _no_maildir(self) -> UserError:
        return UserError(f"{self._path} is no Maildir: no folder cur or new in it. Check the path.")

    def _read(self, items: list[str], messages: dict[str, File]) -> Iterator[Read]:
        pieces = (Piece(item, messages[item].path, origin(messages[item].path)) for item in items)
        return read_pieces(pieces, len(items), self._mailbox)


def _unique(item: str) -> str:
    return _INFO.sub("", item.rpartition("/")[2])


def _age(file: File) -> float:
    """Seconds by which messages are sorted, the newest first: their name says when they came."""
    found = _TIME.match(file.item.rpartition("/")[2])
    return -float(found[0]) if found else -file.modified / 1e9
