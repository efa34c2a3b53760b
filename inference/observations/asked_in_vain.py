"""Mails of the person's that ask somebody who is away until too late, or whom mail reaches no more."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from inference.observations.acquaintances import Acquaintances
from inference.observations.away import Away, others_away
from inference.observations.dates import NamedDay, named_days
from inference.observations.observation import Observation
from inference.observations.promises import later_of
from inference.observations.requests import asking, sentences
from inference.observations.statements import cite_words, statements, written_on
from inference.observations.words import alike, one_of, plain
from inference.observations.working import say_day
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Person, Role

_WITHIN = timedelta(days=30)
_FEW = 3


def asked_in_vain(world: World) -> Iterator[Observation]:
    """Requests of the last 30 days that nobody who was asked can answer by the day that they name.

    Certain where one person alone was asked, a machine answered that they are away beyond that day, and the person
    has written to nobody else on the matter since.
    """
    people = Acquaintances(world)
    away = others_away(world, people)
    if not away:
        return
    for mail in world.mails:
        if mail.time is None or not world.now - _WITHIN <= mail.time <= world.now or not world.sent_by_owner(mail):
            continue
        asked = [p for p in mail.people if p.role is Role.TO and p.email and not world.is_own(p)]
        if 0 < len(asked) <= _FEW and all(person.email in away for person in asked):
            found = _observe(mail, asked, away[asked[0].email], world)
            if found is not None:
                yield found


def _observe(mail: Artifact, asked: list[Person], absences: list[Away], world: World) -> Observation | None:
    found = asking(mail.text)
    signing = bool(_SIGNING.search(plain(f"{mail.title}. {found.sentence if found else ''}")))
    if (found is None and not signing) or _went_on(mail, asked, world):
        return None
    limit, source = _limit(mail, world), mail
    absence = next((one for one in absences if _holds(one, mail, limit, world)), None)
    if absence is None and limit is None:
        limit, source = _limit_elsewhere(mail, world)
        absence = next((one for one in absences if _holds(one, mail, limit, world)), None)
    evidence = cite(mail, world.zone, *((found.sentence, "text") if found else (mail.title, "title")))
    if absence is None or evidence is None or (found and evidence.quote != found.sentence):
        return None
    beside = cite_words(source, world, day=limit.day) if limit is not None and source is not mail else None
    gone = absence.last is None
    by = f" by {say_day(limit.day)}" if limit is not None and beside is None else ""
    said = f': "{" ".join(found.sentence.split())}"' if found is not None else "."
    needed = f" {called(source)} needs it by {say_day(limit.day)}." if limit is not None and beside else ""
    copied = [p for p in mail.people if p.role is Role.CC and not world.is_own(p)]
    title = f"Find somebody who can answer {called(mail)} instead of {absence.who.name}"
    due = world.today if gone or limit is None else max(world.today, limit.day - timedelta(days=1))
    return Observation(
        kind="asked-in-vain",
        sentence=(
            f"You asked {absence.who.name} in {called(mail)} on {say_day(written_on(mail, world))}{by}{said}"
            f"{needed} But {absence.said}."
        ),
        evidence=tuple(one for one in (evidence, absence.evidence, beside) if one is not None),
        certain=(
            absence.sure
            and absence.text.automatic
            and found is not None
            and found.direct
            and beside is None
            and len(asked) == 1
            and not copied
            and (gone or (limit is not None and limit.exact and limit.limit))
        ),
        template="duty-of-someone-gone" if gone else "approval-holds-up-work" if signing else "needed-person-away",
        why="Whoever was asked will not see it in time, and nobody else has been asked.",
        action=Action(
            function_name="create_task",
            parameters={"title": title[:160], "due": due.isoformat(), "notes": f"{absence.said}."[:600]},
        ),
        deadline=_end_of(limit.day, world) if limit is not None else None,
        weight=0.75 if limit is not None else 0.5,
    )


def _holds(absence: Away, mail: Artifact, limit: NamedDay | None, world: World) -> bool:
    """Whether somebody was away from when they were asked, or told so afterwards, to the day it is needed."""
    if absence.text.time is None or mail.time is None:
        return False
    if absence.last is None:
        # What a machine says on one's mail is known at once; a departure leaves what was asked before undone.
        return absence.first <= max(world.today, written_on(mail, world))
    return limit is not None and absence.first <= world.today and limit.day <= absence.last


def _limit(mail: Artifact, world: World) -> NamedDay | None:
    """The first day to come that the mail names, of those by which something is needed where it names any."""
    written = written_on(mail, world)
    named = [day for sentence in sentences(mail.text) for day in named_days(sentence, written)]
    coming = [day for day in named if day.day >= world.today and (day.exact or day.limit)]
    limits = [day for day in coming if day.limit]
    return min(limits or coming, key=lambda one: one.day, default=None)


def _limit_elsewhere(mail: Artifact, world: World) -> tuple[NamedDay | None, Artifact]:
    """The first day to come by which a document on the matter of the mail needs something, and the document."""
    found = [
        (day, document)
        for document in world.documents_on(mail.title)
        for said in statements(document, world)
        for day in said.days
        if day.limit and day.exact and day.day >= world.today
    ]
    return min(found, key=lambda one: (one[0].day, one[1].id), default=(None, mail))


def _went_on(mail: Artifact, asked: list[Person], world: World) -> bool:
    """Whether anybody wrote in the thread since, somebody asked wrote at all on the matter, or the person turned
    to somebody else."""
    thread = [one for one in world.threads.get(mail.thread, ()) if one.time and mail.time and one.time > mail.time]
    if any(not one.automatic and not _is_postman(one) for one in thread):
        return True
    if any(
        alike(one.title, mail.title)
        for p in asked
        for one in later_of(world.mails_from.get(p.email, []), mail, world)
    ):
        return True
    for other in world.mentions(mail.title):
        later = other.time is not None and mail.time is not None and other.time > mail.time
        if later and world.sent_by_owner(other) and not other.automatic:
            return True
    return False


def _is_postman(mail: Artifact) -> bool:
    return mail.sender is not None and mail.sender.email.partition("@")[0] in ("mailer-daemon", "postmaster")


def _end_of(day: date, world: World) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(0), world.zone).astimezone(UTC)


_SIGNING = one_of(
    r"""
    sign\b|signature|sign-off|approv|authori[sz]|releas|unterschr|unterzeichn|genehmig|freig|freizugeben
    signer|signature|valider|approuver|accord|firmar|firma|aprobar|결재|승인|서명
    """
)
