"""Computed observations: what follows from times, attendees, threads and states alone, with no model.

Each kind has its module; `world` holds what they look up, `working` days and free time, `events` what an event is
to the person, `absences` when they are away, `away` when others are, `acquaintances` who is called by a name,
`public_holidays` those of the country, `requests`, `statements`, `dates` and `words` what is read from text.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from inference.observations.asked_in_vain import asked_in_vain
from inference.observations.attachments import missing_attachments
from inference.observations.crossed import left_to_each_other, waits_crossed
from inference.observations.declined import everyone_declined
from inference.observations.disagreements import date_disagrees
from inference.observations.duties import duties_in_absence
from inference.observations.holidays_met import on_a_holiday
from inference.observations.invitations import unanswered_invitations
from inference.observations.needed import needed_missing
from inference.observations.observation import Observation
from inference.observations.overdue import overdue_from_others
from inference.observations.overlaps import overlaps
from inference.observations.promises import promises
from inference.observations.renewals import renewal_near
from inference.observations.replaced import replaced_in_use
from inference.observations.tasks import due_in_absence, past_due
from inference.observations.travel import too_far_apart
from inference.observations.versions import versions_differ
from inference.observations.waits import waits
from inference.observations.world import World
from inference.observations.zones import zone_disagrees
from workspace import Artifact, Note, Profile

__all__ = ["Observation", "observe"]

_KINDS = (
    overlaps,
    everyone_declined,
    waits,
    past_due,
    due_in_absence,
    duties_in_absence,
    unanswered_invitations,
    needed_missing,
    asked_in_vain,
    too_far_apart,
    zone_disagrees,
    on_a_holiday,
    overdue_from_others,
    waits_crossed,
    left_to_each_other,
    date_disagrees,
    renewal_near,
    promises,
    missing_attachments,
    versions_differ,
    replaced_in_use,
)


_NO_NOTES: Mapping[int, Sequence[Note]] = MappingProxyType({})


def observe(
    artifacts: Sequence[Artifact],
    profile: Profile,
    now: datetime,
    answer_days: int = 3,
    notes: Mapping[int, Sequence[Note]] = _NO_NOTES,
) -> list[Observation]:
    """All observations at a moment, the most pressing first, in an order that does not depend on the input's.

    `artifacts` are stored ones, with ids; all that could matter, since what was answered on another path is
    seen only where that path is given. `answer_days` is the number of working days after which an unanswered
    question is told. `notes` are those of the artifacts, by id, where these were read. The cost is linear in the
    artifacts, beside sorting, for calendars that a person can live by.
    """
    world = World.of(artifacts, profile, now, answer_days, notes)
    found = [observation for kind in _KINDS for observation in kind(world)]
    return sorted(found, key=lambda item: (-item.weight, item.kind, [e.artifact for e in item.evidence]))
