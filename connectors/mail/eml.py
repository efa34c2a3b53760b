"""Mail in a folder of .eml files, and in the folders below it. An item is a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

from connectors.changes import Changes
from connectors.follow import Read, follow, refuse_empty
from connectors.mail.message import mailbox_of
from connectors.mail.workers import Piece, read_pieces
from connectors.surroundings import Surroundings
from connectors.tree import File, Tree, origin, present, walk
from workspace import Batch, Cursor, UserError


class EmlFolder:
    """The connector of a folder of .eml files."""

    def __init__(self, source: str, path: Path, surroundings: Surroundings) -> None:
        self.source = source
        self._path = path
        self._changes = Changes(path)
        self._mailbox = mailbox_of(source, surroundings)

    def sync(self, cursor: Cursor, *, allow_empty: bool = False) -> Iterable[Batch]:
        if not present(self._path, cursor, allow_empty=allow_empty, what="folder"):
            return follow(cursor, {}, lambda items: [])
        tree = self._tree()
        listing = tree.listing(sorted(tree.files.values(), key=lambda file: (-file.modified, file.item)), cursor)
        if not allow_empty:
            refuse_empty(listing, cursor, str(self._path))
        return follow(cursor, listing, lambda items: self._read(items, tree.files))

    def wait(self, stop: Event, seconds: float) -> bool:
        return self._changes.wait(stop, seconds)

    def check(self) -> str:
        present(self._path, {}, allow_empty=False, what="folder")
        return f"folder with {len(self._tree().files):,} .eml files"

    def _tree(self) -> Tree:
        if not self._path.is_dir():
            raise UserError(f"{self._path} is not a folder. Name the folder that holds the .eml files.")
        return walk(
            self._path,
            lambda name: name.lower().endswith(".eml") and not name.startswith("."),
            lambda name: not name.startswith("."),
            odd=True,
        )

    def _read(self, items: list[str], files: dict[str, File]) -> Iterator[Read]:
        pieces = (Piece(item, files[item].path, origin(files[item].path)) for item in items)
        return read_pieces(pieces, len(items), self._mailbox)
