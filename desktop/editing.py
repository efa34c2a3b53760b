"""A file in the person's editor, until it is right."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from desktop.output import say
from workspace import Profile, UserError

EDITORS = ("sensible-editor", "nano", "vim", "vi", "emacs")


def at_terminal() -> bool:
    """Whether the person can be asked something."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def edit_profile(path: Path) -> None:
    """Open the profile, which is made where there is none; see `edit`."""
    if at_terminal() and not path.exists():
        Profile.load(path).save(path)
    edit(path, Profile.load, "tide profile --edit")


def edit(path: Path, read: Callable[[Path], object], command: str) -> None:
    """Open a file in $VISUAL, $EDITOR or one of EDITORS; again, where `read` refuses it and the person agrees.

    The file itself is edited, so that whatever the person writes is there, right or wrong. `command` opens it
    again.

    Raises:
        UserError: if there is no terminal or no editor, or the file is left wrong or removed.
    """
    if not at_terminal():
        raise UserError(f"There is no terminal to edit in. Edit {path} with any editor.")
    editor = _editor(path)
    before = path.read_bytes()
    while True:
        _open(editor, path)
        if not path.exists():
            raise UserError(f"{path} was removed while it was edited. A new one: {command}")
        try:
            read(path)
        except UserError as error:
            say(str(error))
            if not typer.confirm("Open it again?", default=True, err=True):
                raise UserError(f"{path} is left as you wrote it, and must be put right: {command}") from error
        else:
            break
    say(f"{path} is as it was." if path.read_bytes() == before else f"Saved {path}.")


def _editor(path: Path) -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError as error:
            raise UserError(f"{name} is no command ({error}). Set it to your editor, or edit {path}.") from error
        if words:
            return words
    found = next((name for name in EDITORS if shutil.which(name)), None)
    if found is None:
        raise UserError(f"There is no editor here. Set EDITOR to one, or edit {path} in another way.")
    return [found]


def _open(editor: list[str], path: Path) -> None:
    try:
        with _interrupts_are_the_editors():
            code = subprocess.run([*editor, str(path)], check=False).returncode
    except OSError as error:
        raise UserError(f"{editor[0]}: {error.strerror}. Set EDITOR to your editor, or edit {path}.") from error
    if code:
        raise UserError(f"{editor[0]} ended with an error ({code}). What it saved is in {path}.")


@contextmanager
def _interrupts_are_the_editors() -> Iterator[None]:
    """Ctrl-C in the editor reaches this process too, and must not end it."""
    # Unlike SIG_IGN, a handler is not handed on to the editor.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
