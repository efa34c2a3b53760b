"""The index: what each artifact says as vectors and marks in the store, and FAISS over the vectors as a cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from inference.foreign import visible
from inference.marks import marks_of
from inference.reading.sections import MOST_SECTIONS

if TYPE_CHECKING:
    import numpy.typing as npt

    from inference.embedding import Embedder
    from workspace import Artifact, Note
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""

UTC = ZoneInfo("UTC")

PASSAGE_WORDS = 200
MOST_PARTS = 8
"""Passages of one artifact without a note that are embedded at most; of notes, all sections are."""

BATCH = 128
"""Artifacts that are embedded and committed together; what a kill loses at most."""


def index_artifacts(
    store: Store,
    embedder: Embedder,
    on_progress: Progress = lambda step, done, total: None,
    *,
    zone: ZoneInfo = UTC,
) -> int:
    """Embed and mark what is new or changed, newest first; return how many artifacts that were.

    Texts that are as before keep their vectors, vectors of texts that are no more go. Every batch is
    committed, so that a run after a kill goes on where it was. `zone` is the person's, for the days of events.
    """
    stale = store.ties.stale(embedder.name)
    if not stale:
        return 0
    known = store.readings.vector_digests(embedder.name)
    ids = list(stale)
    for start in range(0, len(ids), BATCH):
        on_progress("index", start, len(ids))
        _index_batch(store, embedder, zone, {i: stale[i] for i in ids[start : start + BATCH]}, known)
    on_progress("index", len(ids), len(ids))
    return len(ids)


def parts_of(artifact: Artifact, notes: Sequence[Note]) -> list[str]:
    """The texts by which an artifact is found: the note of each section, else at most `MOST_PARTS` passages."""
    if notes:
        said = [_said(note) for note in notes]
        return [f"{artifact.title}. {text}" if number == 0 else text for number, text in enumerate(said)]
    passages = list(_passages(visible(artifact.text)))
    first = f"{artifact.title}. {passages[0]}" if passages else artifact.title
    return [part for part in [first.strip(), *passages[1:MOST_PARTS]] if part]


class VectorIndex:
    """Exact nearest neighbours by cosine over all vectors of one embedder.

    Rows lie in FAISS in ascending order of their ids, which are the row ids of the store.
    """

    def __init__(self, index: Any, rows: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]) -> None:
        self._index = index
        self._rows = rows
        self._owners = owners
        self._by_owner = np.argsort(owners, kind="stable")
        self._sorted_owners = owners[self._by_owner]

    @classmethod
    def open(cls, store: Store, embedder_name: str, dimensions: int, folder: Path) -> VectorIndex:
        """The index, brought up to the store; its file in `folder` (0600) is a cache and rebuilt when unfit."""
        path = folder / f"{hashlib.sha256(embedder_name.encode()).hexdigest()[:16]}.faiss"
        pairs = np.array(store.readings.vector_owners(embedder_name), dtype=np.int64).reshape(-1, 2)
        index = _load(path, dimensions)
        changed = _bring_up(index, store, embedder_name, pairs[:, 0], dimensions)
        if changed is None:
            index = _empty(dimensions)
            changed = _bring_up(index, store, embedder_name, pairs[:, 0], dimensions)
        if changed:
            _save(index, path)
        return cls(index, pairs[:, 0], pairs[:, 1])

    def __len__(self) -> int:
        return len(self._rows)

    def search(
        self, vectors: npt.NDArray[np.float32], k: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """For each of the (n, d) normalised vectors, the k nearest artifacts, best first.

        Returns cosines and artifact ids, both (n, k); each artifact once; missing ones are -1 with cosine -1.
        """
        scores = np.full((len(vectors), k), -1.0, dtype=np.float32)
        artifacts = np.full((len(vectors), k), -1, dtype=np.int64)
        wanted = min(len(self._rows), 2 * k)
        while wanted and len(vectors):
            found, rows = self._index.search(np.ascontiguousarray(vectors, dtype=np.float32), wanted)
            owners = self._owners[np.searchsorted(self._rows, rows)]
            enough = True
            for number in range(len(vectors)):
                _, first = np.unique(owners[number], return_index=True)
                first = np.sort(first)[:k]
                enough &= len(first) == k or wanted == len(self._rows)
                scores[number, : len(first)] = found[number, first]
                artifacts[number, : len(first)] = owners[number, first]
            if enough:
                break
            wanted = min(len(self._rows), 4 * wanted)
        return scores, artifacts

    def vectors_of(self, artifacts: Sequence[int]) -> dict[int, npt.NDArray[np.float32]]:
        """The (parts, d) vectors of each of these artifacts that has any."""
        import faiss

        flat = faiss.downcast_index(self._index.index)
        found: dict[int, npt.NDArray[np.float32]] = {}
        begins = np.searchsorted(self._sorted_owners, artifacts, side="left")
        ends = np.searchsorted(self._sorted_owners, artifacts, side="right")
        for artifact, begin, end in zip(artifacts, begins, ends, strict=True):
            if begin < end:
                positions = np.sort(self._by_owner[begin:end])
                found[artifact] = np.stack([flat.reconstruct(int(position)) for position in positions])
        return found


def drop_cache(folder: Path) -> None:
    """Remove the files of `VectorIndex.open`, which hold vectors of all that was ever indexed there."""
    for file in (*folder.glob("*.faiss"), *folder.glob("*.new")):
        file.unlink()


def _index_batch(
    store: Store,
    embedder: Embedder,
    zone: ZoneInfo,
    states: dict[int, str],
    known: dict[tuple[int, int], str],
) -> None:
    from workspace.store import Marked, Vector

    artifacts = store.artifacts.get(list(states))
    readings = store.readings.notes(list(states))
    notes = {i: [reading.note for reading in readings.get(i, [])] for i in artifacts}
    parts = {
        (i, number): text
        for i, artifact in artifacts.items()
        for number, text in enumerate(parts_of(artifact, notes[i]))
    }
    digests = {place: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for place, text in parts.items()}
    new = [place for place in parts if known.get(place) != digests[place]]
    if new:
        data = embedder.embed([parts[place] for place in new]).astype("<f4")
        store.readings.put_vectors(
            [
                Vector(artifact, part, embedder.name, digests[artifact, part], vector.tobytes())
                for (artifact, part), vector in zip(new, data, strict=True)
            ]
        )
    most = max(MOST_PARTS, MOST_SECTIONS)
    store.readings.drop_vectors([(i, n) for i in artifacts for n in range(most) if (i, n) not in parts])
    store.ties.put(Marked(i, states[i], marks_of(artifact, notes[i], zone)) for i, artifact in artifacts.items())


def _said(note: Note) -> str:
    owed = [f"{item.who}: {item.what} {item.by}".strip() for item in note.commitments]
    return " ".join([note.line, *(f"{fact}." for fact in [*owed, *note.states, *note.rules, *note.absences])])


def _passages(text: str) -> Iterator[str]:
    """Passages of about `PASSAGE_WORDS` words; where a script has no spaces, of six characters for a word."""
    passage: list[str] = []
    size = 0
    for word in text.split():
        for begin in range(0, len(word), _LONGEST_WORD):
            piece = word[begin : begin + _LONGEST_WORD]
            passage.append(piece)
            size += 1 + len(piece) // _LONG_WORD
            if size >= PASSAGE_WORDS:
                yield " ".join(passage)
                passage, size = [], 0
    if passage:
        yield " ".join(passage)


def _bring_up(
    index: Any, store: Store, embedder: str, rows: npt.NDArray[np.int64], dimensions: int
) -> bool | None:
    """Remove and add what makes the index hold exactly these rows; whether it changed, None if it cannot be."""
    import faiss

    held = faiss.vector_to_array(index.id_map).astype(np.int64)
    gone = held[~np.isin(held, rows)]
    if len(gone):
        index.remove_ids(gone)
        held = held[np.isin(held, rows)]
    newest = int(held[-1]) if len(held) else 0
    if not np.array_equal(held, rows[rows <= newest]) or not _same_vectors(index, store, embedder, held):
        return None
    added = len(gone) > 0
    ids: list[int] = []
    data: list[bytes] = []

    def add() -> None:
        vectors = np.frombuffer(b"".join(data), dtype="<f4").reshape(len(ids), dimensions)
        index.add_with_ids(np.ascontiguousarray(vectors, dtype=np.float32), np.array(ids, dtype=np.int64))

    for vector in store.readings.vectors(embedder, after=newest):
        ids.append(vector.id)
        data.append(vector.data)
        if len(ids) == _CHUNK:
            add()
            ids, data, added = [], [], True
    if ids:
        add()
        added = True
    return added


def _same_vectors(index: Any, store: Store, embedder: str, held: npt.NDArray[np.int64]) -> bool:
    """Whether a few rows hold what the store holds: the file may be that of a store since replaced."""
    for row in held[:: max(1, len(held) // _PROBES)]:
        vector = next(store.readings.vectors(embedder, after=int(row) - 1))
        if vector.data != index.reconstruct(int(row)).astype("<f4").tobytes():
            return False
    return True


def _empty(dimensions: int) -> Any:
    import faiss

    return faiss.IndexIDMap2(faiss.IndexFlatIP(dimensions))


def _load(path: Path, dimensions: int) -> Any:
    """The index in the file; an empty one where there is no file or not the right thing in it."""
    import faiss

    try:
        index: Any = faiss.read_index(str(path))
    except (RuntimeError, MemoryError):
        return _empty(dimensions)
    sound = isinstance(index, faiss.IndexIDMap2) and index.d == dimensions
    sound = sound and isinstance(faiss.downcast_index(index.index), faiss.IndexFlatIP)
    sound = sound and index.ntotal == index.id_map.size()
    return index if sound else _empty(dimensions)


def _save(index: Any, path: Path) -> None:
    import faiss

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o600))
    faiss.write_index(index, str(new))
    new.replace(path)


_LONG_WORD = 20
_LONGEST_WORD = 120
_CHUNK = 20_000
_PROBES = 16
