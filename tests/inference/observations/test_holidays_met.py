"""What stands on a public holiday or at a weekend, and what others owe by a day that is over."""

from datetime import datetime

import pytest

from inference.observations import observe
from workspace import Person, Role

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
# Good Friday 2026.
HOLIDAY = "2026-04-03"


def met(make, *artifacts):
    return make.see(*artifacts, kind="on-a-holiday")


def meeting(make, title="Budget round", start=f"{HOLIDAY} 10:00", **more):
    more.setdefault("attendees", {ANNA: "accepted", BEN: "accepted"})
    return make.event(title, start, organizer=BEN, **more)


def test_meetings_on_a_holiday_are_told_once(make):
    (found,) = met(make, meeting(make), meeting(make, "Hiring", f"{HOLIDAY} 14:00"))
    assert not found.certain
    assert '"Budget round", "Hiring" on Fri 3 April 2026: that is Good Friday' in found.sentence
    assert "in most of Germany" in found.sentence
    assert found.action.parameters["due"] == "2026-04-02"


@pytest.mark.parametrize(
    "change",
    [
        {"start": "2026-04-02 10:00"},
        {"start": f"{HOLIDAY} 20:00"},
        {"start": "2026-12-25 10:00"},
        {"text": "On Good Friday it is quiet, so we have the room."},
        {"title": "Holiday shift"},
        {"attendees": {ANNA: "declined", BEN: "accepted"}},
        {"all_day": True},
        {"cancelled": True},
    ],
)
def test_meetings_that_are_not_or_knowingly_on_a_holiday(make, change):
    assert met(make, meeting(make, **change)) == []


def test_an_entry_of_ones_own_may_stand_on_a_holiday(make):
    assert met(make, make.event("Paint the fence", f"{HOLIDAY} 10:00")) == []


def test_a_mail_that_knows_of_it_settles_it(make):
    mail = make.mail("Budget round on the public holiday, are we mad?", title="Budget round")
    assert met(make, meeting(make), mail) == []


def test_it_is_no_holiday_in_another_country(make):
    profile = make.profile.model_copy(update={"timezone": "Europe/Paris"})
    assert [one for one in observe([meeting(make)], profile, make.now) if one.kind == "on-a-holiday"] == []


def test_a_task_that_needs_an_office_is_due_on_a_holiday(make):
    (found,) = met(make, make.task("Call the bank about the loan", f"{HOLIDAY} 12:00"))
    assert found.template == "due-during-absence"
    assert found.action.parameters["due"] == "2026-04-02"


def test_a_task_for_a_weekend_whose_notes_tell_the_hours(make):
    task = make.task("Passport", "2026-03-21 12:00", text="The counter is open Monday to Friday, 9 to 12.")
    (found,) = met(make, task)
    assert "due on Sat 21 March 2026, at a weekend" in found.sentence
    assert found.evidence[0].quote == "The counter is open Monday to Friday, 9 to 12."


@pytest.mark.parametrize(
    ("title", "due", "text"),
    [
        ("Read the report", f"{HOLIDAY} 12:00", ""),
        ("Call the bank about the loan", "2026-04-02 12:00", ""),
        ("Call the bank about the loan", "2026-03-21 12:00", ""),
        ("Call the bank about the loan", f"{HOLIDAY} 12:00", "They are open on the holiday."),
        ("Passport", "2026-03-20 12:00", "The counter is open Monday to Friday."),
    ],
)
def test_a_task_that_can_be_done_on_its_day(make, title, due, text):
    assert met(make, make.task(title, due, text=text)) == []


def given(make, to=BEN, due="2026-03-13 12:00", **more):
    return make.task("Send the offer", due, people=(Person(Role.ATTENDEE, "", to),), **more)


def overdue(make, *artifacts):
    return make.see(*artifacts, kind="overdue-from-others")


def test_a_task_given_to_somebody_else_is_overdue(make):
    (found,) = overdue(make, given(make))
    assert found.certain
    assert found.template == "delivery-silently-late"
    assert "given to Ben Okafor, was due on Fri 13 March 2026" in found.sentence


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"due": "2026-03-20 12:00"},
        {"to": ANNA},
        {"due": "2025-03-13 12:00"},
        {"cancelled": True},
    ],
)
def test_a_task_that_nobody_else_owes(make, change):
    assert overdue(make, given(make, **change)) == []


def test_a_task_that_may_be_done_is_uncertain(make):
    assert not overdue(make, given(make, text="Done, says Ben."))[0].certain
    mail = make.mail("Here is the offer.", "2026-03-12 09:00", title="Offer")
    assert not overdue(make, given(make), mail)[0].certain


def question(make, text="Could you send me the figures by Tuesday 17 March?", **more):
    return make.mail(text, "2026-03-16 09:00", sender=ANNA, to=(BEN,), title="Figures", **more)


def test_a_question_by_a_day_that_is_over(make):
    (found,) = overdue(make, question(make))
    assert not found.certain
    assert "by Tue 17 March 2026, which is over" in found.sentence
    assert found.action.function_name == "reply_email"


@pytest.mark.parametrize(
    "text",
    [
        "Could you send me the figures by Wednesday 18 March?",
        "Could you send me the figures?",
        "I send you the figures by Tuesday 17 March.",
        "Could you send me the figures by Tuesday 17 March? No need to reply.",
    ],
)
def test_a_question_whose_day_is_not_over(make, text):
    assert overdue(make, question(make, text)) == []


def test_a_question_after_which_there_was_contact(make):
    answer = make.mail("Something else.", "2026-03-17 11:00", title="Hello")
    call = make.event("Call", "2026-03-17 15:00", organizer=ANNA, attendees={BEN: "accepted"})
    assert overdue(make, question(make), answer) == []
    assert overdue(make, question(make), call) == []


def test_what_waits_long_enough_is_told_as_waiting(make):
    make.now = datetime(2026, 3, 25, 10, tzinfo=make.now.tzinfo)
    assert overdue(make, question(make)) == []
    assert make.see(question(make), kind="waits-for-others")
