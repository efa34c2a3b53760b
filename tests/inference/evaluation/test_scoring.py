"""Scores of predictions made by hand, of which the right values are known."""

from typing import Any

import pytest

from inference.evaluation.phrases import says
from inference.evaluation.scoring import (
    Prediction,
    Question,
    Score,
    by_phrase,
    identification,
    mean,
    questions,
    resolution,
    retrieval,
    score,
    within,
)
from workspace import Action
from workspace.file import WorkspaceFile

SAID = "Ida Berg is blocked: the permit is missing since the form was never filed, for the street stall, by 2 May."
PERFECT = Score(1.0, 1.0, 1.0)
NOTHING = Score(0.0, 0.0, 0.0)


def problem(number: int, **resolution: Any) -> dict[str, Any]:
    return {
        "id": f"p{number}",
        "description": "The permit is missing.",
        "facts": {
            "who_is_blocked": ["Ida Berg", "Ida"],
            "blocker": ["permit is missing"],
            "task": ["street stall"],
            "root_cause": ["form was never filed"],
            "deadline": ["2 May", "2026-05-02"],
        },
        "evidence": [f"a{number}1", f"a{number}2"],
        "resolution": resolution
        or {
            "function_name": "send_email",
            "parameters": {"to": ["Permit Desk <Desk@town.example>"], "subject": "permit"},
            "also_accept": [
                {"function_name": "create_task", "parameters": {"title": "permit", "due": "before 2026-05-01"}},
                {"function_name": "reply_email", "parameters": {"message": f"a{number}1"}},
            ],
        },
    }


def workspace(*problems: dict[str, Any]) -> WorkspaceFile:
    artifacts = [
        {
            "id": f"a{number}{place}", "kind": "email", "thread": "t", "from": "A <a@x.example>",
            "to": ["Mara Lindt <mara@lindt.example>"], "sent": "2026-04-01T10:00", "subject": "s", "body": "b",
            "folder": "inbox",
        }
        for number in range(1, 4) for place in range(1, 4)
    ]  # fmt: skip
    return WorkspaceFile.model_validate(
        {
            "format": "tide-workspace/1", "id": "tiny", "language": "en", "now": "2026-04-20T08:00",
            "timezone": "Europe/Berlin",
            "persona": {
                "name": "Mara Lindt", "email": "Mara Lindt <mara@lindt.example>", "occupation": "", "about": "",
            },
            "world_model": {
                "organization": {"name": "", "department": "", "reports_to": ""},
                "relationships": [], "priorities": [],
            },
            "artifacts": [*artifacts, {
                "id": "e1", "kind": "event", "title": "e", "start": "2026-05-01T10:00", "end": "2026-05-01T11:00",
                "organizer": "mara@lindt.example",
            }],
            "problems": list(problems), "distractors": {},
        }
    )  # fmt: skip


def mail(to: Any = ("desk@town.example",), subject: str = "The permit", body: str = "") -> Action:
    return Action(function_name="send_email", parameters={"to": to, "cc": [], "subject": subject, "body": body})


def told(number: int, *, text: str = SAID, action: Action | None = None, evidence: str = "12") -> Prediction:
    return Prediction(frozenset(f"a{number}{place}" for place in evidence), text, action or mail())


TWO = workspace(problem(1), problem(2))


# Whole scores


def test_perfect_predictions() -> None:
    scores = score(TWO, [told(2), told(1)])
    assert (scores.retrieval, scores.identification, scores.resolution) == (PERFECT, PERFECT, PERFECT)
    assert [(match.problem, match.prediction) for match in scores.matches] == [("p1", 1), ("p2", 0)]


def test_no_prediction() -> None:
    scores = score(TWO, [])
    assert (scores.retrieval, scores.identification, scores.resolution) == (NOTHING, NOTHING, NOTHING)
    assert [match.prediction for match in scores.matches] == [None, None]


def test_a_file_without_problems() -> None:
    calm = workspace()
    assert score(calm, []).identification == PERFECT
    assert score(calm, [told(1)]).identification == Score(1.0, 0.0, 0.0)
    assert score(calm, []).matches == ()


def test_a_duplicate_costs_precision_alone() -> None:
    scores = score(TWO, [told(1), told(2), told(1)])
    for found in (scores.retrieval, scores.identification, scores.resolution):
        assert found == Score(1.0, pytest.approx(2 / 3), pytest.approx(0.8))


def test_half_of_the_problems() -> None:
    scores = score(TWO, [told(1)])
    for found in (scores.retrieval, scores.identification, scores.resolution):
        assert found == Score(0.5, 1.0, pytest.approx(2 / 3))


