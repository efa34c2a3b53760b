"""The person's own absences, as their calendar shows them or they wrote themselves."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta

from inference.observations.events import Standing, standing
from inference.observations.statements import cite_words, iso_days
from inference.observations.words import one_of, plain, word_set
from inference.observations.working import DAY_BEGINS, DAY_ENDS
from inference.observations.world import World, cite
from workspace import Artifact, Evidence, Kind


@dataclass(frozen=True, slots=True)
class Absence:
    """Local days from `first` up to and with `last` on which the person is away, as an entry of the calendar or a
    text of theirs tells; `sure` if nobody else can be meant by the entry."""

    event: Artifact
    first: date
    last: date
    sure: bool


def absences(world: World) -> list[Absence]:
    """The person's absences that are not over, the earliest first."""
    found = []
    for event in world.events:
        if event.end is not None and event.end < world.now - timedelta(days=1):
            continue
        days = whole_days(event, world)
        sure = _is_own(event, world) if days is not None else None
        if days is not None and sure is not None and days[1] >= world.today:
            found.append(Absence(event, days[0], days[1], sure))
    for absence in _noted(world):
        # The calendar knows best.
        if not any(known.first <= absence.last and absence.first <= known.last for known in found):
            found.append(absence)
    return sorted(found, key=lambda absence: absence.first)


def cite_absence(absence: Absence, world: World) -> Evidence | None:
    """Evidence for an absence: the title of the entry, or the words of the text."""
    if absence.event.kind is Kind.EVENT:
        return cite(absence.event, world.zone)
    return cite_words(absence.event, world, day=absence.first, words="away leave absence")


def says_absence(title: str) -> bool:
    """Whether the title of an entry is that of an absence, whoever it may be that is away."""
    words = plain(title)
    return (
        bool(_ABSENCE.search(words)) and "?" not in words and not (_PUBLIC.search(words) or _ABOUT.search(words))
    )


def _noted(world: World) -> Iterator[Absence]:
    """Absences to come that the notes of the person's own mails name, with their name and both days."""
    for mail in world.mails:
        if mail.id not in world.notes or not world.sent_by_owner(mail):
            continue
        for phrase in (phrase for note in world.notes[mail.id] for phrase in note.absences):
            days = iso_days(phrase)
            named = set(re.findall(r"[^\W\d_]+", plain(phrase)))
            if not 1 <= len(days) <= 2 or not named & world.own_names or named & world.first_names:
                continue
            if world.today <= days[-1] and mail.time is not None and mail.time <= world.now:
                yield Absence(mail, days[0], days[-1], False)


def whole_days(event: Artifact, world: World) -> tuple[date, date] | None:
    """First and last whole day of an all-day entry or of one of a day or more, None for any other."""
    if event.cancelled or event.status.casefold() == "cancelled" or event.time is None:
        return None
    end = event.end or event.time + timedelta(days=1)
    if event.all_day:
        # The end is exclusive, and all-day dates belong to no zone.
        last = max(event.time.date(), end.date() - timedelta(days=1))
        return event.time.date(), last if end.time() == time(0) else end.date()
    if end - event.time < timedelta(hours=20):
        return None
    start, stop = world.local(event.time), world.local(end)
    first = start.date() + timedelta(days=start.time() > DAY_BEGINS)
    last = stop.date() - timedelta(days=stop.time() < DAY_ENDS)
    return (first, last) if first <= last else None


def _is_own(event: Artifact, world: World) -> bool | None:
    """True for the person's own absence, False where it may be somebody else's, None where it is none.

    A mere attendee of somebody's "on leave" entry is told of it, not away.
    """
    if standing(event, world) not in (Standing.OWN, Standing.ORGANIZES):
        return None
    title = plain(event.title)
    match = _ABSENCE.search(title)
    if match is None or _PUBLIC.search(title) or _ABOUT.search(title) or "?" in title:
        return None
    if _PUBLIC.search(plain(f"{event.source} {event.origin}")):
        return None
    words = re.findall(r"[^\W\d_]+", title)
    if world.own_names & set(words):
        return True
    if world.first_names & (set(words) - _ABSENCE_WORDS):
        return None
    # "Ben on leave", "Ben: vacation" name somebody before the absence; "Holiday in Crete" a place behind it.
    before = re.findall(r"[^\W\d_]+", title[: match.start()])
    return all(word in _OWN_BEFORE for word in before)


_ABSENCE = one_of(
    r"""
    (?:no laptop|no phone|phone off|offline|unreachable|not reachable|nicht erreichbar|injoignable|ilocalizable)\b
    out of (?:the )?office|ooo\b|o\.o\.o|away\b|vacation|holidays?\b|leave\b|pto\b|time off|day off|days off
    off work|honeymoon|sabbatical|annual leave|\w*urlaub\b|abwesen|nicht im buro|elternzeit|ferien\b|frei\b
    conges?\b|vacances|absence|absent|rtt\b|vacaciones|fuera de la oficina|ausente|permiso\b|libre\b|휴가|연차
    부재|休假|休暇
    """
)
_PUBLIC = one_of(
    r"""
    (?:public|bank|national|federal|statutory|school|company|market|religious)[ _-]holidays?
    \w*holidays?[ _-](?:in|of) (?:germany|france|spain|korea|the|united|england|scotland|ireland)
    \w*feiertag|schulferien|jours?[ _-]ferie|ferie\b|vacances scolaires|festivo|dias?[ _-]festivo|공휴일|祝日
    labou?r day|christmas day|new year'?s day
    """
)
# Entries that have the word in their title and are about something else.
_ABOUT = one_of(
    r"""
    plan|party|request|polic|forms?\b|list\b|photos?\b|handover|hand over|hand-over|calendar|book|deadline
    back from|return|before\b|after\b|cover\b|cards?\b|season|sale\b|menu|lunch|dinner|schedule|approv
    submit|apply|no (?:leave|holiday|vacation)|maybe|tentative|cancel|leave (?:for|at|by|home|the house)
    leave (?:early|house)|pay\b|balance|throw|right away|\w*planung|antrag|abgesagt|nach dem|vor dem
    vertretung|demande|solicitud|신청|계획
    """
)
# What stands before the word in an absence of one's own.
_OWN_BEFORE = word_set(
    """
    my our i am im on me we the a an and in at off of paid unpaid annual summer winter spring autumn fall easter
    christmas xmas family personal parental paternity maternity sick medical study skiing ski half full whole
    long short office out taking going vacation leave holiday holidays week days day am pm vormittag nachmittag
    mein unser sommer winter herbst oster weihnachts resturlaub im in urlaub ich wir bin eltern
    mes nos mon en conge conges annuels vacances d ete mis mi de vacaciones estoy
    """
)
_ABSENCE_WORDS = word_set("out of the office away leave holiday holidays vacation off day time")
