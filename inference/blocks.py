"""Blocks: what a view shows of each artifact, made and counted once, and what else a story must know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.reading import shown_texts
from workspace import Artifact, Kind, Profile

if TYPE_CHECKING:
    from workspace.store import Store


@dataclass(frozen=True, slots=True)
class Block:
    """`text` with its `tokens`, the line break after it counted in. `order` is time and id.

    `message` is equal for two copies of one artifact from two sources; `look` for two occurrences of a series
    that differ in their time alone, and None outside a series.
    """

    text: str
    tokens: int
    order: tuple[float, int]
    message: tuple[str, str]
    look: tuple[object, ...] | None


class Blocks:
    """The blocks of a store; one longer than `most` tokens is cut. Artifacts that are gone have none."""

    def __init__(
        self, store: Store, profile: Profile, count: Callable[[str], int], most: int, *, full_text: bool
    ) -> None:
        self._store = store
        self._profile = profile
        self._count = count
        self._most = most
        self._full_text = full_text
        self._blocks: dict[int, Block | None] = {}

    def load(self, artifacts: Iterable[int]) -> None:
        """Make the blocks of these artifacts, in one go."""
        missing = [artifact for artifact in dict.fromkeys(artifacts) if artifact not in self._blocks]
        if not missing:
            return
        texts = shown_texts(self._store, missing, self._profile, full_text=self._full_text)
        found = self._store.artifacts.get(missing)
        for artifact in missing:
            self._blocks[artifact] = self._block(found[artifact], texts[artifact]) if artifact in texts else None

    def get(self, artifact: int) -> Block | None:
        self.load((artifact,))
        return self._blocks[artifact]

    def __getitem__(self, artifact: int) -> Block:
        block = self.get(artifact)
        if block is None:
            raise KeyError(artifact)
        return block

    def _block(self, artifact: Artifact, text: str) -> Block:
        tokens = self._count(text + "\n")
        while tokens > self._most:
            text = text[: min(len(text) - 2, len(text) * self._most // tokens)].rstrip() + " …"
            tokens = self._count(text + "\n")
        moment = artifact.time or artifact.due
        return Block(
            text,
            tokens,
            (moment.timestamp() if moment else 0.0, artifact.id),
            _message(artifact),
            _look(artifact) if artifact.series else None,
        )


def _message(artifact: Artifact) -> tuple[str, str]:
    """A mail is known by its Message-ID, which is its key in every source; anything else by what it says."""
    if artifact.kind is Kind.EMAIL and "@" in artifact.key:
        return (artifact.kind.value, artifact.key)
    return (artifact.kind.value, artifact.digest)


def _look(artifact: Artifact) -> tuple[object, ...]:
    lasts = artifact.end - artifact.time if artifact.end and artifact.time else None
    said = (artifact.title, artifact.text, artifact.location, artifact.people)
    return (artifact.series, *said, artifact.cancelled, artifact.busy, lasts)