def test_a_false_alarm() -> None:
    scores = score(TWO, [told(1), told(2), told(3)])
    assert scores.retrieval == Score(1.0, pytest.approx(2 / 3), pytest.approx(0.8))


def test_half_of_the_evidence() -> None:
    # One of two, and nothing else: precision 1, recall 1/2.
    scores = score(workspace(problem(1)), [told(1, evidence="1")])
    assert scores.retrieval == Score(*[pytest.approx(2 / 3)] * 3)
    assert scores.identification == PERFECT


def test_of_several_predictions_the_best_keeps_its_score() -> None:
    poor, good = told(1, evidence="13"), told(1)
    for order in ([poor, good], [good, poor]):
        assert score(workspace(problem(1)), order).retrieval == Score(1.0, 0.5, pytest.approx(2 / 3))
    # The best is that of highest retrieval, though it says nothing.
    dumb = told(1, text="Something is odd.")
    scores = score(workspace(problem(1)), [poor, dumb])
    assert scores.identification == NOTHING
    assert scores.resolution == Score(1.0, 0.5, pytest.approx(2 / 3))


def test_of_equal_predictions_the_first_counts() -> None:
    dumb = told(1, text="Something is odd.")
    assert score(workspace(problem(1)), [told(1), dumb]).identification == Score(1.0, 0.5, pytest.approx(2 / 3))
    assert score(workspace(problem(1)), [dumb, told(1)]).identification == NOTHING


def test_one_prediction_may_cover_two_problems_but_counts_once() -> None:
    both = Prediction(frozenset({"a11", "a12", "a21", "a22"}), SAID, mail())
    scores = score(TWO, [both])
    assert scores.retrieval == Score(*[pytest.approx(2 / 3)] * 3)
    assert scores.identification == PERFECT


def test_evidence_from_elsewhere() -> None:
    assert retrieval(Prediction(frozenset({"row 7"}), "", mail()), TWO.problems[0]) == 0
    assert retrieval(Prediction(frozenset(), "", mail()), TWO.problems[0]) == 0
    assert retrieval(told(1, evidence="123"), TWO.problems[0]) == pytest.approx(0.8)


def test_means_are_over_workspaces() -> None:
    assert mean([PERFECT, NOTHING, Score(0.5, 1.0, 0.75)]) == Score(
        0.5, pytest.approx(2 / 3), pytest.approx(7 / 12)
    )


# Identification


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (SAID, 1.0),
        ("For IDA, the permit is missing.", 0.4),
        ("The Street-Stall: the form was never filed.", 0.4),
        ("The street stall lacks it; the form was never filed, and it is due 2026-05-02.", 0.6),
        ("Ida waits for the street stall until 2 May.", 0.0),
        ("The permit is missing, the form was never filed, by 2 May.", 0.0),
        ("Idaho: the permit is missing.", 0.0),
        ("", 0.0),
    ],
)
def test_identification(text: str, share: float) -> None:
    assert identification(told(1, text=text), TWO.problems[0]) == pytest.approx(share)


# Resolution


def resolved(action: Action, *, gold: dict[str, Any] | None = None) -> float:
    file = workspace(problem(1, **(gold or {})))
    return resolution(told(1, action=action), file.problems[0], frozenset({"mara@lindt.example"}))


def act(name: str, **parameters: Any) -> Action:
    return Action(function_name=name, parameters=parameters)


@pytest.mark.parametrize(
    ("action", "share"),
    [
        (mail(), 1.0),
        (mail(to=["Somebody Else <DESK@town.example>"]), 1.0),
        (mail(to=["desk@town.example", "Mara Lindt <mara@lindt.example>"]), 1.0),
        (mail(to=["desk@town.example", "a@x.example"]), 0.5),
        (mail(to=["Permit Desk <other@town.example>"]), 0.5),
        (mail(to=[]), 0.5),
        (mail(subject="A question"), 0.5),
        (mail(subject="A question", body="Where is the permit?"), 1.0),
        (mail(to=["a@x.example"], subject="Hello"), 0.0),
        (act("escalate", to="desk@town.example", subject="permit", body=""), 0.0),
        (act("create_task", title="Permit", due="2026-04-30", notes=""), 1.0),
        (act("create_task", title="Permit", due="2026-05-01", notes=""), 0.5),
        (act("create_task", title="Stall", due="2026-04-30", notes="permit"), 1.0),
        (act("reply_email", message="a11", body=""), 1.0),
        (act("reply_email", message="a12", body=""), 0.0),
        (act("reply_email", body=""), 0.0),
    ],
)
def test_resolution(action: Action, share: float) -> None:
    assert resolved(action) == pytest.approx(share)


