"""The notes of a workspace by the model that is evaluated: each artifact is read once, whatever is then compared.

They are kept beside the results, by the digest of what was read, so that neither another strategy nor another seed
has it read again. What the reading cost is kept with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from inference.evaluation.opened import Opened
from inference.models.overheard import Overheard
from inference.reading import PROMPT_VERSION, read_artifacts
from workspace import Note, write_private
from workspace.store import Reading

if TYPE_CHECKING:
    from inference.models.contract import LanguageModel, Reply

Progress = Callable[[str, int, int], None]


class Cost(BaseModel):
    """Calls of a model and their tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.prompt_tokens += reply.prompt_tokens
        self.cached_tokens += reply.cached_tokens
        self.output_tokens += reply.output_tokens


class _Kept(BaseModel):
    """`notes` by the digest of the artifact; none where no note can be made of it."""

    notes: dict[str, list[Note]] = Field(default_factory=dict)
    cost: Cost = Field(default_factory=Cost)


def note(opened: Opened, model: LanguageModel, folder: Path, on_progress: Progress) -> Cost:
    """Give every artifact its note, reading what was not read before; returns what all the reading has cost.

    Raises:
        UserError: if the model cannot be reached.
    """
    which = f"{PROMPT_VERSION} {model.name} {opened.file.id}"
    path = folder / f"{opened.file.id}-{hashlib.sha256(which.encode()).hexdigest()[:12]}.json"
    kept = _Kept.model_validate_json(path.read_text("utf-8")) if path.is_file() else _Kept()
    held = {artifact.id: artifact.digest for artifact in opened.store.artifacts.all()}
    for row, digest in held.items():
        if digest not in kept.notes:
            continue
        if notes := kept.notes[digest]:
            readings = [Reading(row, n, model.name, PROMPT_VERSION, digest, one) for n, one in enumerate(notes)]
            opened.store.readings.put_notes(row, readings)
        else:
            opened.store.readings.leave_unread(row, PROMPT_VERSION, digest)
    metered = Overheard(model, lambda request, reply: kept.cost.add(reply))
    try:
        read_artifacts(opened.store, metered, opened.profile, opened.now, on_progress)
    finally:
        unread = set(opened.store.readings.unread(PROMPT_VERSION))
        made = opened.store.readings.notes(list(held))
        for row, digest in held.items():
            if row not in unread:
                kept.notes[digest] = [reading.note for reading in made.get(row, ())]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, json.dumps(kept.model_dump(mode="json"), sort_keys=True))
    return kept.cost
