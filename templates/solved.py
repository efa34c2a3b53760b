"""A solved case from a finding that the person accepted: its artifacts as they are now, and what came of it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import formataddr, parseaddr
from itertools import chain, product
from pathlib import PurePosixPath
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from templates.case import POOL, SolvedCase, faults
from workspace import REFERENCES, Action, Artifact, Finding, Kind, Person, Profile, Role, Trust, UserError
from workspace.file import FileAttendee, FileDocument, FileEmail, FileEvent, FileTask

MOST_ARTIFACTS = 8
MOST_TEXT = 4000
"""Characters of one artifact that a case keeps; what shows a problem is quoted in how it was found."""


def case_of(
    finding: Finding, artifacts: Mapping[int, Artifact], profile: Profile, named: str, taken: Iterable[str]
) -> SolvedCase:
    """The solved case of a finding.

    `artifacts` holds what the finding cites and what its action is done to, as far as they are still there, and
    may hold others of the matter; `named` puts the trouble as a class; `taken` are ids of other cases.

    Raises:
        UserError: if too little is left of what showed the problem.
    """
    rows = [row for row in _rows(finding, artifacts) if row in artifacts][:MOST_ARTIFACTS]
    labels = {f"a{row}": f"a{number}" for number, row in enumerate(rows, start=1)}
    moment = finding.created or datetime.now(UTC)
    refused = f"Finding {finding.id} makes no solved case: "
    by_hand = f". Write one by hand, like those in {POOL / 'cases'}."
    try:
        case = SolvedCase(
            id=_slug(finding.description, taken),
            persona=profile.persona,
            now=moment.astimezone(profile.zone).replace(tzinfo=None, second=0, microsecond=0),
            timezone=profile.timezone,
            problem=finding.description,
            artifacts=tuple(_written(artifacts[row], labels[f"a{row}"], profile, moment) for row in rows),
            found=_found(finding, labels),
            named=named,
            resolved=_resolved(finding.action, labels),
        )
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        raise UserError(f"{refused}{place}{first['msg'].removeprefix('Value error, ')}{by_hand}") from error
    for _, what in faults(case, case.id):
        raise UserError(f"{refused}{what}{by_hand}")
    return case


def _rows(finding: Finding, artifacts: Mapping[int, Artifact]) -> list[int]:
    named = [
        int(label[1:])
        for name in REFERENCES
        if (label := str(finding.action.parameters.get(name, ""))) and label[1:].isdecimal()
    ]
    return list(dict.fromkeys((*(item.artifact for item in finding.evidence), *named, *sorted(artifacts))))


def _found(finding: Finding, labels: Mapping[str, str]) -> str:
    quotes = "; ".join(
        f'"{item.quote}" [{labels[f"a{item.artifact}"]}]'
        for item in finding.evidence
        if f"a{item.artifact}" in labels
    )
    return f"{finding.why} {quotes}"[:1200].rstrip()


def _resolved(action: Action, labels: Mapping[str, str]) -> Action:
    renamed = {
        # What is gone has no label; its own may be that of another artifact of the case.
        name: labels.get(str(value), "a0") if name in REFERENCES else value
        for name, value in action.parameters.items()
    }
    return Action(function_name=action.function_name, parameters=renamed)


def _written(
    artifact: Artifact, label: str, profile: Profile, moment: datetime
) -> FileEmail | FileEvent | FileDocument | FileTask:
    """The artifact in the form of the workspace file."""
    zone = profile.zone
    text = artifact.text[:MOST_TEXT]
    when = _local(artifact, artifact.time or artifact.due or moment, zone)
    if artifact.kind is Kind.EMAIL:
        quoted = "".join(f"\n> {line}" for line in artifact.quoted[:MOST_TEXT].splitlines())
        written = {
            "id": label,
            "kind": "email",
            "thread": artifact.thread[:64] or f"t-{label}",
            "from": _mailbox(artifact.sender, profile),
            "to": _mailboxes(artifact, Role.TO),
            "cc": _mailboxes(artifact, Role.CC),
            "sent": when,
            "subject": artifact.title,
            "body": f"{text}{quoted}",
            "folder": "sent" if artifact.trust is Trust.SELF else "inbox",
        }
        return FileEmail.model_validate(written)
    if artifact.kind is Kind.EVENT:
        return FileEvent(
            id=label,
            kind="event",
            title=artifact.title,
            all_day=artifact.all_day,
            start=when,
            end=max(when, _local(artifact, artifact.end or artifact.time or moment, zone)),
            location=artifact.location,
            organizer=_mailbox(artifact.sender, profile),
            attendees=tuple(
                FileAttendee.model_validate({"email": mailbox, "status": _answer(person)})
                for person in artifact.people
                if person.role is Role.ATTENDEE and (mailbox := _said(person))
            ),
            description=text,
            cancelled=artifact.cancelled,
        )
    if artifact.kind is Kind.TASK:
        due = _local(artifact, artifact.due, zone) if artifact.due else None
        status: Literal["open", "done"] = "done" if artifact.status == "done" else "open"
        return FileTask(id=label, kind="task", title=artifact.title, due=due, status=status, notes=text)
    name = PurePosixPath(artifact.title.replace("\\", "/").replace("\0", "")).name
    name = "document.txt" if name in ("", "..") else name
    return FileDocument(id=label, kind="document", path=f"{label}/{name}", modified=when, text=text)


def _local(artifact: Artifact, moment: datetime, zone: ZoneInfo) -> datetime:
    try:
        return artifact.local(moment, zone).replace(tzinfo=None)
    except OverflowError:  # the first or the last day that there is, as mail may name it
        return moment.replace(tzinfo=None)


def _mailbox(person: Person | None, profile: Profile) -> str:
    """Who wrote or called; an entry of a calendar of one's own names nobody."""
    if person is not None and (mailbox := _said(person)):
        return mailbox
    emails: Sequence[str] = profile.persona.emails
    return f"{profile.persona.name} <{emails[0]}>" if emails else "me@localhost"


def _mailboxes(artifact: Artifact, role: Role) -> tuple[str, ...]:
    return tuple(mailbox for person in artifact.people if person.role is role and (mailbox := _said(person)))


def _said(person: Person) -> str:
    """The person as a mailbox that can be read again, by the address alone if need be; "" without one."""
    forms = (str(person), formataddr((person.name, person.email)) if person.email.isascii() else "", person.email)
    return next((form for form in forms if parseaddr(form)[1] == person.email and "@" in form), "")


def _answer(person: Person) -> str:
    """A calendar may also say that somebody sent another, or what it likes."""
    return person.status if person.status in ("accepted", "declined", "tentative") else "needs-action"


def _slug(description: str, taken: Iterable[str]) -> str:
    """An id made of the first words; letters only, as all ids of cases."""
    plain = unicodedata.normalize("NFKD", description.casefold())
    words = re.findall(r"[a-z]+", plain.encode("ascii", "ignore").decode())
    base = "-".join([word for word in words if len(word) > 3][:4])[:36].strip("-") or "case"
    used = set(taken)
    further = (f"{base}-{''.join(letters)}" for length in (1, 2) for letters in product(_LETTERS, repeat=length))
    return next(name for name in chain((base,), further) if name not in used)


_LETTERS = "bcdefghijklmnopqrstuvwxyz"
