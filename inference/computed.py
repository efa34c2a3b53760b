"""Computed findings beside a model: the model goes first, and what it does not tell is added at the end.

A model can tell the same matter with all else that bears on it: the deadline of a contract, the better action. So
it is not told what was computed as found, but sees it as observations, and a computed finding is held against all
that is known when the model has nothing more to say. What rests on wording alone it is asked to refute first: that
a sentence is a request, a program can only guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.candidate import Candidate, verdict
from inference.checks import Rejection, check
from inference.observed import from_words
from inference.proof import Case, unproved
from inference.rounds import Named, called
from inference.sameness import Known
from inference.stories import View
from workspace import Artifact, Dropped, Finding, Profile, Run

if TYPE_CHECKING:
    from inference.proof import Grounds
    from inference.rounds import Setting
    from workspace.store import Store


def keep(store: Store, finding: Finding, run: Run) -> bool:
    """Store a finding; False where its matter is known, unless this very run stored it before it was killed."""
    held = finding.model_copy(update={"revision": store.artifacts.revision()})
    if store.findings.add(held, run.id, run.started) is not None:
        return True
    return any(other.about == finding.about and other.run == run.id for other in store.findings.all())


def told_on_another_day(store: Store, finding: Finding, run: Run) -> bool:
    """Whether an earlier run saw that another finding tells what this computed one says."""
    return store.runs.is_closed(_told(finding), but_by=run.id)


@dataclass(frozen=True, slots=True)
class Computed:
    """The computed findings of a run, which passed the checks, and what is needed to check them again.

    `grounds` is that of the run, whose `known` grows with what the model found. `recent` holds the artifacts that
    the findings cite, by id. `early` are those that this run stored when it could not reach the model; it was
    taken up again since.
    """

    findings: Sequence[Finding]
    recent: Mapping[int, Artifact]
    templates: frozenset[str]
    store: Store
    profile: Profile
    grounds: Grounds
    early: list[Finding]

    @classmethod
    def of(
        cls,
        findings: Sequence[Finding],
        recent: Mapping[int, Artifact],
        templates: frozenset[str],
        store: Store,
        profile: Profile,
        grounds: Grounds,
        run: Run,
    ) -> Computed:
        early = [item for item in _of_run(store, run) if store.runs.is_closed(_early(item))]
        return cls(findings, recent, templates, store, profile, grounds, early)

    def keep_beside(self, finding: Finding, setting: Setting, run: Run) -> bool:
        """Store what the model found; False where it is known, or tells what had to be stored without it."""
        stored = {item.about for item in _of_run(self.store, run)} - {item.about for item in self.early}
        if finding.about not in stored and self._rejected(finding, self.early, setting, run):
            return False
        return keep(self.store, finding, run)

    def keep_rest(self, setting: Setting, run: Run, *, proved: bool) -> None:
        """Store those that nothing known tells, and of those that rest on wording alone, if they are to be
        `proved`, the ones that a capable model does not refute at the originals.

        Raises:
            UserError: if the model, which is asked about those that touch something known, cannot be reached.
        """
        shown = {item.about for item in self.early}
        self.grounds.known.extend(self.early)
        for finding in self.findings:
            if finding.about in shown:
                continue
            rejection = self._rejected(finding, self.grounds.known, setting, run)
            if rejection is None and proved and from_words(finding) and setting.model.capable:
                rejection = self._refuted(finding, setting, run)
            if rejection is None:
                keep(self.store, finding, run)
                self.grounds.known.append(finding)
            elif rejection.check != "known":
                # Remembered, since it is computed again tomorrow; and recorded, since a model may be mistaken.
                self.store.runs.close_views([_told(finding)], run.id)
                run.dropped.append(
                    Dropped(
                        round=0,
                        template=finding.template,
                        description=finding.description,
                        check="known" if rejection.check == "same" else rejection.check,
                        detail=rejection.detail,
                    )
                )

    def keep_early(self, run: Run) -> None:
        """Store them without the model, which cannot be reached.

        Those that share an artifact with what this run has found wait until it is taken up again: only a model
        can say whether they are the same.
        """
        found = frozenset(row for item in _of_run(self.store, run) for row in item.artifacts)
        for finding in self.findings:
            if not finding.artifacts & found and self._fault(finding, self.grounds.known) is None:
                self.store.runs.close_views([_early(finding)], run.id)
                keep(self.store, finding, run)

    def _rejected(
        self, finding: Finding, known: Sequence[Finding], setting: Setting, run: Run
    ) -> Rejection | None:
        """What the program, or else the model, has to say against it; the latter under the check `same`."""
        fault = self._fault(finding, known)
        if fault is not None or not known:
            return fault
        again = Known(list(known), self.store, setting).told_before(finding, run.calls)
        return None if again is None else Rejection("same", again.detail)

    def _refuted(self, finding: Finding, setting: Setting, run: Run) -> Rejection | None:
        """What the model has to say against it; None where it says nothing, or nothing that can be read."""
        rows = tuple(sorted(finding.artifacts))
        candidate = Candidate(finding.template, finding.why, rows, finding.description, finding.action)
        view = View(rows, (), (), (), "", "")
        artifacts = self.store.artifacts.get(rows)
        case = Case.of(Named(candidate, view, 0), artifacts, self.store, self.grounds.now, setting)
        if case is None:
            return None
        (reply,) = setting.journal.generate([case.request])
        run.calls.append(called("prove", 0, reply))
        return None if reply.value is None else unproved(verdict(reply.value, reply.certainty))

    def _fault(self, finding: Finding, known: Sequence[Finding]) -> Rejection | None:
        artifacts = {**self.store.artifacts.get(sorted(finding.artifacts)), **self.recent}
        now, addresses = self.grounds.now, self.grounds.addresses
        fault = check(finding, artifacts, self.profile, now, addresses, known, self.templates)
        # The other checks it has passed.
        return fault if fault is not None and fault.check == "known" else None


def _of_run(store: Store, run: Run) -> list[Finding]:
    return [finding for finding in store.findings.all() if finding.run == run.id]


def _told(finding: Finding) -> str:
    """How it is remembered, beside the views that are closed, that another finding tells this one."""
    return f"told {finding.about}"


def _early(finding: Finding) -> str:
    """How it is remembered that this one was stored without the model."""
    return f"early {finding.about}"
