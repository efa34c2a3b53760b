"""A calendar in an .ics file, or in a folder of them (vdir). An item is a file.

Occurrences are wanted in a window around today, so the state of a file includes the day: on another day it is
read again, and occurrences that left the window are gone.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

from connectors.calendars.entry import Entries
from connectors.changes import Changes
from connectors.follow import Read, follow, refuse_empty
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, present, read_bytes, safe, walk, why
from workspace import Batch, Cursor, UserError

MAX_FILE = 50 * 1024 * 1024


class IcsCalendar:
    """The connector of an .ics file or a folder of them."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path)
        self._surroundings = surroundings

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="calendar"):
            return follow(cursor, {}, lambda items: [])
        tree = self._tree()
        window = self._surroundings.window()
        plain = tree.listing(sorted(tree.files.values(), key=lambda file: file.item), cursor)
        listing = {item: f"{mark} {window}" if item in tree.files else mark for item, mark in plain.items()}
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        return follow(cursor, listing, lambda items: self._read(items, tree.files))

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="calendar")
        files = self._tree().files
        events = tasks = calendars = 0
        for file in files.values():
            try:
                data = read_bytes(file.path, MAX_FILE).upper()
            except OSError:
                continue
            calendars += b"BEGIN:VCALENDAR" in data
            events += data.count(b"BEGIN:VEVENT")
            tasks += data.count(b"BEGIN:VTODO")
        if not calendars:
            raise UserError(f"{self._path} holds no calendar. Name an .ics file, or a folder of .ics files.")
        return f"calendar with {events:,} events and {tasks:,} tasks in {len(files):,} files"

    def _tree(self) -> Tree:
        if self._path.is_dir():
            return walk(
                self._path,
                lambda name: name.lower().endswith((".ics", ".ical", ".ifb")) and not name.startswith("."),
                lambda name: not name.startswith("."),
                odd=True,
            )
        if not self._path.is_file():
            raise UserError(f"{self._path} is neither a file nor a folder. Check the path.")
        status = self._path.stat()
        item = safe(self._path.name)
        file = File(item, os.fspath(self._path), status.st_size, status.st_mtime_ns)
        return Tree({item: file} if status.st_size else {})

    def _read(self, items: list[str], files: dict[str, File]) -> Iterator[Read]:
        with Entries(self.source, self._surroundings) as entries:
            for item in items:
                file = files[item]
                title = item.rpartition("/")[2]
                try:
                    data = read_bytes(file.path, MAX_FILE + 1)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    yield Read(item, (entries.unread(item, file.origin, title, why(error)),), failed=True)
                    continue
                if len(data) > MAX_FILE:
                    defect = f"larger than {MAX_FILE // 2**20} MB; not read"
                    yield Read(item, (entries.unread(item, file.origin, title, defect),))
                    continue
                yield entries.read(item, data, file.origin, title)
