from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def accepted(make, title="Client call", start="2026-03-20 10:30", end="2026-03-20 11:30", **more):
    more.setdefault("attendees", {ANNA: "accepted", CARLA: "accepted"})
    return make.event(title, start, end, organizer=CARLA, **more)


def organised(make, title="Budget round", start="2026-03-20 10:00", end="2026-03-20 11:00", **more):
    more.setdefault("attendees", {BEN: "accepted"})
    return make.event(title, start, end, organizer=ANNA, **more)


def test_two_commitments_at_the_same_time_are_a_clash(make):
    (found,) = make.see(organised(make), accepted(make))
    assert found.kind == "overlap"
    assert found.certain
    assert [item.artifact for item in found.evidence] == [1, 2]
    assert "overlap by 30 minutes" in found.sentence
    assert "Fri 20 March 2026, 10:00-11:00, which you organise" in found.sentence
    assert found.deadline == make.at("2026-03-20 10:30")


def test_the_meeting_that_the_person_called_is_moved_to_the_next_free_slot(make):
    mine = organised(make)
    board = make.event(
        "Board", "2026-03-20 11:30", "2026-03-20 16:45", organizer=ANNA, attendees={DAN: "accepted"}
    )
    found = make.see(mine, accepted(make), board)[0]
    assert found.action.function_name == "reschedule_meeting"
    assert found.action.parameters["event"] == mine.label
    assert found.action.parameters["new_start"] == "2026-03-23T09:00"


def test_of_two_invitations_the_smaller_is_declined(make):
    small = accepted(make)
    large = accepted(make, "All hands", attendees={ANNA: "accepted", BEN: "accepted", DAN: "accepted"})
    (found,) = make.see(small, large)
    assert found.action.function_name == "respond_to_invitation"
    assert found.action.parameters["event"] == "a1"


def test_an_own_appointment_counts_as_a_commitment(make):
    assert make.sure(make.event("Dentist", "2026-03-20 10:00"), accepted(make)) == ["overlap"]


def test_an_own_appointment_outside_working_hours_keeps_its_time_of_day(make):
    choir = make.event("Choir", "2026-03-20 19:00", "2026-03-20 21:00")
    call = make.event("Parents' evening", "2026-03-20 20:00", "2026-03-20 21:00")
    (found,) = make.see(choir, call)
    assert found.action.parameters["new_start"].endswith(("T19:00", "T20:00"))


@pytest.mark.parametrize(
    "change",
    [
        {"cancelled": True},
        {"status": "cancelled"},
        {"all_day": True},
        {"busy": False},
        {"status": "tentative"},
        {"attendees": {ANNA: "tentative"}},
        {"attendees": {ANNA: "declined"}},
        {"attendees": {ANNA: "needs-action"}},
        {"attendees": {BEN: "accepted"}},
        {"start": "2026-03-20 11:00", "end": "2026-03-20 12:00"},
        {"start": "2026-03-17 10:30", "end": "2026-03-17 11:30"},
        {"start": "2026-03-20 10:30", "end": "2026-03-20 10:30"},
        {"start": "2026-03-19 09:00", "end": "2026-03-21 18:00"},
    ],
    ids=lambda change: "-".join(f"{key}={value}" for key, value in change.items()),
)
def test_what_takes_no_time_or_binds_nobody_is_no_clash(make, change):
    assert make.see(organised(make), accepted(make, **change)) == []


def test_one_meeting_in_two_calendars_is_no_clash(make):
    call = accepted(make, series="uid-1")
    assert make.see(call, replace(call, source="other", id=2)) == []
    assert make.see(call, replace(call, source="other", id=2, series="", key="new")) == []


def test_an_older_version_of_an_invitation_is_no_clash(make):
    assert make.see(accepted(make), accepted(make, start="2026-03-20 11:00", end="2026-03-20 12:00")) == []


def test_two_meetings_of_one_name_with_different_people_are_a_clash(make):
    one = organised(make, "Interview", attendees={BEN: "accepted"})
    two = make.event("Interview", "2026-03-20 10:30", organizer=ANNA, attendees={CARLA: "accepted"})
    # The organiser of both is no attendee of either.
    assert make.sure(one, two) == ["overlap"]


@pytest.mark.parametrize(
    "title", ["Travel to Carla", "Focus time", "Lunch", "Prep client call", "Anfahrt", "Hold"]
)
def test_a_note_that_gives_way_is_no_clash(make, title):
    assert make.see(make.event(title, "2026-03-20 10:00", "2026-03-20 11:00"), accepted(make)) == []


