"""A meeting to come that everybody else has declined."""

from collections.abc import Iterator
from datetime import timedelta

from inference.observations.events import Standing, in_hand, others, series_of, standing
from inference.observations.observation import Observation
from inference.observations.words import same_title
from inference.observations.working import say_start
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Role

_AHEAD = timedelta(days=21)


def everyone_declined(world: World) -> Iterator[Observation]:
    """The next such occurrence of each series in the coming three weeks."""
    told: set[str] = set()
    coming = [event for event in world.events if world.now < world.starts(event) <= world.now + _AHEAD]
    for event in coming:
        if series_of(event) in told or not _is_without_audience(event, world):
            continue
        if any(_replaces(other, event, world) for other in coming):
            continue
        told.add(series_of(event))
        found = _observe(event, world)
        if found is not None:
            yield found


def _is_without_audience(event: Artifact, world: World) -> bool:
    if event.cancelled or event.status.casefold() == "cancelled":
        return False
    if standing(event, world) not in (Standing.ORGANIZES, Standing.ACCEPTED):
        return False
    invited = others(event, world)
    return bool(invited) and all(person.status == "declined" for person in invited)


def _replaces(other: Artifact, event: Artifact, world: World) -> bool:
    """Whether another entry of the same name holds the meeting, with somebody of the invited."""
    if other is event or other.cancelled or same_title(other.title) != same_title(event.title):
        return False
    if other.series and other.series == event.series and other.time != event.time:
        return False
    invited = {person.email for person in others(event, world)}
    return any(p.email in invited and p.status != "declined" for p in others(other, world))


def _observe(event: Artifact, world: World) -> Observation | None:
    evidence = cite(event, world.zone)
    if evidence is None:
        return None
    start = world.starts(event)
    names = [world.name_of(person) for person in others(event, world)]
    said = ", ".join(names[:5]) + (f" and {len(names) - 5} others" if len(names) > 5 else "")
    organizes = standing(event, world) is Standing.ORGANIZES
    part = "organise" if organizes else "have accepted"
    # Whoever called the meeting comes to it unless they say otherwise, and need not be listed as invited.
    host = next((p for p in event.people if p.role is Role.ORGANIZER and not world.is_own(p)), None)
    host_declined = host is not None and any(p.email == host.email for p in others(event, world))
    handled = in_hand(event, world, leaving=False)
    return Observation(
        kind="everyone-declined",
        sentence=(
            f"{called(event)} on {say_start(start, all_day=event.all_day)}, which you {part}, "
            f"has been declined by everybody else: {said}."
            + (" A recent mail speaks of changing it." if handled else "")
        ),
        evidence=(evidence,),
        certain=(organizes or host_declined) and not handled,
        template="meeting-without-audience",
        why="Nobody else will be there, so holding the time serves nobody.",
        action=_action(event, organizes=organizes),
        deadline=start,
        weight=0.6,
    )


def _action(event: Artifact, *, organizes: bool) -> Action:
    if organizes:
        note = "Since nobody can make it, I am calling this one off."
        return Action(function_name="cancel_meeting", parameters={"event": event.label, "note": note})
    note = "As everybody else has declined, I take it that this is not happening."
    return Action(
        function_name="respond_to_invitation",
        parameters={"event": event.label, "response": "declined", "note": note},
    )
