"""Documents in a folder and the folders below it. An item is a file; its key is the path it was first seen at.

A file that is moved keeps its key, and with it all that is known of it: what is found at a new path with the
content of a file that is no more is that file.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from connectors.documents.formats import SUFFIXES, suffix_of
from connectors.follow import RECORD, Read, State, follow, refuse_empty
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, present, read_bytes, wait_for_change, walk, why
from workspace import Artifact, Batch, Cursor, Kind, Trust, UserError

MAX_FILE = 50 * 1024 * 1024


class DocumentFolder:
    """The connector of a folder of documents. Hidden files and links are left out, as are unknown types."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
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
        return wait_for_change(self._path, stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="folder")
        return f"folder with {len(self._tree().files):,} documents"

    def _tree(self) -> Tree:
        if not self._path.is_dir():
            raise UserError(f"{self._path} is not a folder. Name the folder that holds the documents.")
        return walk(
            self._path,
            lambda name: suffix_of(name) in SUFFIXES and not name.startswith((".", "~$")),
            lambda name: not name.startswith("."),
            odd=True,
        )

    def _read(self, items: list[str], files: dict[str, File], keys: "_Keys") -> Iterator[Read]:
        with Reader() as reader:
            for item in items:
                read = self._read_one(files[item], reader, keys)
                if read is not None:
                    yield read

    def _read_one(self, file: File, reader: Reader, keys: "_Keys") -> Read | None:
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
                self._taken.add(state.keys[0])
            elif state.note:
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
