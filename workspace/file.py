"""The workspace file, format `tide-workspace/1`: one person's workspace at one moment, with its hidden problems.

The evaluation reads such files, and `connectors.export` writes one out as real mail, calendar and document
files. Everything is checked on reading: unknown keys, ids that occur twice, references that lead nowhere and
times that carry a zone are refused. All times are local, without a zone, and are read in `timezone`.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from email.utils import parseaddr
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from workspace.action import ACTIONS, REFERENCES
from workspace.errors import UserError
from workspace.profile import Zone


def read_workspace(path: Path) -> "WorkspaceFile":
    """Read and check a workspace file.

    Raises:
        UserError: naming the file and the first place in it that is wrong.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_without_repeats)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Name a workspace file that can be read.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: {error}. Correct the JSON.") from error
    try:
        return WorkspaceFile.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = _place(first["loc"], content)
        reason = first["msg"].removeprefix("Value error, ").rstrip(".")
        message = f"{place}: {reason}" if place else reason
        raise UserError(f"{path}: {message}. Correct the file.") from error


def _moment(value: Any) -> datetime:
    """Local time as the format writes it; a number, a bare date or a zone would be read as another moment."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return value
    if not isinstance(value, str) or not re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", value):
        raise ValueError(f"{value!r} is not a time; write it like 2026-03-16T08:30")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"{value!r} is not a time; write it like 2026-03-16T08:30") from error
    if moment.tzinfo is not None:
        raise ValueError(f"{value!r} carries a zone; times are local and written without one")
    return moment


def _mailbox(text: str) -> str:
    if "@" not in parseaddr(text)[1]:
        raise ValueError(f"{text!r} is not an address; write it like Name <name@example.org>")
    return text


def _inside(path: str) -> str:
    pure = PurePosixPath(path)
    if not pure.name or pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path:
        raise ValueError(f"{path!r} is not a relative path inside the workspace")
    return path


Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Rule = Annotated[str, StringConstraints(pattern=r"^FREQ=[A-Z]+(;[A-Z]+=[A-Z0-9,+-]+)*$")]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Mailbox = Annotated[str, AfterValidator(_mailbox)]
Phrases = Annotated[tuple[str, ...], Field(min_length=1)]
Strategy = Literal[
    "proposal-dismissal",
    "outdated",
    "awaiting-approval",
    "unaddressable",
    "resolved-but-mentioned",
    "false-positive-similarity",
    "delegation-complete",
    "contingency-planning",
    "historical-reference",
    "scope-mismatch",
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class FilePersona(_Part):
    name: str
    email: Mailbox
    occupation: str
    about: str


class FileOrganization(_Part):
    name: str
    department: str
    reports_to: str


class FileRelationship(_Part):
    name: str
    email: Mailbox
    relation: str
    context: str


class FileWorldModel(_Part):
    organization: FileOrganization
    relationships: tuple[FileRelationship, ...]
    priorities: tuple[str, ...]


class FileEmail(_Part):
    """A mail; `body` is its whole plain text, what it quotes included. `attachments` are ids of documents."""

    id: Id
    kind: Literal["email"]
    thread: str
    sender: Mailbox = Field(alias="from")
    to: tuple[Mailbox, ...]
    cc: tuple[Mailbox, ...] = ()
    sent: Moment
    subject: str
    body: str
    attachments: tuple[Id, ...] = ()
    folder: Literal["inbox", "sent"]


class FileAttendee(_Part):
    email: Mailbox
    status: Literal["accepted", "declined", "tentative", "needs-action"]


class FileEvent(_Part):
    """An event, or the first of a series where `recurrence` is an RRULE (its UNTIL is local, as all times).

    An all-day event starts and ends at 00:00, its end exclusive; an end at 23:59 becomes the midnight after it.
    """

    id: Id
    kind: Literal["event"]
    title: str
    all_day: bool = False
    start: Moment
    end: Moment
    location: str = ""
    organizer: Mailbox
    attendees: tuple[FileAttendee, ...] = ()
    description: str = ""
    recurrence: Rule | None = None
    cancelled: bool = False

    @field_validator("end")
    @classmethod
    def _exclusive(cls, end: datetime, info: ValidationInfo) -> datetime:
        if info.data.get("all_day") and end.time() >= time(23, 59):
            return datetime.combine(end.date() + timedelta(days=1), time())
        return end

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError("the event ends before it starts")
        if self.all_day and (self.start.time() != time() or self.end.time() != time()):
            raise ValueError("an all-day event starts and ends at 00:00")
        return self

    @property
    def busy(self) -> bool:
        """Whether its time counts as taken: not so where the description says "Shown as free"."""
        return "shown as free" not in self.description.lower()


class FileDocument(_Part):
    """A document; `text` has a line a row, its cells between bars or commas, where it holds a table."""

    id: Id
    kind: Literal["document"]
    path: Annotated[str, AfterValidator(_inside)]
    modified: Moment
    text: str


class FileTask(_Part):
    id: Id
    kind: Literal["task"]
    title: str
    due: Moment | None
    status: Literal["open", "done"]
    notes: str = ""


FileArtifact = Annotated[FileEmail | FileEvent | FileDocument | FileTask, Field(discriminator="kind")]


class Facts(_Part):
    """What a finding must say to name the problem: of each list, one phrase must be expressed."""

    who_is_blocked: Phrases
    blocker: Phrases
    task: Phrases
    root_cause: Phrases
    deadline: Phrases


class Resolution(_Part):
    """An action that resolves the problem, with those of its parameters that must be right."""

    function_name: str
    parameters: dict[str, str | int | tuple[str, ...]]

    @model_validator(mode="after")
    def _in_catalogue(self) -> Self:
        action = ACTIONS.get(self.function_name)
        if action is None:
            raise ValueError(f"there is no action {self.function_name!r}")
        if unknown := sorted(set(self.parameters) - set(action.model_fields)):
            raise ValueError(f"{self.function_name} has no parameter {unknown[0]!r}")
        return self


class GoldResolution(Resolution):
    also_accept: tuple[Resolution, ...] = ()


class Problem(_Part):
    """A hidden problem; `evidence` are ids of the artifacts that are needed to see it."""

    id: Id
    description: str
    facts: Facts
    evidence: Annotated[tuple[Id, ...], Field(min_length=1)]
    resolution: GoldResolution


class WorkspaceFile(_Part):
    """A whole workspace file; every id in it is unique, and every reference leads to an artifact."""

    format: Literal["tide-workspace/1"]
    id: Slug
    language: str
    now: Moment
    timezone: Zone
    persona: FilePersona
    world_model: FileWorldModel
    artifacts: tuple[FileArtifact, ...]
    problems: tuple[Problem, ...]
    distractors: dict[str, Strategy]
    notes: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for complaint in self._complaints():
            raise ValueError(complaint)
        return self

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def _complaints(self) -> Iterator[str]:
        kinds: dict[str, str] = {}
        paths: set[str] = set()
        for number, artifact in enumerate(self.artifacts):
            if artifact.id in kinds:
                yield f"artifacts[{number}].id: {artifact.id!r} occurs twice"
            kinds[artifact.id] = artifact.kind
            if isinstance(artifact, FileDocument):
                if artifact.path.casefold() in paths:
                    yield f"artifacts[{number}] ({artifact.id}).path: {artifact.path!r} occurs twice"
                paths.add(artifact.path.casefold())
        for number, artifact in enumerate(self.artifacts):
            for name in artifact.attachments if isinstance(artifact, FileEmail) else ():
                if kinds.get(name) != "document":
                    yield f"artifacts[{number}] ({artifact.id}).attachments: there is no document {name!r}"
        seen: set[str] = set()
        for number, problem in enumerate(self.problems):
            place = f"problems[{number}] ({problem.id})"
            if problem.id in seen:
                yield f"problems[{number}].id: {problem.id!r} occurs twice"
            seen.add(problem.id)
            if len(set(problem.evidence)) < len(problem.evidence):
                yield f"{place}.evidence: an artifact occurs twice"
            for name in problem.evidence:
                if name not in kinds:
                    yield f"{place}.evidence: there is no artifact {name!r}"
            for resolution in (problem.resolution, *problem.resolution.also_accept):
                for parameter in REFERENCES.keys() & resolution.parameters.keys():
                    name = str(resolution.parameters[parameter])
                    if kinds.get(name) != REFERENCES[parameter]:
                        yield f"{place}.resolution: {parameter}: there is no {REFERENCES[parameter]} {name!r}"
        for key, names in (("distractors", self.distractors), ("notes", self.notes)):
            for name in names:
                if name not in kinds:
                    yield f"{key}: there is no artifact {name!r}"
        for name, note in self.notes.items():
            if len(note.split()) > NOTE_WORDS:
                yield f"notes.{name}: {len(note.split())} words, at most {NOTE_WORDS} are allowed"


NOTE_WORDS = 45


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a key occur twice and keeps the last; here the first would be lost unseen."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the key {name!r} occurs twice in one object")
        made[name] = value
    return made


def _place(location: tuple[int | str, ...], content: Any) -> str:
    """Where in the file an error is, like `artifacts[3] (a004).sent`."""
    place = ""
    here = content
    for step in location:
        if isinstance(step, int):
            place += f"[{step}]"
            here = here[step] if isinstance(here, list) and step < len(here) else None
            if isinstance(here, dict) and isinstance(here.get("id"), str):
                place += f" ({here['id']})"
        elif not (isinstance(here, dict) and here.get("kind") == step):
            # pydantic names the kind of an artifact as a step of its own, which the file does not have.
            place += f".{step}" if place else step
            here = here.get(step) if isinstance(here, dict) else None
    return place
