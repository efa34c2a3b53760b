"""The closed catalogue of actions: what a click may do, with the type of every parameter.

A model chooses an action and fills in its parameters; it never runs one. References to artifacts are labels
such as `a17`; times are naive local time; people are written `Name <address>`.
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from workspace.errors import UserError


class Effect(StrEnum):
    """What an action touches."""

    DRAFT = "draft"
    SEND = "send"
    CALENDAR = "calendar"
    TASK = "task"
    FILE = "file"
    PATCH = "patch"


Reference = Annotated[str, StringConstraints(pattern=r"^a[0-9]{1,9}$")]
Address = Annotated[str, StringConstraints(min_length=3, max_length=120)]
Addresses = Annotated[list[Address], Field(max_length=12)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=160)]
Text = Annotated[str, StringConstraints(max_length=1200)]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-[01]\d-[0-3]\d$")]
Moment = Annotated[str, StringConstraints(pattern=r"^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d$")]


class Parameters(BaseModel):
    """The parameters of one action; the class says what the action does.

    `goes_out`: somebody else learns of it. `reversible`: it can be taken back completely.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    effect: ClassVar[Effect]
    goes_out: ClassVar[bool]
    reversible: ClassVar[bool]
    summary: ClassVar[str]


class Mail(Parameters):
    effect = Effect.DRAFT
    goes_out = True
    reversible = False


class Meeting(Parameters):
    effect = Effect.CALENDAR
    goes_out = True
    reversible = True


class Private(Parameters):
    goes_out = False
    reversible = True


class SendEmail(Mail):
    summary = "write a mail"
    to: Addresses
    cc: Addresses
    subject: Line
    body: Text


class ReplyEmail(Mail):
    summary = "answer a mail"
    message: Reference
    body: Text


class RequestApproval(Mail):
    summary = "ask somebody to approve something by a day"
    approver: Address
    subject: Line
    body: Text
    due: Day


class Escalate(Mail):
    summary = "raise a matter with somebody who can decide"
    to: Address
    subject: Line
    body: Text


class DelegateTask(Mail):
    summary = "hand a task to somebody by a day"
    assignee: Address
    title: Line
    body: Text
    due: Day


class RequestAccess(Mail):
    summary = "ask its owner for access to something"
    owner: Address
    resource: Line
    reason: Text


class ShareDocument(Mail):
    summary = "send a document to people"
    document: Reference
    recipients: Addresses
    note: Text


class ScheduleMeeting(Meeting):
    summary = "set up a meeting"
    title: Line
    start: Moment
    duration_minutes: Annotated[int, Field(ge=5, le=1440)]
    attendees: Addresses
    agenda: Text


class RescheduleMeeting(Meeting):
    summary = "move a meeting"
    event: Reference
    new_start: Moment
    note: Text


class CancelMeeting(Meeting):
    summary = "call a meeting off"
    event: Reference
    note: Text


class RespondToInvitation(Meeting):
    summary = "answer an invitation"
    event: Reference
    response: Literal["accepted", "declined", "tentative"]
    note: Text


class CreateTask(Private):
    effect = Effect.TASK
    summary = "note a task"
    title: Line
    due: Day
    notes: Text


class UpdateTask(Private):
    effect = Effect.TASK
    summary = "change a task"
    task: Reference
    status: Literal["open", "done"]
    due: Day
    note: Text


class CreateDocument(Private):
    effect = Effect.FILE
    summary = "write a new text document"
    path: Line
    text: Text


class UpdateDocument(Private):
    effect = Effect.FILE
    summary = "replace a passage of a document"
    document: Reference
    find: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    replace: Annotated[str, StringConstraints(max_length=300)]


class SetAgenda(Meeting):
    summary = "write the agenda of a meeting"
    event: Reference
    agenda: Text


ACTIONS: dict[str, type[Parameters]] = {
    "send_email": SendEmail,
    "reply_email": ReplyEmail,
    "request_approval": RequestApproval,
    "escalate": Escalate,
    "delegate_task": DelegateTask,
    "request_access": RequestAccess,
    "share_document": ShareDocument,
    "schedule_meeting": ScheduleMeeting,
    "reschedule_meeting": RescheduleMeeting,
    "cancel_meeting": CancelMeeting,
    "respond_to_invitation": RespondToInvitation,
    "create_task": CreateTask,
    "update_task": UpdateTask,
    "create_document": CreateDocument,
    "update_document": UpdateDocument,
    "set_agenda": SetAgenda,
}

# Parameters that name an artifact, and the kind of artifact that each must name.
REFERENCES = {"message": "email", "event": "event", "document": "document", "task": "task"}
# Parameters that name people by address.
RECIPIENTS = ("to", "cc", "approver", "assignee", "owner", "recipients", "attendees")
# Parameters that hold a day or a moment.
TIMES = ("due", "start", "new_start")


class Action(BaseModel):
    """One action of the catalogue with its parameters, validated against the type of that action."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    function_name: str
    parameters: dict[str, Any]

    def typed(self) -> Parameters:
        """The parameters as the action's own type.

        Raises:
            UserError: if the catalogue has no such action or a parameter is not of its type.
        """
        kind = ACTIONS.get(self.function_name)
        if kind is None:
            raise UserError(f"There is no action {self.function_name!r}. Choose one of: {', '.join(ACTIONS)}.")
        try:
            return kind.model_validate(self.parameters)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{self.function_name}: {place}: {first['msg']}. Correct this parameter.") from error
