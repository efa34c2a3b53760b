"""A calendar in an .ics file, or in a folder of them (vdir). An item is a file.

Occurrences are wanted in a window around today, so the state of a file includes the day: on another day it is
read again, and occurrences that left the window are gone.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from threading import Event

from connectors.changes import Changes
from connectors.follow import Read, follow, refuse_empty
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, present, read_bytes, safe, walk, why
from workspace import Artifact, Batch, Cursor, Kind, UserError

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
        today = self._surroundings.midnight()
        tree = self._tree()
        window = self._surroundings.window()
        plain = tree.listing(sorted(tree.files.values(), key=lambda file: file.item), cursor)
        listing = {item: f"{mark} {window}" if item in tree.files else mark for item, mark in plain.items()}
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        return follow(cursor, listing, lambda items: self._read(items, tree.files, today))

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

    def _read(self, items: list[str], files: dict[str, File], today: datetime) -> Iterator[Read]:
        from connectors.calendars.calendar import Window
        from connectors.calendars.component import Context

        around = self._surroundings
        window = Window(today, around.past_days, around.future_days, around.zone)
        with Reader() as reader:
            for item in items:
                file = files[item]
                try:
                    data = read_bytes(file.path, MAX_FILE + 1)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    yield Read(item, (self._unreadable(file, why(error)),), failed=True)
                    continue
                if len(data) > MAX_FILE:
                    yield Read(item, (self._unreadable(file, f"larger than {MAX_FILE // 2**20} MB; not read"),))
                    continue
                context = Context(self.source, around.zone, around.own, around.known, file.origin)
                reading = reader.calendar(data, context, window)
                if isinstance(reading, str):
                    yield Read(item, (self._unreadable(file, reading),))
                elif reading.reason == "is no calendar" and data.strip():
                    yield Read(item, (self._unreadable(file, reading.reason),))
                else:
                    yield Read(item, reading.artifacts)

    def _unreadable(self, file: File, defect: str) -> Artifact:
        title = file.item.rpartition("/")[2]
        return Artifact(
            self.source,
            f"unread:{file.item}",
            Kind.EVENT,
            title,
            busy=False,
            origin=file.origin,
            defects=(defect,),
        )