def test_an_action_without_parameters_that_matter() -> None:
    gold = {"function_name": "create_task", "parameters": {}}
    assert resolved(act("create_task", title="x", due="2026-05-01", notes=""), gold=gold) == 1.0
    assert resolved(mail(), gold=gold) == 0.0


def test_of_two_accepted_forms_of_one_action_the_nearer_counts() -> None:
    gold = {
        "function_name": "respond_to_invitation",
        "parameters": {"event": "e1", "response": "declined"},
        "also_accept": [
            {"function_name": "respond_to_invitation", "parameters": {"event": "e1", "response": "tentative"}},
        ],
    }  # fmt: skip
    assert resolved(act("respond_to_invitation", event="e1", response="tentative", note=""), gold=gold) == 1.0
    assert resolved(act("respond_to_invitation", event="e1", response="accepted", note=""), gold=gold) == 0.5


def test_numbers_copies_and_mail_to_oneself() -> None:
    gold = {"function_name": "schedule_meeting", "parameters": {"duration_minutes": 30, "attendees": []}}
    assert resolved(act("schedule_meeting", duration_minutes=30, attendees=[]), gold=gold) == 1.0
    assert resolved(act("schedule_meeting", duration_minutes=45, attendees=["a@x.example"]), gold=gold) == 0.0
    oneself = {"function_name": "send_email", "parameters": {"to": ["mara@lindt.example"]}}
    assert resolved(mail(to=["mara@lindt.example"]), gold=oneself) == 1.0
    assert resolved(mail(to=["a@x.example"]), gold=oneself) == 0.0


@pytest.mark.parametrize(
    ("said", "wanted", "holds"),
    [
        ("2026-04-01", "2026-04-01", True),
        ("2026-04-01T14:00", "2026-04-01", True),
        ("2026-04-01T14:00", "2026-04-01T09:30", True),
        ("2026-04-02", "2026-04-01", False),
        ("2026-03-31T23:59", "before 2026-04-01", True),
        ("2026-04-01", "before 2026-04-01", False),
        ("2026-04-01", "Before 2026-04-01T12:00", False),
        ("2026-04-01", "by 2026-04-01", True),
        ("2026-04-02", "by 2026-04-01", False),
        ("2026-04-01", "on or before 2026-04-01", True),
        ("2026-04-01", "after 2026-04-01", False),
        ("2026-04-02", "after 2026-04-01", True),
        ("2026-04-01", "from 2026-04-01", True),
        ("2026-04-01", "on or after 2026-04-01", True),
        ("2026-03-31", "from 2026-04-01", False),
        ("soon", "2026-04-01", False),
        ("2026-02-30", "before 2026-04-01", False),
        ("2026-04-01", "soon", False),
    ],
)
def test_days_and_bounds(said: str, wanted: str, holds: bool) -> None:
    assert within(said, wanted) is holds


# Phrases, and who decides


@pytest.mark.parametrize(
    ("text", "phrase", "stands"),
    [
        ("The sum is 43,000 euro.", "43000", True),
        ("The sum is 43\u202f000 euro.", "43.000 euro", True),
        ("Version 1.5 is out.", "15", False),
        ("Die Prüfung fehlt", "prufung", True),
        ("re-filed, at last", "filed at last", True),
        ("refiled", "filed", False),
        ("3월 20일까지 답장이 없습니다", "3월 20일", True),
        ("許可証がまだ届いていない", "許可証", True),
        ("anything", "...", False),
    ],
)
def test_phrases(text: str, phrase: str, stands: bool) -> None:
    assert says(text, phrase) is stands


def test_a_judge_is_asked_each_question_once_and_decides() -> None:
    asked = questions(TWO, [told(1, text="In other words."), told(2), told(2)])
    # The facts of two texts that were matched, and one action, which is the same for both problems.
    assert len(asked) == len(set(asked)) == 3
    assert [name for name, _ in asked[0].phrases] == [
        "who_is_blocked", "blocker", "task", "root_cause", "deadline",
    ]  # fmt: skip
    assert score(TWO, [told(1)], lambda question: frozenset()).identification == NOTHING
    generous = score(
        TWO, [told(1, text="?"), told(2, text="?")], lambda q: frozenset(name for name, _ in q.phrases)
    )
    assert generous.identification == PERFECT


def test_a_question_is_answered_by_name() -> None:
    question = Question("Ida waits.", (("who", ("Nobody", "Ida")), ("what", ("the stall",))))
    assert by_phrase(question) == {"who"}
