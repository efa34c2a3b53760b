from zoneinfo import ZoneInfo

import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
ALL_DECLINED = {BEN: "declined", DAN: "declined"}


def meeting(make, attendees=None, organizer=ANNA, start="2026-03-24 14:00", **more):
    attendees = ALL_DECLINED if attendees is None else attendees
    return make.event("Label review", start, organizer=organizer, attendees=attendees, **more)


def test_a_meeting_that_all_others_declined_is_called_off(make):
    (found,) = make.see(meeting(make))
    assert (found.kind, found.certain) == ("everyone-declined", True)
    assert "Ben Okafor, Dan Novak" in found.sentence
    assert found.action.function_name == "cancel_meeting"


def test_somebody_invited_declines_where_the_host_has_declined_too(make):
    found = make.see(meeting(make, {**ALL_DECLINED, ANNA: "accepted"}, organizer=BEN))[0]
    assert found.certain
    assert found.action.function_name == "respond_to_invitation"
    assert found.action.parameters["response"] == "declined"


def test_a_host_who_is_not_listed_may_come(make):
    (found,) = make.see(meeting(make, {**ALL_DECLINED, ANNA: "accepted"}, organizer=CARLA))
    assert not found.certain


@pytest.mark.parametrize(
    "attendees",
    [
        {BEN: "declined", DAN: "accepted"},
        {BEN: "declined", DAN: "tentative"},
        {BEN: "declined", DAN: "needs-action"},
        {},
        {ANNA: "accepted"},
        {"room-2@firm.example": "declined"},
        {**ALL_DECLINED, ANNA: "declined"},
        {**ALL_DECLINED, ANNA: "tentative"},
    ],
    ids=str,
)
def test_an_audience_or_none_expected_is_no_observation(make, attendees):
    assert make.see(meeting(make, attendees)) == []


def test_a_room_that_accepted_is_no_audience(make):
    rooms = {"room-2@firm.example": "accepted", "c_18@resource.calendar.google.com": "accepted"}
    assert make.sure(meeting(make, {**ALL_DECLINED, **rooms})) == ["everyone-declined"]


@pytest.mark.parametrize(
    "change",
    [{"cancelled": True}, {"start": "2026-03-17 14:00"}, {"start": "2026-04-20 14:00"}, {"status": "cancelled"}],
    ids=str,
)
def test_cancelled_past_and_far_meetings_are_left_alone(make, change):
    assert make.see(meeting(make, **change)) == []


def test_a_meeting_that_was_set_anew_is_left_alone(make):
    anew = meeting(make, {BEN: "accepted", DAN: "needs-action"}, start="2026-03-26 14:00")
    assert make.see(meeting(make), anew) == []


def test_a_mail_that_calls_it_off_makes_it_uncertain(make):
    mail = make.mail("I cancel the label review on Tuesday.", sender=ANNA, to=[BEN, DAN], title="Tuesday")
    assert make.sure(meeting(make), mail) == []


def test_mails_of_those_who_declined_change_nothing(make):
    mail = make.mail("I can't make the label review.", sender=BEN, title="Declined: Label review")
    assert make.sure(meeting(make), mail) == ["everyone-declined"]


def test_a_series_is_told_once(make):
    weeks = [meeting(make, start=f"{day} 14:00", series="s") for day in ("2026-03-24", "2026-03-31")]
    (found,) = make.see(*weeks)
    assert found.evidence[0].artifact == 1


def test_an_all_day_meeting_is_told_with_its_day(make):
    make.profile = make.profile.model_copy(update={"timezone": "America/New_York"})
    day = meeting(make, start="2026-03-24 00:00", zone=ZoneInfo("UTC"), all_day=True)
    (found,) = make.see(day)
    assert "on Tue 24 March 2026, which" in found.sentence
