"""Promises of a mail, a file or an answer that left no trace, as the words of mails or their notes tell them."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from inference.observations import promise_phrases as phrases
from inference.observations.dates import named_days
from inference.observations.observation import Observation
from inference.observations.requests import by_machine, says_settled, sentences, thanks
from inference.observations.statements import cite_words, iso_days, written_on
from inference.observations.tasks import own_open
from inference.observations.words import alike, plain, stems, subject
from inference.observations.working import next_working_day, say_day, working_days_between
from inference.observations.world import RECENT, World, called, cite
from workspace import Action, Artifact, Evidence, Person, Role, Trust

# A promise without a day is told when it is so many working days old.
_PATIENCE = 5
# What should have come longer ago has been settled otherwise or forgotten by both.
_LATE = timedelta(days=30)
_FEW = 3
_SPEAKS = 3
_READ = 20_000


@dataclass(frozen=True, slots=True)
class _Promise:
    """Somebody's word in a mail that something comes: `person` is the other side, `by` its day, None where none is
    named; `what` are the words that say what."""

    mail: Artifact
    own: bool
    person: Person
    by: date | None
    what: str
    evidence: Evidence


def promises(world: World) -> Iterator[Observation]:
    """Promises of the person, and to them, whose day has passed or that are five working days old, and after which
    nothing on the matter was sent that can be seen. One of each thread, the last. Never certain."""
    last: dict[str, _Promise] = {}
    for mail in world.mails:
        if mail.time is None or not world.now - RECENT <= mail.time <= world.now:
            continue
        if mail.automatic or by_machine(mail.title):
            continue
        other = other_side(mail, world)
        if other is None:
            continue
        thread = mail.thread or f"\x00{mail.source}\x00{mail.key}"
        for promise in (*_said(mail, other, world), *_noted(mail, other, world)):
            last[f"{promise.own}\x00{thread}"] = promise
            break
    for promise in last.values():
        if _is_over(promise, world) and not _is_kept(promise, world):
            yield _observe(promise, world)


def other_side(mail: Artifact, world: World) -> Person | None:
    """Whom the person wrote to, or who wrote to them; None where it is nobody they deal with, or too many."""
    to = [person for person in mail.people if person.role is Role.TO and person.email]
    if world.sent_by_owner(mail):
        others = [person for person in to if not world.is_own(person)]
        return others[0] if 0 < len(others) <= _FEW else None
    writer = mail.sender
    known = writer is not None and (mail.trust is Trust.KNOWN or writer.email in world.dealt_with)
    mine = any(map(world.is_own, to)) and len(to) <= _FEW
    return writer if known and mine else None


def _said(mail: Artifact, other: Person, world: World) -> Iterator[_Promise]:
    """The promises that the words of a mail make; one for a case that may come is none."""
    said = mail.text[:_READ].lower()
    if not any(word in said for word in phrases.PROMISING_WORDS):
        return
    carries = (mail.source, mail.key) in world.attached
    for sentence in sentences(mail.text):
        words = plain(sentence)
        if "?" in words or not phrases.PROMISE.search(words) or phrases.CONDITION.search(words):
            continue
        days = named_days(sentence, written_on(mail, world))
        # "I send you the figures" of a mail that carries something is about what it carries.
        if (carries and not days) or len({named.day for named in days}) > 1:
            continue
        if not days and phrases.BY_THEN.search(words):
            continue
        evidence = cite(mail, world.zone, sentence)
        if evidence is not None and evidence.where == "text":
            by = days[0].day if days else None
            yield _Promise(mail, world.sent_by_owner(mail), other, by, sentence, evidence)


def _noted(mail: Artifact, other: Person, world: World) -> Iterator[_Promise]:
    """The commitments with a day that the notes of a mail name, between the person and the other side."""
    for note in world.notes.get(mail.id, ()):
        for commitment in note.commitments:
            day = _one_day(commitment.by)
            who = set(plain(commitment.who).split())
            own = bool(who & world.own_names) and not who & world.first_names
            theirs = bool(who & set(plain(world.name_of(other)).split())) and not who & world.own_names
            # What the person is asked to do by somebody is a wait; a promise is what the writer gives.
            if day is None or not (own if world.sent_by_owner(mail) else theirs):
                continue
            evidence = cite_words(mail, world, day=day, words=commitment.what)
            if evidence is not None:
                yield _Promise(mail, own, other, day, commitment.what, evidence)


def _one_day(fact: str) -> date | None:
    found = iso_days(fact)
    return found[0] if len(found) == 1 else None


def _is_over(promise: _Promise, world: World) -> bool:
    if promise.by is not None:
        return world.today - _LATE <= promise.by < world.today
    age = working_days_between(written_on(promise.mail, world), world.today, world.holidays)
    return age >= max(_PATIENCE, world.answer_days)


def _is_kept(promise: _Promise, world: World) -> bool:
    """Whether anything later may have kept it: a mail or a file on the matter, a meeting, thanks, an open task."""
    mail = promise.mail
    people = [person for person in mail.people if person.role in (Role.FROM, Role.TO, Role.CC)]
    others = [person for person in people if person.email and not world.is_own(person)]
    sent = [one for person in others for one in later_of(world.own_mails_to.get(person.email, []), mail, world)]
    got = [one for person in others for one in later_of(world.mails_from.get(person.email, []), mail, world)]
    giving, taking = (sent, got) if promise.own else (got, sent)
    matter = stems(promise.what) | stems(subject(mail.title))
    for other in giving:
        said = stems(f"{subject(other.title)}\n{other.text}")
        same = other.thread == mail.thread != "" or alike(other.title, mail.title)
        if same or matter & said or len(said) < _SPEAKS or (other.source, other.key) in world.attached:
            return True
    after = promise.by or written_on(mail, world)
    for other in taking:
        related = other.thread == mail.thread != "" or alike(other.title, mail.title)
        if related and written_on(other, world) >= after and (thanks(other.text) or says_settled(other.text)):
            return True
    if any(_is_near(event, mail, world) for person in others for event in world.events_with.get(person.email, ())):
        return True
    # A task reminds of it.
    return promise.own and any(len(stems(task.title) & matter) >= 2 for task in own_open(world))


def _is_near(event: Artifact, mail: Artifact, world: World) -> bool:
    """Whether they met since, or will on the matter."""
    if event.time is None or mail.time is None or event.time <= mail.time:
        return False
    few = len({person.email or person.name for person in event.people}) <= _FEW
    return (few and event.time <= world.now) or alike(event.title, mail.title)


def later_of(mails: list[Artifact], mail: Artifact, world: World) -> list[Artifact]:
    """The mails, of a list in order of time, after this one and up to now, without what machines sent."""
    begin = bisect_right(mails, _time(mail), key=_time)
    return [one for one in mails[begin:] if _time(one) <= world.now and not one.automatic]


def _time(artifact: Artifact) -> datetime:
    # Only mails that have a time are looked up.
    assert artifact.time is not None
    return artifact.time


def _observe(promise: _Promise, world: World) -> Observation:
    mail, name = promise.mail, world.name_of(promise.person)
    written = written_on(mail, world)
    by = f" by {say_day(promise.by)}" if promise.by is not None else ""
    said = f'"{" ".join(promise.what.split())}"'
    if promise.own:
        sentence = f"You promised {name} in {called(mail)} on {say_day(written)}{by}: {said}"
        soon = say_day(next_working_day(world.today, world.holidays))
        line = f"I have not forgotten what I promised you. You will have it by {soon}."
    else:
        sentence = f"{name} promised you in {called(mail)} on {say_day(written)}{by}: {said}"
        line = "may I come back to this? I have not got it yet. When can I count on it?"
    return Observation(
        kind="promise-without-trace",
        sentence=f"{sentence} Nothing on it that was sent since can be seen.",
        evidence=(promise.evidence,),
        certain=False,
        template="promise-not-kept" if promise.own else "delivery-silently-late",
        why="Somebody counts on it, and nothing shows that it came.",
        action=reply(mail, promise.person, line, world),
        deadline=None,
        weight=0.6 if promise.own else 0.45,
    )


def reply(mail: Artifact, person: Person, line: str, world: World) -> Action:
    greeting = next(iter(person.name.split()), "Hello")
    body = f"{greeting},\n\n{line}\n\n{world.profile.persona.name}".strip()
    return Action(function_name="reply_email", parameters={"message": mail.label, "body": body})
