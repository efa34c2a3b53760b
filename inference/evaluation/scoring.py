"""Scores of predictions against the problems of a workspace file: retrieval, identification and resolution.

- Retrieval of a prediction and a gold problem is the F1 of their two sets of evidence.
- Identification is 0 unless who is blocked or the task, and the blocker or the root cause, are expressed; then it
  is the share of the five facts that are.
- Resolution is 0 unless the action is the gold one or one that is accepted too; then it is the share of the
  parameters named in the gold that are right.

Coverage is the mean over the gold problems, each with the prediction of highest retrieval. Precision is the mean
over the predictions, each with the problem of highest retrieval; of several with one problem only the best keeps
its score. Where two are equal, what comes first counts. F1 is the harmonic mean of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from inference.checks import address_of
from inference.evaluation.phrases import says
from workspace import RECIPIENTS, REFERENCES, TIMES, Action
from workspace.file import Problem, Resolution, WorkspaceFile

METRICS = ("retrieval", "identification", "resolution")
FACTS = ("who_is_blocked", "blocker", "task", "root_cause", "deadline")
EXACT = ("response", "status", "duration_minutes")
"""Parameters that are one of a few values, or a number."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A problem as a strategy tells it: ids of artifacts in the file, what it says, and what it would do.

    The parameters of `action` that refer to an artifact hold its id in the file. `round` is the round in which it
    was named, 0 where no model named it.
    """

    evidence: frozenset[str]
    text: str
    action: Action
    round: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """Which of the names have at least one of their phrases expressed in the text."""

    text: str
    phrases: tuple[tuple[str, tuple[str, ...]], ...]


Expressed = Callable[[Question], frozenset[str]]
"""Answers a question with the names of which a phrase is expressed."""


@dataclass(frozen=True, slots=True)
class Score:
    """Coverage, precision and their harmonic mean, 0 to 1."""

    coverage: float
    precision: float
    f1: float


@dataclass(frozen=True, slots=True)
class Match:
    """A gold problem, the number of the prediction it is matched with (None for none), and how well that does."""

    problem: str
    prediction: int | None
    retrieval: float
    identification: float
    resolution: float


@dataclass(frozen=True, slots=True)
class Scores:
    """The three scores of one run on one workspace; `matches` are those behind the coverage, in gold order."""

    retrieval: Score
    identification: Score
    resolution: Score
    matches: tuple[Match, ...]


def by_phrase(question: Question) -> frozenset[str]:
    """Expressed is what stands in the text word for word, but for case, accents and punctuation."""
    return frozenset(
        name for name, phrases in question.phrases if any(says(question.text, phrase) for phrase in phrases)
    )


def score(file: WorkspaceFile, predictions: Sequence[Prediction], expressed: Expressed = by_phrase) -> Scores:
    """The scores of the predictions, in the order in which they were made.

    In a file without problems nothing is missed: coverage is 1, and precision is 1 for no prediction and 0 for
    any. Where there are problems and no prediction, both are 0.
    """
    own = frozenset({address_of(file.persona.email)})
    table = [[retrieval(one, problem) for problem in file.problems] for one in predictions]
    matches = []
    for column, problem in enumerate(file.problems):
        best = _best([row[column] for row in table])
        if best is None:
            matches.append(Match(problem.id, None, 0.0, 0.0, 0.0))
        else:
            matches.append(_match(problem, best, table[best][column], predictions[best], own, expressed))
    kept: dict[int, tuple[int, float]] = {}
    for number, row in enumerate(table):
        nearest = _best(row)
        if nearest is not None and row[nearest] > kept.get(nearest, (0, 0.0))[1]:
            kept[nearest] = (number, row[nearest])
    precise = [
        _match(file.problems[nearest], number, found, predictions[number], own, expressed)
        for nearest, (number, found) in kept.items()
    ]
    scores = {name: _score(name, file, matches, precise, len(predictions)) for name in METRICS}
    return Scores(**scores, matches=tuple(matches))


def questions(file: WorkspaceFile, predictions: Sequence[Prediction]) -> list[Question]:
    """What `score` will ask of its `expressed`, each once, so that a judge can be asked all of it at a time."""
    asked: dict[Question, None] = {}

    def note(question: Question) -> frozenset[str]:
        asked[question] = None
        return frozenset()

    score(file, predictions, note)
    return list(asked)


def retrieval(prediction: Prediction, problem: Problem) -> float:
    """F1 of the evidence of both."""
    shared = len(prediction.evidence & set(problem.evidence))
    return 2 * shared / (len(prediction.evidence) + len(problem.evidence))


def identification(prediction: Prediction, problem: Problem, expressed: Expressed = by_phrase) -> float:
    """The share of the facts that are expressed; 0 unless it is said for whom or what, and through what."""
    facts = problem.facts
    said = expressed(Question(prediction.text, tuple((name, getattr(facts, name)) for name in FACTS)))
    if not said & {"who_is_blocked", "task"} or not said & {"blocker", "root_cause"}:
        return 0.0
    return len(said) / len(FACTS)


def resolution(
    prediction: Prediction, problem: Problem, own: frozenset[str], expressed: Expressed = by_phrase
) -> float:
    """The share of the parameters that are right, of the accepted action that it fits best.

    `own` are the person's own addresses, which may stand among recipients or not.
    """
    accepted = [problem.resolution, *problem.resolution.also_accept]
    shares = [
        _share(prediction.action, one, own, expressed)
        for one in accepted
        if one.function_name == prediction.action.function_name
    ]
    return max(shares, default=0.0)


def mean(scores: Sequence[Score]) -> Score:
    """The mean over workspaces, of each of the three by itself."""
    count = len(scores)
    return Score(
        sum(one.coverage for one in scores) / count,
        sum(one.precision for one in scores) / count,
        sum(one.f1 for one in scores) / count,
    )


def within(said: str, wanted: str) -> bool:
    """Whether a day or moment is on the wanted day, or within the bound that is wanted.

    A bound is `before`, `by`, `after` or `from` and a day; `by` and `from` include the day, as `on or` does.
    """
    day = _day(said)
    bound = _BOUND.fullmatch(wanted.strip().lower())
    limit = _day(bound["day"] if bound else wanted)
    if day is None or limit is None:
        return False
    match bound["side"] if bound else "":
        case "before":
            return day < limit
        case "by" | "on or before":
            return day <= limit
        case "after":
            return day > limit
        case "from" | "on or after":
            return day >= limit
        case _:
            return day == limit


def _match(
    problem: Problem,
    number: int,
    found: float,
    prediction: Prediction,
    own: frozenset[str],
    expressed: Expressed,
) -> Match:
    named = identification(prediction, problem, expressed)
    return Match(problem.id, number, found, named, resolution(prediction, problem, own, expressed))


def _best(values: Sequence[float]) -> int | None:
    """The place of the highest, the first of several; None where there is none above 0."""
    best = max(range(len(values)), key=lambda place: values[place], default=None)
    return best if best is not None and values[best] > 0 else None


def _score(
    name: str, file: WorkspaceFile, matches: Sequence[Match], precise: Sequence[Match], predictions: int
) -> Score:
    problems = len(file.problems)
    coverage = sum(getattr(match, name) for match in matches) / problems if problems else 1.0
    if predictions:
        precision = sum(getattr(match, name) for match in precise) / predictions
    else:
        precision = 0.0 if problems else 1.0
    both = coverage + precision
    return Score(coverage, precision, 2 * coverage * precision / both if both else 0.0)


def _share(action: Action, wanted: Resolution, own: frozenset[str], expressed: Expressed) -> float:
    if not wanted.parameters:
        return 1.0
    prose = {name: value for name, value in wanted.parameters.items() if _is_prose(name)}
    right = sum(
        _is_right(name, action.parameters.get(name), value, own)
        for name, value in wanted.parameters.items()
        if name not in prose
    )
    if prose:
        # The matter may be told in the subject or in the body.
        texts = [str(value) for name, value in action.parameters.items() if _is_prose(name)]
        phrases = tuple((name, _several(value)) for name, value in prose.items())
        right += len(expressed(Question("\n".join(texts), phrases)) & set(prose))
    return right / len(wanted.parameters)


def _is_prose(name: str) -> bool:
    return name not in (*REFERENCES, *RECIPIENTS, *TIMES, *EXACT)


def _is_right(name: str, said: object, wanted: str | int | tuple[str, ...], own: frozenset[str]) -> bool:
    if said is None:
        return False
    if name in RECIPIENTS:
        people = {address_of(one) for one in _several(wanted)}
        given = {address_of(one) for one in _several(said)}
        return given == people if people <= own else given - own == people - own
    if name in TIMES:
        return any(within(str(said), one) for one in _several(wanted))
    return str(said) in _several(wanted)


def _several(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else (str(value),)


def _day(text: str) -> date | None:
    found = _DAY.match(text.strip())
    try:
        return date.fromisoformat(found.group()) if found else None
    except ValueError:
        return None


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BOUND = re.compile(r"(?P<side>(?:on or )?(?:before|after)|by|from) (?P<day>\d{4}-\d{2}-\d{2}.*)")
