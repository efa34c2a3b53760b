"""Proof: each candidate is taken to the originals, and what does not stand there word for word is dropped.

The model sees the full text of the cited artifacts and of others on the same matter, and says whether the
problem stands, is still open and is this person's, with the sentences that show it. Then the program checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from inference.candidate import Candidate, Verdict, proof_type, verdict
from inference.checks import Rejection, addresses, check, quote_fault
from inference.later import later_on_matter
from inference.models.contract import Message, Request
from inference.orders import gives_orders
from inference.originals import rendered
from inference.prompts import prove_messages
from inference.rounds import Named, Setting, called, drop
from inference.sameness import Known
from workspace import Artifact, Evidence, Finding, Profile, Role, Run, Trust

if TYPE_CHECKING:
    from workspace.store import Store

Keep = Callable[[Finding], bool]
"""Takes a finding that passed everything; False where the matter turns out to be known."""

MAX_OTHERS = 6
MAX_KINDRED = 4
MAX_ORIGINALS = 6000
MARGIN = 64
USUALLY_SURE = 0.9
"""How sure a verdict is taken to be where the engine does not tell."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the checks compare with: moment, addresses that may be written to, and all that is known."""

    now: datetime
    addresses: frozenset[str]
    known: list[Finding]


def prove(
    named: Sequence[Named],
    artifacts: dict[int, Artifact],
    store: Store,
    grounds: Grounds,
    setting: Setting,
    run: Run,
    keep: Keep,
) -> None:
    """Prove the candidates as one batch; hand to `keep` what passes, in order, and count what fails in `run`.

    What the program can refuse without the originals is not put to the model.
    """
    plausible = []
    run.proof.candidates += len(named)
    for item in named:
        rejection = _refused(item.candidate, artifacts, grounds, setting)
        case = None if rejection else Case.of(item, artifacts, store, grounds.now, setting)
        if case is not None:
            plausible.append(case)
        else:
            _drop(item, rejection or Rejection("originals", "they do not fit the model's context"), run)
    done = 0

    def heard(index: int, reply: object) -> None:
        nonlocal done
        done += 1
        setting.on_progress("prove", done, len(plausible))

    replies = setting.journal.generate([case.request for case in plausible], heard)
    known = Known(grounds.known, store, setting)
    for case, reply in zip(plausible, replies, strict=True):
        run.calls.append(called("prove", case.named.round, reply))
        if reply.value is None:
            _drop(case.named, Rejection("invalid", reply.problem), run)
            continue
        said = verdict(reply.value, reply.certainty)
        outcome = judged(said, case.named.candidate, artifacts | case.shown, grounds, setting)
        if isinstance(outcome, Finding):
            again = known.told_before(outcome, run.calls)
            if again is None and keep(outcome):
                run.rounds[case.named.round - 1].new += 1
                run.proof.kept += 1
                grounds.known.append(outcome)
                continue
            outcome = again or Rejection("known", "the matter is in the store already")
        _drop(case.named, outcome, run)


def judged(
    said: Verdict, candidate: Candidate, shown: Mapping[int, Artifact], grounds: Grounds, setting: Setting
) -> Finding | Rejection:
    """The finding that a verdict makes of a candidate, or what is wrong with it. `shown` holds the originals."""
    fault = unproved(said)
    if fault is not None:
        return fault
    zone = setting.profile.zone
    evidence, false = [], []
    for row, quote in said.quotes:
        found = located(quote, shown[row], zone)
        if found is None:
            false.append(f"{quote!r} does not stand in a{row}")
        else:
            evidence.append(found)
    # Beside a slip, which is not shown, the words of two artifacts must stand.
    if false and len({item.artifact for item in evidence}) < 2:
        return Rejection("quote", "; ".join(false))
    quoted = {item.artifact for item in evidence} & set(candidate.artifacts)
    if not quoted:
        return Rejection("quote", "no cited artifact is quoted")
    if all(shown[item.artifact].trust is Trust.UNKNOWN for item in evidence):
        return Rejection("strangers", "nothing but the words of strangers shows it")
    finding = Finding(
        template=candidate.template,
        description=candidate.problem,
        why=candidate.why,
        evidence=tuple(evidence),
        action=candidate.action,
        confidence=confidence(said.certainty, len(quoted) / len(candidate.artifacts)),
        stakes=said.stakes,
        deadline=_deadline(said.deadline, zone, grounds.now),
    )
    return _checked(finding, candidate, shown, grounds, setting) or finding


