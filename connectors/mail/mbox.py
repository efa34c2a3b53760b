"""Mail in an mbox file, or in a folder of them as Thunderbird keeps it.

An item is a message by its file and a digest of what it says, so that compacting the file, which moves every
message, changes nothing. Of each file the cursor remembers its size and a digest of its end: where only
something was appended since, only that is scanned.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import BinaryIO

from connectors.changes import Changes
from connectors.follow import RECORD, Read, follow, refuse_empty
from connectors.mail.folders import is_read
from connectors.mail.mbox_message import Span, spans
from connectors.mail.message import mailbox_of
from connectors.mail.workers import Piece, read_pieces
from connectors.surroundings import Surroundings
from connectors.tree import File, origin, present, safe, walk
from workspace import Batch, Cursor, UserError

_TAIL = 4096
_MESSAGE = "1"  # the fingerprint of every message: one that says something else is another item


@dataclass(slots=True)
class _Found:
    """What a look at the files gave: items with their place (None where it is as before), file records."""

    listing: dict[str, str] = field(default_factory=dict)
    places: dict[str, Piece] = field(default_factory=dict)
    records: dict[str, str | None] = field(default_factory=dict)


class Mbox:
    """The connector of an mbox."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path)
        self._mailbox = mailbox_of(source, surroundings)

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="mbox"):
            forgotten = {name: None for name in cursor if name.startswith(RECORD)}
            return follow(cursor, {}, lambda items: [], records=forgotten)
        found = self._look(cursor)
        if not allow_empty:
            refuse_empty(found.listing, cursor, str(self._path))
        return follow(cursor, found.listing, lambda items: self._read(items, found), records=found.records)

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="mbox")
        files = self._files()
        count = 0
        for file in files:
            with open(file.path, "rb") as opened:
                count += sum(1 for _ in spans(opened))
        return (
            f"{len(files):,} mbox files with {count:,} messages"
            if self._path.is_dir()
            else f"mbox with {count:,} messages"
        )

    def _files(self) -> list[File]:
        """The mbox files.

        Raises:
            UserError: if there is none, or it can't be read.
        """
        if self._path.is_dir():
            tree = walk(self._path, lambda name: not name.startswith("."), lambda name: not name.startswith("."))
            files = [file for file in tree.files.values() if is_read(_folder(file.item)) and _is_mbox(file)]
            if not files:
                raise UserError(f"{self._path}: no mbox file in this folder. Check the path.")
            return sorted(files, key=lambda file: file.item)
        status = self._path.stat()
        file = File(safe(self._path.name), os.fspath(self._path), status.st_size, status.st_mtime_ns)
        if not self._path.is_file() or (status.st_size and not _is_mbox(file)):
            raise UserError(f"{self._path} is no mbox: it does not begin with 'From '. Check the path.")
        return [file]

    def _look(self, cursor: Cursor) -> _Found:
        known: dict[str, list[str]] = {}
        for item in cursor:
            if not item.startswith(RECORD):
                known.setdefault(item.rpartition("|")[0], []).append(item)
        found = _Found()
        try:
            files = self._files()
        except UserError:
            if not cursor:
                raise
            files = []  # what was one before is emptied or gone
        for file in files:
            self._look_at(file, cursor.get(RECORD + file.item, ""), known.get(file.item, []), found)
        for name in cursor:
            if name.startswith(RECORD) and name not in found.records:
                found.records[name] = None
        return found

    def _look_at(self, file: File, record: str, known: list[str], found: _Found) -> None:
        size, modified, tail = [*record.split(":"), "", "", ""][:3]
        with open(file.path, "rb") as opened:
            start = 0
            if record and file.size == int(size) and str(file.modified) == modified:
                start = file.size
            elif record and _appended(opened, int(size), file.size) and _tail(opened, int(size)) == tail:
                start = int(size)
            seen: Counter[str] = Counter()
            if start:
                found.listing |= dict.fromkeys(known, _MESSAGE)
                seen.update(item.rpartition("|")[2][:64] for item in known)
            if start < file.size:
                for span in spans(opened, start):
                    seen[span.digest] += 1
                    self._add(file, span, seen[span.digest], found)
            mark = f"{file.size}:{file.modified}:{_tail(opened, file.size)}"
            found.records[RECORD + file.item] = mark

    def _add(self, file: File, span: Span, copy: int, found: _Found) -> None:
        item = f"{file.item}|{span.digest}" + (f".{copy}" if copy > 1 else "")
        found.listing[item] = _MESSAGE
        found.places[item] = Piece(item, file.path, origin(file.path), span.offset, span.size, span.digest)

    def _read(self, items: list[str], found: _Found) -> Iterator[Read]:
        if any(item not in found.places for item in items):
            # An item from before what was appended is to be read once more: it has to be found again.
            whole = self._look({})
            found.places |= whole.places
        pieces = (found.places[item] for item in items if item in found.places)
        return read_pieces(pieces, len(items), self._mailbox)


def _folder(item: str) -> str:
    """The folder that Thunderbird shows for a file: `Archive.sbd/2025` is 2025 in Archive."""
    return item.replace(".sbd/", "/")


def _is_mbox(file: File) -> bool:
    try:
        with open(file.path, "rb") as opened:
            return opened.read(5) == b"From "
    except OSError:
        return False


def _appended(opened: BinaryIO, before: int, size: int) -> bool:
    """Whether a message begins where the file ended before."""
    opened.seek(before)
    return before < size and opened.read(5) == b"From "


def _tail(opened: BinaryIO, size: int) -> str:
    """SHA-256 of the last bytes of the file as it was when it had this size."""
    opened.seek(max(size - _TAIL, 0))
    return hashlib.sha256(opened.read(min(size, _TAIL))).hexdigest()
