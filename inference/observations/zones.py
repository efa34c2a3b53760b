"""An hour that a text gives in another place's time, and an event that stands at another hour."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from inference.observations.dates import named_days
from inference.observations.events import (
    Standing,
    in_hand,
    is_appointment,
    is_note,
    series_of,
    standing,
)
from inference.observations.observation import Observation
from inference.observations.public_holidays import zone_names
from inference.observations.requests import sentences
from inference.observations.statements import is_open_ended, tells_of_change, written_on
from inference.observations.words import alike, plain
from inference.observations.working import previous_working_day, say_start
from inference.observations.world import World, called, cite
from workspace import Action, Artifact

_AHEAD = timedelta(days=60)
_BOUND = (Standing.ORGANIZES, Standing.OWN, Standing.ACCEPTED, Standing.TENTATIVE, Standing.UNANSWERED)
_APART = timedelta(hours=14)
_READ = 6000


@dataclass(frozen=True, slots=True)
class ZonedHour:
    """An hour of a day as a text gives it, in the time of a place or of a zone by its letters, with its words."""

    hour: time
    zone: str
    words: str

    def moments(self, day: date) -> set[datetime]:
        """When that is on a day. In summer "CET" is meant as often as not for the clock on the wall there."""
        naive = datetime.combine(day, self.hour)
        found = {naive.replace(tzinfo=ZoneInfo(self.zone)).astimezone(UTC)}
        fixed = _FIXED.get(self.words.rpartition(" ")[2].upper())
        return found if fixed is None else found | {(naive - timedelta(hours=fixed)).replace(tzinfo=UTC)}


def zone_disagrees(world: World) -> Iterator[Observation]:
    """Coming events whose own text, or a mail on them that names their day, gives an hour of another zone at which
    they do not stand; the next of each series.

    Certain where the event's own text names one such hour, and that is the hour at which the event stands here, so
    that it was entered as if it were of this zone.
    """
    told: set[str] = set()
    for event in world.events:
        if event.time is None or not world.now < event.time <= world.now + _AHEAD or series_of(event) in told:
            continue
        if not is_appointment(event) or is_note(event) or standing(event, world) not in _BOUND:
            continue
        found = _observe(event, world)
        if found is not None:
            told.add(series_of(event))
            yield found


def zoned_hours(text: str) -> list[ZonedHour]:
    """The hours with a zone that a text names, in its order; of a span the first, and none that is a limit."""
    found = []
    for match in _HOUR.finditer(text):
        zone, before = _zone(match["zone"]), text[: match.start()]
        hour = _clock(match)
        span, limit = _SPAN.search(before), _LIMIT.search(before)
        if span is not None:
            hour = time(int(span["hour"]) % 24, int(span["minute"]))
        # A city beside an hour is a place as often as not, but in a row of places it is their hours.
        bare = match["city"] is not None and not (before.rstrip().endswith("/") or _ROW.match(text, match.end()))
        if zone is not None and hour is not None and not bare and (span is not None or limit is None):
            found.append(ZonedHour(hour, zone, " ".join(match.group().split())))
    return found


def _observe(event: Artifact, world: World) -> Observation | None:
    hours = zoned_hours(f"{event.title}\n{event.text[:_READ]}")
    text, hour = event, next((one for one in hours if not _is_at(event, one)), None)
    if any(_is_at(event, one) for one in hours):
        # One that agrees settles it; the other is that of a step within, or of another day.
        return None
    if hour is None:
        text, hour = next(_mails(event, world), (event, None))
    if hour is None or event.time is None:
        return None
    start = world.local(event.time)
    as_if_here = start.time().replace(tzinfo=None) == hour.hour
    there = min(hour.moments(start.date()), key=lambda moment: abs(moment - start))
    if not timedelta(0) < abs(there - start) <= _APART or (
        not as_if_here and event.end and start < there < event.end
    ):
        return None
    sentence = next((one for one in sentences(text.text) if hour.words in " ".join(one.split())), "")
    said, shown = cite(text, world.zone, sentence), cite(event, world.zone)
    if said is None or shown is None:
        return None
    handled = in_hand(event, world)
    return Observation(
        kind="zone-disagrees",
        sentence=(
            f"{called(event)} stands on {say_start(start, all_day=False)}, but {called(text)} says "
            f'"{hour.words}", which is {say_start(world.local(there), all_day=False)} here.'
        ),
        evidence=tuple(dict.fromkeys((shown, said))),
        certain=text is event and as_if_here and len(hours) == 1 and not handled,
        template="time-zone-misread",
        why="One side will be there at another hour than the other.",
        action=_action(event, there, hour, world),
        deadline=min(there, start).astimezone(UTC) if min(there, start) > world.now else event.time,
        weight=0.7 if text is event else 0.6,
    )


def _is_at(event: Artifact, hour: ZonedHour) -> bool:
    """Whether an event begins at that hour, on its day there."""
    if event.time is None:
        return False
    there = event.time.astimezone(ZoneInfo(hour.zone)).date()
    return any(event.time in hour.moments(there + timedelta(days=shift)) for shift in (-1, 0, 1))


def _mails(event: Artifact, world: World) -> Iterator[tuple[Artifact, ZonedHour]]:
    """Mails of who takes part that name the event's day and an hour of a zone in one sentence, oldest first."""
    taking_part = {person.email for person in event.people}
    day = world.starts(event).date()
    for mail in sorted(world.mentions(event.title), key=lambda one: (one.time or event.time or world.now, one.id)):
        if mail.automatic or mail.sender is None or not alike(mail.title, event.title):
            continue
        if mail.sender.email not in taking_part and not world.is_own(mail.sender):
            continue
        for sentence in sentences(mail.text[:_READ]):
            hours = zoned_hours(sentence)
            days = {one.day for one in named_days(sentence, written_on(mail, world))}
            if len(hours) != 1 or days != {day} or is_open_ended(sentence) or tells_of_change(sentence):
                continue
            if not _is_at(event, hours[0]) and world.starts(event).time() == hours[0].hour:
                yield mail, hours[0]


