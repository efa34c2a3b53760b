"""The text of an address-book card: one fact a line, and the notes below. Laid out here, and read back here.

Organisation: Dunmarra Harbour Museum
Manager: Helen Tierney
Phone: +353 1 555 0100 (work)
Notes:
Met at the fair.
"""

from collections.abc import Iterable, Sequence

ORGANISATION = "Organisation"
DEPARTMENT = "Department"
TITLE = "Title"
MAIL = "Mail"
MANAGER = "Manager"
NOTES = "Notes"


def lay_out(facts: Iterable[tuple[str, str]], notes: str = "") -> str:
    """The text of a card of these (label, value) facts, each value on one line, and notes of any lines."""
    lines = [f"{label}: {' '.join(value.split())}" for label, value in facts if value.strip()]
    return "\n".join(lines + ([f"{NOTES}:", notes.strip()] if notes.strip() else []))


def facts(text: str) -> list[tuple[str, str]]:
    """The (label, value) facts of a card's text. Notes are none, whatever their lines look like."""
    found = []
    for line in text.split("\n"):
        label, mark, value = line.partition(":")
        if label == NOTES:
            break
        if mark:
            found.append((label, value.strip()))
    return found


def fact(said: Sequence[tuple[str, str]], label: str) -> str:
    """The first fact of this label, "" if there is none."""
    return next((value for name, value in said if name == label), "")
