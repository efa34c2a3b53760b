"""Open tasks that are past due, or due while the person is away."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from inference.observations.absences import Absence, absences, cite_absence
from inference.observations.observation import Observation
from inference.observations.requests import sentences
from inference.observations.words import alike, one_of, plain, word_set
from inference.observations.working import (
    is_working_day,
    next_working_day,
    previous_working_day,
    say_day,
)
from inference.observations.world import RECENT, World, called, cite
from workspace import Action, Artifact, Role

_CLOSED = word_set("done completed complete cancelled canceled closed finished")


def past_due(world: World) -> Iterator[Observation]:
    """Open tasks whose due day is over. Long-forgotten ones, and those that a text speaks of, are uncertain."""
    for task in own_open(world):
        due = due_day(task, world)
        evidence = cite(task, world.zone)
        if due is None or due >= world.today or evidence is None:
            continue
        late = (world.today - due).days
        recent = timedelta(days=late) <= RECENT
        mentioned = recent and _may_be_done(task, world)
        yield Observation(
            kind="past-due",
            sentence=(
                f"The task {called(task)} was due on {say_day(due)}, {late} days ago, and is still open."
                if late != 1
                else f"The task {called(task)} was due yesterday, {say_day(due)}, and is still open."
            )
            + (" A recent mail or its notes may have settled it." if mentioned else ""),
            evidence=(evidence,),
            certain=recent and not mentioned,
            template="task-past-due",
            why="Its day has passed, nothing says that it was done, and its date was not moved.",
            action=move(task, next_working_day(world.today, world.holidays), f"It was due on {say_day(due)}."),
            deadline=None,
            weight=0.6 if recent else 0.2,
        )


def due_in_absence(world: World) -> Iterator[Observation]:
    """Open tasks that fall due on a day on which the person is away."""
    away = absences(world)
    for task in own_open(world):
        due = due_day(task, world)
        if due is None or due < world.today:
            continue
        absence = next((a for a in away if a.first <= due <= a.last), None)
        said, away_then = cite(task, world.zone), cite_absence(absence, world) if absence is not None else None
        if absence is None or said is None or away_then is None:
            continue
        day, reason = better_day(absence, world)
        yield Observation(
            kind="due-in-absence",
            sentence=(
                f"The task {called(task)} is due on {say_day(due)}, while you are away: from "
                f"{say_day(absence.first)} to {say_day(absence.last)}, as {called(absence.event)} says."
            ),
            evidence=(said, away_then),
            certain=absence.sure and not is_settled(task, world) and not _is_with_somebody(task, world),
            template="due-during-absence",
            why="Nobody will do it on that day unless it is done before or handed over.",
            action=move(task, day, reason),
            deadline=datetime.combine(absence.first, time(0), world.zone).astimezone(UTC),
            weight=0.7,
        )


def own_open(world: World) -> list[Artifact]:
    """Open tasks of the person's; those given to somebody else are not."""
    found = []
    for task in world.tasks:
        assigned = [person for person in task.people if person.role in (Role.ATTENDEE, Role.TO)]
        if is_open(task) and (not assigned or any(map(world.is_own, assigned))):
            found.append(task)
    return found


def is_open(task: Artifact) -> bool:
    return not task.cancelled and task.status.casefold() not in _CLOSED


def due_day(task: Artifact, world: World) -> date | None:
    """The local day on which a task is due; a due date without a time belongs to no zone."""
    if task.due is None:
        return None
    return task.due.date() if task.all_day else world.local(task.due).date()


def _may_be_done(task: Artifact, world: World) -> bool:
    """Whether a text settles the task, or a mail of the person's on its matter may have been it."""
    return is_settled(task, world) or any(map(world.sent_by_owner, world.mentions(task.title)))


def is_settled(task: Artifact, world: World) -> bool:
    """Whether the task's notes, or a sentence on its matter in a recent mail, say that it was done, moved or
    handed to somebody."""
    if any(map(_says_settled, sentences(task.text))):
        return True
    return any(
        _says_settled(sentence) and alike(sentence, task.title)
        for mail in world.mentions(task.title)
        for sentence in (mail.title, *sentences(mail.text))
    )


def _is_with_somebody(task: Artifact, world: World) -> bool:
    """Whether the task's notes say that somebody has it, as in "with Ben, who said yes"."""
    return any(match["name"] in world.first_names for match in _WITH.finditer(plain(task.text)))


def _says_settled(sentence: str) -> bool:
    said = plain(sentence)
    return bool(_SETTLED.search(said)) and not _NOT_YET.search(said)


def better_day(absence: Absence, world: World) -> tuple[date, str]:
    away = f"You are away from {say_day(absence.first)} to {say_day(absence.last)}."
    if absence.first <= world.today:
        return next_working_day(absence.last, world.holidays), f"{away} This is the first working day after it."
    before = previous_working_day(absence.first, world.holidays)
    if before < world.today or not is_working_day(before, world.holidays):
        return world.today, f"{away} Nothing but today is left before it."
    return before, f"{away} This is the last working day before it."


def move(task: Artifact, day: date, note: str) -> Action:
    return Action(
        function_name="update_task",
        parameters={"task": task.label, "status": "open", "due": day.isoformat(), "note": note},
    )


_SETTLED = one_of(
    r"""
    (?:done|finished|completed|submitted|delivered|delegated|paid|filed|settled|resolved|closed|waived)\b
    (?:handed (?:in|over|to|it)|took over|taken over|takes over|already sent|went out)\b
    (?:extended|extension|postponed|moved to|no longer (?:needed|required)|obsolete|cancell?ed|on hold)\b
    waiting (?:for|on)\b
    (?:erledigt|abgegeben|eingereicht|verschoben|verlangert|ubernimmt|ubernommen|bezahlt|fertig|hinfallig)\b
    (?:fait|termine|envoye|remis|reporte|annule|paye)\b
    (?:hecho|terminado|enviado|entregado|aplazado|pagado)\b
    완료|제출했|연기|취소|처리했
    """
)
_WITH = re.compile(r"(?<!\w)(?:with|bei|chez|con) (?P<name>[^\W\d_]+)")
# A sentence that speaks of it as still to come, or denies it.
_NOT_YET = one_of(
    r"""
    (?:to|must|should|will|can|could|cannot|would|may|needs?|only|gets?) (?:\w+ )?be\b
    (?:must|has to|have to|needs? to|should|if|once|when|before|until|unless|not|never|please)\b
    (?:muss|soll|wenn|falls|sobald|bis|nicht|noch|bitte|doit|quand|pas encore|debe|cuando|todavia|no)\b
    """
)
