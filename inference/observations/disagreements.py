"""A day in a text that is not the day in the calendar or the task list, for the same matter."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from inference.observations.events import Standing, is_alone, standing
from inference.observations.observation import Observation
from inference.observations.statements import Statement, at, is_open_ended, statements, tells_of_change, written_on
from inference.observations.tasks import due_day, own_open
from inference.observations.words import stems, subject
from inference.observations.working import say_day
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Trust

_AHEAD = timedelta(days=90)
# What lies further apart is another round, year or instalment of the like.
_APART = timedelta(days=31)
# A mere weekday says which week only to those who read it in that week.
_SAME_WEEK = timedelta(days=6)
_FEWEST = 2
_COVERED = 0.75


def date_disagrees(world: World) -> Iterator[Observation]:
    """Coming events of the person, and open tasks, about which the last text that names a day names another.

    Never certain: that the text and the entry are on one thing is told by their words.
    """
    for event in world.events:
        start = world.starts(event).date()
        if world.today <= start <= world.today + _AHEAD and _is_single(event, world):
            last = _last_word(event, start, world, limits=False)
            if last is not None and _stands_against(last, event, start, world):
                yield from _observe_event(last, event, start, world)
    for task in own_open(world):
        due = due_day(task, world)
        if due is not None and world.today <= due <= world.today + _AHEAD:
            last = _last_word(task, due, world, limits=True)
            if last is not None and last.day is not None and world.today <= last.day.day < due:
                yield from _observe_task(last, task, due, world)


def _is_single(event: Artifact, world: World) -> bool:
    """Whether an event is one that has a day of its own: no series, nothing of several days, not called off."""
    if (
        event.cancelled
        or event.status.casefold() in ("cancelled", "tentative")
        or event.series
        or event.recurrence
    ):
        return False
    if standing(event, world) in (Standing.DECLINED, Standing.NONE):
        return False
    return event.end is None or event.time is None or event.end - event.time <= timedelta(days=1)


def _last_word(entry: Artifact, day: date, world: World, *, limits: bool) -> Statement | None:
    """The statement of the last text on the matter of an entry that names a day, if it names one only and leaves
    no doubt; None where a text as late names the day of the entry, or says more."""
    wanted = _matter(entry.title, world)
    if len(wanted) < _FEWEST:
        return None
    texts = [*world.mentions(entry.title), *world.documents_on(entry.title)]
    dated = [(moment, text) for text in texts if (moment := at(text)) is not None and not text.automatic]
    for _, text in sorted(dated, key=lambda pair: pair[0], reverse=True):
        named = [one for one in statements(text, world) if one.days]
        said = [one for one in named if _is_on(one, wanted)]
        if any(other.day == day for one in named if wanted & stems(one.text) for other in one.days):
            return None
        if said:
            plainly = not any(is_open_ended(one.text) or tells_of_change(one.text) for one in said)
            alone = len({other.day for one in said for other in one.days}) == 1
            known = text.trust is not Trust.UNKNOWN or not text.people
            told = plainly and alone and known and _can_be_told(said[0], day, limits, world)
            return said[0] if told and not _is_answered(text, day, world) else None
    return None


def _is_answered(text: Artifact, day: date, world: World) -> bool:
    """Whether a later mail of the thread names the day of the entry."""
    later = [
        mail for mail in world.threads.get(text.thread, ()) if mail.time and text.time and mail.time > text.time
    ]
    return any(named.day == day for mail in later for one in statements(mail, world) for named in one.days)


def _matter(title: str, world: World) -> frozenset[str]:
    return stems(subject(title)) - {name[:6] for name in world.first_names | world.own_names}


def _is_on(statement: Statement, wanted: frozenset[str]) -> bool:
    said = stems(statement.text)
    covered = wanted & (said | stems(subject(statement.artifact.title)))
    return len(wanted & said) >= _FEWEST and len(covered) >= _COVERED * len(wanted)


def _can_be_told(statement: Statement, day: date, limits: bool, world: World) -> bool:
    named = statement.day
    if named is None or named.limit != limits:
        return False
    return named.exact or abs(day - written_on(statement.artifact, world)) <= _SAME_WEEK


def _stands_against(statement: Statement, event: Artifact, start: date, world: World) -> bool:
    if statement.day is None:
        return False
    day = statement.day.day
    if day == start or abs(day - start) > _APART:
        return False
    # An entry that names the day itself, or another one on that day, has taken it into account.
    if any(named.day == day for one in statements(event, world) for named in one.days):
        return False
    wanted = _matter(event.title, world)
    return not any(
        world.starts(other).date() <= day <= _last_day(other, world) and wanted & stems(other.title)
        for other in world.events
        if other.id != event.id
    )


def _last_day(event: Artifact, world: World) -> date:
    if event.end is None:
        return world.starts(event).date()
    return (world.day(event.end, all_day=event.all_day) - timedelta(minutes=1)).date()


def _observe_event(statement: Statement, event: Artifact, start: date, world: World) -> Iterator[Observation]:
    said, entry = cite(statement.artifact, world.zone, statement.text), cite(event, world.zone)
    if said is None or entry is None or statement.day is None:
        return
    day = statement.day.day
    yield Observation(
        kind="date-disagrees",
        sentence=(
            f"{called(event)} is in the calendar on {say_day(start)}, but {called(statement.artifact)} of "
            f"{say_day(written_on(statement.artifact, world))} names {say_day(day)}."
        ),
        evidence=(said, entry),
        certain=False,
        template="same-fact-two-values",
        why="Whoever goes by the one comes on another day than those who go by the other.",
        action=_ask(statement, event, start, world),
        deadline=datetime.combine(max(min(start, day), world.today), time(9), world.zone).astimezone(UTC),
        weight=0.5,
    )


def _observe_task(statement: Statement, task: Artifact, due: date, world: World) -> Iterator[Observation]:
    said, entry = cite(statement.artifact, world.zone, statement.text), cite(task, world.zone)
    if said is None or entry is None or statement.day is None:
        return
    day = statement.day.day
    yield Observation(
        kind="date-disagrees",
        sentence=(
            f"The task {called(task)} is due on {say_day(due)}, but {called(statement.artifact)} of "
            f"{say_day(written_on(statement.artifact, world))} sets {say_day(day)} for it."
        ),
        evidence=(said, entry),
        certain=False,
        template="deadline-missing-from-plan",
        why="Whoever goes by the task is late.",
        action=Action(
            function_name="update_task",
            parameters={
                "task": task.label,
                "status": "open",
                "due": day.isoformat(),
                "note": f"The text sets {say_day(day)} for it.",
            },
        ),
        deadline=datetime.combine(day + timedelta(days=1), time(0), world.zone).astimezone(UTC),
        weight=0.6,
    )


def _ask(statement: Statement, event: Artifact, start: date, world: World) -> Action:
    day = statement.day.day if statement.day is not None else start
    asked = statement.artifact.sender
    if asked is not None and asked.email and not world.is_own(asked) and not is_alone(event):
        body = (
            f"a question before anything goes wrong: you write {say_day(day)}, the calendar has {say_day(start)}. "
            f"Which of the two holds?\n\n{world.profile.persona.name}"
        )
        return Action(
            function_name="reply_email", parameters={"message": statement.artifact.label, "body": body.strip()}
        )
    return Action(
        function_name="create_task",
        parameters={
            "title": f"Settle the day of {called(event)[:80]}",
            "due": world.today.isoformat(),
            "notes": f"A text names {say_day(day)}, the calendar has {say_day(start)}.",
        },
    )
