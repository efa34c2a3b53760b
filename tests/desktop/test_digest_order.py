"""The order of the digest: stakes, then nearness in time, then confidence; what is too late comes last."""

from datetime import UTC, datetime, timedelta

from desktop.digest.digest import pressing
from workspace import Action, Evidence, Finding, Stakes

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)
TASK = Action(function_name="create_task", parameters={"title": "x", "due": "2026-04-01", "notes": ""})


def finding(number, stakes=Stakes.MEDIUM, days=None, confidence=0.9):
    deadline = None if days is None else NOW + timedelta(days=days)
    return Finding(
        id=number, template="t", description="d", why="w", evidence=(Evidence(artifact=number, quote="words"),),
        action=TASK, confidence=confidence, deadline=deadline, stakes=stakes,
    )  # fmt: skip


ORDERED = (
    finding(9, Stakes.HIGH, days=20),
    finding(8, Stakes.HIGH, days=30),
    finding(7, Stakes.HIGH),
    finding(6, days=1, confidence=0.7),
    finding(5, days=2, confidence=0.9),
    finding(4, days=2, confidence=0.8),
    finding(3),
    finding(2, Stakes.LOW, days=1),
    finding(1, Stakes.HIGH, days=-1),
    finding(0, Stakes.HIGH, days=-9),
)


def test_stakes_come_first_then_time_then_confidence_and_what_is_too_late_last():
    for start in (ORDERED[::-1], ORDERED[5:] + ORDERED[:5], ORDERED[::2] + ORDERED[1::2]):
        assert sorted(start, key=lambda one: pressing(one, NOW, UTC)) == list(ORDERED)


def test_a_finding_of_an_earlier_version_is_of_medium_stakes():
    stored = finding(1, Stakes.HIGH).model_dump(mode="json", exclude={"stakes"})
    assert Finding.model_validate(stored).stakes is Stakes.MEDIUM
