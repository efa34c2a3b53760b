"""What an event is to the person, and which events are in truth one."""

import re
from datetime import datetime, timedelta
from enum import StrEnum

from inference.observations.dates import named_days
from inference.observations.requests import sentences
from inference.observations.words import alike, one_of, plain, same_title, stems, subject
from inference.observations.world import World
from workspace import Artifact, Person, Role

# An entry as long as this is a note on the day ("conference", "in Berlin"), not an appointment.
LONGEST = timedelta(hours=12)


class Standing(StrEnum):
    """The person's part in an event."""

    ORGANIZES = "organizes"
    OWN = "own"
    ACCEPTED = "accepted"
    TENTATIVE = "tentative"
    DECLINED = "declined"
    UNANSWERED = "unanswered"
    NONE = "none"


_ANSWERS = {
    "accepted": Standing.ACCEPTED,
    "tentative": Standing.TENTATIVE,
    "declined": Standing.DECLINED,
    "needs-action": Standing.UNANSWERED,
}


def standing(event: Artifact, world: World) -> Standing:
    """An answer that the person gave goes before their being the organiser, except for none given yet.

    An entry of their calendar that names nobody is their own; what came by mail and names nobody is not.
    """
    if event.status.casefold() == "tentative":
        return Standing.TENTATIVE
    answer = Standing.NONE
    organizer = False
    for person in event.people:
        if not world.is_own(person):
            continue
        if person.role is Role.ORGANIZER:
            organizer = True
        elif person.role is Role.ATTENDEE:
            answer = _ANSWERS.get(person.status, Standing.NONE)
    if organizer and answer not in (Standing.DECLINED, Standing.TENTATIVE):
        return Standing.OWN if is_alone(event) else Standing.ORGANIZES
    if answer is not Standing.NONE:
        return answer
    return Standing.NONE if event.people or event.is_invitation else Standing.OWN


def is_alone(event: Artifact) -> bool:
    """Whether an entry names nobody, or one person only: its owner."""
    return len({person.email or person.name for person in event.people}) <= 1


def others(event: Artifact, world: World) -> list[Person]:
    """The attendees beside the person, without rooms and equipment."""
    return [
        person
        for person in event.people
        if person.role is Role.ATTENDEE and not world.is_own(person) and not is_room(person, event)
    ]


def is_room(person: Person, event: Artifact) -> bool:
    """Whether an attendee is a room or a thing; calendars invite these like people."""
    if "resource.calendar.google.com" in person.email:
        return True
    name, local = plain(person.name), person.email.partition("@")[0]
    if name and name == plain(event.location):
        return True
    return bool(_ROOM_NAME.search(name) or _ROOM_ADDRESS.match(local))


def is_appointment(event: Artifact) -> bool:
    """Whether an event takes a stretch of the day: not cancelled, free, all-day, a mark or a note on the day."""
    if event.cancelled or event.status.casefold() == "cancelled" or event.all_day or not event.busy:
        return False
    if event.time is None or event.end is None:
        return False
    return timedelta(0) < event.end - event.time <= LONGEST


def commitments(world: World) -> list[Artifact]:
    """The appointments that the person organises, has accepted or noted themselves, the earliest first."""
    bound = (Standing.ORGANIZES, Standing.OWN, Standing.ACCEPTED)
    return [event for event in world.events if is_appointment(event) and standing(event, world) in bound]


def taken(world: World) -> list[tuple[datetime, datetime]]:
    """The times at which the person cannot be met: everything that is busy and not declined, all-day included."""
    return [
        (world.starts(event), world.day(event.end, all_day=event.all_day))
        for event in world.events
        if event.time and event.end and event.end > world.now and event.busy and not event.cancelled
        if standing(event, world) not in (Standing.DECLINED, Standing.NONE)
    ]


def is_note(event: Artifact) -> bool:
    """Whether an entry of the person's own only marks time (travel, focus, lunch) that gives way to a meeting."""
    return is_alone(event) and bool(_NOTE.search(plain(event.title)))


def series_of(event: Artifact) -> str:
    """The identity that the occurrences of one series share; that of the event itself where it is single."""
    return event.series or f"{event.source}\x00{event.key}"


def same_meeting(a: Artifact, b: Artifact) -> bool:
    """Whether two entries that share time are one meeting: a copy in another calendar, an older version of
    the invitation, or a note that the person made of it."""
    if series_of(a) == series_of(b):
        return True
    if same_title(a.title) == same_title(b.title):
        there, here = ({p.email or p.name for p in e.people if p.role is Role.ATTENDEE} for e in (a, b))
        return not there or not here or bool(there & here)
    if not is_alone(a) and not is_alone(b):
        return False
    words, more = stems(subject(a.title)), stems(subject(b.title))
    if (a.time, a.end) == (b.time, b.end) and (words <= more or more <= words) and words and more:
        return True
    return alike(a.title, b.title) and (_holds(a, b) or _holds(b, a))


