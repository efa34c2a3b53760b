"""From one day to the next: findings are updated, lapse with a reason, come back, and stay dismissed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from inference.discovery import Options, discover
from tests.inference.scripted import NOW, PROFILE, person, put
from workspace import Artifact, Batch, Gone, Kind, Role, State, Trust
from workspace.store import Store

OBSERVED = Options("observed")
DAY = timedelta(days=1)
MARA = (person(Role.ORGANIZER, "Mara Lindt"), person(Role.ATTENDEE, "Jonas Wehr", "accepted"))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        for name in ("mail", "calendar", "tasks"):
            opened.artifacts.add_source(name, "folder", f"/{name}", NOW)
        yield opened


def look(store, now=NOW):
    return discover(store, PROFILE, now, OBSERVED)


def only(store):
    (finding,) = store.findings.all()
    return finding


def meeting(key, title, hours, **other):
    start = NOW + timedelta(days=3, hours=hours)
    values = {"people": MARA, "time": start, "end": start + timedelta(hours=2), "trust": Trust.SELF, **other}
    return Artifact("calendar", key, Kind.EVENT, title, **values)


def late_task(**other):
    values = {"due": NOW - timedelta(days=5), "status": "open", "trust": Trust.SELF, **other}
    return Artifact("tasks", "k1", Kind.TASK, "Pay the caterer", **values)


def mail(key, text, days, sender="Jonas Wehr", to="Mara Lindt", thread="t1", title="The garden hall"):
    people = (person(Role.FROM, sender), person(Role.TO, to))
    trust = Trust.SELF if "Mara" in sender else Trust.KNOWN
    at = NOW + timedelta(days=days)
    return Artifact("mail", key, Kind.EMAIL, title, text, people=people, time=at, thread=thread, trust=trust)


QUESTION = mail("m1", "Dear Mara, could you tell me how many chairs you need?", -8)


def clash(store):
    put(store, meeting("e1", "Budget talk", 0))
    put(store, meeting("e2", "Visit of the landlord", 1))


def test_a_task_that_is_done_lapses_and_says_so(store):
    put(store, late_task())
    look(store)
    put(store, late_task(status="done"))
    run = look(store, NOW + DAY)
    lapsed = only(store)
    assert (lapsed.state, lapsed.reason) == (State.LAPSED, 'The task "Pay the caterer" is done.')
    assert run.lapsed == [lapsed.id]
    assert store.findings.current(NOW + DAY) == []


def test_a_question_that_was_answered_lapses_and_names_the_answer(store):
    put(store, QUESTION)
    look(store)
    assert only(store).observed == "waits-for-you"
    put(
        store, mail("m2", "Forty, please.", 0.5, sender="Mara Lindt", to="Jonas Wehr", title="Re: The garden hall")
    )
    look(store, NOW + DAY)
    assert only(store).reason == 'You wrote "Re: The garden hall" on Mon 16 March 2026.'


def test_an_answer_on_another_path_is_named_as_well(store):
    put(store, QUESTION)
    look(store)
    put(
        store,
        mail(
            "m2",
            "About the garden hall: forty chairs.",
            0.5,
            "Mara Lindt",
            "Jonas Wehr",
            "t9",
            "Chairs for the hall",
        ),
    )
    look(store, NOW + DAY)
    assert only(store).state is State.LAPSED
    assert only(store).reason == 'You wrote "Chairs for the hall" on Mon 16 March 2026.'


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cancelled": True}, '"Visit of the landlord" was cancelled.'),
        (
            {"time": NOW + timedelta(days=4), "end": NOW + timedelta(days=4, hours=1)},
            '"Visit of the landlord" has changed; it is on Fri 20 March 2026 now.',
        ),
    ],
    ids=["cancelled", "moved away"],
)
def test_a_clash_that_was_settled_lapses(store, change, why):
    clash(store)
    look(store)
    put(store, meeting("e2", "Visit of the landlord", 1, **change))
    look(store, NOW + DAY)
    assert (only(store).state, only(store).reason) == (State.LAPSED, why)


def test_an_entry_that_is_gone_lets_its_finding_lapse(store):
    clash(store)
    look(store)
    store.artifacts.take("calendar", Batch((Gone("e2"),), {}))
    look(store, NOW + DAY)
    assert only(store).reason == '"Visit of the landlord" is no longer there.'


def test_what_was_not_dealt_with_in_time_lapses(store):
    clash(store)
    look(store)
    look(store, NOW + timedelta(days=5))
    assert (only(store).state, only(store).reason) == (State.LAPSED, '"Visit of the landlord" is over.')


def test_a_clash_that_moved_is_updated_in_its_place(store):
    clash(store)
    look(store)
    before = only(store)
    moved = meeting("e2", "Visit of the landlord", 1.5)
    put(store, moved)
    run = look(store, NOW + DAY)
    after = only(store)
    assert after.id == before.id
    assert after.state is before.state
    assert after.description != before.description
    assert run.updated == [after.id]
    assert run.lapsed == []


def test_a_wait_that_only_grew_longer_is_told_in_new_words_and_not_as_updated(store):
    put(store, QUESTION)
    look(store)
    before = only(store)
    run = look(store, NOW + timedelta(days=2))
    after = only(store)
    assert after.id == before.id
    assert after.updated is None
    assert (run.updated, run.lapsed) == ([], [])


def test_a_reminder_updates_the_finding_and_repeats_nothing(store):
    put(store, QUESTION)
    look(store)
    before = only(store)
    put(store, mail("m2", "Dear Mara, did you see my question? How many chairs do you need?", 0.2))
    look(store, NOW + timedelta(days=6))
    assert only(store).id == before.id
    assert only(store).state is not State.LAPSED


def test_what_is_observed_again_is_back(store):
    put(store, late_task())
    look(store)
    put(store, late_task(status="done"))
    look(store, NOW + DAY)
    put(store, late_task())
    run = look(store, NOW + 2 * DAY)
    assert (only(store).state, only(store).reason) == (State.NEW, "")
    assert run.updated == [only(store).id]


@pytest.mark.parametrize("state", [State.DISMISSED, State.DONE])
def test_what_the_person_put_away_neither_lapses_nor_comes_back(store, state):
    put(store, late_task())
    look(store)
    store.findings.set_state(1, state, reason="paid by card")
    put(store, late_task(text="Second reminder"))
    run = look(store, NOW + DAY)
    put(store, late_task(status="done"))
    look(store, NOW + 2 * DAY)
    assert (only(store).state, only(store).reason) == (state, "paid by card")
    assert (run.updated, run.lapsed) == ([], [])


def test_a_snoozed_finding_lapses_as_well(store):
    put(store, late_task())
    look(store)
    store.findings.set_state(1, State.SNOOZED, snoozed_until=NOW + timedelta(days=9))
    put(store, late_task(status="done"))
    look(store, NOW + DAY)
    assert only(store).state is State.LAPSED


def test_a_dismissal_holds_for_the_thread_as_long_as_the_people_are_the_same(store):
    put(store, QUESTION)
    look(store)
    store.findings.set_state(1, State.DISMISSED)
    put(store, mail("m2", "Dear Mara, did you see my question? How many chairs do you need?", 0.2))
    look(store, NOW + timedelta(days=8))
    assert only(store).state is State.DISMISSED
    put(
        store,
        replace(
            mail("m3", "Dear Mara, could you tell me which day suits you?", 0.3),
            people=(person(Role.FROM, "Helga Brand"), person(Role.TO, "Mara Lindt")),
        ),
    )
    look(store, NOW + timedelta(days=9))
    assert [finding.state for finding in store.findings.all()] == [State.DISMISSED, State.NEW]


def test_looking_twice_changes_nothing(store):
    clash(store)
    put(store, late_task())
    put(store, QUESTION)
    look(store)
    look(store, NOW + DAY)
    before = store.findings.all()
    run = look(store, NOW + DAY)
    assert store.findings.all() == before
    assert (run.updated, run.lapsed) == ([], [])
