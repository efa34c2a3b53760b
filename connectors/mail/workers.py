"""Many mail files read side by side, in as many processes as there are processors.

A few are read in this process. A mail that brings its process down is a defect of that mail, no failure: its
chunk is read again one by one in a fresh process.
"""

import os
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Event
from typing import BinaryIO

from connectors.follow import Read
from connectors.limited import Companion, read_frame, write_frame
from connectors.mail.mbox_message import digest_of, unquoted
from connectors.mail.message import MAX_MESSAGE, NOTHING_LEFT_OUT, Mailbox, read_message, unreadable
from connectors.reading import Reader
from connectors.tree import read_bytes, why
from workspace import SourceProblem

CHUNK = 64
FEW = 300
_BYTES = 2 * 1024 * 1024  # of mails that are in memory, in a chunk
_SECONDS = 300.0
_SECONDS_ALONE = 60.0


@dataclass(frozen=True, slots=True)
class Piece:
    """Where the bytes of one mail are: a whole file, `size` bytes of an mbox from `offset` on, which were found to
    have this digest, or `data`. `left_out` are the parts that `data` lacks, as `read_message` takes them.

    With `why` it could not be had, for this reason; `defect` is a defect that it was had with.
    """

    item: str
    path: str
    origin: str
    offset: int = 0
    size: int | None = None
    digest: str = ""
    data: bytes | None = None
    left_out: Mapping[str, int] | None = None
    why: str = ""
    defect: str = ""


def read_pieces(pieces: Iterable[Piece], count: int, mailbox: Mailbox) -> Iterator[Read]:
    """Read mails in order; those that are no longer there are left out. `count` says how many there are.

    Raises:
        SourceProblem: if `pieces` does. What it gave before that is read and yielded.
    """
    if count < FEW:
        with Reader() as documents:
            yield from _present(_read(piece, replace(mailbox, documents=documents)) for piece in pieces)
        return
    size = min(os.cpu_count() or 1, 8)
    companions: SimpleQueue[Companion] = SimpleQueue()
    started = [Companion("connectors.mail.workers", _SECONDS) for _ in range(size)]
    for companion in started:
        companions.put(companion)
    waiting: deque[Future[list[Read | None]]] = deque()
    stopped = Event()
    pool = ThreadPoolExecutor(size, thread_name_prefix="mail")
    trouble: SourceProblem | None = None
    try:
        try:
            for chunk in _chunks(pieces):
                waiting.append(pool.submit(_ask, companions, chunk, mailbox, stopped))
                if len(waiting) > 2 * size:
                    yield from _present(waiting.popleft().result())
        except SourceProblem as error:
            trouble = error
        while waiting:
            yield from _present(waiting.popleft().result())
        if trouble is not None:
            raise trouble
    finally:
        stopped.set()
        for future in waiting:
            future.cancel()
        for companion in started:
            companion.close()
        pool.shutdown()


def main() -> None:
    """Serve chunks until the input ends: what runs in each of the processes."""
    chunks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with Reader() as documents:
        while (frame := read_frame(chunks)) is not None:
            pieces, mailbox = pickle.loads(frame)
            mailbox = replace(mailbox, documents=documents)
            _answer(answers, [_read(piece, mailbox) for piece in pieces])


def _answer(answers: BinaryIO, reads: list[Read | None]) -> None:
    write_frame(answers, pickle.dumps(reads, pickle.HIGHEST_PROTOCOL))
    answers.flush()


def _ask(
    companions: "SimpleQueue[Companion]", chunk: list[Piece], mailbox: Mailbox, stopped: Event
) -> list[Read | None]:
    companion = companions.get()
    try:
        answer = companion.ask(pickle.dumps((chunk, mailbox), pickle.HIGHEST_PROTOCOL), max_reply=1 << 32)
        if isinstance(answer, bytes):
            reads: list[Read | None] = pickle.loads(answer)
            return reads
        return [None if stopped.is_set() else _ask_alone(piece, mailbox) for piece in chunk]
    finally:
        companions.put(companion)


def _ask_alone(piece: Piece, mailbox: Mailbox) -> Read | None:
    companion = Companion("connectors.mail.workers", _SECONDS_ALONE)
    try:
        answer = companion.ask(pickle.dumps(([piece], mailbox), pickle.HIGHEST_PROTOCOL), max_reply=1 << 32)
    finally:
        companion.close()
    if isinstance(answer, bytes):
        reads: list[Read | None] = pickle.loads(answer)
        return reads[0]
    return Read(piece.item, (unreadable(mailbox, piece.item, answer, piece.origin),))


def _read(piece: Piece, mailbox: Mailbox) -> Read | None:
    if piece.why:
        return Read(piece.item, (unreadable(mailbox, piece.item, piece.why, piece.origin),), failed=True)
    try:
        if piece.data is not None:
            data = piece.data
        elif piece.size is None:
            data = read_bytes(piece.path, MAX_MESSAGE + 1)
        else:
            with open(piece.path, "rb") as file:
                file.seek(piece.offset)
                data = file.read(min(piece.size, MAX_MESSAGE + 1))
            if piece.size <= MAX_MESSAGE and digest_of(data) != piece.digest:
                return None  # the file was written anew in between: the next sync finds the message
            data = unquoted(data)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Read(piece.item, (unreadable(mailbox, piece.item, why(error), piece.origin),), failed=True)
    found = read_message(data, mailbox, origin=piece.origin, left_out=piece.left_out or NOTHING_LEFT_OUT)
    if piece.defect:
        found = (replace(found[0], defects=(*found[0].defects, piece.defect)), *found[1:])
    return Read(piece.item, found)


def _present(reads: Iterable[Read | None]) -> Iterator[Read]:
    return (read for read in reads if read is not None)


def _chunks(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    chunk: list[Piece] = []
    size = 0
    trouble: SourceProblem | None = None
    try:
        for piece in pieces:
            chunk.append(piece)
            size += len(piece.data or b"")
            if len(chunk) == CHUNK or size >= _BYTES:
                yield chunk
                chunk, size = [], 0
    except SourceProblem as error:
        trouble = error
    if chunk:
        yield chunk
    if trouble is not None:
        raise trouble
