"""Reads what comes from outside in the limited process, of which this is the near end.

That process has bounded memory and time, may write no file, and answers in JSON, never in pickles: whatever a
hostile document makes of it, what comes back is data. What can't be read comes back as one line on why.
"""

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from connectors.calendars.exchange import Invitation, invitation_of, question, reading_of
from connectors.documents.formats import format_of
from connectors.limited import Companion

if TYPE_CHECKING:
    from connectors.calendars.calendar import CalendarReading, Window
    from connectors.calendars.component import Context

SECONDS = 60.0  # on the clock, for a process that hangs; one that works is bounded by processor time before


class Reader:
    """A reader of documents, calendars and invitations; a context manager whose end is `close`.

    One of them may take `seconds`.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._companion = Companion("connectors.child", seconds)

    def document(
        self, name: str, content_type: str, data: bytes, charset: str = ""
    ) -> tuple[str, tuple[str, ...]] | None:
        """The text and defects of a document; None if neither name nor type says a format that can be read."""
        suffix = format_of(name, content_type)
        if not suffix:
            return None
        reply = self._ask({"job": "document", "suffix": suffix, "charset": charset}, data)
        if isinstance(reply, str):
            return "", (reply,)
        return str(reply["text"]), tuple(str(defect) for defect in reply["defects"])

    def calendar(self, data: bytes, context: "Context", window: "Window") -> "CalendarReading | str":
        """What a calendar holds, or one line on why it can't be read."""
        reply = self._ask({"job": "calendar"} | question(context, window), data)
        return reply if isinstance(reply, str) else reading_of(reply)

    def invitation(self, data: bytes, source: str, zone: ZoneInfo, origin: str) -> Invitation | str:
        """What an invitation in a mail of a source says, or one line on why it can't be read.

        Times without a zone are read in this one.
        """
        job = {"job": "invitation", "source": source, "zone": zone.key, "origin": origin}
        reply = self._ask(job, data)
        return reply if isinstance(reply, str) else invitation_of(reply)

    def close(self) -> None:
        """End the process, if it runs."""
        self._companion.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, job: dict[str, Any], data: bytes) -> dict[str, Any] | str:
        """The answer to a job on some bytes, or one line on why there is none."""
        answer = self._companion.ask(json.dumps(job).encode(), data)
        if isinstance(answer, str):
            return answer
        try:
            reply = json.loads(answer)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            return "its reader gave no answer"
        return str(reply["error"]) if "error" in reply else reply
