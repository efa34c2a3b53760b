"""What a digest says, as one value that every rendering is made from. All text in it is plain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from math import inf
from typing import TYPE_CHECKING

from desktop.digest.action_words import ActionWords, in_words, references, say_time
from desktop.moments import say
from desktop.plain import one_line, plain
from workspace.artifact import Artifact, Kind
from workspace.finding import Evidence, Finding, Run, Stakes, State

if TYPE_CHECKING:
    from workspace.store import Store

OBSERVED_ONLY = (
    "Only what can be computed was looked for: clashes, lapses, waits. A capable model also reads what mail and"
    " documents say and finds what contradicts, was promised or was forgotten. `tide models` shows which fits this"
    " machine and how to get it."
)
EMBEDDED = (
    "The embedded model is far too small: it proves that the engine runs, and answers nonsense. `tide models`"
    " shows which capable model fits this machine and how to get it."
)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that show the problem, and where they stand. `kind` is "" where the artifact is gone."""

    text: str
    where: str
    kind: str
    title: str
    whence: str
    label: str
    origin: str


@dataclass(frozen=True, slots=True)
class Item:
    """One finding. `mark` says what is special: new, back from a snooze, changed by the last run, or nothing."""

    id: int
    description: str
    why: str
    quotes: tuple[Quote, ...]
    action: ActionWords
    deadline: str
    late: bool
    template: str
    confidence: float
    mark: str
    state: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Source:
    """A source and how its last sync ended; `problem` is "" where it went well."""

    name: str
    kind: str
    last_sync: str
    problem: str


@dataclass(frozen=True, slots=True)
class Lapsed:
    """A finding that nothing is left to do about, and why."""

    id: int
    description: str
    reason: str


@dataclass(frozen=True, slots=True)
class Digest:
    """`snoozed` counts the findings that come back later; `lapsed` are those that lapsed within the last day;
    `dropped` counts the candidates of the last run that were not shown, by the check that they failed;
    `seconds` is what each of its steps took."""

    now: datetime
    day: str
    person: str
    items: tuple[Item, ...]
    snoozed: int
    lapsed: tuple[Lapsed, ...]
    sources: tuple[Source, ...]
    last_sync: str
    artifacts: Mapping[str, int]
    run: Run | None
    looked: str
    dropped: Mapping[str, int]
    seconds: Mapping[str, float]
    hint: str


def make_digest(store: Store, person: str, now: datetime, zone: tzinfo) -> Digest:
    """The digest at `now` (aware), its times in `zone`."""
    findings = sorted(store.findings.current(now), key=lambda finding: pressing(finding, now, zone))
    run = store.runs.last()
    sources = tuple(
        Source(
            one_line(source.name, 60),
            source.kind,
            say(source.last_success, now, zone) if source.last_success else "never",
            one_line(source.problem),
        )
        for source in store.artifacts.sources()
    )
    times = [source.last_success for source in store.artifacts.sources() if source.last_success]
    local = now.astimezone(zone)
    return Digest(
        now=local,
        day=f"{local:%A}, {local.day} {local:%B %Y}",
        person=one_line(person, 80),
        items=tuple(make_items(store, findings, now, zone)),
        snoozed=sum(
            f.snoozed_until is not None and f.snoozed_until > now for f in store.findings.all([State.SNOOZED])
        ),
        lapsed=tuple(_lapsed(store, now)),
        sources=sources,
        last_sync=say(max(times), now, zone) if times else "",
        artifacts=store.artifacts.counts(),
        run=run,
        looked=say(run.finished or run.started, now, zone) if run else "",
        dropped=_dropped(run),
        seconds=run.seconds if run else {},
        hint=_hint(run),
    )


def make_items(store: Store, findings: list[Finding], now: datetime, zone: tzinfo) -> list[Item]:
    """The findings with the artifacts that they name, in the order given."""
    ids = {artifact for finding in findings for artifact in finding.artifacts}
    ids.update(reference for finding in findings for reference in references(finding.action))
    artifacts = store.artifacts.get(sorted(ids))
    run = store.runs.last()
    return [_item(finding, artifacts, run, now, zone) for finding in findings]


def pressing(finding: Finding, now: datetime, zone: tzinfo) -> tuple[bool, int, float, float, int]:
    """The sort key: by stakes, the highest first, then by nearness in time, then by confidence.

    What has no deadline comes after what has one, and what is too late after everything else, the latest first.
    """
    ahead = inf if finding.deadline is None else (_aware(finding.deadline, zone) - now).total_seconds()
    return (ahead < 0, -_STAKES[finding.stakes], abs(ahead), -finding.confidence, finding.id)


_STAKES = {Stakes.LOW: 0, Stakes.MEDIUM: 1, Stakes.HIGH: 2}


def _lapsed(store: Store, now: datetime) -> Iterator[Lapsed]:
    for finding in store.findings.all([State.LAPSED]):
        if finding.updated is not None and finding.updated >= now - timedelta(days=1):
            yield Lapsed(finding.id, one_line(finding.description, 200), one_line(finding.reason, 200))


def _item(
    finding: Finding, artifacts: Mapping[int, Artifact], run: Run | None, now: datetime, zone: tzinfo
) -> Item:
    deadline = _aware(finding.deadline, zone) if finding.deadline else None
    marks = {State.NEW: "new", State.SNOOZED: "back"}
    if run is not None and finding.updated is not None and finding.updated >= run.started:
        marks[State.SEEN] = "changed"
    return Item(
        id=finding.id,
        description=plain(finding.description).strip(),
        why=plain(finding.why).strip(),
        quotes=tuple(_quote(item, artifacts.get(item.artifact), now, zone) for item in finding.evidence),
        action=in_words(finding.action, artifacts, now, zone),
        deadline=say(deadline, now, zone) if deadline else "",
        late=deadline is not None and deadline < now,
        template=one_line(finding.template, 80),
        confidence=finding.confidence,
        mark=marks.get(finding.state, ""),
        state=finding.state.value,
        finding=finding,
    )


def _aware(moment: datetime, zone: tzinfo) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _quote(evidence: Evidence, artifact: Artifact | None, now: datetime, zone: tzinfo) -> Quote:
    return Quote(
        text=plain(evidence.quote).strip(),
        where=one_line(evidence.where, 40),
        kind=artifact.kind.value if artifact else "",
        title=one_line(artifact.title if artifact else evidence.title, 120),
        whence=whence(artifact, now, zone) if artifact else "no longer there",
        label=f"a{evidence.artifact}",
        origin=one_line(artifact.origin if artifact else evidence.origin),
    )


def whence(artifact: Artifact, now: datetime, zone: tzinfo) -> str:
    """Where an artifact is from: `mail from Ann Lee, Tue 17 March 10:00`."""
    when = say_time(artifact, now, zone)
    sender = one_line(artifact.sender.name or artifact.sender.email, 60) if artifact.sender else ""
    said = "mail" if artifact.kind is Kind.EMAIL else artifact.kind.value
    if artifact.kind is Kind.EMAIL and sender:
        said += f" from {sender}"
    return f"{said}, {when}" if when else said


def _dropped(run: Run | None) -> dict[str, int]:
    counts = Counter(item.check for item in (run.dropped if run else ()))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _hint(run: Run | None) -> str:
    if run is None:
        return ""
    if run.strategy == "observed":
        return OBSERVED_ONLY
    return EMBEDDED if "SmolLM2-135M" in run.model else ""
