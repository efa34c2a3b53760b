"""What others owe the person by a day that is over: tasks given to them, and answers asked for by a day."""

from collections.abc import Iterator
from datetime import timedelta

from inference.observations.dates import named_days
from inference.observations.observation import Observation
from inference.observations.promises import later_of, reply
from inference.observations.requests import asking, sentences, wants_no_answer
from inference.observations.statements import written_on
from inference.observations.tasks import due_day, is_open, is_settled, move
from inference.observations.words import alike
from inference.observations.working import next_working_day, say_day, working_days_between
from inference.observations.world import RECENT, World, called, cite
from workspace import Artifact, Person, Role

_WITHIN = timedelta(days=14)
_FEW = 3


def overdue_from_others(world: World) -> Iterator[Observation]:
    """Open tasks given to others whose day is over, certain where no text may have settled them; and questions to
    others by a day that is over, which are too young to be told as those that merely wait."""
    for task in world.tasks:
        found = _task(task, world)
        if found is not None:
            yield found
    for mail in world.mails:
        if mail.time is not None and world.now - _WITHIN <= mail.time <= world.now and world.sent_by_owner(mail):
            found = _question(mail, world)
            if found is not None:
                yield found


def _task(task: Artifact, world: World) -> Observation | None:
    due = due_day(task, world)
    given = [person for person in task.people if person.role in (Role.ATTENDEE, Role.TO)]
    evidence = cite(task, world.zone)
    if due is None or due >= world.today or evidence is None or not is_open(task) or not given:
        return None
    recent = world.today - due <= RECENT
    if any(map(world.is_own, given)) or not recent:
        return None
    names = ", ".join(world.name_of(person) for person in given)
    wrote = any(
        alike(mail.title, task.title)
        for person in given
        for mail in world.mails_from.get(person.email, [])[-50:]
        if mail.time is not None and mail.time > world.now - RECENT
    )
    return Observation(
        kind="overdue-from-others",
        sentence=f"The task {called(task)}, given to {names}, was due on {say_day(due)} and is still open.",
        evidence=(evidence,),
        certain=not wrote and not is_settled(task, world),
        template="delivery-silently-late",
        why="Its day has passed, and nothing shows that it was done or moved.",
        action=move(task, next_working_day(world.today, world.holidays), f"Ask {names} how it stands."[:300]),
        deadline=None,
        weight=0.5,
    )


def _question(mail: Artifact, world: World) -> Observation | None:
    """A question by a day that is over, after which nobody who was asked has written or met the person."""
    written = written_on(mail, world)
    if working_days_between(written, world.today, world.holidays) >= world.answer_days:
        return None
    asked = [p for p in mail.people if p.role is Role.TO and p.email and not world.is_own(p)]
    found = asking(mail.text)
    if found is None or not found.direct or not 0 < len(asked) <= _FEW or wants_no_answer(mail.text):
        return None
    limits = [day for one in sentences(mail.text) for day in named_days(one, written) if day.limit]
    if len({day.day for day in limits}) != 1 or limits[0].day >= world.today or limits[0].day < written:
        return None
    thread = world.threads.get(mail.thread, [])
    if any(one.time and mail.time and one.time > mail.time for one in thread):
        return None
    if any(_contact(person, mail, world) for person in asked):
        return None
    evidence = cite(mail, world.zone, found.sentence)
    if evidence is None or evidence.quote != found.sentence:
        return None
    names = ", ".join(world.name_of(person) for person in asked)
    return Observation(
        kind="overdue-from-others",
        sentence=(
            f"You asked {names} in {called(mail)} by {say_day(limits[0].day)}, which is over, and nobody has "
            f'written since: "{" ".join(found.sentence.split())}"'
        ),
        evidence=(evidence,),
        certain=False,
        template="reply-never-came",
        why="You named a day, it has passed, and no answer can be seen.",
        action=reply(mail, asked[0], "may I come back to this? I have not seen an answer yet.", world),
        deadline=None,
        weight=0.45,
    )


def _contact(person: Person, mail: Artifact, world: World) -> bool:
    """Whether somebody wrote since, was written to again, or met the person."""
    mails = (world.mails_from.get(person.email, []), world.own_mails_to.get(person.email, []))
    met = (one.time for one in world.events_with.get(person.email, ()))
    return any(later_of(one, mail, world) for one in mails) or any(
        mail.time is not None and time is not None and mail.time < time <= world.now for time in met
    )
