"""Where the messages of an mbox begin and end, and what they are told apart by."""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

_FROM = re.compile(rb"From [^\n]*\d{1,2}:\d{2}")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
# What mail programs write into a message in place: its flags. They do not make it another message.
_FLAGS = (
    b"status:",
    b"x-status:",
    b"x-keywords:",
    b"x-mozilla-",
    b"x-uid:",
    b"x-imap",
    b"content-length:",
    b"lines:",
)
_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class Span:
    """A message in an mbox, its `From ` line left out: where its bytes are, and SHA-256 of what it says."""

    offset: int
    size: int
    digest: str


def spans(file: BinaryIO, start: int = 0) -> Iterator[Span]:
    """The messages from an offset on, which must be that of a `From ` line. Reads line by line."""
    file.seek(start)
    place = start
    begin: int | None = None
    digest = hashlib.sha256()
    blank, whole, head = True, True, True
    while line := file.readline(_LINE):
        if whole and blank and line.startswith(b"From ") and (_FROM.match(line) or place == 0):
            if begin is not None:
                yield Span(begin, place - begin, digest.hexdigest())
            digest = hashlib.sha256()
            begin, head = place + len(line), True
        elif begin is not None:
            bare = line.rstrip(b"\r\n")
            if head and not bare and whole:
                head = False
            if bare and not (head and bare[:15].lower().startswith(_FLAGS)):
                digest.update(bare)
        blank = whole and not line.strip(b"\r\n")
        whole = line.endswith(b"\n")
        place += len(line)
    if begin is not None:
        yield Span(begin, place - begin, digest.hexdigest())


def digest_of(data: bytes) -> str:
    """The digest that `spans` gives a message of these bytes."""
    return next(spans(io.BytesIO(b"From 0:00\n" + data))).digest


def unquoted(data: bytes) -> bytes:
    """A message with the `>` taken away that protected its lines which begin with `From `."""
    return _QUOTED.sub(rb"\1", data) if b">From " in data else data
