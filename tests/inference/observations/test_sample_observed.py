"""On the sample workspace, what can be computed is found, and nothing else is."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from email.utils import parseaddr
from pathlib import Path

from dateutil.rrule import rrulestr

import workspace
from inference.checks import addresses
from inference.observations import observe
from inference.observed import findings_from
from workspace import Artifact, Kind, Person, Persona, Profile, Relationship, Role, Trust, WorldModel
from workspace.file import FileEmail, FileEvent, FileTask, WorkspaceFile, read_workspace

SAMPLE = Path(workspace.__file__).parent / "sample.json"
TEMPLATES = frozenset(
    {
        *("overlapping-commitments", "meeting-without-audience", "question-left-unanswered", "reply-never-came"),
        *("task-past-due", "due-during-absence", "invitation-unanswered"),
    }
)


def person(role: Role, mailbox: str, status: str = "") -> Person:
    name, address = parseaddr(mailbox)
    return Person(role, name, address.lower(), status)


def profile_of(file: WorkspaceFile) -> Profile:
    relationships = tuple(
        Relationship(name=known.name, email=parseaddr(known.email)[1]) for known in file.world_model.relationships
    )
    return Profile(
        timezone=file.timezone,
        persona=Persona(name=file.persona.name, emails=(file.persona.email,)),
        world_model=WorldModel(relationships=relationships),
    )


def artifacts_of(file: WorkspaceFile, profile: Profile) -> list[Artifact]:
    """What connectors would make of the file: quoted lines apart, series expanded; `key` is the file's id."""
    made = [artifact for item in file.artifacts for artifact in converted(item, file, profile)]
    return [replace(artifact, id=row) for row, artifact in enumerate(made, start=1)]


def converted(item: object, file: WorkspaceFile, profile: Profile) -> Iterator[Artifact]:
    def at(local: datetime) -> datetime:
        return local.replace(tzinfo=file.zone)

    if isinstance(item, FileEmail):
        people = [person(Role.FROM, item.sender)]
        people += [person(Role.TO, mailbox) for mailbox in item.to]
        people += [person(Role.CC, mailbox) for mailbox in item.cc]
        lines = item.body.splitlines()
        sender = people[0].email
        known = Trust.KNOWN if sender in profile.known else Trust.UNKNOWN
        yield Artifact(
            source="mail",
            key=item.id,
            kind=Kind.EMAIL,
            title=item.subject,
            text="\n".join(line for line in lines if not line.startswith(">")),
            quoted="\n".join(line for line in lines if line.startswith(">")),
            people=tuple(people),
            time=at(item.sent),
            thread=item.thread,
            trust=Trust.SELF if sender in profile.persona.emails else known,
        )
    elif isinstance(item, FileEvent):
        starts = [item.start]
        if item.recurrence:
            year = timedelta(days=365)
            starts = rrulestr(item.recurrence, dtstart=item.start).between(file.now - year, file.now + year)
        for start in starts:
            yield Artifact(
                source="calendar",
                key=item.id,
                kind=Kind.EVENT,
                title=item.title,
                text=item.description,
                people=(
                    person(Role.ORGANIZER, item.organizer),
                    *(person(Role.ATTENDEE, one.email, one.status) for one in item.attendees),
                ),
                time=at(start),
                end=at(start + (item.end - item.start)),
                all_day=item.all_day,
                busy=item.busy,
                cancelled=item.cancelled,
                location=item.location,
                series=item.id,
                recurrence=item.recurrence or "",
            )
    elif isinstance(item, FileTask):
        yield Artifact(
            source="tasks",
            key=item.id,
            kind=Kind.TASK,
            title=item.title,
            text=item.notes,
            due=at(item.due) if item.due else None,
            status=item.status,
        )


def test_what_can_be_computed_of_the_sample_is_found_and_nothing_else():
    file = read_workspace(SAMPLE)
    profile = profile_of(file)
    artifacts = artifacts_of(file, profile)
    now = file.now.replace(tzinfo=file.zone)
    rows = {artifact.id: artifact for artifact in artifacts}
    shown, dropped = findings_from(
        observe(artifacts, profile, now), rows, profile, now, addresses(artifacts, profile), [], TEMPLATES
    )
    assert dropped == []
    gold = {problem.id: set(problem.evidence) for problem in file.problems}
    solved = {}
    for finding in shown:
        cited = {rows[row].key for row in finding.artifacts}
        fitting = [problem for problem, evidence in gold.items() if cited <= evidence]
        assert fitting, f"found, and no problem of the sample: {finding.description}"
        solved[fitting[0]] = finding.action.function_name
    assert solved == {"p1": "reschedule_meeting", "p2": "reply_email", "p3": "update_task"}