def confidence(certainty: float | None, borne_out: float) -> float:
    """How far a finding that stood its proof is to be trusted, 0 to 1.

    certainty · (5 + 4 · borne_out) / 9

    `certainty` is the probability of the model's three decisions together (`models.certainty`), `borne_out` the
    share of the cited artifacts whose words show the problem. A claim that hangs on one of many artifacts is worth
    little more than half of one that all bear out.
    """
    return (USUALLY_SURE if certainty is None else certainty) * (5 + 4 * borne_out) / 9


def unproved(said: Verdict) -> Rejection | None:
    """What a verdict has against a claim; None where it stands, is open and is the person's."""
    for holds, name in (
        (said.stands, "stands"),
        (said.still_open, "open"),
        (said.concerns_person, "person"),
    ):
        if not holds:
            return Rejection(name, said.reason)
    return None


def located(quote: str, artifact: Artifact, zone: ZoneInfo) -> Evidence | None:
    """The quote as evidence, with the part of the artifact in which it stands; None where it stands in none.

    A quoted line of the heading, such as `start: 2026-03-16T08:30`, is taken as the fact that it gives.
    """
    where, _, fact = quote.partition(":")
    attempts = [(part, quote) for part in _PROSE]
    if where.strip().lower() in (*_PROSE, *_FACTS):
        attempts.insert(0, (where.strip().lower(), fact.strip()))
    attempts += [(part, quote) for part in _FACTS]
    for part, words in attempts:
        evidence = Evidence(
            artifact=artifact.id, quote=words, where=part, title=artifact.title, origin=artifact.origin
        )
        if not quote_fault(evidence, artifact, zone):
            return evidence
    return None


_NEVER = datetime.min.replace(tzinfo=UTC)
_PROSE = ("text", "title", "quoted", "location")
_FACTS = ("start", "sent", "modified", "end", "due", "status", "recurrence", "cancelled", *Role)


@dataclass(frozen=True, slots=True)
class Case:
    """A candidate with the artifacts that its proof shows and the question that it is."""

    named: Named
    shown: dict[int, Artifact]
    request: Request

    @classmethod
    def of(
        cls,
        named: Named,
        artifacts: Mapping[int, Artifact],
        store: Store,
        now: datetime,
        setting: Setting,
    ) -> Case | None:
        """None where none of the cited artifacts fits the context."""
        candidate, model, budget = named.candidate, setting.model, setting.budget
        cited = [artifacts[row] for row in candidate.artifacts]
        others = _others(named, cited, artifacts, store, now, setting.profile)
        bare = prove_messages(setting.constant, candidate, "", setting.nonce)
        room = model.context - budget.proof_answer - model.count(bare) - MARGIN
        text, shown = rendered(
            cited,
            others,
            f"{candidate.problem} {candidate.why}",
            setting.profile,
            min(room, MAX_ORIGINALS),
            lambda text: model.count((Message("user", text),)),
        )
        if not {artifact.id for artifact in shown} & set(candidate.artifacts):
            return None
        labels = tuple(artifact.label for artifact in shown)
        request = Request(
            prove_messages(setting.constant, candidate, text, setting.nonce),
            proof_type(labels, budget.bounds),
            budget.proof_answer,
            "prove",
        )
        return cls(named, {artifact.id: artifact for artifact in shown}, request)


