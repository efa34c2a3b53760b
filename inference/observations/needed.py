"""Meetings to come without the one who must be there: away or gone, not invited, or declined."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from inference.observations import needed_phrases as phrases
from inference.observations.acquaintances import Acquaintances, Somebody
from inference.observations.away import Away, away_on, others_away
from inference.observations.away_phrases import COVERED
from inference.observations.events import (
    Standing,
    in_hand,
    is_appointment,
    others,
    same_meeting,
    series_of,
    standing,
    taken,
)
from inference.observations.observation import Observation
from inference.observations.requests import sentences
from inference.observations.words import alike, plain
from inference.observations.working import free_slot, previous_working_day, say_start
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Evidence, Kind, Role

_AHEAD = timedelta(days=45)
_BOUND = (Standing.ORGANIZES, Standing.ACCEPTED, Standing.TENTATIVE, Standing.UNANSWERED)
_READ = 6000


@dataclass(frozen=True, slots=True)
class _Lack:
    """Why somebody who is needed at an event will not be there; `certain` as that of an observation."""

    who: Somebody
    needed: str
    why_not: str
    evidence: tuple[Evidence, ...]
    away: Away | None
    certain: bool


def needed_missing(world: World) -> Iterator[Observation]:
    """The next such occurrence of each series in the coming 45 days.

    Certain only where two would meet, and the calendar of the other or a machine that answers for them says that
    they are away.
    """
    people = Acquaintances(world)
    away = others_away(world, people)
    told: set[str] = set()
    for event in world.events:
        if not world.now < world.starts(event) <= world.now + _AHEAD or series_of(event) in told:
            continue
        if not is_appointment(event) or standing(event, world) not in _BOUND:
            continue
        lack = _counterpart(event, people, away, world) or _named(event, people, away, world)
        # Somebody who moves it has noticed.
        if lack is None or in_hand(event, world, leaving=False) or _is_covered(event, lack, people, world):
            continue
        told.add(series_of(event))
        yield _observe(event, lack, world)


def _counterpart(
    event: Artifact, people: Acquaintances, away: Mapping[str, list[Away]], world: World
) -> _Lack | None:
    """The organiser of a meeting, or the only one whom the person meets, who is away then."""
    host = next((person for person in event.people if person.role is Role.ORGANIZER), None)
    invited = others(event, world)
    mine = host is None or world.is_own(host)
    if mine and len(invited) != 1:
        return None
    person = invited[0] if mine or host is None else host
    who = people.at(person.email)
    absence = away_on(_day(event, world), who, away) if person.email else None
    declined = any(one.email in who.emails and one.status == "declined" for one in invited)
    evidence = cite(event, world.zone)
    if absence is None or evidence is None or declined or absence.text.id == event.id:
        return None
    if any(_time(mail) > _time(absence.text) for mail in world.mentions(event.title) if _is_from(mail, who)):
        return None
    two = len(invited) == 1 if mine else not [one for one in invited if one.email not in who.emails]
    return _Lack(
        who=who,
        needed=f"{who.name} is to meet you" if two else f"{who.name} called the meeting",
        why_not=absence.said,
        evidence=(evidence, absence.evidence),
        away=absence,
        certain=absence.sure and two and not event.series and not phrases.SOCIAL.search(plain(event.title)),
    )


def _named(event: Artifact, people: Acquaintances, away: Mapping[str, list[Away]], world: World) -> _Lack | None:
    """Somebody who, as the event itself or a mail on it says, must be there, decides or signs; or who is named by
    the event, and away."""
    taking_part = {person.email: person.status for person in event.people if person.email}
    for text, sentence in _sayings(event, world):
        must = list(_needed(sentence, people))
        # Whom the event itself names is counted upon; but only an absence makes that worth telling.
        counted_on = [who for who in people.named(sentence) if who not in must] if text is event else []
        for who in (*must, *counted_on):
            statuses = {taking_part[email] for email in who.emails if email in taking_part}
            absence = away_on(_day(event, world), who, away)
            if not statuses and any(plain(who.name) == plain(person.name) for person in event.people):
                continue
            if absence is not None and absence.text.id != text.id and "declined" not in statuses:
                why_not, more = absence.said, [absence.evidence]
            elif who in counted_on:
                continue
            elif statuses == {"declined"}:
                why_not, more = f"{who.name} has declined", []
            elif not statuses and not _is_at_a_copy(event, who, world):
                why_not, more = f"{who.name} is not invited", []
            else:
                continue
            shown = cite(event, world.zone, *((sentence, "text") if text is event and sentence else ()))
            said = shown if text is event else cite(text, world.zone, sentence)
            if shown is None or said is None or (text is not event and said.where != "text"):
                continue
            evidence = tuple(dict.fromkeys((shown, said, *more)))
            needed = f'{called(text)} says: "{" ".join(sentence.split())[:200]}"'
            return _Lack(who, needed, why_not, evidence, absence, False)
    return None


def _sayings(event: Artifact, world: World) -> Iterator[tuple[Artifact, str]]:
    """What the event and the mails on it say, sentence by sentence; of a mail with another title only what is on
    the event itself."""
    yield from ((event, sentence) for sentence in (event.title, *sentences(event.text[:_READ])))
    for mail in world.mentions(event.title):
        said = plain(mail.text[:_READ])
        if mail.automatic or _time(mail) > world.now or not phrases.NEEDED_WORDS.search(said):
            continue
        same = alike(mail.title, event.title)
        yield from ((mail, one) for one in sentences(mail.text[:_READ]) if same or alike(one, event.title))


def _needed(sentence: str, people: Acquaintances) -> Iterator[Somebody]:
    if "?" in sentence or not phrases.NEEDED_WORDS.search(plain(sentence)) or phrases.OPEN.search(plain(sentence)):
        return
    for begin, who in people.named_at(sentence):
        rest = sentence[begin:]
        name = next((name for name in (who.name, rest.split()[0]) if rest.startswith(name)), rest.split()[0])
        after, before = plain(rest[len(name) :]), plain(sentence[:begin])
        if phrases.AFTER_NAME.match(after) or phrases.BEFORE_NAME.search(before):
            yield who


def _is_at_a_copy(event: Artifact, who: Somebody, world: World) -> bool:
    return any(
        other.time == event.time and same_meeting(other, event)
        for email in sorted(who.emails)
        for other in world.events_with.get(email, ())
    )


def _is_covered(event: Artifact, lack: _Lack, people: Acquaintances, world: World) -> bool:
    """Whether the event, a mail on it, or the notice of the absence names somebody who stands in."""
    notice = lack.away.text if lack.away is not None else None
    for text in (event, *world.mentions(event.title), *((notice,) if notice is not None else ())):
        for sentence in (text.title, *sentences(text.text[:_READ])):
            if not COVERED.search(plain(sentence)):
                continue
            named = people.named(sentence)
            near = text is event or lack.who in named or alike(sentence, event.title)
            if near or any(one.emails & {p.email for p in event.people} for one in named if one != lack.who):
                return True
    return False


def _observe(event: Artifact, lack: _Lack, world: World) -> Observation:
    start = world.starts(event)
    gone = lack.away is not None and lack.away.last is None
    days = (start - world.now) / timedelta(days=1)
    return Observation(
        kind="organizer-gone" if gone else "needed-missing",
        sentence=(
            f"{called(event)} is on {say_start(start, all_day=event.all_day)}. {_sentence(lack.needed)} "
            f"{_sentence(lack.why_not)}"
        ),
        evidence=lack.evidence,
        certain=lack.certain,
        template=(
            "duty-of-someone-gone" if gone else "needed-person-away" if lack.away else "decision-maker-missing"
        ),
        why="Without them the meeting cannot do what it is for, and nothing shows that anybody stands in.",
        action=_action(event, lack, world),
        deadline=start,
        weight=max(0.4, 0.7 - 0.01 * days) if lack.certain or not lack.away else max(0.3, 0.6 - 0.01 * days),
    )


def _action(event: Artifact, lack: _Lack, world: World) -> Action:
    """Move a meeting of two that the person called to when the other is back; else see to it in time."""
    mine = standing(event, world) is Standing.ORGANIZES
    if lack.away and lack.away.last and mine and len(others(event, world)) == 1 and event.time and event.end:
        back = datetime.combine(lack.away.last + timedelta(days=1), time(0), world.zone).astimezone(UTC)
        later = max(event.time, back)
        busy = sorted(taken(world))
        slot = free_slot(event.time, event.end, busy, later, world.zone, world.holidays)
        if slot is not None:
            note = f"Moved, since {lack.who.name} is away on that day."
            return Action(
                function_name="reschedule_meeting",
                parameters={"event": event.label, "new_start": f"{slot:%Y-%m-%dT%H:%M}", "note": note},
            )
    before = previous_working_day(_day(event, world), world.holidays)
    title = f"Settle who stands in for {lack.who.name} at {called(event)}"
    if lack.away is None:
        title = f"Have {lack.who.name} at {called(event)}, or move it"
    return Action(
        function_name="create_task",
        parameters={
            "title": title[:160],
            "due": max(before, world.today).isoformat(),
            "notes": lack.why_not[:600],
        },
    )


def _sentence(words: str) -> str:
    return words if words.endswith(('."', '"', ".")) else f"{words}."


def _day(event: Artifact, world: World) -> date:
    return world.starts(event).date()


def _is_from(mail: Artifact, who: Somebody) -> bool:
    return not mail.automatic and mail.sender is not None and mail.sender.email in who.emails


def _time(artifact: Artifact) -> datetime:
    if artifact.kind is Kind.EVENT or artifact.time is None:
        return datetime.min.replace(tzinfo=UTC)
    return artifact.time
