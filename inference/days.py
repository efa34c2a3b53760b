"""From one day to the next: what earlier findings say is held against what is so now.

A finding that was computed is computed again at every look. Where its evidence changed it is told anew in its
place, and where nothing is observed any more it lapses and says why. What a model found lapses when what its
action is done to is gone or over, or when its last day has passed; whether newer artifacts settle it, a model is
asked (`proof.prove_again`). A finding that lapsed by itself and is observed again is back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from inference.checks import SAME_MATTER, check, jaccard, matter, target
from inference.observations.working import say_day
from inference.observations.world import called
from inference.observed import finding_of
from workspace import REFERENCES, Artifact, Finding, Kind, Profile, Role, Run, State, Trust

if TYPE_CHECKING:
    from inference.observations import Observation
    from workspace.store import Store

OPEN = (State.NEW, State.SEEN, State.SNOOZED)
"""The states of findings that still ask for something."""

GRACE = timedelta(days=1)
"""For so long after its last moment a finding stays, so that whoever looks once a day has seen it go by."""


def settle(
    store: Store,
    observations: Sequence[Observation],
    profile: Profile,
    now: datetime,
    addresses: frozenset[str],
    templates: frozenset[str],
    run: Run,
) -> None:
    """Update and let lapse the open findings of earlier runs; what was done is recorded in `run`.

    `observations` are all that are made at `now`; `addresses` and `templates` are what the checks compare with.
    Doing it twice changes nothing the second time.
    """
    earlier = [finding for finding in store.findings.all((*OPEN, State.LAPSED)) if finding.run != run.id]
    rows = {row for finding in earlier for row in _touched(finding)}
    rows |= {row for observation in observations for row in _touched(finding_of(observation, now))}
    look = _Look(store, store.artifacts.get(sorted(rows)), profile, now)
    known = store.findings.all()
    held = _held(earlier, observations, look)
    for finding in earlier:
        observation = held.get(finding.id)
        anew = None if observation is None else finding_of(observation, now)
        fault = None
        if observation is not None and anew is not None and observation.certain:
            back = finding.state is State.LAPSED
            told = not back and anew.artifacts == finding.artifacts
            others = [] if told else [other for other in known if other.id != finding.id]
            # What is open is told as it is now although its template was switched off; nothing comes back by it.
            allowed = templates if back else templates | {finding.template}
            fault = check(anew, look.artifacts, profile, now, addresses, others, allowed)
            if back and fault is None and not look.too_late(anew):
                store.findings.set_state(finding.id, State.NEW)
                run.updated.append(finding.id)
                tell_anew(store, finding, anew, now, run)
        if finding.state is State.LAPSED:
            continue
        why = "" if finding.kept else look.settled(finding, anew)
        if not why and fault is not None and fault.check == "known":
            why = f"It has come to be {fault.detail}."
        if why:
            store.findings.lapse(finding.id, why, now)
            run.lapsed.append(finding.id)
        elif observation is not None and anew is not None and observation.certain and fault is None:
            tell_anew(store, finding, anew, now, run)


def tell_anew(store: Store, finding: Finding, anew: Finding, now: datetime, run: Run) -> None:
    """Tell a stored finding anew in its place; recorded in `run` if more than its wording changed.

    One that is snoozed is back if it must now be acted on sooner than before, and before it would have come back.
    """
    changed = _decides(anew) != _decides(finding)
    told = anew.model_copy(
        update={
            "id": finding.id,
            "created": finding.created,
            "observed": finding.observed,
            "kept": finding.kept,
            "revision": store.artifacts.revision(),
            "updated": now if changed else finding.updated,
        }
    )
    if store.findings.update(told) is None or not changed:
        return
    if finding.id not in run.updated:
        run.updated.append(finding.id)
    if finding.snoozed_until is not None and _sooner(anew.deadline, finding.deadline, finding.snoozed_until):
        store.findings.set_state(finding.id, State.SEEN)


def _sooner(deadline: datetime | None, before: datetime | None, snoozed_until: datetime) -> bool:
    return deadline is not None and deadline < snoozed_until and (before is None or deadline < before)


@dataclass(frozen=True, slots=True)
class _Look:
    """What earlier findings are held against: the artifacts that they name, as they are now."""

    store: Store
    artifacts: Mapping[int, Artifact]
    profile: Profile
    now: datetime

    @property
    def zone(self) -> ZoneInfo:
        return self.profile.zone

    def day(self, moment: datetime | None) -> str:
        return say_day((moment or self.now).astimezone(self.zone).date())

    def too_late(self, finding: Finding) -> bool:
        return finding.deadline is not None and finding.deadline + GRACE <= self.now

    def settled(self, finding: Finding, anew: Finding | None) -> str:
        """Why nothing is left to do, "" where something is; `anew` is what is observed of it now."""
        why = self.over(finding) if anew is None else ""
        latest = anew or finding
        if not why and self.too_late(latest):
            why = f"It could be acted on until {self.day(latest.deadline)}."
        if not why and finding.observed and anew is None:
            why = self.since(finding)
        return why

    def over(self, finding: Finding) -> str:
        """Why nothing is left to do, told by the event or task that it is about; "" where none says so.

        What a model found is about that to which its action is done; what was computed, about all that it cites.
        """
        rows = _target_rows(finding) or (sorted(finding.artifacts) if finding.observed else [])
        for row in rows:
            artifact = self.artifacts.get(row)
            if artifact is None:
                cited = next((item for item in finding.evidence if item.artifact == row), None)
                if cited is not None and _is_entry(finding, row):
                    return f'"{cited.title}" is no longer there.'
            elif artifact.cancelled:
                return f"{called(artifact)} was cancelled."
            elif artifact.kind is Kind.TASK and artifact.status == "done":
                return f"The task {called(artifact)} is done."
            elif artifact.kind is Kind.EVENT and (end := artifact.end or artifact.time) and end <= self.now:
                return f"{called(artifact)} is over."
        return ""

    def since(self, finding: Finding) -> str:
        """Why what was observed is observed no more: the newest that came or changed on the matter since."""
        changed = self.store.artifacts.changed_since(finding.revision)
        cited = [self.artifacts[row] for row in sorted(finding.artifacts) if row in self.artifacts]
        newest = self._newest(self._kin(finding) & set(changed))
        if newest is None and any(artifact.kind is Kind.EMAIL for artifact in cited):
            newest = self._written(changed, cited)
        if newest is None:
            return "It no longer holds."
        when = f" on {self.day(newest.time)}" if newest.time else ""
        if newest.kind is Kind.EMAIL and newest.trust is Trust.SELF:
            return f"You wrote {called(newest)}{when}."
        if newest.kind is Kind.EMAIL:
            sender = newest.sender
            whom = f" from {sender.name or sender.email}" if sender else ""
            return f"{called(newest)}{whom} came{when}."
        if newest.kind is Kind.TASK:
            due = f"it is due on {self.day(newest.due)}" if newest.due else "it has no date"
            return f"{called(newest)} has changed; {due} now."
        if newest.kind is Kind.EVENT:
            if newest.time and not newest.all_day:
                when += f", {newest.time.astimezone(self.zone):%H:%M},"
            return f"{called(newest)} has changed; it is{when or ' without a date'} now."
        return f"{called(newest)} was changed{when}."

    def _kin(self, finding: Finding) -> set[int]:
        rows = set(finding.artifacts)
        for row in finding.artifacts:
            if row in self.artifacts:
                kin = self.store.ties.kin(row, self.now, _MOST_KIN)
                rows.update(kin.thread, kin.series, kin.parents, kin.attachments, kin.invited)
        return rows

    def _newest(self, rows: Iterable[int]) -> Artifact | None:
        found = self.store.artifacts.get(sorted(rows)).values()
        # An answer says more than the question that it stands beside.
        return max(found, key=lambda one: (one.trust is Trust.SELF, one.time or self.now, one.id), default=None)

    def _written(self, changed: Sequence[int], cited: Sequence[Artifact]) -> Artifact | None:
        """What the person wrote on another path to somebody of the matter."""
        people = {person.email for artifact in cited for person in artifact.people} - {""}
        people -= set(self.profile.persona.emails)
        wrote = [
            artifact
            for artifact in self.store.artifacts.get(changed[-_MOST_CHANGED:]).values()
            if artifact.kind is Kind.EMAIL and artifact.trust is Trust.SELF
            if people & {person.email for person in artifact.people if person.role in (Role.TO, Role.CC)}
        ]
        return max(wrote, key=lambda one: (one.time or self.now, one.id), default=None)


def _held(earlier: Sequence[Finding], observations: Sequence[Observation], look: _Look) -> dict[int, Observation]:
    """The observation by which each computed finding still holds, by the id of the finding.

    First those that rest on the same artifacts; then, of those that are left, one of the same kind that is about
    the same matter: another reminder, another date of the meeting.
    """
    by_evidence = {(one.observed, one.artifacts): one for one in earlier if one.observed}
    found: dict[int, Observation] = {}
    left = []
    for observation in observations:
        finding = by_evidence.get((observation.kind, _rests_on(observation)))
        if finding is None:
            left.append(observation)
        else:
            found[finding.id] = observation
    for finding in earlier:
        if not finding.observed or finding.id in found or finding.state is State.LAPSED:
            continue
        mine = frozenset(matter(row, look.artifacts, threads=True) for row in finding.artifacts)
        for observation in left:
            theirs = frozenset(matter(row, look.artifacts, threads=True) for row in _rests_on(observation))
            if observation.kind == finding.observed and jaccard(mine, theirs) >= SAME_MATTER:
                found[finding.id] = observation
                left.remove(observation)
                break
    return found


def _rests_on(observation: Observation) -> frozenset[int]:
    return frozenset(item.artifact for item in observation.evidence)


def _decides(finding: Finding) -> tuple[object, ...]:
    """What a finding says beside its wording, which counts days and so changes daily."""
    quotes = frozenset((item.artifact, item.where, item.quote) for item in finding.evidence)
    return quotes, finding.action.function_name, target(finding), finding.deadline


def _target_rows(finding: Finding) -> list[int]:
    """The event or task that the action is done to."""
    parameters = finding.action.parameters
    labels = [str(parameters[name]) for name in ("event", "task") if name in parameters]
    return [int(label[1:]) for label in labels]


def _is_entry(finding: Finding, row: int) -> bool:
    """Whether this was an event or a task, by what the finding kept of it; mail and files are put elsewhere."""
    if row in _target_rows(finding):
        return True
    where = {item.where for item in finding.evidence if item.artifact == row}
    return bool(where & {"start", "end", "due", Role.ORGANIZER.value, Role.ATTENDEE.value})


def _touched(finding: Finding) -> set[int]:
    named = {str(value) for name, value in finding.action.parameters.items() if name in REFERENCES}
    return set(finding.artifacts) | {int(label[1:]) for label in named if label[1:].isdecimal()}


_MOST_KIN = 40
_MOST_CHANGED = 500
