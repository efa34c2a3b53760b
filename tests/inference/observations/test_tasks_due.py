from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workspace import Person, Role

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def leave(make, title="Out of office", start="2026-03-23", end="2026-03-28", **more):
    more.setdefault("all_day", True)
    return make.event(title, f"{start} 00:00", f"{end} 00:00", **more)


def test_an_open_task_whose_day_is_over_is_told_and_moved_to_the_next_working_day(make):
    (found,) = make.see(make.task("Return the lease", "2026-03-16 17:00"))
    assert (found.kind, found.certain) == ("past-due", True)
    assert "Mon 16 March 2026, 2 days ago" in found.sentence
    assert found.action.parameters == {
        "task": "a1",
        "status": "open",
        "due": "2026-03-19",
        "note": "It was due on Mon 16 March 2026.",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"status": "COMPLETED"},
        {"cancelled": True},
        {"due": "2026-03-18 00:00"},
        {"due": "2026-03-18 09:00"},
        {"due": "2026-03-20 09:00"},
    ],
    ids=str,
)
def test_done_and_later_tasks_are_left_alone(make, change):
    assert make.see(make.task("Return the lease", **{"due": "2026-03-16 17:00", **change})) == []


def test_a_task_without_a_date_is_left_alone(make):
    assert make.see(replace(make.task("Some day", "2026-03-16 17:00"), due=None)) == []


def test_a_due_date_belongs_to_no_zone(make):
    day = datetime(2026, 3, 18, tzinfo=UTC)
    make.now = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    # 00:30 on the 19th in Berlin: the day is over.
    assert make.sure(replace(make.task("Return the lease", "2026-03-01 09:00"), due=day, all_day=True)) == [
        "past-due"
    ]


@pytest.mark.parametrize(
    "text", ["Done on Monday.", "Handed to Ben.", "Moved to April.", "Erledigt.", "Waiting for Ben"]
)
def test_notes_that_settle_it_make_it_uncertain(make, text):
    assert make.sure(make.task("Return the lease", "2026-03-16 17:00", text=text)) == []


def test_notes_that_speak_of_what_is_to_be_done_settle_nothing(make):
    task = make.task("Return the lease", "2026-03-16 17:00", text="Must be submitted in person.")
    assert make.sure(task) == ["past-due"]


@pytest.mark.parametrize(
    ("sender", "to", "text"),
    [
        (ANNA, [CARLA], "Here is the signed lease, I return it with this."),
        (BEN, [ANNA], "I handed in the lease for you on Friday, the return is with them."),
    ],
)
def test_a_mail_that_may_have_settled_it_makes_it_uncertain(make, sender, to, text):
    mail = make.mail(text, "2026-03-15 09:00", sender=sender, to=to, title="Lease")
    assert make.sure(make.task("Return the lease", "2026-03-16 17:00"), mail) == []


def test_a_task_long_forgotten_is_not_certain(make):
    (found,) = make.see(make.task("Clear the attic", "2025-11-03 09:00"))
    assert not found.certain


def test_a_task_of_somebody_else_is_left_alone(make):
    task = replace(make.task("Return the lease", "2026-03-16 17:00"), people=(Person(Role.ATTENDEE, "Ben", BEN),))
    assert make.see(task, kind="past-due") == []


def test_a_due_day_inside_an_absence_is_moved_before_it(make):
    (found,) = make.see(make.task("VAT return", "2026-03-25 12:00"), leave(make))
    assert (found.kind, found.certain) == ("due-in-absence", True)
    assert [item.artifact for item in found.evidence] == [1, 2]
    assert "from Mon 23 March 2026 to Fri 27 March 2026" in found.sentence
    assert found.action.parameters["due"] == "2026-03-20"
    assert found.deadline == make.at("2026-03-23 00:00")


@pytest.mark.parametrize(
    "title",
    [
        "Out of office: annual leave",
        "Vacation",
        "Holiday in Crete",
        "On leave",
        "Anna on leave",
        "Urlaub",
        "Resturlaub",
        "Urlaub Kreta",
        "Congés",
        "Vacances",
        "Vacaciones",
        "휴가",
        "Family holiday",
        "PTO",
        "Paternity leave",
        "Day off",
        "Summer holidays",
    ],
)
def test_own_absences_are_known_by_many_names(make, title):
    assert make.sure(make.task("VAT return", "2026-03-25 12:00"), leave(make, title, busy=False)) == [
        "due-in-absence"
    ]