@pytest.mark.parametrize("title", ["Trip to Lisbon", "Spring conference", "Client visit", "Working from home"])
def test_the_surroundings_of_a_meeting_are_no_clash(make, title):
    assert make.see(make.event(title, "2026-03-20 08:00", "2026-03-20 18:00"), accepted(make)) == []


def test_a_note_of_the_same_meeting_is_no_clash(make):
    note = make.event("Call with Ruiz", "2026-03-20 10:30", "2026-03-20 11:30")
    assert make.see(note, accepted(make, "Ruiz: offer")) == []


def test_a_flight_is_a_clash_with_a_meeting_that_it_holds(make):
    flight = make.event("Flight LH 1166 to Lisbon", "2026-03-20 09:40", "2026-03-20 14:10")
    assert make.sure(flight, accepted(make)) == ["overlap"]


def test_a_long_entry_of_the_person_is_told_but_not_as_certain(make):
    (found,) = make.see(make.event("Archive", "2026-03-20 08:00", "2026-03-20 17:00"), accepted(make))
    assert not found.certain


def test_a_few_minutes_are_told_but_not_as_certain(make):
    late = accepted(make, start="2026-03-20 10:55", end="2026-03-20 11:30")
    (found,) = make.see(organised(make), late)
    assert not found.certain


def test_a_clash_that_a_mail_deals_with_is_not_certain(make):
    mail = make.mail(
        "Carla, can we move our client call to the afternoon?", sender=ANNA, to=[CARLA], title="Friday"
    )
    assert make.sure(organised(make), accepted(make), mail) == []


def test_a_mail_that_tells_of_the_day_on_which_the_event_stands_deals_with_nothing(make):
    mail = make.mail("The client call has moved to Friday 20 March.", sender=CARLA, title="New day")
    assert make.sure(organised(make), accepted(make), mail) == ["overlap"]


def test_two_series_clash_once_and_the_next_time_is_told(make):
    days = ["2026-03-13", "2026-03-20", "2026-03-27", "2026-04-03"]
    one = [organised(make, start=f"{day} 10:00", end=f"{day} 11:00", series="one", recurrence="x") for day in days]
    two = [accepted(make, start=f"{day} 10:30", end=f"{day} 11:30", series="two", recurrence="x") for day in days]
    (found,) = make.see(*two, *one, kind="overlap")
    assert found.deadline == make.at("2026-03-20 10:30")


def test_an_event_under_way_clashes_with_one_that_is_still_to_begin(make):
    running = organised(make, start="2026-03-18 09:30", end="2026-03-18 11:00")
    coming = accepted(make, start="2026-03-18 10:30", end="2026-03-18 11:30")
    (found,) = make.see(running, coming)
    assert found.action.parameters["event"] == "a2"
    assert make.see(running, accepted(make, start="2026-03-18 09:45", end="2026-03-18 11:30")) == []


def test_times_of_different_zones_are_compared_as_moments(make):
    new_york = ZoneInfo("America/New_York")
    there = make.event(
        "Client call",
        "2026-03-20 05:30",
        "2026-03-20 06:30",
        zone=new_york,
        organizer=CARLA,
        attendees={ANNA: "accepted"},
    )
    assert make.sure(organised(make), there) == ["overlap"]
    assert "10:30-11:30" in make.see(organised(make), there)[0].sentence
    same_wall_clock = replace(
        there, time=make.at("2026-03-20 10:30", new_york), end=make.at("2026-03-20 11:30", new_york)
    )
    assert make.see(organised(make), same_wall_clock) == []


def test_the_night_of_the_clock_change_has_an_hour_less(make):
    # On 29 March 2026 Berlin goes from 2 to 3 o'clock: 1:30-3:30 lasts one hour and meets 3:00-4:00.
    watch = make.event("Night watch", "2026-03-29 01:30", "2026-03-29 03:30")
    server = make.event(
        "Server change", "2026-03-29 03:00", "2026-03-29 04:00", organizer=BEN, attendees={ANNA: "accepted"}
    )
    (found,) = make.see(watch, server)
    assert "overlap by 30 minutes" in found.sentence


def test_no_meeting_is_moved_into_a_day_off(make):
    day = make.event("Holiday", "2026-03-23 00:00", "2026-03-24 00:00", zone=ZoneInfo("UTC"), all_day=True)
    late = organised(make, start="2026-03-20 16:00", end="2026-03-20 17:00")
    call = accepted(make, start="2026-03-20 16:30", end="2026-03-20 17:30")
    (found,) = make.see(day, late, call)
    assert found.action.parameters["new_start"] == "2026-03-24T09:00"
