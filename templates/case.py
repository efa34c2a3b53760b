"""Solved cases: small true-to-life stories of one problem, found, named and resolved.

A case is what a template is distilled from. It stands in `cases/<id>.json` of a pool; its artifacts have the
form of the workspace file `tide-workspace/1`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NaiveDatetime,
    StringConstraints,
    ValidationError,
    field_validator,
)

from templates.lines import first_error, json_line, read_text, refusal
from workspace import ACTIONS, REFERENCES, Action, Persona, UserError

POOL = Path(__file__).parent

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=40)]
Label = Annotated[str, StringConstraints(pattern=r"^a[0-9]{1,9}$")]
Prose = Annotated[str, StringConstraints(min_length=1, max_length=1200)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Email(_Value):
    id: Label
    kind: Literal["email"]
    thread: str
    sender: Annotated[str, Field(alias="from")]
    to: tuple[str, ...]
    cc: tuple[str, ...]
    sent: NaiveDatetime
    subject: str
    body: str
    attachments: tuple[Label, ...]
    folder: Literal["inbox", "sent"]


class Attendee(_Value):
    email: str
    status: Literal["accepted", "declined", "tentative", "needs-action"]


class Event(_Value):
    id: Label
    kind: Literal["event"]
    title: str
    start: NaiveDatetime
    end: NaiveDatetime
    all_day: bool
    location: str
    organizer: str
    attendees: tuple[Attendee, ...]
    description: str
    recurrence: str | None
    cancelled: bool


class Document(_Value):
    id: Label
    kind: Literal["document"]
    path: str
    modified: NaiveDatetime
    text: str


class Task(_Value):
    id: Label
    kind: Literal["task"]
    title: str
    due: NaiveDatetime | None
    status: Literal["open", "done"]
    notes: str


CaseArtifact = Annotated[Email | Event | Document | Task, Field(discriminator="kind")]


class SolvedCase(_Value):
    """One problem, solved.

    `now` is the moment at which it was found, local and naive in `timezone`. `found` tells how, naming each
    artifact by its id; `named` puts the trouble as a class; `resolved` is the action that was taken.
    """

    id: Slug
    persona: Persona
    now: NaiveDatetime
    timezone: str
    problem: Prose
    artifacts: Annotated[tuple[CaseArtifact, ...], Field(min_length=2, max_length=8)]
    found: Prose
    named: Prose
    resolved: Action

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"unknown time zone {name!r}") from error
        return name


def load_cases(folder: Path | None = None) -> tuple[SolvedCase, ...]:
    """The solved cases of a pool, sorted by id; those that come with Tide where no folder is given.

    A pool is a folder with `workspace/*.toml` (templates) and `cases/*.json`.

    Raises:
        UserError: naming the file and the line that is wrong.
    """
    return tuple(_read_case(path) for path in sorted(((folder or POOL) / "cases").glob("*.json")))


def _read_case(path: Path) -> SolvedCase:
    text = read_text(path)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise refusal(path, error.lineno, error.msg) from error
    try:
        case = SolvedCase.model_validate(data)
    except ValidationError as error:
        place, what = first_error(error)
        raise refusal(path, json_line(text, place), what) from error
    for place, what in _faults(case, path.stem):
        raise refusal(path, json_line(text, place), what)
    return case


def _faults(case: SolvedCase, stem: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
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
