"""What ends the command early, told in one line, and the exit codes that a program can go by."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperGroup

from desktop.plain import one_line
from desktop.progress import emit

OK, ERROR, USAGE, BUSY, CANCELLED = 0, 1, 2, 3, 130

STOPPED = "Stopped. What was done is kept; the same command goes on where it was."

EPILOG = (
    "Exit codes: 0 all went well · 1 something is wrong that you can put right · 2 the command was not understood"
    " · 3 another Tide is at work · 130 stopped by Ctrl-C.\n\n"
    "TIDE_HOME=FOLDER keeps everything in one folder; NO_COLOR=1 prints without colour; TIDE_DEBUG=1 shows where"
    " in the program an error came from."
)


class Stopped(Exception):
    """The person stopped a command that has more to say about it than `STOPPED`: exit code 130 and this line."""


class Program(TyperGroup):
    """The `tide` command: whatever ends it early becomes one line on stderr and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(
                words,
                "tide",
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
            sys.stdout.flush()
        except Exception as error:
            code, line = explain(error)
            if isinstance(error, OSError):
                _give_up_stdout()
            _tell(line, code, words)
        else:
            if code == CANCELLED:
                _tell(STOPPED, code, words)
        sys.exit(code or OK)


def _give_up_stdout() -> None:
    """Let what could not be written go, so that the end of the program does not try, and fail, once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain(error: Exception) -> tuple[int, str]:
    """The exit code and the line for an error; one that is our fault is raised again where TIDE_DEBUG is set."""
    # Typer does not export the class of its usage errors; they are those that can format their message.
    if hasattr(error, "format_message"):
        return USAGE, _usage(error)
    if type(error).__name__ == "Abort":
        return CANCELLED, STOPPED
    if isinstance(error, Stopped):
        return CANCELLED, str(error)
    from workspace.errors import UserError, WorkerBusy

    if isinstance(error, UserError):
        if os.environ.get("TIDE_DEBUG"):
            import traceback

            traceback.print_exception(error)
        return BUSY if isinstance(error, WorkerBusy) else ERROR, str(error)
    if os.environ.get("TIDE_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.errno in _THEIRS:
        place = f"{error.filename}: " if error.filename else ""
        return ERROR, f"{place}{error.strerror}. {_THEIRS[error.errno]}"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return (
        ERROR,
        f"This is a fault of Tide, not yours ({one_line(what, 200)}). TIDE_DEBUG=1 shows where; please report it.",
    )


# What a machine refuses a program through no fault of the program's, and what to do.
_THEIRS = {
    errno.ENOSPC: "Free some disk space and run the command again; nothing was lost.",
    errno.EDQUOT: "Free some disk space and run the command again; nothing was lost.",
    errno.EACCES: "Make sure that it is yours, or set TIDE_HOME to a folder that is.",
    errno.EPERM: "Make sure that it is yours, or set TIDE_HOME to a folder that is.",
    errno.EROFS: "Set TIDE_HOME to a folder that can be written to.",
}


def _usage(error: Any) -> str:
    message = str(error.format_message()).strip() or "A command is missing"
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "tide"
    message = one_line(message).replace("Value error, ", "")
    return f"{message.rstrip('.')}. `{path} --help` shows how it is used."


def _tell(line: str, code: int, words: Sequence[str]) -> None:
    if "--progress=json" in words or ("--progress", "json") in pairwise(words):
        emit("error", text=one_line(line), code=code)
    else:
        print(one_line(line), file=sys.stderr)
