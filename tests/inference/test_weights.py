"""What the person made of findings weighs their templates."""

import pytest

from inference.weights import by_weight, template_weights
from workspace import Action, Evidence, Finding, State


def finding(state, reason="", template="task-past-due"):
    return Finding(
        template=template,
        description="It is late.",
        why="Its day has passed.",
        evidence=(Evidence(artifact=1, quote="Pay the caterer", where="title"),),
        action=Action(function_name="create_task", parameters={"title": "Pay", "due": "2026-03-20", "notes": ""}),
        confidence=0.9,
        state=state,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("reason", "weight"),
    [("wrong", 2 / 3), (" Wrong ", 2 / 3), ("unimportant", 2 / 3), ("not-mine", 0.8), ("we have tents", 0.8889)],
)
def test_a_dismissal_weighs_by_its_reason(reason, weight):
    weights = template_weights([finding(State.DISMISSED, reason)])
    assert weights == {"task-past-due": pytest.approx(weight, abs=1e-4)}


@pytest.mark.parametrize("reason", ["", "known"])
def test_what_was_known_says_nothing_against_a_template(reason):
    assert template_weights([finding(State.DISMISSED, reason)]) == {"task-past-due": 1.0}


def test_accepted_findings_make_up_for_dismissed_ones():
    wrong = [finding(State.DISMISSED, "wrong")] * 4
    low, high = template_weights(wrong), template_weights([*wrong, *[finding(State.DONE)] * 4])
    assert low["task-past-due"] < 0.4 < high["task-past-due"]


def test_open_and_lapsed_findings_weigh_nothing():
    assert template_weights([finding(State.NEW), finding(State.SNOOZED), finding(State.LAPSED)]) == {}


def test_templates_of_low_weight_are_named_last():
    assert by_weight(("a", "b", "c"), {"a": 0.4, "c": 0.6}) == ("b", "c", "a")
