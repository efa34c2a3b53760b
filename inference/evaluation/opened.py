"""A workspace file in a store, brought in as real files are, and which row is which of its artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from workspace import Profile
from workspace.file import WorkspaceFile

if TYPE_CHECKING:
    from workspace.store import Store


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace file and the store that holds it.

    `now` is aware. `rows` maps the id of an artifact in the file to the rows of the store: a recurring event has
    one for each occurrence, a document that hangs on several mails one for each, and what no connector brought in
    none.
    """

    file: WorkspaceFile
    store: Store
    profile: Profile
    now: datetime
    rows: Mapping[str, tuple[int, ...]]
    _artifacts: dict[int, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = {row: name for name, rows in self.rows.items() for row in rows}
        object.__setattr__(self, "_artifacts", names)

    def artifact_of(self, row: int) -> str | None:
        """The id in the file of what this row of the store holds; None for a row that is in no file."""
        return self._artifacts.get(row)
