"""What the person made of findings weighs their templates: what was right is looked for first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from workspace import Finding, State

PRIOR = 2.0
"""Right findings with which every template begins, so that one dismissal decides nothing."""

LOW = 0.5
"""A template that weighs less is named after the others that fit a story."""

_AGAINST = {"wrong": 1.0, "unimportant": 1.0, "not-mine": 0.5}
"""What a dismissal with this reason says against a template. Who knew of a problem says nothing against it."""

_IN_OWN_WORDS = 0.25


def template_weights(findings: Iterable[Finding]) -> dict[str, float]:
    """Template -> weight (above 0, at most 1), for those of which the person accepted or dismissed a finding.

    The weight is the share of right ones among all that were judged; a template that is missing weighs 1.
    """
    right: dict[str, float] = defaultdict(float)
    against: dict[str, float] = defaultdict(float)
    for finding in findings:
        if finding.state is State.DONE:
            right[finding.template] += 1
        elif finding.state is State.DISMISSED:
            against[finding.template] += _said_against(finding.reason)
    return {
        template: round((right[template] + PRIOR) / (right[template] + PRIOR + against[template]), 4)
        for template in sorted(right.keys() | against.keys())
    }


def by_weight(templates: Sequence[str], weights: Mapping[str, float]) -> tuple[str, ...]:
    """The templates in their order, those of low weight last."""
    return tuple(sorted(templates, key=lambda template: weights.get(template, 1.0) < LOW))


def _said_against(reason: str) -> float:
    said = reason.strip().casefold()
    if said in ("", "known"):
        return 0.0
    return _AGAINST.get(said, _IN_OWN_WORDS)
