"""What mails and notes say that the person is to do by a day on which they are away."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from inference.observations import phrases, promise_phrases
from inference.observations.absences import Absence, absences, cite_absence
from inference.observations.observation import Observation
from inference.observations.promises import later_of, other_side
from inference.observations.requests import asking, by_machine
from inference.observations.statements import cite_words, iso_days, statements, written_on
from inference.observations.tasks import better_day, due_day, own_open
from inference.observations.words import alike, one_of, plain, stems
from inference.observations.working import say_day
from inference.observations.world import RECENT, World, called
from workspace import Action, Artifact, Evidence


@dataclass(frozen=True, slots=True)
class _Duty:
    """What a text says that the person is to do by a day."""

    text: Artifact
    day: date
    what: str
    evidence: Evidence


def duties_in_absence(world: World) -> Iterator[Observation]:
    """Days by which somebody asked the person for something, or they promised it, within an absence of theirs.

    The first of each text, where no task of theirs is on it and they have not written since. Never certain.
    """
    away = absences(world)
    if not away:
        return
    for text in world.artifacts:
        if text.time is None or not world.now - RECENT <= text.time <= world.now or text.automatic:
            continue
        for duty in _duties(text, world):
            absence = next((one for one in away if one.first <= duty.day <= one.last), None)
            if absence is None or absence.event.id == text.id or _is_in_hand(duty, absence, world):
                continue
            shown = cite_absence(absence, world)
            if shown is not None:
                yield _observe(duty, absence, shown, world)
                break


def _duties(text: Artifact, world: World) -> Iterator[_Duty]:
    if text.is_card or by_machine(text.title):
        return
    if text.sender is not None and other_side(text, world) is not None:
        own = world.sent_by_owner(text)
        for statement in statements(text, world)[1:]:
            limits = [named for named in statement.days if named.limit or (own and named.exact)]
            if len(limits) != 1 or limits[0].day < world.today or not _binds(statement.text, own=own):
                continue
            evidence = cite_words(text, world, day=limits[0].day, words=statement.text)
            if evidence is not None and evidence.where == "text":
                yield _Duty(text, limits[0].day, statement.text, evidence)
    for note in world.notes.get(text.id, ()):
        for commitment in note.commitments:
            days, who = iso_days(commitment.by), set(plain(commitment.who).replace(",", " ").split())
            if len(days) != 1 or days[0] < world.today or not who & world.own_names or who & world.first_names:
                continue
            evidence = cite_words(text, world, day=days[0], words=commitment.what)
            if evidence is not None:
                yield _Duty(text, days[0], commitment.what, evidence)


def _binds(sentence: str, *, own: bool) -> bool:
    """Whether a sentence asks something of its reader, or promises it where the person wrote it."""
    words = plain(sentence)
    if own:
        return bool(promise_phrases.PROMISE.search(words)) and not promise_phrases.CONDITION.search(words)
    found = asking(sentence)
    return (found is not None and found.direct) or bool(_NEEDED.search(words) and phrases.TO_YOU.search(words))


def _is_in_hand(duty: _Duty, absence: Absence, world: World) -> bool:
    """Whether a task is on it, the person wrote to the other side since, or the text knows of the absence."""
    matter = stems(duty.what)
    for task in own_open(world):
        on_it = len(stems(task.title) & matter) >= 2 or alike(task.title, duty.text.title)
        if on_it or due_day(task, world) == duty.day:
            return True
    if any(word in plain(duty.text.text) for word in _AWAY):
        return True
    others = [p for p in duty.text.people if p.email and not world.is_own(p)]
    later = [one for p in others for one in later_of(world.own_mails_to.get(p.email, []), duty.text, world)]
    return any(alike(one.title, duty.text.title) or matter & stems(one.text) for one in later)


def _observe(duty: _Duty, absence: Absence, shown: Evidence, world: World) -> Observation:
    day, reason = better_day(absence, world)
    what = " ".join(duty.what.split())
    # Before the absence, or where that has begun to the end of the day.
    last = absence.first if absence.first > world.today else duty.day + timedelta(days=1)
    return Observation(
        kind="due-in-absence",
        sentence=(
            f"{called(duty.text)} of {say_day(written_on(duty.text, world))} has you do by {say_day(duty.day)}: "
            f'"{what}" You are away then, from {say_day(absence.first)} to {say_day(absence.last)}, as '
            f"{called(absence.event)} says."
        ),
        evidence=(duty.evidence, shown),
        certain=False,
        template="due-during-absence",
        why="Nobody will do it on that day unless it is done before or handed over.",
        action=Action(
            function_name="create_task",
            parameters={"title": what[:150], "due": max(day, world.today).isoformat(), "notes": reason},
        ),
        deadline=datetime.combine(last, time(0), world.zone).astimezone(UTC),
        weight=0.65,
    )


_NEEDED = one_of(
    r"""
    (?:due|deadline|must|has to|have to|needs? to|required|no later than)\b
    (?:fallig|frist|muss\w*|spatestens|abgabe\w*|einzureichen)\b
    (?:echeance|doi[ts]|devez|au plus tard|date limite|il faut)\b
    (?:vence|plazo|debe\w*|hay que|tiene que|fecha limite)\b
    .*(?:마감|기한|해야|제출)
    """
)
_AWAY = ("while you are away", "you're away", "before you leave", "before you go", "your leave", "your holiday")
