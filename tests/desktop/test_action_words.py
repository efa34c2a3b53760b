"""Every action of the catalogue in words, with the artifacts that it refers to by name."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from desktop.digest.action_words import in_words, references
from workspace import ACTIONS, Action, Artifact, Kind, Person, Role

ZONE = ZoneInfo("Europe/Dublin")
NOW = datetime(2026, 5, 19, 8, 40, tzinfo=ZONE)
HELEN = Person(Role.FROM, "Helen Tierney", "helen@museum.example")
ARTIFACTS = {
    1: Artifact("m", "1", Kind.EMAIL, title="Loan", people=(HELEN,), time=NOW, id=1),
    2: Artifact(
        "c",
        "2",
        Kind.EVENT,
        title="Board",
        time=datetime(2026, 5, 21, 10, tzinfo=ZONE),
        end=datetime(2026, 5, 21, 11, 30, tzinfo=ZONE),
        id=2,
    ),
    3: Artifact("d", "3", Kind.DOCUMENT, title="Budget.xlsx", id=3),
    4: Artifact("c", "4", Kind.TASK, title="Order cases", id=4),
}
CASES = {
    "send_email": (
        {"to": ["Al <a@x.example>"], "cc": ["b@x.example"], "subject": "Hi", "body": "Hello."},
        "Write a mail to Al <a@x.example>, copy to b@x.example: “Hi”.",
    ),
    "reply_email": ({"message": "a1", "body": "Yes."}, "Answer the mail “Loan” from Helen Tierney."),
    "request_approval": (
        {"approver": "h@x.example", "subject": "Money", "body": "", "due": "2026-05-20"},
        "Ask h@x.example to approve by tomorrow: “Money”.",
    ),
    "escalate": ({"to": "h@x.example", "subject": "Roof", "body": ""}, "Raise it with h@x.example: “Roof”."),
    "delegate_task": (
        {"assignee": "t@x.example", "title": "Crate", "body": "", "due": "2026-05-25"},
        "Hand the task “Crate” to t@x.example, due Mon 25 May.",
    ),
    "request_access": (
        {"owner": "o@x.example", "resource": "the portal", "reason": "Claim"},
        "Ask o@x.example for access to the portal.",
    ),
    "share_document": (
        {"document": "a3", "recipients": ["a@x.example", "b@x.example"], "note": ""},
        "Send the document “Budget.xlsx” to a@x.example, b@x.example.",
    ),
    "schedule_meeting": (
        {"title": "Talk", "start": "2026-05-20T09:00", "duration_minutes": 30, "attendees": [], "agenda": ""},
        "Set up “Talk”, tomorrow 09:00, for 30 minutes.",
    ),
    "reschedule_meeting": (
        {"event": "a2", "new_start": "2026-05-22T10:00", "note": ""},
        "Move “Board” (Thu 21 May 10:00-11:30) to Fri 22 May 10:00.",
    ),
    "cancel_meeting": ({"event": "a2", "note": ""}, "Call off “Board” (Thu 21 May 10:00-11:30)."),
    "respond_to_invitation": (
        {"event": "a2", "response": "declined", "note": ""},
        "Answer the invitation to “Board” (Thu 21 May 10:00-11:30): declined.",
    ),
    "create_task": ({"title": "Call", "due": "2026-05-19", "notes": ""}, "Note a task, due today: “Call”."),
    "update_task": (
        {"task": "a4", "status": "open", "due": "2026-05-21", "note": ""},
        "Set the due date of the task “Order cases” to Thu 21 May.",
    ),
    "create_document": ({"path": "plan.md", "text": "# Plan"}, "Write a new document, plan.md."),
    "update_document": (
        {"document": "a3", "find": "40", "replace": "43"},
        "In the document “Budget.xlsx”, replace “40” by “43”.",
    ),
    "set_agenda": ({"event": "a2", "agenda": "1. Loans"}, "Write an agenda for “Board” (Thu 21 May 10:00-11:30)."),
}


def test_every_action_of_the_catalogue_has_words() -> None:
    assert set(CASES) == set(ACTIONS)


@pytest.mark.parametrize("name", CASES)
def test_an_action_is_said_in_a_sentence(name: str) -> None:
    parameters, sentence = CASES[name]
    action = Action(function_name=name, parameters=parameters)
    action.typed()
    assert in_words(action, ARTIFACTS, NOW, ZONE).sentence == sentence


def test_longer_texts_stand_apart_and_harmless() -> None:
    action = Action(function_name="reply_email", parameters={"message": "a1", "body": "Yes,\x1b[2J\nfine."})
    assert in_words(action, ARTIFACTS, NOW, ZONE).texts == (("Text", "Yes,\nfine."),)


def test_a_task_that_is_done_is_marked() -> None:
    parameters = {"task": "a4", "status": "done", "due": "2026-05-21", "note": "Paid."}
    action = Action(function_name="update_task", parameters=parameters)
    assert in_words(action, ARTIFACTS, NOW, ZONE).sentence == "Mark the task “Order cases” as done."


def test_an_artifact_that_is_gone_is_named_by_its_label() -> None:
    action = Action(function_name="cancel_meeting", parameters={"event": "a99", "note": ""})
    assert references(action) == [99]
    assert in_words(action, ARTIFACTS, NOW, ZONE).sentence == "Call off the event a99."


@pytest.mark.parametrize("parameters", [{}, {"event": 7}, {"event": "\x1b[2J", "new_start": "soon"}])
def test_broken_parameters_are_shown_and_break_nothing(parameters: dict[str, object]) -> None:
    action = Action(function_name="reschedule_meeting", parameters=parameters)
    assert "\x1b" not in in_words(action, ARTIFACTS, NOW, ZONE).sentence
