"""Cutting a workspace to what fits a small context: whole problems first, then what fits beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from inference.asking import guides_of
from inference.blocks import Blocks
from inference.evaluation.opened import Opened
from inference.models.contract import Message
from inference.options import Options
from inference.prompts import constant_part, plan
from templates import load_templates
from workspace import REFERENCES
from workspace.file import FileEmail, Problem, WorkspaceFile

if TYPE_CHECKING:
    from inference.models.contract import LanguageModel

SHARE = 0.85
"""How much of the room is filled; the rest is for observations."""


def fitted(opened: Opened, model: LanguageModel, options: Iterable[Options]) -> frozenset[str]:
    """The artifacts that every run of these options can show at once, as texts; all of them where they fit."""
    frame = model.count((Message("user", ""),))

    def count(text: str) -> int:
        return model.count((Message("user", text),)) - frame

    nonce = "0" * 16
    pool = load_templates()
    fixed = count(constant_part(opened.profile, (), opened.now, nonce)) + 2 * frame
    room = min(
        plan(
            model.context,
            fixed,
            guides_of(one, pool),
            count,
            story=one.view_tokens,
            most=one.new_per_round,
            whole=True,
        ).story
        for one in options
    )
    blocks = Blocks(opened.store, opened.profile, opened.now, count, room // 2, full_text=True)
    sizes = {name: _size(rows, blocks) for name, rows in opened.rows.items()}
    return kept(opened.file, sizes, int(room * SHARE))


def kept(file: WorkspaceFile, sizes: Mapping[str, int], room: int) -> frozenset[str]:
    """Artifacts of at most `room` tokens in all: those of one problem after the other, then the others by id."""
    chosen: set[str] = set()
    groups = [sorted(needed(problem)) for problem in file.problems]
    groups += [[item.id] for item in sorted(file.artifacts, key=lambda item: item.id)]
    for group in groups:
        new = [name for name in group if name not in chosen]
        size = sum(sizes[name] for name in new)
        if size <= room:
            chosen.update(new)
            room -= size
    return frozenset(chosen)


def cut(file: WorkspaceFile, names: frozenset[str]) -> WorkspaceFile:
    """The workspace with only these artifacts, and the problems of which nothing is missing."""
    artifacts = [
        item.model_copy(update={"attachments": tuple(name for name in item.attachments if name in names)})
        if isinstance(item, FileEmail)
        else item
        for item in file.artifacts
        if item.id in names
    ]
    return file.model_copy(
        update={
            "artifacts": tuple(artifacts),
            "problems": tuple(problem for problem in file.problems if needed(problem) <= names),
            "distractors": {name: how for name, how in file.distractors.items() if name in names},
            "notes": {name: line for name, line in file.notes.items() if name in names},
        }
    )


def needed(problem: Problem) -> set[str]:
    """The artifacts that show a problem, and those that its resolutions are done to."""
    resolutions = (problem.resolution, *problem.resolution.also_accept)
    referred = {str(one.parameters[name]) for one in resolutions for name in REFERENCES if name in one.parameters}
    return referred | set(problem.evidence)


def _size(rows: Sequence[int], blocks: Blocks) -> int:
    """The tokens of what is shown of an artifact; occurrences of a series that are alike are shown once."""
    shown = [blocks.get(row) for row in dict.fromkeys(blocks.stands_for(rows).values())]
    return sum(block.tokens for block in shown if block is not None)
