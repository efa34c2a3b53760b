"""Blocks: what a view shows of each artifact, made and counted once, and what else a story must know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from inference.occurrences import Occurrences
from inference.reading import Shown, show
from workspace import Artifact, Kind, Profile

if TYPE_CHECKING:
    from workspace.store import Store


@dataclass(frozen=True, slots=True)
class Block:
    """What is shown of an artifact. `tokens` are those of its longest `text`, the line break after it counted in.

    `order` is time and id. `message` is equal for two copies of one artifact from two sources. `thread` is that
    of a dated mail, "" for anything else, and `later` how many mails of it were sent after this one.
    """

    shown: Shown
    tokens: int
    order: tuple[float, int]
    message: tuple[str, str]
    thread: str
    later: int

    def text(self, missing: int) -> str:
        """The block, told that `missing` of the later mails of its thread are not shown beside it."""
        return self.shown.text(_place(self.later, missing) if self.thread else "")


class Blocks:
    """The blocks of a store; one longer than `most` tokens is cut. Artifacts that are gone have none."""

    def __init__(
        self,
        store: Store,
        profile: Profile,
        now: datetime,
        count: Callable[[str], int],
        most: int,
        *,
        full_text: bool,
    ) -> None:
        self._store = store
        self._profile = profile
        self._count = count
        self._most = most
        self._full_text = full_text
        self._occurrences = Occurrences(store, profile, now)
        self._blocks: dict[int, Block | None] = {}
        self._stands_for: dict[int, int] = {}
        self._beside: dict[int, Sequence[int]] = {}

    def load(self, artifacts: Iterable[int]) -> None:
        """Make the blocks of these artifacts, in one go."""
        missing = [artifact for artifact in dict.fromkeys(artifacts) if artifact not in self._blocks]
        if not missing:
            return
        shown = show(self._store, missing, self._profile, full_text=self._full_text)
        found = self._store.artifacts.get(missing)
        later = self._store.ties.later_in_thread(missing)
        for artifact in missing:
            self._blocks[artifact] = (
                self._block(found[artifact], shown[artifact], later.get(artifact)) if artifact in shown else None
            )

    def get(self, artifact: int) -> Block | None:
        self.load((artifact,))
        return self._blocks[artifact]

    def __getitem__(self, artifact: int) -> Block:
        block = self.get(artifact)
        if block is None:
            raise KeyError(artifact)
        return block

    def stands_for(self, artifacts: Sequence[int]) -> dict[int, int]:
        """For each artifact the one that is shown for it: another where it is one of many alike in a series."""
        missing = [artifact for artifact in artifacts if artifact not in self._stands_for]
        for artifact, found in self._store.artifacts.get(missing).items():
            self._stands_for[artifact] = self._occurrences.stands_for(found)
            self._beside[artifact] = self._occurrences.ahead(found)
        return {artifact: self._stands_for.get(artifact, artifact) for artifact in artifacts}

    def ahead(self, artifact: int) -> Sequence[int]:
        """The occurrences of its series that are to come and are shown, the next one first."""
        self.stands_for((artifact,))
        return self._beside.get(artifact, ())

    def _block(self, artifact: Artifact, shown: Shown, later: int | None) -> Block:
        longest = "" if later is None else _place(later, later)
        tokens = self._count(shown.text(longest) + "\n")
        while tokens > self._most:
            shown = shown.shorter(self._most / tokens)
            tokens = self._count(shown.text(longest) + "\n")
        moment = artifact.time or artifact.due
        return Block(
            shown,
            tokens,
            (moment.timestamp() if moment else 0.0, artifact.id),
            _message(artifact),
            "" if later is None else artifact.thread,
            later or 0,
        )


def _place(later: int, missing: int) -> str:
    """Where a mail stands in its thread: what was asked in the last one has no answer there."""
    if not later:
        return "last in its thread"
    return f"{later} later in its thread" + (f", {missing} of them not shown" if missing else "")


def _message(artifact: Artifact) -> tuple[str, str]:
    """A mail is known by its Message-ID, which is its key in every source; anything else by what it says."""
    if artifact.kind is Kind.EMAIL and "@" in artifact.key:
        return (artifact.kind.value, artifact.key)
    return (artifact.kind.value, artifact.digest)
