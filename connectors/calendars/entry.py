"""An entry of a calendar, as it was found somewhere, becomes what is kept of it."""

from types import TracebackType
from typing import Self

from connectors.follow import Read
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from workspace import Artifact, Kind


class Entries:
    """Reads entries in the limited process, for one source and one day; a context manager whose end is `close`."""

    def __init__(self, source: str, surroundings: Surroundings) -> None:
        self._source = source
        self._surroundings = surroundings
        self._window = surroundings.window()
        self._today = surroundings.midnight()
        self._reader = Reader()

    def read(self, item: str, data: bytes, origin: str, title: str) -> Read:
        """What an entry holds. Its note is the window where that makes a difference: only series depend on it.

        What cannot be read becomes an event with this title and a defect.
        """
        from connectors.calendars.calendar import Window
        from connectors.calendars.component import Context

        around = self._surroundings
        context = Context(self._source, around.zone, around.own, around.known, origin)
        window = Window(self._today, around.past_days, around.future_days, around.zone)
        reading = self._reader.calendar(data, context, window)
        if isinstance(reading, str):
            return Read(item, (self.unread(item, origin, title, reading),))
        if reading.unread:
            return Read(item, (self.unread(item, origin, title, reading.reason),))
        return Read(item, reading.artifacts, self._window if reading.recurs else "")

    def unread(self, item: str, origin: str, title: str, defect: str) -> Artifact:
        """What stands for an entry that can't be read."""
        key = f"unread:{item}"
        return Artifact(self._source, key, Kind.EVENT, title, busy=False, origin=origin, defects=(defect,))

    def close(self) -> None:
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
