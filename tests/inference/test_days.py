"""From one day to the next: findings are updated, lapse with a reason, come back, and stay dismissed."""

from dataclasses import replace
from datetime import timedelta

import pytest

from inference.discovery import Options, discover
from templates import load_templates
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
            '"Visit of the landlord" has changed; it is on Fri 20 March 2026, 09:30, now.',
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


def test_a_task_that_was_moved_and_then_forgotten_is_told_for_that(store):
    away = meeting("e1", "Out of office", 0, end=NOW + timedelta(days=6), all_day=True, people=())
    put(store, replace(away, time=NOW.replace(hour=0) + timedelta(days=3)))
    put(store, late_task(due=NOW + timedelta(days=4)))
    look(store)
    first = only(store)
    assert first.observed != "task-overdue"
    put(store, late_task(due=NOW + timedelta(days=2)))
    look(store, NOW + DAY)
    assert only(store).reason == '"Pay the caterer" has changed; it is due on Wed 18 March 2026 now.'
    look(store, NOW + timedelta(days=8))
    lapsed, late = store.findings.all()
    assert (lapsed.state, late.state) == (State.LAPSED, State.NEW)
    assert (late.template, late.action) != (lapsed.template, lapsed.action)


def test_what_is_back_is_told_as_it_is_now(store):
    put(store, late_task())
    look(store)
    put(store, late_task(status="done"))
    look(store, NOW + DAY)
    put(store, replace(late_task(due=NOW - timedelta(days=2)), title="Pay the caterer at last"))
    run = look(store, NOW + 2 * DAY)
    assert "Pay the caterer at last" in only(store).description
    assert (only(store).state, run.updated) == (State.NEW, [1])


def test_a_clash_that_moved_beyond_its_last_day_is_told_of_its_new_day(store):
    clash(store)
    look(store)
    for key, title, hours in (("e1", "Budget talk", 0), ("e2", "Visit of the landlord", 1)):
        put(store, meeting(key, title, hours + 24 * 7))
    look(store, NOW + timedelta(days=6))
    assert (only(store).state, only(store).id) == (State.NEW, 1)
    assert only(store).deadline > NOW + timedelta(days=6)


def test_what_lapsed_does_not_come_back_while_its_template_is_off(store):
    put(store, late_task())
    look(store)
    put(store, late_task(status="done"))
    look(store, NOW + DAY)
    put(store, late_task())
    off = [template for template in load_templates() if template.id != only(store).template]
    discover(store, PROFILE, NOW + 2 * DAY, OBSERVED, templates=off)
    assert only(store).state is State.LAPSED


def test_what_is_open_is_told_as_it_is_although_its_template_is_off(store):
    clash(store)
    look(store)
    put(store, meeting("e2", "Visit of the landlord", 1.5))
    off = [template for template in load_templates() if template.id != only(store).template]
    discover(store, PROFILE, NOW + DAY, OBSERVED, templates=off)
    assert "overlap by 30 minutes" in only(store).description


def test_a_snoozed_clash_that_moved_forward_is_back_in_time(store):
    clash(store)
    look(store)
    store.findings.set_state(1, State.SNOOZED, snoozed_until=NOW + timedelta(days=2.5))
    look(store, NOW + DAY)
    assert only(store).state is State.SNOOZED
    put(store, meeting("e1", "Budget talk", -24))
    put(store, meeting("e2", "Visit of the landlord", -23))
    look(store, NOW + DAY)
    assert (only(store).state, only(store).updated) == (State.SEEN, NOW + DAY)


def test_what_the_person_took_up_again_does_not_lapse(store):
    put(store, late_task())
    look(store)
    put(store, late_task(status="done"))
    look(store, NOW + DAY)
    store.findings.update(only(store).model_copy(update={"kept": True}))
    store.findings.set_state(1, State.SEEN)
    look(store, NOW + 2 * DAY)
    assert (only(store).state, only(store).kept) == (State.SEEN, True)


def test_a_letter_on_something_else_is_no_reason_why_a_clash_is_gone(store):
    clash(store)
    look(store)
    put(store, mail("m9", "Lunch?", 0.5, sender="Mara Lindt", to="Jonas Wehr", title="Lunch", thread="t9"))
    put(store, meeting("e2", "Visit of the landlord", 4))
    look(store, NOW + DAY)
    assert only(store).reason == '"Visit of the landlord" has changed; it is on Thu 19 March 2026, 13:30, now.'
