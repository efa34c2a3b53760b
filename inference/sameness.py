"""Is it news? A problem can be told twice: from another side, with other artifacts, under another template.

What only compares labels does not notice that. So a finding that passed everything else is held against those
known before that touch it, in whatever state: they share artifacts, a thread or a series, people, or words. The
model says whether a person who acts on the one would have dealt with the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.candidate import same_type
from inference.checks import Rejection
from inference.models.contract import Request
from inference.observations.words import stems
from inference.prompts import known_line, same_messages
from workspace import RECIPIENTS, Call, Finding

if TYPE_CHECKING:
    from inference.rounds import Setting
    from workspace.store import Store

MOST = 8
"""How many of the known findings a new one is held against."""
ALIKE = 0.4
"""Findings of which the one shares this part of its words with the other may be the same, whatever they cite."""

MARGIN = 64
_SHARED_ARTIFACT, _SHARED_TIE, _SHARED_PERSON = 4, 2, 1


@dataclass(frozen=True, slots=True)
class Touch:
    """By what a finding can be seen to touch another: its artifacts, their threads and series, their people, and
    the stems of the words in which it is told."""

    artifacts: frozenset[int]
    ties: frozenset[str]
    people: frozenset[str]
    words: frozenset[str]

    def weight(self, other: Touch) -> int:
        fewer = min(len(self.words), len(other.words))
        alike = fewer > 0 and len(self.words & other.words) >= ALIKE * fewer
        return (
            _SHARED_ARTIFACT * len(self.artifacts & other.artifacts)
            + _SHARED_TIE * len(self.ties & other.ties)
            + _SHARED_PERSON * len(self.people & other.people)
            + alike
        )


class Known:
    """The findings known so far, and how each can be touched."""

    def __init__(self, findings: list[Finding], store: Store, setting: Setting) -> None:
        self.findings = findings
        self._store = store
        self._setting = setting
        self._touch: dict[str, Touch] = {}

    def told_before(self, finding: Finding, calls: list[Call]) -> Rejection | None:
        """Ask whether the finding is one of those known; None where it is news. The call is added to `calls`."""
        from inference.rounds import called

        request = self._request(finding, self._touching(finding))
        if request is None:
            return None
        (reply,) = self._setting.journal.generate([request])
        calls.append(called("same", 0, reply))
        if reply.value is None:
            return None
        said = reply.value.model_dump()
        return None if said["same_as"] == "none" else Rejection("known", said["reason"])

    def _touching(self, finding: Finding) -> list[Finding]:
        """The known findings that touch this one, those that share most first."""
        missing = [other for other in (*self.findings, finding) if other.about not in self._touch]
        rows = sorted({row for other in missing for row in other.artifacts})
        artifacts = self._store.artifacts.get(rows)
        own = set(self._setting.profile.persona.emails)
        for other in missing:
            held = [artifacts[row] for row in other.artifacts if row in artifacts]
            ties = {tie for artifact in held for tie in (artifact.thread, artifact.uid, artifact.parent)}
            people = {person.email for artifact in held for person in artifact.people}
            self._touch[other.about] = Touch(
                other.artifacts,
                frozenset(ties - {""}),
                frozenset(people - own - {""}),
                frozenset(stems(other.description)),
            )
        mine = self._touch[finding.about]
        weights = [(mine.weight(self._touch[other.about]), at) for at, other in enumerate(self.findings)]
        best = sorted((item for item in weights if item[0]), key=lambda item: (-item[0], -item[1]))[:MOST]
        return [self.findings[at] for _, at in best]

    def _request(self, finding: Finding, others: Sequence[Finding]) -> Request | None:
        """The question; None where there is nothing to hold it against, or it does not fit the context."""
        setting, model = self._setting, self._setting.model
        answer = setting.budget.same_answer
        for count in range(len(others), 0, -1):
            lines = [_line(f"f{number}", other, setting) for number, other in enumerate(others[:count], start=1)]
            messages = same_messages(setting.constant, lines, _line("new", finding, setting), setting.nonce)
            if model.count(messages) + answer + MARGIN <= model.context:
                labels = tuple(f"f{number}" for number in range(1, count + 1))
                return Request(messages, same_type(labels, setting.budget.bounds), answer, "same")
        return None


def _line(label: str, finding: Finding, setting: Setting) -> str:
    action = finding.action
    whom = ", ".join(str(action.parameters[name]) for name in RECIPIENTS if action.parameters.get(name))
    doing = f"{action.function_name} {whom}".strip()
    return known_line(label, finding.template, finding.description, doing, setting.nonce)
