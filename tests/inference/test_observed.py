from datetime import datetime
from zoneinfo import ZoneInfo

from inference.checks import addresses
from inference.observations import Observation
from inference.observed import findings_from
from workspace import Action, Artifact, Evidence, Kind, Profile, State

NOW = datetime(2026, 3, 18, 10, tzinfo=ZoneInfo("Europe/Berlin"))
PROFILE = Profile(timezone="Europe/Berlin")
TASKS = {
    number: Artifact(source="t", key=str(number), kind=Kind.TASK, title=f"Return lease number {number}", id=number)
    for number in (1, 2, 3)
}
TEMPLATES = frozenset({"task-past-due"})


def observation(number, *, certain=True, kind="past-due", template="task-past-due", due="2026-03-19"):
    return Observation(
        kind=kind,
        sentence=f"The task {number} is late.",
        evidence=(Evidence(artifact=number, quote=TASKS[number].title, where="title"),),
        certain=certain,
        template=template,
        why="Its day has passed.",
        action=Action(
            function_name="update_task",
            parameters={"task": f"a{number}", "status": "open", "due": due, "note": ""},
        ),
        deadline=NOW,
        weight=0.5,
    )


def find(*observations, known=()):
    return findings_from(observations, TASKS, PROFILE, NOW, addresses(TASKS.values(), PROFILE), known, TEMPLATES)


def test_certain_observations_become_findings_in_their_order():
    shown, dropped = find(observation(2), observation(1))
    assert [finding.artifacts for finding in shown] == [{2}, {1}]
    assert dropped == []
    assert shown[0].description == "The task 2 is late."
    assert shown[0].template == "task-past-due"
    assert shown[0].deadline == NOW
    assert shown[0].created == NOW


def test_uncertain_ones_are_neither_shown_nor_counted():
    assert find(observation(1, certain=False)) == ([], [])


def test_what_a_check_rejects_is_dropped_with_the_check_that_it_failed():
    shown, dropped = find(observation(1, due="2026-03-01"), observation(2, template="made-up"), observation(3))
    assert [finding.artifacts for finding in shown] == [{3}]
    assert [item.check for item in dropped] == ["times", "template"]
    assert dropped[0].description == "The task 1 is late."


def test_what_is_known_or_found_twice_is_shown_once():
    (first,), _ = find(observation(1))
    shown, dropped = find(observation(1), observation(2), observation(2), known=[first])
    assert [finding.artifacts for finding in shown] == [{2}]
    assert [item.check for item in dropped] == ["known", "known"]
    dismissed = first.model_copy(update={"state": State.DISMISSED})
    assert find(observation(1), known=[dismissed])[0] == []


def test_what_rests_on_words_is_less_sure_than_what_rests_on_structure():
    (structure, words), _ = find(observation(1), observation(2, kind="waits-for-you"))
    assert words.confidence < structure.confidence < 1.0
