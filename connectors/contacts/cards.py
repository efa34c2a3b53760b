"""An address book in a .vcf file, or in a folder of them (vdir). An item is a file, which may hold many cards.

A card that does not tell when it was revised has the time of its file only where the file holds it alone: an
export of thousands is written anew as a whole, and would make every card look changed.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from connectors.changes import Changes
from connectors.follow import Read, follow, refuse_empty
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, present, read_bytes, safe, walk, why
from workspace import Artifact, Batch, Cursor, Kind, Trust, UserError

MAX_FILE = 100 * 1024 * 1024  # most of a large one are photos, which are passed over
MAX_CARDS = 50_000


class Cards:
    """The connector of a .vcf file or a folder of them."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path)

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="address book"):
            return follow(cursor, {}, lambda items: [])
        tree = self._tree()
        listing = tree.listing(sorted(tree.files.values(), key=lambda file: file.item), cursor)
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        return follow(cursor, listing, lambda items: self._read(items, tree.files))

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        from connectors.contacts.vcard import count_cards

        present(self._path, {}, allow_empty=False, what="address book")
        files = self._tree().files
        cards = 0
        for file in files.values():
            try:
                cards += count_cards(read_bytes(file.path, MAX_FILE))
            except OSError:
                continue
        if not cards:
            raise UserError(f"{self._path} holds no contacts. Name a .vcf file, or a folder of .vcf files.")
        contacts = "1 contact" if cards == 1 else f"{cards:,} contacts"
        return f"address book with {contacts}" + (f" in {len(files):,} files" if len(files) > 1 else "")

    def _tree(self) -> Tree:
        if self._path.is_dir():
            return walk(
                self._path,
                lambda name: name.lower().endswith((".vcf", ".vcard")) and not name.startswith("."),
                lambda name: not name.startswith("."),
                odd=True,
            )
        if not self._path.is_file():
            raise UserError(f"{self._path} is neither a file nor a folder. Check the path.")
        status = self._path.stat()
        item = safe(self._path.name)
        file = File(item, os.fspath(self._path), status.st_size, status.st_mtime_ns)
        return Tree({item: file} if status.st_size else {})

    def _read(self, items: list[str], files: dict[str, File]) -> Iterator[Read]:
        for item in items:
            file = files[item]
            try:
                data = read_bytes(file.path, MAX_FILE + 1)
            except FileNotFoundError:
                continue
            except OSError as error:
                yield Read(item, (self._unreadable(file, why(error)),), failed=True)
                continue
            if len(data) > MAX_FILE:
                defect = f"larger than {MAX_FILE // 2**20} MB; not read"
                yield Read(item, (self._unreadable(file, defect),))
            else:
                yield Read(item, tuple(self._artifacts(file, data)))

    def _artifacts(self, file: File, data: bytes) -> Iterator[Artifact]:
        from connectors.contacts.entry import WANTED, artifact_of
        from connectors.contacts.vcard import count_cards, read_cards

        alone = count_cards(data) == 1
        modified = datetime.fromtimestamp(file.modified / 1e9, UTC) if alone else None
        number = 0
        for number, card in enumerate(read_cards(data, WANTED), start=1):
            if number > MAX_CARDS:
                yield self._unreadable(file, f"more than {MAX_CARDS:,} cards; the rest not read")
                return
            yield artifact_of(card, self.source, file.origin, modified)
        if not number and data.strip():
            yield self._unreadable(file, "holds no card")

    def _unreadable(self, file: File, defect: str) -> Artifact:
        return Artifact(
            self.source,
            f"unread:{file.item}",
            Kind.DOCUMENT,
            file.item.rpartition("/")[2],
            origin=file.origin,
            trust=Trust.SELF,
            defects=(defect,),
        )
