"""One worker at a time: a lock on a file beside the store, which the system lets go when the process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workspace.errors import UserError, WorkerBusy


@contextmanager
def worker_lock(store: Path) -> Iterator[None]:
    """Hold the right to sync, read, index and discover.

    Raises:
        WorkerBusy: if another process holds it.
        UserError: if something else stands in the place of the lock.
    """
    file = store.with_name(store.name + ".lock")
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise UserError(f"{file}: {error.strerror}. Remove it, and run the command again.") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            who = f" (process {holder})" if holder else ""
            raise WorkerBusy(f"Tide is at work already{who}. Wait until it is done, or stop it.") from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