def _others(
    named: Named,
    cited: Sequence[Artifact],
    artifacts: Mapping[int, Artifact],
    store: Store,
    now: datetime,
    profile: Profile,
) -> list[Artifact]:
    """What else can tell whether the claim stands: what an observation rests on that the candidate touches; then
    what came after the earliest cited artifact, of its thread, its series, what hangs on it or it on; what came
    later on the same matter by another path; then what else the view shows. Newest first, since the newest word
    decides; kindred ones leave space for the others."""
    candidate = named.candidate
    rows: set[int] = set()
    for artifact in cited:
        kin = store.ties.kin(artifact.id, now, MAX_OTHERS)
        rows.update(kin.thread, kin.series, kin.parents, kin.attachments, kin.invited)
    touched: set[int] = set()
    for observation in named.view.observations:
        rests_on = {item.artifact for item in observation.evidence}
        if rests_on & (rows | set(candidate.artifacts)):
            touched |= rests_on
    times = [artifact.time for artifact in cited if artifact.time is not None]
    since = min(times, default=None)
    kindred = list(store.artifacts.get(sorted(rows)).values())
    on_matter = later_on_matter(f"{candidate.problem} {candidate.why}", cited, store, profile, now)
    of_view = [artifacts[row] for row in named.view.artifacts if row in artifacts]
    groups = (
        _newest(store.artifacts.get(sorted(touched)).values(), None),
        _newest(kindred, since)[:MAX_KINDRED],
        on_matter,
        _newest(of_view, since),
        _newest(kindred, since),
    )
    ordered = {artifact.id: artifact for group in groups for artifact in group}
    found = [artifact for row, artifact in ordered.items() if row not in candidate.artifacts]
    return [artifact for artifact in found if not gives_orders(artifact)][:MAX_OTHERS]


def _newest(group: Iterable[Artifact], since: datetime | None) -> list[Artifact]:
    """Those from a moment on, the newest first; with no moment all of them, also those without a time."""
    if since is not None:
        group = [artifact for artifact in group if artifact.time is not None and artifact.time >= since]
    return sorted(group, key=lambda artifact: (artifact.time or _NEVER, artifact.id), reverse=True)


def _refused(
    candidate: Candidate, artifacts: Mapping[int, Artifact], grounds: Grounds, setting: Setting
) -> Rejection | None:
    """What the program has against a candidate before there are quotes; titles stand in for them."""
    for row in candidate.artifacts:
        if gives_orders(artifacts[row]):
            return Rejection("orders", f"a{row} gives orders to whoever reads it")
    evidence = tuple(
        Evidence(artifact=row, quote=artifacts[row].title, where="title") for row in candidate.artifacts
    )
    finding = Finding(
        template=candidate.template,
        description=candidate.problem,
        why=candidate.why,
        evidence=evidence,
        action=candidate.action,
        confidence=0.0,
    )
    rejection = _checked(finding, candidate, artifacts, grounds, setting)
    # An artifact without a title can't be judged yet: that says nothing about the candidate.
    return None if rejection is not None and rejection.check in ("evidence", "quote") else rejection


def _checked(
    finding: Finding,
    candidate: Candidate,
    shown: Mapping[int, Artifact],
    grounds: Grounds,
    setting: Setting,
) -> Rejection | None:
    # What gives an address is cited for that, and need not be quoted.
    cited = addresses((shown[row] for row in candidate.artifacts), setting.profile)
    return check(
        finding,
        shown,
        setting.profile,
        grounds.now,
        grounds.addresses | cited,
        grounds.known,
        frozenset(setting.templates),
    )


def _drop(named: Named, rejection: Rejection, run: Run) -> None:
    said = named.candidate
    run.proof.dropped[rejection.check] = run.proof.dropped.get(rejection.check, 0) + 1
    drop(run, named.round, said.template, said.problem, rejection.check, rejection.detail)


def _deadline(said: str, zone: ZoneInfo, now: datetime) -> datetime | None:
    """The moment, or the end of the day, in the person's zone; None where there is none that is still to come."""
    if not _DEADLINE.fullmatch(said):
        return None
    try:
        moment = datetime.fromisoformat(said if "T" in said else f"{said}T23:59").replace(tzinfo=zone)
    except ValueError:
        return None
    return moment if moment > now else None


_DEADLINE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?")