@pytest.mark.parametrize(
    "title",
    [
        "Ben on leave",
        "Ben: vacation",
        "Urlaub Ben",
        "Carla's holiday",
        "Public holiday",
        "Bank holiday",
        "Feiertag",
        "Holiday party",
        "Vacation planning",
        "Urlaubsplanung",
        "Leave for the airport",
        "Holiday?",
        "Back from vacation",
        "Jour férié",
        "Schulferien",
        "School holidays",
        "Conference",
        "Team week",
        "Leave request deadline",
    ],
)
def test_other_peoples_and_other_days_are_no_absence(make, title):
    mail = make.mail("Hello.", sender=BEN, cc=[CARLA])
    assert make.see(make.task("VAT return", "2026-03-25 12:00"), leave(make, title), mail) == []


def test_an_absence_of_an_unknown_name_is_not_certain(make):
    (found,) = make.see(make.task("VAT return", "2026-03-25 12:00"), leave(make, "Priya vacation"))
    assert not found.certain


@pytest.mark.parametrize(
    ("change", "due"),
    [
        ({"cancelled": True}, "2026-03-25 12:00"),
        ({"status": "tentative"}, "2026-03-25 12:00"),
        ({"organizer": BEN, "attendees": {ANNA: "accepted"}}, "2026-03-25 12:00"),
        ({}, "2026-03-28 12:00"),
        ({}, "2026-03-30 12:00"),
        ({}, "2026-03-22 12:00"),
    ],
)
def test_due_days_around_an_absence_and_absences_that_are_none(make, change, due):
    assert make.see(make.task("VAT return", due), leave(make, **change)) == []


@pytest.mark.parametrize("due", ["2026-03-23 00:00", "2026-03-27 23:00"])
def test_the_first_and_the_last_day_belong_to_the_absence(make, due):
    assert make.sure(make.task("VAT return", due), leave(make)) == ["due-in-absence"]


def test_an_absence_with_times_covers_the_days_that_it_fills(make):
    away = leave(make, all_day=False, start="2026-03-23", end="2026-03-26")
    away = replace(away, time=make.at("2026-03-23 13:00"), end=make.at("2026-03-26 12:00"))
    assert make.see(make.task("VAT return", "2026-03-23 09:00"), away) == []
    assert make.sure(make.task("VAT return", "2026-03-24 09:00"), away) == ["due-in-absence"]
    assert make.see(make.task("VAT return", "2026-03-26 16:00"), away) == []


def test_during_the_absence_the_task_moves_behind_it(make):
    make.now = make.at("2026-03-24 10:00")
    (found,) = make.see(make.task("VAT return", "2026-03-25 12:00"), leave(make))
    assert found.action.parameters["due"] == "2026-03-30"


def test_where_nothing_but_a_weekend_is_left_the_task_moves_to_today(make):
    make.now = make.at("2026-03-21 10:00")
    (found,) = make.see(make.task("VAT return", "2026-03-25 12:00"), leave(make))
    assert found.action.parameters["due"] == "2026-03-21"


def test_a_task_already_settled_is_not_certain_in_an_absence(make):
    task = make.task("VAT return", "2026-03-25 12:00", text="Filed by the accountant.")
    assert make.sure(task, leave(make)) == []


@pytest.mark.parametrize(
    ("notes", "certain"),
    [
        ("WITH CARYS (said yes on Monday).", 0),
        ("With the forms of last year.", 1),
        ("Carys's list comes Tuesday.", 1),
    ],
)
def test_a_task_that_somebody_else_has_is_not_certain_in_an_absence(make, notes, certain):
    known = make.mail("See you there.", sender="carys@x.example", title="Lunch")
    known = replace(known, people=(replace(known.people[0], name="Carys Penhale"), *known.people[1:]))
    task = make.task("VAT return", "2026-03-25 12:00", text=notes)
    assert len(make.sure(task, leave(make), known)) == certain


def test_all_day_dates_belong_to_no_zone(make):
    make.profile = make.profile.model_copy(update={"timezone": "America/New_York"})
    away = replace(leave(make), time=datetime(2026, 3, 23, tzinfo=UTC), end=datetime(2026, 3, 28, tzinfo=UTC))
    sunday = replace(
        make.task("VAT return", "2026-03-22 12:00"), due=datetime(2026, 3, 22, tzinfo=UTC), all_day=True
    )
    assert make.see(sunday, away) == []
    monday = replace(sunday, due=datetime(2026, 3, 23, tzinfo=UTC))
    assert "is due on Mon 23 March 2026" in make.see(monday, away)[0].sentence
