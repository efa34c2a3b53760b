"""The doors: mail, calendars and files. They bring artifacts in and know nothing of models."""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from workspace import Connector, UserError, expanded

KINDS = ("maildir", "mbox", "eml", "calendar", "folder")


def open_connector(
    kind: str,
    source: str,
    location: str,
    *,
    own: frozenset[str],
    known: frozenset[str],
    zone: ZoneInfo,
    now: Callable[[], datetime],
    past_days: int,
    future_days: int,
) -> Connector:
    """The connector of a source of one of KINDS at a path.

    `own` are the person's addresses and `known` those the profile names, lower case; `zone` is the person's.
    `now` is the clock (aware); occurrences of recurring events are kept from `past_days` before to
    `future_days` after today.

    Raises:
        UserError: if there is no such kind.
    """
    path = expanded(location).absolute()
    if kind == "maildir":
        from connectors.mail.maildir import Maildir

        return Maildir(source, path, own=own, known=known)
    if kind == "mbox":
        from connectors.mail.mbox import Mbox

        return Mbox(source, path, own=own, known=known)
    if kind == "eml":
        from connectors.mail.eml import EmlFolder

        return EmlFolder(source, path, own=own, known=known)
    if kind == "calendar":
        from connectors.calendars.ics import IcsCalendar

        return IcsCalendar(
            source, path, own=own, known=known, zone=zone, now=now, past_days=past_days, future_days=future_days
        )
    if kind == "folder":
        from connectors.documents.folder import DocumentFolder

        return DocumentFolder(source, path)
    raise UserError(f"There is no source of kind {kind!r}. Choose one of {', '.join(KINDS)}.")
