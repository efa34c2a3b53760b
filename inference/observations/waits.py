"""Threads that wait: for the person's answer, or for somebody else's."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta

from inference.observations.dates import NamedDay, named_days
from inference.observations.observation import Observation
from inference.observations.requests import (
    Asking,
    asking,
    by_machine,
    greeted,
    is_patient,
    reminds,
    says_settled,
    sentences,
    thanks,
    wants_no_answer,
)
from inference.observations.words import alike, plain, stems, subject, word_set
from inference.observations.working import next_working_day, say_day, working_days_between
from inference.observations.world import RECENT, World, called, cite
from workspace import Action, Artifact, Person, Role, Trust

_DEPENDS_WITHIN = timedelta(days=14)
_FEW = 3
_IN_TIME = 2
_ROW = 5
_NEVER = datetime.min.replace(tzinfo=UTC)
_MANY = 5
_SPEAKS = 3
_GROUP = word_set(
    "all both everyone everybody team folks colleagues friends guys zusammen alle alles tous todos todas"
)
_NO_REPLY = ("noreply", "no-reply", "no_reply", "donotreply", "do-not-reply", "notification", "mailer-daemon")


def waits(world: World) -> Iterator[Observation]:
    """Threads whose last mail asks something, is old enough, and was answered on no path that can be seen."""
    for mails in world.threads.values():
        spoken = [mail for mail in mails if not _is_automatic(mail) and _time(mail) <= world.now]
        if not spoken:
            continue
        if world.sent_by_owner(spoken[-1]):
            tries = (_for_others(mail, world) for mail in spoken[-1:])
        else:
            tries = (_for_you(mail, world) for mail in _end_of_thread(spoken))
        found = next((observation for observation in tries if observation is not None), None)
        if found is not None:
            yield found


def _end_of_thread(spoken: list[Artifact]) -> Iterator[Artifact]:
    """The last mails of a thread as far as one person wrote them in a row, the latest first."""
    for mail in reversed(spoken[-_ROW:]):
        if mail.sender is None or mail.sender != spoken[-1].sender:
            return
        yield mail


def _is_due(mail: Artifact, world: World) -> bool:
    """Whether an answer to this mail would be late by now."""
    if mail.time is None or mail.time < world.now - RECENT or wants_no_answer(mail.text):
        return False
    return working_days_between(world.local(mail.time).date(), world.today, world.holidays) >= world.answer_days


def _for_you(mail: Artifact, world: World) -> Observation | None:
    writer = mail.sender
    if writer is None or not _is_due(mail, world):
        return None
    known = mail.trust is Trust.KNOWN or writer.email in world.dealt_with
    if not known or not writer.email or _is_machine(writer):
        return None
    personal = _addressed(mail, world)
    found = asking(mail.text, _names_of_others(mail, world)) if personal is not None else None
    if found is None or _came_to_rest(mail, writer, found, world):
        return None
    evidence = cite(mail, world.zone, found.sentence)
    if evidence is None or evidence.quote != found.sentence:
        return None
    written = world.local(_time(mail)).date()
    passed = working_days_between(written, world.today, world.holidays)
    named = named_days(found.sentence, written)
    limits = [day for sentence in sentences(mail.text) for day in named_days(sentence, written) if day.limit]
    deadline = _deadline([*named, *limits], world)
    # A question about a day that is over ("Lunch on Friday?") has answered itself; "by Friday" has not.
    over = bool(named) and deadline is None and not limits
    return Observation(
        kind="waits-for-you",
        sentence=(
            f"{world.name_of(writer)} asked you in {called(mail)} on {say_day(written)}, "
            f"{passed} working days ago, and you have not answered: "
            f"{_said(found)}"
        ),
        evidence=(evidence,),
        certain=bool(personal)
        and found.direct
        and not over
        and not _is_far(deadline, world)
        and not is_patient(mail.text)
        and not _perhaps_answered(mail, writer, found, world),
        template="question-left-unanswered",
        why=f"{world.name_of(writer)} wrote to you, asked, and has had no answer.",
        action=_reply(
            mail,
            writer,
            "thank you for your mail, and sorry for the wait. I have your question before me and will "
            f"answer it by {say_day(next_working_day(world.today, world.holidays))}.",
            world,
        ),
        deadline=deadline,
        weight=0.8 if deadline is not None else 0.7,
    )


def _for_others(mail: Artifact, world: World) -> Observation | None:
    asked = [p for p in mail.people if p.role is Role.TO and p.email and not world.is_own(p)]
    if not _is_due(mail, world) or not asked or len(asked) > _MANY or any(map(_is_machine, asked)):
        return None
    found = asking(mail.text)
    if found is None or any(_answered_elsewhere(mail, person, found, world) for person in asked):
        return None
    evidence = cite(mail, world.zone, found.sentence)
    if evidence is None or evidence.quote != found.sentence:
        return None
    written = world.local(_time(mail)).date()
    passed = working_days_between(written, world.today, world.holidays)
    named = named_days(found.sentence, written)
    limits = [day for sentence in sentences(mail.text) for day in named_days(sentence, written) if day.limit]
    deadline = _deadline([*named, *limits], world)
    depends = _depends(mail, asked, world)
    on = cite(depends, world.zone) if depends is not None else None
    names = ", ".join(world.name_of(person) for person in asked)
    quiet = not any(_wrote_later(mail, person, world) for person in asked)
    return Observation(
        kind="waits-for-others",
        sentence=(
            f"You asked {names} in {called(mail)} on {say_day(written)}, "
            f"{passed} working days ago, and nobody has answered: "
            f"{_said(found)}"
            + (f" {called(depends)} is coming up." if depends is not None and on is not None else "")
        ),
        evidence=(evidence, on) if on is not None else (evidence,),
        certain=found.direct
        and quiet
        and all(person.email in world.mails_from or person.email in world.profile.known for person in asked)
        and not is_patient(mail.text)
        and (deadline is not None or bool(limits) or on is not None),
        template="reply-never-came",
        why="You asked for this, something depends on it, and nobody has answered.",
        action=_reply(mail, asked[0], "may I come back to this? I have not seen an answer yet.", world),
        deadline=deadline or (_start(depends) if on is not None else None),
        weight=0.65 if deadline is not None or on is not None else 0.4,
    )


def _is_automatic(mail: Artifact) -> bool:
    return mail.automatic or by_machine(mail.title)


def _is_machine(person: Person) -> bool:
    return person.email.partition("@")[0].startswith(_NO_REPLY)


def _addressed(mail: Artifact, world: World) -> bool | None:
    """True if the mail speaks to the person alone or by name, False if to several, None if to others."""
    to = [person for person in mail.people if person.role is Role.TO]
    if not any(map(world.is_own, to)):
        return None
    names = set((greeted(mail.text) or "").split())
    if names & world.own_names:
        return not names & (world.first_names | _GROUP)
    if names & _names_of_others(mail, world):
        return None if len(to) > 1 else False
    return len(to) == 1 and not names & (world.first_names | _GROUP)


def _names_of_others(mail: Artifact, world: World) -> frozenset[str]:
    """The names of those who got the mail beside the person, in plain form."""
    people = (p for p in mail.people if p.role in (Role.TO, Role.CC) and not world.is_own(p))
    return frozenset(part for p in people for part in plain(p.name).split() if len(part) > 1) - world.own_names


def _came_to_rest(mail: Artifact, writer: Person, found: Asking, world: World) -> bool:
    """Whether the person answered on another path: a later mail or meeting on the matter, or word from the
    writer that it is settled; thanks in the same thread are such a word."""
    answers = [*_later(world.own_mails_to, writer, mail, world), *_meetings(writer, mail, world)]
    if any(_same_matter(other, mail, found) for other in answers):
        return True
    return any(
        (says_settled(other.text) and _same_matter(other, mail, found))
        or (other.thread == mail.thread != "" and thanks(other.text))
        for other in _later(world.mails_from, writer, mail, world)
    )


def _perhaps_answered(mail: Artifact, writer: Person, found: Asking, world: World) -> bool:
    """Whether there was contact later that may have answered.

    That is a mail to the writer that has a word in common with what was asked, or says too little ("Here it is.")
    to be on another matter; a small meeting; a mail of theirs that speaks of something as settled, or that is on
    the matter again and is no reminder.
    """
    matter = stems(found.sentence) | stems(subject(mail.title))
    written = _later(world.own_mails_to, writer, mail, world)
    for other in written:
        said = stems(f"{subject(other.title)}\n{other.text}")
        if matter & said or len(said) < _SPEAKS:
            return True
    if _met(writer, mail, world):
        return True
    return any(
        says_settled(other.text)
        or (alike(other.title, mail.title) and (other.thread != mail.thread or not reminds(other.text)))
        for other in _later(world.mails_from, writer, mail, world)
    )


def _answered_elsewhere(mail: Artifact, person: Person, found: Asking, world: World) -> bool:
    """Whether somebody asked wrote on the matter later, met the person on it, or was written to on it again."""
    contacts = [
        *(other for other in _later(world.mails_from, person, mail, world) if not _is_automatic(other)),
        *_later(world.own_mails_to, person, mail, world),
        *_met(person, mail, world),
    ]
    return any(_same_matter(other, mail, found) for other in contacts)


def _wrote_later(mail: Artifact, person: Person, world: World) -> bool:
    return bool(_later(world.mails_from, person, mail, world) or _met(person, mail, world))


def _later(mails: Mapping[str, list[Artifact]], person: Person, mail: Artifact, world: World) -> list[Artifact]:
    """The mails with this person, of a list that is in order of time, after this one and up to now."""
    found = mails.get(person.email, [])
    return found[bisect_right(found, _time(mail), key=_time) : bisect_right(found, world.now, key=_time)]


def _meetings(person: Person, mail: Artifact, world: World) -> list[Artifact]:
    """Later meetings with this person, past or to come: small ones, and larger ones of a title alike."""
    found = world.events_with.get(person.email, [])
    later = found[bisect_right(found, _time(mail), key=_time) :]
    return [event for event in later if len(_present(event)) <= _FEW or alike(event.title, mail.title)]


def _met(person: Person, mail: Artifact, world: World) -> list[Artifact]:
    return [event for event in _meetings(person, mail, world) if _time(event) <= world.now]


def _time(artifact: Artifact) -> datetime:
    return artifact.time or _NEVER


def _present(event: Artifact) -> set[str]:
    return {person.email or person.name for person in event.people}


def _same_matter(other: Artifact, mail: Artifact, found: Asking) -> bool:
    """Whether another mail or a meeting is on the matter: a title alike, or two words of the question in it."""
    if alike(other.title, mail.title):
        return True
    return len(stems(found.sentence) & stems(f"{subject(other.title)}\n{other.text}")) >= 2


def _deadline(named: list[NamedDay], world: World) -> datetime | None:
    """The end of the first day named that is not over."""
    coming = [item.day for item in named if item.day >= world.today]
    return _end_of(min(coming), world) if coming else None


def _is_far(deadline: datetime | None, world: World) -> bool:
    """Whether what was asked may still come in good time: its day is more than two working days ahead."""
    if deadline is None:
        return False
    last = world.local(deadline).date() - timedelta(days=1)
    return working_days_between(world.today, last, world.holidays) > _IN_TIME


def _end_of(day: date, world: World) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(0), world.zone).astimezone(UTC)


def _depends(mail: Artifact, asked: list[Person], world: World) -> Artifact | None:
    """An event or an open task of the coming two weeks on the matter of the mail."""
    for person in asked:
        for event in world.events_with.get(person.email, ()):
            if _is_near(event.time, world) and alike(event.title, mail.title):
                return event
    for task in world.tasks:
        if _is_near(task.due, world) and task.status.casefold() in ("open", "") and alike(task.title, mail.title):
            return task
    return None


def _is_near(moment: datetime | None, world: World) -> bool:
    return moment is not None and world.now < moment <= world.now + _DEPENDS_WITHIN


def _start(artifact: Artifact | None) -> datetime | None:
    return (artifact.time or artifact.due) if artifact is not None else None


def _said(found: Asking) -> str:
    return f'"{" ".join(found.sentence.split())}"'


def _reply(mail: Artifact, person: Person, line: str, world: World) -> Action:
    """A draft that can be sent as it is: it promises or asks nothing that the thread does not hold."""
    greeting = next(iter(person.name.split()), "Hello")
    body = f"{greeting},\n\n{line}\n\n{world.profile.persona.name}".strip()
    return Action(function_name="reply_email", parameters={"message": mail.label, "body": body})
