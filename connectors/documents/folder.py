"""Documents in a folder and the folders below it. An item is a file; its key is the path it was first seen at.

A file that is moved keeps its key, and with it all that is known of it: what is found at a new path with the
content of a file that is no more is that file. Where there still is a file at a path, the key stays with the path.
Mail (.eml) is read as from any other source of mail, its key being that of the mail.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from connectors import ignoring
from connectors.changes import Changes
from connectors.documents.formats import SUFFIXES, suffix_of
from connectors.follow import RECORD, Read, State, follow, refuse_empty
from connectors.ignoring import IgnoreRules
from connectors.mail.message import mailbox_of, read_message
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, present, read_bytes, walk, why
from workspace import Artifact, Batch, Cursor, Kind, Trust, UserError

MAX_FILE = 50 * 1024 * 1024
_MAIL = ".eml"
# Beside hidden folders: what programs put there by the thousand, licences and manuals of others.
_OF_PROGRAMS = frozenset({"node_modules", "site-packages", "__pycache__"})


class DocumentFolder:
    """The connector of a folder of documents.

    Links, hidden files and unknown types are left out, and what `.gitignore` and `.tideignore` name.
    """

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path, lambda: self._found().folders, _counts)
        self._surroundings = surroundings

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="folder"):
            return follow(cursor, {}, lambda items: [])
        tree = self._tree()
        listing = tree.listing(sorted(tree.files.values(), key=lambda file: (-file.modified, file.item)), cursor)
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        keys = _Keys(cursor, listing)
        return follow(cursor, listing, lambda items: self._read(items, tree.files, keys))

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="folder")
        return f"folder with {len(self._tree().files):,} documents"

    def _tree(self) -> Tree:
        if not self._path.is_dir():
            raise UserError(f"{self._path} is not a folder. Name the folder that holds the documents.")
        return self._found()

    def _found(self) -> Tree:
        return walk(self._path, _wanted, _entered, odd=True, rules=IgnoreRules())

    def _read(self, items: list[str], files: dict[str, File], keys: "_Keys") -> Iterator[Read]:
        with Reader() as reader:
            for item in items:
                read = self._read_one(files[item], files, reader, keys)
                if read is not None:
                    yield read

    def _read_one(self, file: File, files: dict[str, File], reader: Reader, keys: "_Keys") -> Read | None:
        digest = text = ""
        defects: tuple[str, ...] = ()
        failed = False
        try:
            data = read_bytes(file.path, MAX_FILE + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            defects, failed = (why(error),), True
        else:
            digest = hashlib.sha256(data).hexdigest() if data else ""
            if len(data) > MAX_FILE:
                # What lies beyond the limit is not part of the digest, so the size has to be.
                digest = f"{digest}{file.size}"
                defects = (f"larger than {MAX_FILE // 2**20} MB; not read",)
            elif suffix_of(file.item) == _MAIL:
                return Read(file.item, self._mail(data, file, files, reader), note=digest)
            else:
                text, defects = reader.document(file.item, "", data) or ("", ())
        artifact = Artifact(
            source=self.source,
            key=keys.of(file.item, digest),
            kind=Kind.DOCUMENT,
            title=file.item,
            text=text,
            time=datetime.fromtimestamp(file.modified / 1e9, UTC),
            origin=file.origin,
            trust=Trust.SELF,
            defects=defects,
        )
        return Read(file.item, (artifact,), note=digest, failed=failed)

    def _mail(self, data: bytes, file: File, files: dict[str, File], reader: Reader) -> tuple[Artifact, ...]:
        mailbox = replace(mailbox_of(self.source, self._surroundings), documents=reader)
        artifacts = read_message(data, mailbox, origin=file.origin, name=file.item)
        if artifacts[0].key not in files:
            return artifacts
        # A mail may call itself what it likes, but it can't take the place of a document.
        return tuple(
            replace(one, key=f"./{one.key}", parent=f"./{one.parent}" if one.parent else "") for one in artifacts
        )


def _wanted(name: str) -> bool:
    return (suffix_of(name) in SUFFIXES or suffix_of(name) == _MAIL) and not name.startswith((".", "~$"))


def _entered(name: str) -> bool:
    return not name.startswith(".") and name not in _OF_PROGRAMS


def _counts(name: str) -> bool:
    """Whether a change of a file of this name may change what the folder holds."""
    return _wanted(name) or name in ignoring.FILES


class _Keys:
    """Which key a file has: its own from before, that of a vanished file with its content, or a new one."""

    def __init__(self, cursor: Cursor, listing: dict[str, str]) -> None:
        self._own: dict[str, str] = {}
        self._vanished: dict[str, list[str]] = {}
        self._taken: set[str] = set()
        for item, text in cursor.items():
            state = State.parse(text)
            if item.startswith(RECORD) or not state.keys:
                continue
            if item in listing:
                self._own[item] = state.keys[0]
                self._taken.update(state.keys)
            elif state.note and suffix_of(item) != _MAIL:
                self._vanished.setdefault(state.note, []).append(state.keys[0])

    def of(self, item: str, digest: str) -> str:
        key = self._own.get(item)
        if key is None:
            key = next((old for old in self._vanished.get(digest, ()) if old not in self._taken), None)
        if key is None:
            key, copy = item, 1
            while key in self._taken:
                copy += 1
                key = f"{item}~{copy}"
        self._own[item] = key
        self._taken.add(key)
        return key
