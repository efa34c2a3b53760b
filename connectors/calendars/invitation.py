"""Invitations, and answers to them, as mail carries them (iTIP, RFC 5546, in iMIP, RFC 6047).

Those that tell of an event become events, a series one of its own and one for each changed occurrence. What an
attendee sends to the organizer is no event: it is put into words. Runs in the limited process.
"""

import warnings
from dataclasses import replace
from zoneinfo import ZoneInfo

from icalendar import Component

from connectors.calendars.calendar import kept, key_of, latest_of, parse, rule_of
from connectors.calendars.component import Context, uid_of
from connectors.calendars.exchange import Invitation
from connectors.text import clean_line, decode
from workspace import Artifact, Role

MAX_EVENTS = 50
_ANSWERS = {"accepted": "accepted", "declined": "declined", "tentative": "tentatively accepted"}
_TO_THE_ORGANIZER = {
    "COUNTER": ("New time proposed", "proposes another time for"),
    "REFRESH": ("Asked for", "asks for the current state of"),
}
_MAX_COMMENT = 2_000


def read_invitation(data: bytes, context: Context) -> Invitation:
    """What an invitation says: events, the first of a series before its changes, or a title and words."""
    text, _ = decode(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the parser warns of time zones that it has to guess
        calendars, _ = parse(text)
        events: list[Artifact] = []
        said: list[tuple[str, str]] = []
        for calendar in calendars:
            method = clean_line(str(calendar.get("METHOD", ""))).upper()
            groups: dict[str, list[Component]] = {}
            for component in calendar.walk("VEVENT"):
                groups.setdefault(uid_of(component), []).append(component)
            for uid, components in groups.items():
                for component in sorted(latest_of(components), key=lambda one: "RECURRENCE-ID" in one):
                    event = _event(uid, component, context, method)
                    if method in ("REPLY", "DECLINECOUNTER", *_TO_THE_ORGANIZER):
                        said.append(_in_words(method, event, component, context.zone))
                    else:
                        events.append(event)
    titles = dict.fromkeys(title for title, _ in said)
    return Invitation(
        events=tuple(events[:MAX_EVENTS]),
        more=len(events[MAX_EVENTS:]),
        title=next(iter(titles), ""),
        text="\n".join(dict.fromkeys(words for _, words in said[:MAX_EVENTS])),
    )


def _event(uid: str, component: Component, context: Context, method: str) -> Artifact:
    key, _ = key_of(uid, component, context.zone)
    rule = rule_of(component) if "RRULE" in component else ""
    event = kept(component, key, context, recurrence=rule, cancelled=method == "CANCEL")
    return replace(event, series=uid)


def _in_words(method: str, event: Artifact, component: Component, zone: ZoneInfo) -> tuple[str, str]:
    """A title, and a sentence on who says what about which event."""
    caller = next((str(person) for person in event.people if person.role is Role.ORGANIZER), "The organizer")
    guests = [person for person in event.people if person.role is Role.ATTENDEE]
    guest = str(guests[0]) if guests else "Somebody"
    matter = f'"{event.title or "an event"}"{_when(event, zone)}'
    if method == "DECLINECOUNTER":
        title, words = "Proposal declined", f"{caller} does not take up the other time proposed for {matter}."
    elif method in _TO_THE_ORGANIZER:
        title, does = _TO_THE_ORGANIZER[method]
        words = f"{guest} {does} {matter}."
    else:
        answer = _ANSWERS.get(guests[0].status if guests else "", "answered")
        title, words = answer.capitalize(), f"{guest} {answer} the invitation to {matter}."
    comment = clean_line(str(component.get("COMMENT", "")))[:_MAX_COMMENT]
    return f"{title}: {event.title}", f"{words} {comment}".strip()


def _when(event: Artifact, zone: ZoneInfo) -> str:
    if event.time is None:
        return ""
    start = event.local(event.time, zone)
    if event.all_day:
        return f" on {start:%Y-%m-%d}"
    end = f"-{event.local(event.end, zone):%H:%M}" if event.end and event.end > event.time else ""
    return f" on {start:%Y-%m-%d %H:%M}{end} ({zone.key})"
