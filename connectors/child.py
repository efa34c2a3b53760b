"""What runs inside the limited process: takes one job after another from its input and answers each.

A job is two frames: JSON with `job` (document, calendar or invitation) and its parameters, and the bytes that it
is about.
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from connectors.documents.archive import Unreadable
from connectors.limited import read_frame, write_frame

MEMORY = 1024 * 1024 * 1024
CPU_SECONDS = 20


def main() -> None:
    """Serve jobs until the input ends."""
    jobs, answers = _take_pipes()
    _limit()
    while (job := read_frame(jobs)) is not None:
        data = read_frame(jobs) or b""
        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = int(used.ru_utime + used.ru_stime) + CPU_SECONDS + 1
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        write_frame(answers, json.dumps(_answer(json.loads(job), data)).encode())
        answers.flush()


class TookTooLong(BaseException):
    """The time of a step is over; no parser that catches its own errors may catch this one."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Bound a step by processor time. Works in the main thread of a process, where signals arrive.

    Raises:
        TookTooLong: when the time is over.
    """

    def over(_number: int, _frame: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for jobs and answers alone: what a parser prints goes nowhere."""
    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.stdin, sys.stdout = io.StringIO(), io.StringIO()
    return jobs, answers


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(2_000)


def _answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        if job["job"] == "document":
            from connectors.documents.extraction import extract

            text, defects = extract(data, job["suffix"], job["charset"])
            return {"text": text, "defects": list(defects)}
        from connectors.calendars import exchange

        return exchange.answer_invitation(job, data) if job["job"] == "invitation" else exchange.answer(job, data)
    except Unreadable as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "needs more memory than the reader may take"}
    except RecursionError:
        return {"error": "nested too deep to be read"}
    except Exception as error:  # a parser may fail in any way: the person is told, the process lives on
        return {"error": f"can't be read ({type(error).__name__}: {' '.join(str(error)[:120].split())})"}