def holds_the_other(a: Artifact, b: Artifact) -> bool:
    """Whether an entry without attendees is the surroundings of the other: a trip, a fair, a day on site.

    A flight is not: nobody can be met while it lasts.
    """
    for outer, inner in ((a, b), (b, a)):
        if is_alone(outer) and _holds(outer, inner) and _SURROUNDINGS.search(plain(outer.title)):
            return not _FLIGHT.search(plain(outer.title))
    return False


def long_note(a: Artifact, b: Artifact) -> bool:
    """Whether one entry is of the person's own, long, and holds the other: perhaps its surroundings."""
    return any(
        is_alone(outer)
        and _holds(outer, inner)
        and length(outer) >= timedelta(hours=4)
        and not _FLIGHT.search(plain(outer.title))
        for outer, inner in ((a, b), (b, a))
    )


def in_hand(event: Artifact, world: World, *, leaving: bool = True) -> bool:
    """Whether a recent mail, of the person or of somebody who takes part, speaks of moving or dropping this
    event, or, with `leaving`, of not coming to it: somebody is at it. A move to the day on which the event now
    stands has been carried out."""
    takes_part = {person.email for person in event.people}
    for mail in world.mentions(event.title):
        writer = mail.sender
        if writer is None or mail.automatic or mail.time is None:
            continue
        if not world.is_own(writer) and writer.email not in takes_part:
            continue
        for sentence in (mail.title, *sentences(mail.text)):
            said = plain(sentence)
            speaks = _CHANGES.search(said) or (leaving and _LEAVING.search(said))
            if speaks and alike(sentence, event.title):
                named = named_days(sentence, world.local(mail.time).date())
                if not named or named[-1].day != world.starts(event).date():
                    return True
    return False


def length(event: Artifact) -> timedelta:
    return event.end - event.time if event.time and event.end else timedelta(0)


def _holds(outer: Artifact, inner: Artifact) -> bool:
    if not (outer.time and outer.end and inner.time and inner.end):
        return False
    return outer.time <= inner.time and inner.end <= outer.end


_ROOM_NAME = re.compile(
    r"\b(?:(?:meeting|conference|board|class|huddle|seminar) ?room|room \w+$|raum|besprechungsraum|sitzungszimmer"
    r"|konferenzraum|salle|sala|projector|beamer|equipment|boardroom|auditorium)|회의실"
)
_ROOM_ADDRESS = re.compile(
    r"(?:conf(?:erence)?|meeting|board)?[-_.]?(?:room|raum|salle|sala|resource|equipment)[-_.\d]"
)
_NOTE = one_of(
    r"""
    travel|commute|driv(?:e|ing)\b|transfer\b|focus|deep work|hold\b|buffer|block(?:ed|er)?\b|lunch\b
    break\b|prep\b|prepar|debrief|reminder|maybe\b|optional|birthday|do not book|no meetings|desk time
    admin time|wfh\b|anreise|abreise|anfahrt|heimfahrt|fahrt|mittag|pause\b|vorbereit|geburtstag|konzentr
    fokus|trajet|dejeuner|anniversaire|preparation|viaje|almuerzo|cumplean|이동|점심|생일|집중
    """
)
_SURROUNDINGS = one_of(
    r"""
    trip\b|travel|visit|conference|congress|summit|offsite|off-site|retreat|on ?site|fair\b
    working (?:from|at|in)|home office|office day|wfh|on call|train(?:ing)? day|day in\b|reise|dienstreise
    messe\b|konferenz|tagung|besuch|bereitschaft|homeoffice|deplacement|voyage|salon\b|conferenc|viaje
    congreso|teletrabajo|출장|재택|컨퍼런스
    """
)
_FLIGHT = one_of(
    r"""
    flight|fly\b|flug|vol\b|vuelo|비행|항공
    """
)
# Words of moving or dropping a meeting.
_CHANGES = one_of(
    r"""
    cancel|call(?:ed|ing)? (?:it |this )?off|postpon|resched|mov(?:e|ed|ing)\b|swap|new (?:time|date|slot)
    push(?:ed|ing)? (?:it |this )?(?:back|to)|another (?:time|slot|day)|instead of
    absag|sag\w* .{0,30}\bab\b|verschieb|verschob|verleg|ausfall|fallt aus
    annul|report(?:e|er|ee|ons)\b|decal|deplac|aplaz|pospon|cancela|cambi(?:ar|o)|취소|연기|변경|옮기
    """
)
# Words of not coming to it, or not to all of it.
_LEAVING = one_of(
    r"""
    skip|declin|(?:can't|cannot|won't|not) (?:make|join|attend|come)|step out|leave (?:early|after|before)
    join (?:late|after)|dial in later|cover for me|nicht (?:kommen|teilnehmen|dabei)
    peux pas venir|no puedo ir|참석 ?못
    """
)