def _action(event: Artifact, there: datetime, hour: ZonedHour, world: World) -> Action:
    """Put what the person called or noted to the hour that is said; ask whoever called anything else."""
    local = world.local(there)
    mine = standing(event, world) in (Standing.ORGANIZES, Standing.OWN)
    if mine and there > world.now:
        return Action(
            function_name="reschedule_meeting",
            parameters={
                "event": event.label,
                "new_start": f"{local:%Y-%m-%dT%H:%M}",
                "note": f"The time was given as {hour.words}.",
            },
        )
    before = previous_working_day(world.starts(event).date(), world.holidays)
    return Action(
        function_name="create_task",
        parameters={
            "title": f"Ask which hour holds for {called(event)}",
            "due": max(before, world.today).isoformat(),
            "notes": f"{hour.words} is {say_start(local, all_day=False)} here.",
        },
    )


def _clock(match: re.Match[str]) -> time | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    half = (match["half"] or "").replace(".", "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    # "3 London" may be anything; an hour has minutes or a word that says so.
    clear = match["minute"] or half or match["word"]
    return time(hour, minute) if hour < 24 and minute < 60 and clear else None


def _zone(name: str) -> str | None:
    letters = name.strip()
    return _LETTERS.get(letters) or _cities().get(re.sub(r"\s+", " ", plain(letters)))


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    """Zones by the city that they are called after, and by what other languages call it."""
    found = {plain(zone.rpartition("/")[2].replace("_", " ")): zone for zone in zone_names() if "/" in zone}
    return found | {plain(name): zone for name, zone in _OTHER_NAMES.items()}


_LETTERS = {
    **dict.fromkeys(("CET", "CEST", "MEZ", "MESZ"), "Europe/Berlin"),
    **dict.fromkeys(("GMT", "BST"), "Europe/London"),
    **dict.fromkeys(("WET", "WEST"), "Europe/Lisbon"),
    **dict.fromkeys(("EET", "EEST"), "Europe/Helsinki"),
    **dict.fromkeys(("EST", "EDT", "ET"), "America/New_York"),
    **dict.fromkeys(("CDT", "CT"), "America/Chicago"),
    **dict.fromkeys(("MDT", "MT"), "America/Denver"),
    **dict.fromkeys(("PST", "PDT", "PT"), "America/Los_Angeles"),
    **dict.fromkeys(("AEST", "AEDT"), "Australia/Sydney"),
    **{"UTC": "UTC", "JST": "Asia/Tokyo", "KST": "Asia/Seoul", "SGT": "Asia/Singapore", "HKT": "Asia/Hong_Kong"},
}
_FIXED = {
    **{"CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "GMT": 0, "BST": 1, "WET": 0, "WEST": 1, "EET": 2, "EEST": 3},
    **{"EST": -5, "EDT": -4, "CDT": -5, "MDT": -6, "PST": -8, "PDT": -7, "AEST": 10, "AEDT": 11},
}
_OTHER_NAMES = {
    **{
        "londoner": "Europe/London",
        "londres": "Europe/London",
        "lisbonne": "Europe/Lisbon",
        "런던": "Europe/London",
    },
    **{"pariser": "Europe/Paris", "파리": "Europe/Paris", "berliner": "Europe/Berlin", "베를린": "Europe/Berlin"},
    **{"new yorker": "America/New_York", "nueva york": "America/New_York", "뉴욕": "America/New_York"},
    **{
        "한국": "Asia/Seoul",
        "서울": "Asia/Seoul",
        "seouler": "Asia/Seoul",
        "seul": "Asia/Seoul",
        "도쿄": "Asia/Tokyo",
    },
    **{"madrider": "Europe/Madrid", "tokio": "Asia/Tokyo", "wien": "Europe/Vienna", "wiener": "Europe/Vienna"},
    **{
        "lissabon": "Europe/Lisbon",
        "lissaboner": "Europe/Lisbon",
        "lisboa": "Europe/Lisbon",
        "uk": "Europe/London",
    },
    **{"rom": "Europe/Rome", "roma": "Europe/Rome", "athen": "Europe/Athens", "moskau": "Europe/Moscow"},
}
_NAME = r"[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)?"
_HOUR = re.compile(
    r"(?<![\d:.,/])(?P<hour>\d{1,2})(?:\s?[:.h]\s?(?P<minute>[0-5]\d))?(?![\d:])"
    r"\s?(?P<half>[aApP]\.?[mM]\.?)?\s?(?P<word>Uhr|h\b|heures|horas|o'clock)?\s?\(?"
    r"(?:heure de |hora de )?"
    rf"(?P<zone>(?:{'|'.join(_LETTERS)})\b(?! ?[+-]\d)|(?<=heure de ){_NAME}|(?<=hora de ){_NAME}"
    rf"|{_NAME}(?= (?:local )?(?:time|Zeit)\b)|(?P<city>{_NAME}))",
)
_LIMIT = re.compile(
    r"(?:[-\u2013\u2014~]|\b(?:to|until|till|by|before|after|bis|vor|nach|avant|apr\u00e8s|jusqu'\u00e0|hasta"
    r"|antes de|deadline|ends?(?: at)?):?)\s*$",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})[:.](?P<minute>[0-5]\d)\s?(?:[-\u2013\u2014~]|to|bis|\u00e0|a)\s?$"
)
_ROW = re.compile(r"\s?/")
