"""One SQLite file: opened, migrated, and written to in transactions."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workspace.errors import UserError
from workspace.store.schema import MIGRATIONS

Migrations = tuple[tuple[int, tuple[str, ...]], ...]


def connect(path: Path, migrations: Migrations = MIGRATIONS) -> sqlite3.Connection:
    """Open the file (created 0600) and bring it to the newest version, with a backup before each step.

    Raises:
        UserError: if the file is not a store, is damaged, cannot be read, or is of a newer major version.
    """
    with friendly(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA busy_timeout = 10000")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -32000")
            _migrate(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. A transaction inside another is part of the outer one."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


@contextmanager
def friendly(path: Path) -> Iterator[None]:
    """Turn the database errors that a person can do something about into `UserError`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        advice = _KNOWN.get(code)
        if advice is None:
            raise
        raise UserError(f"{path}: {error}. {advice}") from error
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Make sure that its folder exists and is yours.") from error


_KNOWN = {
    sqlite3.SQLITE_FULL: "Free some disk space and run the command again; nothing was lost.",
    sqlite3.SQLITE_BUSY: "Another program holds the file; close it and run the command again.",
    sqlite3.SQLITE_LOCKED: "Another program holds the file; close it and run the command again.",
    sqlite3.SQLITE_CORRUPT: "The file is damaged: put back a backup from the same folder, or remove it and sync.",
    sqlite3.SQLITE_NOTADB: "This is not a store of Tide: move the file away and sync again.",
    sqlite3.SQLITE_READONLY: "The file may not be written: make sure that it is yours.",
    sqlite3.SQLITE_CANTOPEN: "The file cannot be opened: make sure that its folder exists and is yours.",
    sqlite3.SQLITE_IOERR: "The disk failed to read or write: check the disk, then run the command again.",
}


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Migrations) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    newest = migrations[-1][0]
    if version // 1000 > newest // 1000:
        raise UserError(
            f"{path} was written by a newer Tide (version {version // 1000}, this one reads {newest // 1000})."
            " Update Tide."
        )
    existed = version > 0
    for target, statements in migrations:
        if target <= version:
            continue
        if existed:
            _back_up(connection, path.with_name(f"{path.name}.before-{target}"))
        with transaction(connection):
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found < target:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {target}")
        version = target


def _back_up(connection: sqlite3.Connection, path: Path) -> None:
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o600))
    copy = sqlite3.connect(new)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    new.replace(path)
