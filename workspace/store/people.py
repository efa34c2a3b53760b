"""What the store holds of people: the address book is made from it on demand, in one pass, and kept nowhere."""

import json
import re
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from workspace.people import AddressBook, Seen
from workspace.profile import Profile
from workspace.store.database import friendly


class People:
    """The part of the store that reads people."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def book(self, profile: Profile, now: datetime) -> AddressBook:
        """The address book of the person of this profile at `now` (aware)."""
        with friendly(self._path):
            return AddressBook.of(self._seen(), profile, now)

    def _seen(self) -> Iterator[Seen]:
        """Every artifact that names people, once.

        A mail inside another can bear any name, and so can one that failed the check of its sender: neither says
        who is in touch with whom.
        """
        rows = self._connection.execute(
            "SELECT kind, key, people, time, automatic, cancelled, location, origin, title,"
            f" CASE WHEN substr(people, 1, {len(_CARD)}) = ? THEN text ELSE '' END FROM artifact"
            " WHERE people <> '[]' AND parent = '' AND instr(defects, 'dmarc=fail') = 0",
            (_CARD,),
        )
        met: set[tuple[str, str]] = set()
        for kind, key, people, time, automatic, cancelled, location, origin, title, text in rows:
            if (kind, key) in met:  # two sources may hold the same mail
                continue
            met.add((kind, key))
            sent = kind == "email" and _is_sent(origin.rpartition("/")[0] or origin)
            named = json.loads(people)
            yield Seen(kind, named, time, bool(automatic), bool(cancelled), location, sent, key, title, text)


_CARD = '[["contact",'


@lru_cache(maxsize=4096)
def _is_sent(folder: str) -> bool:
    """Whether a folder is one of sent mail, by its name."""
    return any(part.strip() in _SENT for part in re.split(r"[/.]", unquote(folder).lower()))


_SENT = frozenset(
    {
        "sent", "sent items", "sent mail", "sent messages", "sent-mail", "gesendet", "gesendete elemente",
        "gesendete objekte", "éléments envoyés", "messages envoyés", "envoyés", "elementos enviados", "enviados",
        "posta inviata", "inviata", "verzonden", "verzonden items", "wysłane", "skickat", "sendt", "lähetetyt",
        "odeslané", "отправленные",
    }
)  # fmt: skip
