"""An invitation still unanswered shortly before the event."""

from collections.abc import Iterator
from datetime import timedelta

from inference.observations.events import Standing, commitments, in_hand, others, same_meeting, series_of, standing
from inference.observations.observation import Observation
from inference.observations.overlaps import clashes
from inference.observations.words import alike, word_set
from inference.observations.working import next_working_day, say_start
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Person, Role

_SOON = timedelta(hours=36)
_ANSWERED_WITHIN = timedelta(days=30)


def unanswered_invitations(world: World) -> Iterator[Observation]:
    """The next such occurrence of each series within 36 hours or up to the end of the next working day."""
    told: set[str] = set()
    bound = commitments(world)
    last_day = next_working_day(world.today, world.holidays)
    coming = [
        event
        for event in world.events
        if world.now < world.starts(event)
        and (world.starts(event) <= world.now + _SOON or world.starts(event).date() <= last_day)
        and not event.cancelled
        and event.status.casefold() != "cancelled"
    ]
    for event in coming:
        if series_of(event) in told or standing(event, world) is not Standing.UNANSWERED:
            continue
        host = next((person for person in event.people if person.role is Role.ORGANIZER), None)
        if host is None or _is_moot(event, world) or _is_answered(event, host, coming, world):
            continue
        told.add(series_of(event))
        found = _observe(event, host, world, clash=clashes(event, bound))
        if found is not None:
            yield found


def _is_moot(event: Artifact, world: World) -> bool:
    invited = others(event, world)
    return not event.busy or (bool(invited) and all(person.status == "declined" for person in invited))


def _is_answered(event: Artifact, host: Person, coming: list[Artifact], world: World) -> bool:
    """Whether the person answered in a copy of the invitation, or by mail."""
    for other in coming:
        answered = standing(other, world) not in (Standing.UNANSWERED, Standing.NONE)
        if answered and other is not event and other.time == event.time and same_meeting(event, other):
            return True
    return any(
        mail.time is not None and mail.time > world.now - _ANSWERED_WITHIN and alike(mail.title, event.title)
        for mail in world.own_mails_to.get(host.email, ())
    )


def _observe(event: Artifact, host: Person, world: World, *, clash: bool) -> Observation | None:
    evidence = cite(event, world.zone)
    if evidence is None:
        return None
    start = world.starts(event)
    # Anybody can put an entry into a calendar: only that of somebody the person deals with is told unread.
    dealt_with = host.email in world.dealt_with or _shares_domain(host, world)
    return Observation(
        kind="invitation-unanswered",
        sentence=(
            f"You have not answered the invitation of {world.name_of(host)} to {called(event)} "
            f"on {say_start(start, all_day=event.all_day)}."
            + (" You have another appointment at that time." if clash else "")
        ),
        evidence=(evidence,),
        certain=dealt_with and not event.all_day and not in_hand(event, world),
        template="invitation-unanswered",
        why="It begins soon, and those who come do not know whether to count on you.",
        action=_action(event, clash=clash),
        deadline=start,
        weight=0.5,
    )


def _shares_domain(host: Person, world: World) -> bool:
    domain = host.email.partition("@")[2]
    return domain not in _PUBLIC and domain in {own.partition("@")[2] for own in world.own}


def _action(event: Artifact, *, clash: bool) -> Action:
    response = "tentative" if clash else "accepted"
    note = "I may have to be elsewhere at that time; I will try to join." if clash else ""
    return Action(
        function_name="respond_to_invitation",
        parameters={"event": event.label, "response": response, "note": note},
    )


# Providers whose customers have nothing to do with each other.
_PUBLIC = word_set(
    """
    gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com me.com aol.com gmx.de gmx.net
    web.de t-online.de freenet.de posteo.de mailbox.org proton.me protonmail.com orange.fr free.fr laposte.net
    naver.com daum.net hanmail.net kakao.com fastmail.com
    """
)
