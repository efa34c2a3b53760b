"""What stands on a public holiday of the person's country, or at a weekend where an office is said to be shut."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from inference.observations.events import Standing, in_hand, is_appointment, others, standing
from inference.observations.observation import Observation
from inference.observations.requests import sentences
from inference.observations.tasks import due_day, move, own_open
from inference.observations.words import one_of, plain
from inference.observations.working import is_working_day, next_working_day, previous_working_day, say_day
from inference.observations.world import World, called, cite
from workspace import Action, Artifact

_AHEAD = timedelta(days=30)
_MOST = 3
_DAYTIME = (time(7, 30), time(18))
_BOUND = (Standing.ORGANIZES, Standing.ACCEPTED, Standing.TENTATIVE, Standing.UNANSWERED)


def on_a_holiday(world: World) -> Iterator[Observation]:
    """Meetings by day on public holidays of the coming 30 days of which neither they nor mails on them speak, once
    a holiday; and open tasks for which somebody must be there who is not on the day on which they fall due.

    Never certain: not everybody keeps every holiday, and there are offices that are open on any day.
    """
    yield from _meetings(world)
    for task in own_open(world):
        due = due_day(task, world)
        if due is not None and world.today <= due <= world.today + _AHEAD:
            found = _task(task, due, world)
            if found is not None:
                yield found


def _meetings(world: World) -> Iterator[Observation]:
    met: dict[date, list[Artifact]] = defaultdict(list)
    for event in world.events:
        start = world.starts(event)
        if not world.now < start <= world.now + _AHEAD or start.date() not in world.holidays:
            continue
        if start.weekday() >= 5 or not _DAYTIME[0] <= start.time() <= _DAYTIME[1] or not is_appointment(event):
            continue
        if not others(event, world) or standing(event, world) not in _BOUND or _is_known(event, world):
            continue
        met[start.date()].append(event)
    for day, events in met.items():
        shown = [cite(event, world.zone) for event in events[:_MOST]]
        evidence = tuple(one for one in shown if one is not None)
        if len(evidence) < len(events[:_MOST]) or any(in_hand(event, world) for event in events):
            continue
        more = f" and {len(events) - _MOST} more" if len(events) > _MOST else ""
        names = ", ".join(called(event) for event in events[:_MOST])
        title = f"Ask whether {called(events[0])} holds on {world.holidays.name(day)}"
        before = previous_working_day(day, world.holidays)
        yield Observation(
            kind="on-a-holiday",
            sentence=f"{names}{more} on {say_day(day)}: that is {world.holidays.say(day)}.",
            evidence=evidence,
            certain=False,
            template="needed-person-away",
            why="Nothing shows that anybody has thought of the holiday.",
            action=Action(
                function_name="create_task",
                parameters={"title": title[:160], "due": max(before, world.today).isoformat(), "notes": ""},
            ),
            deadline=world.starts(events[0]),
            weight=0.35,
        )


def _is_known(event: Artifact, world: World) -> bool:
    """Whether an event, or a mail on it, speaks of the holiday."""
    name = plain(world.holidays.name(world.starts(event).date()))
    texts = (event, *world.mentions(event.title))
    return any(
        name in said or _HOLIDAY.search(said) for said in (plain(f"{t.title}\n{t.text[:4000]}") for t in texts)
    )


def _task(task: Artifact, due: date, world: World) -> Observation | None:
    """A task that needs an open office on a holiday; or on a weekend where its notes say when that is open."""
    off = world.holidays
    words = plain(f"{task.title}\n{task.text[:4000]}")
    if is_working_day(due, off) or _HOLIDAY.search(words):
        return None
    hours = next((one for one in sentences(task.text[:4000]) if _WEEKDAYS_ONLY.search(plain(one))), None)
    holiday = due in off and due.weekday() < 5
    if hours is None and not (holiday and _AT_AN_OFFICE.search(plain(task.title))):
        return None
    evidence = cite(task, world.zone, *((hours, "text") if hours else ()))
    if evidence is None:
        return None
    before = previous_working_day(due, off)
    better = before if before >= world.today else next_working_day(due, off)
    is_what = f"which is {off.say(due)}" if due in off else "at a weekend"
    said = f' Its notes say: "{" ".join(hours.split())[:200]}"' if hours else ""
    return Observation(
        kind="on-a-holiday",
        sentence=f"The task {called(task)} is due on {say_day(due)}, {is_what}.{said}",
        evidence=(evidence,),
        certain=False,
        template="due-during-absence",
        why="Those whom it needs are not there on that day.",
        action=move(task, better, f"{say_day(due)} is no working day."),
        deadline=datetime.combine(due, time(0), world.zone).astimezone(UTC) if due > world.today else None,
        weight=0.45,
    )


_HOLIDAY = re.compile(r"holiday|feiertag|jour ferie|festivo|dia feriado|공휴일|연휴")
_WEEKDAYS_ONLY = one_of(
    r"""
    (?:mon(?:day)?s?|weekdays)\s?(?:-|\u2013|to|through)\s?fri(?:day)?s?\b|(?:on )?weekdays only|only on weekdays
    closed (?:on |at )?(?:the )?(?:weekends?|saturdays?|sundays?)|business days only
    (?:mo\.?|montags?)\s?(?:-|\u2013|bis)\s?(?:fr\.?|freitags?)\b|nur (?:an )?werktag(?:s|en)|samstags geschlossen
    (?:du )?lundi\s?(?:-|\u2013|au)\s?vendredi|jours ouvres|ferme le (?:samedi|dimanche|week-end)
    (?:de )?lunes\s?(?:-|\u2013|a)\s?viernes|dias habiles|cerrado (?:los )?(?:sabados|domingos|fines de semana)
    평일|월\s?[~-]\s?금|주말 휴무
    """
)
_AT_AN_OFFICE = one_of(
    r"""
    call\b|ring\b|phone\b|visit|go to|pick up|collect|hand in|drop off|bank\b|post office|town hall|registry|court
    counter|embassy|consulate|surgery|office\b|courier|ship\b|deliver
    anrufen|abholen|abgeben|einreichen|bank\b|zur post\b|amt\b|\w+amt\b|rathaus|burgerburo|gericht|praxis|konsulat
    appeler|deposer|retirer|banque|mairie|prefecture|guichet|poste\b|consulat|tribunal
    llamar|recoger|entregar|banco\b|ayuntamiento|correos|oficina|consulado|juzgado
    (?:\S+ )*\S*(?:전화|방문|제출|은행|우체국|구청|시청|주민센터)
    """
)
