import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def invitation(make, start="2026-03-19 14:00", status="needs-action", organizer=BEN, **more):
    more.setdefault("attendees", {ANNA: status})
    return make.event("Acceptance test", start, organizer=organizer, **more)


def test_an_invitation_for_tomorrow_without_an_answer_is_told(make):
    (found,) = make.see(invitation(make))
    assert (found.kind, found.certain) == ("invitation-unanswered", True)
    assert "Ben Okafor" in found.sentence
    assert "Thu 19 March 2026 at 14:00" in found.sentence
    assert found.action.parameters["response"] == "accepted"


def test_it_is_tentative_where_another_commitment_stands_against_it(make):
    other = make.event("Dentist", "2026-03-19 14:30")
    (found,) = make.see(invitation(make), other)
    assert found.action.parameters["response"] == "tentative"


def test_on_friday_the_next_working_day_is_monday(make):
    make.now = make.at("2026-03-20 10:00")
    assert make.sure(invitation(make, "2026-03-23 16:00")) == ["invitation-unanswered"]
    assert make.see(invitation(make, "2026-03-24 09:00")) == []


@pytest.mark.parametrize(
    "change",
    [
        {"status": "accepted"},
        {"status": "declined"},
        {"status": "tentative"},
        {"cancelled": True},
        {"start": "2026-03-18 09:00"},
        {"start": "2026-03-27 09:00"},
        {"organizer": ANNA},
        {"busy": False},
        {"attendees": {ANNA: "needs-action", CARLA: "declined", DAN: "declined"}},
        {"attendees": {DAN: "needs-action"}},
    ],
    ids=str,
)
def test_answered_past_far_and_dead_invitations_are_left_alone(make, change):
    assert make.see(invitation(make, **change), kind="invitation-unanswered") == []


def test_an_answer_in_another_calendar_counts(make):
    copy = invitation(make, status="accepted", series="uid", source="work")
    assert make.see(invitation(make, series="uid"), copy) == []


def test_an_answer_by_mail_counts(make):
    mail = make.mail(
        "I'll be there.", "2026-03-16 09:00", sender=ANNA, to=[BEN], title="Re: Acceptance test Thursday"
    )
    assert make.see(invitation(make), mail) == []


def test_an_entry_from_somebody_unknown_is_not_certain(make):
    (found,) = make.see(invitation(make, organizer="win@prizes.example"))
    assert not found.certain


def test_an_all_day_entry_is_not_certain(make):
    day = invitation(make, "2026-03-19 00:00", all_day=True)
    assert make.sure(day) == []
