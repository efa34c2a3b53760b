"""An action of the catalogue in words that a person understands, with the artifacts that it refers to by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo

from desktop.moments import say, say_day
from desktop.plain import one_line, plain
from workspace.action import REFERENCES, Action
from workspace.artifact import Artifact, Kind, Role, Trust


@dataclass(frozen=True, slots=True)
class ActionWords:
    """One sentence, and the longer texts of the action as (name, text)."""

    sentence: str
    texts: tuple[tuple[str, str], ...] = ()


def in_words(action: Action, artifacts: Mapping[int, Artifact], now: datetime, zone: tzinfo) -> ActionWords:
    """What the action would do. `artifacts` are those that it may refer to, by id; one that is gone is named by
    its label."""
    said = {
        name: _value(name, value, artifacts, now, zone) for name, value in action.parameters.items() if value != ""
    }
    name = action.function_name
    variant = action.parameters.get("status", "")
    if any(artifacts[row].trust is Trust.SELF for row in references(action) if row in artifacts):
        variant = variant or "own"
    sentence = _SENTENCES.get(f"{name}:{variant}") or _SENTENCES.get(name, name)
    words = []
    for part in sentence.split("|"):
        names = [name for name in action.parameters if "{" + name + "}" in part]
        if all(said.get(name) for name in names):
            words.append(part.format_map(_Blank(said)))
    texts = tuple(
        (_TEXTS[name], plain(str(value)).strip())
        for name, value in action.parameters.items()
        if name in _TEXTS and str(value).strip()
    )
    return ActionWords(one_line("".join(words)), texts)


def references(action: Action) -> list[int]:
    """The ids of the artifacts that the action refers to."""
    labels = [action.parameters[name] for name in REFERENCES if name in action.parameters]
    return [int(label[1:]) for label in labels if isinstance(label, str) and label[1:].isdecimal()]


def say_time(artifact: Artifact, now: datetime, zone: tzinfo) -> str:
    """When an artifact was sent, starts or is due, in words; "" where it has no time."""
    moment = artifact.time or artifact.due
    if moment is None:
        return ""
    due = "due " if artifact.time is None else ""
    if artifact.all_day:
        return due + say_day(moment, now, zone)
    said = due + say(moment, now, zone)
    end = artifact.end
    if artifact.kind is Kind.EVENT and end and end.astimezone(zone).date() == moment.astimezone(zone).date():
        said += f"-{end.astimezone(zone):%H:%M}"
    return said


# The parts between bars are left out where a value that they name is empty.
_SENTENCES = {
    "send_email": "Write a mail to {to}|, copy to {cc}|: “{subject}”.",
    "reply_email": "Answer {message}.",
    "reply_email:own": "Write again on {message}.",
    "request_approval": "Ask {approver} to approve by {due}: “{subject}”.",
    "escalate": "Raise it with {to}: “{subject}”.",
    "delegate_task": "Hand the task “{title}” to {assignee}, due {due}.",
    "request_access": "Ask {owner} for access to {resource}.",
    "share_document": "Send {document} to {recipients}.",
    "schedule_meeting": "Set up “{title}”, {start}|, for {duration_minutes} minutes|, with {attendees}|.",
    "reschedule_meeting": "Move {event} to {new_start}.",
    "cancel_meeting": "Call off {event}.",
    "respond_to_invitation": "Answer the invitation to {event}: {response}.",
    "create_task": "Note a task, due {due}: “{title}”.",
    "update_task:open": "Set the due date of {task} to {due}.",
    "update_task:done": "Mark {task} as done.",
    "create_document": "Write a new document, {path}.",
    "update_document": "In {document}, replace “{find}” by “{replace}”.",
    "set_agenda": "Write an agenda for {event}.",
}
_TEXTS = {
    "body": "Text", "agenda": "Agenda", "note": "Note", "notes": "Notes", "reason": "Reason", "text": "Text",
}  # fmt: skip


class _Blank(dict[str, str]):
    """Parameters that a broken action lacks are shown as missing."""

    def __missing__(self, name: str) -> str:
        return "…"


def _value(name: str, value: object, artifacts: Mapping[int, Artifact], now: datetime, zone: tzinfo) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(one_line(str(item)) for item in value)
    text = one_line(str(value))
    if name in REFERENCES and text[1:].isdecimal():
        artifact = artifacts.get(int(text[1:]))
        return _named(artifact, now, zone) if artifact else f"the {REFERENCES[name]} {text}"
    if name in ("due", "start", "new_start"):
        try:
            moment = datetime.fromisoformat(text).replace(tzinfo=zone)
        except ValueError:
            return text
        return say_day(moment, now, zone) if len(text) == len("2026-03-16") else say(moment, now, zone)
    return text


def _named(artifact: Artifact, now: datetime, zone: tzinfo) -> str:
    title = f"“{one_line(artifact.title, 90)}”" if artifact.title.strip() else "(without a title)"
    sender = one_line(artifact.sender.name or artifact.sender.email, 60) if artifact.sender else ""
    when = say_time(artifact, now, zone)
    if artifact.kind is Kind.EMAIL and artifact.trust is Trust.SELF:
        to = ", ".join(p.name or p.email for p in artifact.people if p.role is Role.TO)
        return f"your mail {title}" + (f" to {one_line(to, 60)}" if to else "")
    if artifact.kind is Kind.EMAIL:
        return f"the mail {title}" + (f" from {sender}" if sender else "")
    if artifact.kind is Kind.EVENT:
        return f"{title}" + (f" ({when})" if when else "")
    return f"the {artifact.kind.value} {title}"
