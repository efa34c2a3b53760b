"""Earlier findings of a model, held against what is new on their matter.

What was found yesterday may be settled today, in the same thread or on any other path. So a finding on whose
matter something came or changed since it was last held is proved again, at its originals and with what is new. If
it no longer stands, is settled or has become somebody else's, it lapses with the reason of the verdict; if it
still stands, it is told with the words that show it now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.candidate import Candidate, verdict
from inference.checks import Rejection, quote_fault
from inference.days import OPEN, tell_anew
from inference.later import later_on_matter
from inference.proof import Case, Grounds, judged
from inference.rounds import Named, Setting, called
from inference.stories import View
from workspace import Artifact, Evidence, Finding, Run

if TYPE_CHECKING:
    from workspace.store import Store

MOST_NEW = 8
"""New artifacts that one proof is shown at the most, the latest."""

_MOST_KIN = 40
_SETTLED = ("stands", "open", "person")


def prove_again(store: Store, grounds: Grounds, setting: Setting, run: Run) -> None:
    """Prove again, as one batch, the open findings of models on whose matter something is new.

    Raises:
        UserError: if the model cannot be reached; what was not held yet is held by the next run.
    """
    revision = store.artifacts.revision()
    touched = []
    for finding in store.findings.all(OPEN):
        if finding.run == run.id or finding.observed or finding.revision >= revision:
            continue
        one = _Touched.of(finding, store, grounds, setting)
        if one is None:
            store.findings.update(finding.model_copy(update={"revision": revision}))
        else:
            touched.append(one)
    replies = setting.journal.generate([one.case.request for one in touched])
    for one, reply in zip(touched, replies, strict=True):
        run.calls.append(called("prove", 0, reply))
        finding = one.finding
        outcome: Finding | Rejection = Rejection("invalid", reply.problem)
        if reply.value is not None:
            others = [known for known in grounds.known if known.id != finding.id]
            apart = Grounds(grounds.now, grounds.addresses, others)
            said = verdict(reply.value, reply.certainty)
            outcome = judged(said, one.case.named.candidate, one.artifacts, apart, setting)
        if isinstance(outcome, Finding):
            tell_anew(store, finding, one.told(outcome, setting), grounds.now, run)
        elif outcome.check in _SETTLED and not finding.kept:
            store.findings.lapse(finding.id, " ".join(outcome.detail.split()), grounds.now)
            run.lapsed.append(finding.id)
        else:
            store.findings.update(finding.model_copy(update={"revision": revision}))
    states = {finding.id: finding for finding in store.findings.all()}
    grounds.known[:] = [states.get(known.id, known) for known in grounds.known]


@dataclass(frozen=True, slots=True)
class _Touched:
    """An earlier finding on whose matter something is new, and the question that it is."""

    finding: Finding
    case: Case
    artifacts: Mapping[int, Artifact]

    @classmethod
    def of(cls, finding: Finding, store: Store, grounds: Grounds, setting: Setting) -> _Touched | None:
        """None where nothing is new, or nothing is left of what it cites."""
        changed = set(store.artifacts.changed_since(finding.revision))
        cited = store.artifacts.get(sorted(finding.artifacts))
        if not changed or not cited:
            return None
        kin = set(cited)
        for row in cited:
            ties = store.ties.kin(row, grounds.now, _MOST_KIN)
            kin.update(ties.thread, ties.series, ties.parents, ties.attachments, ties.invited)
        claim = f"{finding.description} {finding.why}"
        later = later_on_matter(claim, list(cited.values()), store, setting.profile, grounds.now)
        new = sorted((kin | {artifact.id for artifact in later}) & changed)
        if not new:
            return None
        candidate = Candidate(finding.template, finding.why, tuple(cited), finding.description, finding.action)
        view = View(tuple(new[-MOST_NEW:]), (), (), (), "", "")
        artifacts = {**store.artifacts.get(list(view.artifacts)), **cited}
        case = Case.of(Named(candidate, view, 0), artifacts, store, grounds.now, setting)
        return None if case is None else cls(finding, case, {**artifacts, **case.shown})

    def told(self, outcome: Finding, setting: Setting) -> Finding:
        """The finding with the words of this proof; of what it does not quote again, those that still stand."""
        quoted = outcome.artifacts
        kept = tuple(
            item for item in self.finding.evidence if item.artifact not in quoted and self._stands(item, setting)
        )
        return outcome.model_copy(update={"evidence": (*kept, *outcome.evidence)})

    def _stands(self, item: Evidence, setting: Setting) -> bool:
        artifact = self.artifacts.get(item.artifact)
        return artifact is not None and not quote_fault(item, artifact, setting.profile.zone)
