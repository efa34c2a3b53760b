"""Where in a file a value stands, so that an error can name the line to correct."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from workspace import UserError

Place = Sequence[str | int]


def refusal(path: Path, line: int, what: str) -> UserError:
    """The error for a wrong value: `file:line: what`."""
    return UserError(f"{path}:{line}: {what}. Correct this line.")


def read_text(path: Path) -> str:
    """The text of a file, which must be UTF-8.

    Raises:
        UserError: if it cannot be read, or naming the line that is not.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Name a file that can be read.") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refusal(path, raw.count(b"\n", 0, error.start) + 1, "not UTF-8") from error


def first_error(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Place and wording of the first thing that a model found wrong."""
    first = error.errors()[0]
    what = first["msg"].removeprefix("Value error, ")
    key = ".".join(str(part) for part in first["loc"])
    return first["loc"], f"{key}: {what}" if key else what


def toml_line(text: str, place: Place) -> int:
    """Line of a top-level key, or of an item of its list of strings; 1 where the key is missing."""
    if not place:
        return 1
    found = re.search(rf"^[ \t]*{re.escape(str(place[0]))}[ \t]*=[ \t]*", text, re.MULTILINE)
    if found is None:
        return 1
    position = found.start()
    if len(place) > 1 and isinstance(place[1], int):
        items = list(_TOML_STRING.finditer(text, found.end()))
        if place[1] < len(items):
            position = items[place[1]].start()
    return _line_at(text, position)


def json_line(text: str, place: Place) -> int:
    """Line of the value at `place`, a path of keys and list indices, in valid JSON.

    A part that the file does not have (a missing key) is left out of the path.
    """
    position = _skip_space(text, 0)
    for part in place:
        position = _members(text, position).get(part, position)
    return _line_at(text, position)


def _members(text: str, position: int) -> dict[str | int, int]:
    """Where each value of the object or list at `position` begins; nothing for any other value."""
    opening = text[position]
    starts: dict[str | int, int] = {}
    if opening not in "{[":
        return starts
    position = _skip_space(text, position + 1)
    while text[position] not in "}]":
        key: str | int = len(starts)
        if opening == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        starts[key] = position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
    return starts


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


_DECODER = json.JSONDecoder()
_TOML_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
