"""Solved cases: small true-to-life stories of one problem, found, named and resolved.

A case is what a template is distilled from. It stands in `cases/<id>.json` of a pool; its artifacts have the
form of the workspace file `tide-workspace/1`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from templates.lines import first_error, json_line, read_text, refusal
from workspace import ACTIONS, REFERENCES, Action, Persona, UserError
from workspace.file import FileArtifact, Moment
from workspace.profile import Zone

POOL = Path(__file__).parent

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=40)]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=1200)]


class SolvedCase(BaseModel):
    """One problem, solved.

    `now` is the moment at which it was found, local and naive in `timezone`. `found` tells how, naming each
    artifact by its id; `named` puts the trouble as a class; `resolved` is the action that was taken.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Slug
    persona: Persona
    now: Moment
    timezone: Zone
    problem: Prose
    artifacts: Annotated[tuple[FileArtifact, ...], Field(min_length=2, max_length=8)]
    found: Prose
    named: Prose
    resolved: Action


def load_cases(folder: Path | None = None) -> tuple[SolvedCase, ...]:
    """The solved cases of a pool, sorted by id; those that come with Tide where no folder is given.

    A pool is a folder with `workspace/*.toml` (templates) and `cases/*.json`.

    Raises:
        UserError: naming the file and the line that is wrong.
    """
    return tuple(read_case(path) for path in sorted(((folder or POOL) / "cases").glob("*.json")))


def read_case(path: Path) -> SolvedCase:
    """One file of a solved case.

    Raises:
        UserError: naming the file and the line that is wrong.
    """
    text = read_text(path)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise refusal(path, error.lineno, error.msg) from error
    except (ValueError, RecursionError) as error:
        raise refusal(path, 1, "a number is too long, or lists are too deep") from error
    try:
        case = SolvedCase.model_validate(data)
    except ValidationError as error:
        place, what = first_error(error)
        raise refusal(path, json_line(text, place), what) from error
    for place, what in faults(case, path.stem):
        raise refusal(path, json_line(text, place), what)
    return case


def faults(case: SolvedCase, stem: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong with a case although each value by itself is well-formed, with its place."""
    if case.id != stem:
        yield ("id",), f"id {case.id!r} is not the name of the file"
    kinds: dict[str, str] = {}
    for index, artifact in enumerate(case.artifacts):
        if artifact.id in kinds:
            yield ("artifacts", index, "id"), f"a second artifact has the id {artifact.id!r}"
        kinds[artifact.id] = artifact.kind
    for index, artifact in enumerate(case.artifacts):
        if artifact.kind == "email" and any(kinds.get(label) != "document" for label in artifact.attachments):
            yield ("artifacts", index, "attachments"), "an attachment is no document of this case"
    if case.resolved.function_name not in ACTIONS:
        yield ("resolved", "function_name"), f"unknown action {case.resolved.function_name!r}"
        return
    try:
        case.resolved.typed()
    except UserError as error:
        yield (
            ("resolved", "parameters"),
            str(error).removesuffix(" Correct this parameter.").removesuffix("."),
        )
    yield from _wrong_references(case.resolved.parameters, kinds)


def _wrong_references(
    parameters: dict[str, Any], kinds: dict[str, str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for name, kind in REFERENCES.items():
        if name in parameters and kinds.get(parameters[name]) != kind:
            yield ("resolved", "parameters", name), f"{parameters[name]!r} is no {kind} of this case"
