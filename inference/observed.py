"""The strategy `observed`: findings that follow from computed observations alone, without a model.

Exact and quick, and only a part of what a capable model finds: nothing is read here that was not computed.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from inference.checks import check
from inference.observations import Observation
from workspace import Artifact, Dropped, Finding, Profile

# What is read off times and answers in a calendar or a task list is as true as these are kept.
_FROM_STRUCTURE = 0.95
# That a mail asks is told by its phrases, and an answer given by telephone leaves no trace.
_FROM_WORDS = 0.8
_WORDS = frozenset({"waits-for-you", "waits-for-others", "asked-in-vain"})


def from_words(finding: Finding) -> bool:
    """Whether a computed finding rests on how something was worded, which a program can only guess at."""
    return finding.observed in _WORDS


def findings_from(
    observations: Iterable[Observation],
    artifacts: Mapping[int, Artifact],
    profile: Profile,
    now: datetime,
    known_addresses: frozenset[str],
    known: Sequence[Finding],
    templates: frozenset[str],
) -> tuple[list[Finding], list[Dropped]]:
    """The certain observations as findings, in their order, and those that a check by program rejects.

    The arguments beside the observations are those of `inference.checks.check`. What was found before in the
    same pass is known as well.
    """
    shown: list[Finding] = []
    dropped: list[Dropped] = []
    for observation in observations:
        if not observation.certain:
            continue
        finding = finding_of(observation, now)
        rejection = check(finding, artifacts, profile, now, known_addresses, [*known, *shown], templates)
        if rejection is None:
            shown.append(finding)
        else:
            dropped.append(
                Dropped(
                    round=1,
                    template=finding.template,
                    description=finding.description,
                    check=rejection.check,
                    detail=rejection.detail,
                )
            )
    return shown, dropped


def finding_of(observation: Observation, now: datetime) -> Finding:
    """What an observation says as a finding of this moment, before any check."""
    return Finding(
        template=observation.template,
        description=observation.sentence,
        why=observation.why,
        evidence=observation.evidence,
        action=observation.action,
        confidence=_FROM_WORDS if observation.kind in _WORDS else _FROM_STRUCTURE,
        deadline=observation.deadline,
        created=now,
        observed=observation.kind,
    )
