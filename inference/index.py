"""The index: what each artifact says as vectors and marks in the store, and FAISS over the vectors as a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from inference.embedding import Embedder
    from workspace.store import Store

Progress = Callable[[str, int, int], None]


def index_artifacts(
    store: Store, embedder: Embedder, on_progress: Progress = lambda step, done, total: None
) -> int:
    """Embed what is new or changed, batch by batch, and drop what is stale; return how many artifacts were done.

    Run again after a kill, it goes on where it was.
    """
    raise NotImplementedError


class VectorIndex:
    """Exact nearest neighbours by cosine over all vectors of one embedder."""

    @classmethod
    def open(cls, store: Store, embedder_name: str, dimensions: int, folder: Path) -> VectorIndex:
        """The index, brought up to the store; its file in `folder` (0600) is a cache and rebuilt when unfit."""
        raise NotImplementedError

    def search(
        self, vectors: npt.NDArray[np.float32], k: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """For each of the (n, d) normalised vectors, the k nearest artifacts, best first.

        Returns cosines and artifact ids, both (n, k); each artifact once; missing ones are -1 with cosine -1.
        """
        raise NotImplementedError

    def vectors_of(self, artifacts: Sequence[int]) -> dict[int, npt.NDArray[np.float32]]:
        """The (parts, d) vectors of each of these artifacts that has any."""
        raise NotImplementedError
