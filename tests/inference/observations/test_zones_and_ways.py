"""Hours of another zone that do not fit the calendar, and ways that take longer than the time between."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from inference.observations.travel import travel_time
from inference.observations.zones import zoned_hours

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
LONDON = ZoneInfo("Europe/London")


def call(make, text="", start="2026-03-24 10:00", title="Terms with Carla", **more):
    more.setdefault("organizer", CARLA)
    return make.event(title, start, attendees={ANNA: "accepted"}, text=text, **more)


def zoned(make, *artifacts):
    return make.see(*artifacts, kind="zone-disagrees")


@pytest.mark.parametrize(
    "text",
    [
        "10:00 London time",
        "We start at 10 am GMT.",
        "10:00-11:00 London time, by video",
        "Um 10 Uhr Londoner Zeit.",
        "à 10 h heure de Londres",
        "10:00 Europe time is no zone, 10:00 UTC is",
    ],
)
def test_an_hour_that_was_entered_as_if_it_were_of_here(make, text):
    (found,) = zoned(make, call(make, text))
    assert found.certain
    assert found.template == "time-zone-misread"
    assert "stands on Tue 24 March 2026 at 10:00" in found.sentence
    assert "which is Tue 24 March 2026 at 11:00 here" in found.sentence


@pytest.mark.parametrize(
    "text",
    [
        "9:00 London time",
        "10:00 CET",
        "10:00 CET / 9:00 London",
        "09:00 GMT",
        "10:00 Berlin / 9:00 London",
        "8:00 UTC is 9:00 London, so 10:00 CET",
        "Lunch at 12, London Road 3",
        "10:00 London Road",
        "Ends by 10:00 London time",
        "10:00 UTC+1",
        "10:30 CET: demo",
        "Doors open at 10:00",
    ],
)
def test_an_hour_that_agrees_or_is_none_of_the_start(make, text):
    assert zoned(make, call(make, text)) == []


def test_summer_time_is_often_written_as_that_of_winter(make):
    assert zoned(make, call(make, "10:00 CET", "2026-05-05 10:00")) == []
    assert zoned(make, call(make, "10:00 CEST", "2026-05-05 10:00")) == []


def test_the_clocks_change_on_another_day_over_there(make):
    # From 8 to 28 March 2026 New York is five hours behind Berlin, not six.
    assert zoned(make, call(make, "10:00 EDT", "2026-03-24 15:00")) == []
    (found,) = zoned(make, call(make, "10:00 New York time", "2026-03-24 16:00"))
    assert not found.certain
    assert "at 15:00 here" in found.sentence


@pytest.mark.parametrize(
    "change",
    [{"cancelled": True}, {"all_day": True}, {"start": "2026-03-17 10:00"}, {"start": "2026-07-17 10:00"}],
)
def test_no_event_to_come(make, change):
    assert zoned(make, call(make, "10:00 London time", **change)) == []


def test_a_mail_agreed_on_the_hour_of_another_place(make):
    event = call(make, title="Terms of delivery")
    mail = make.mail("Tuesday 24 March at 10:00 London time it is.", sender=CARLA, title="Terms of delivery")
    (found,) = zoned(make, event, mail)
    assert not found.certain
    assert [one.artifact for one in found.evidence] == [1, 2]
    for other in ("How about Tuesday 24 March at 10:00 London time?", "Wednesday 25 March, 10:00 London time"):
        assert zoned(make, event, make.mail(other, sender=CARLA, title="Terms of delivery")) == []


def test_the_own_entry_is_put_to_the_hour_that_is_said(make):
    (found,) = zoned(make, make.event("Call the bank, 10:00 London time", "2026-03-24 10:00"))
    assert found.action.parameters["new_start"] == "2026-03-24T11:00"


def test_hours_are_read_with_their_zones():
    found = [
        (str(one.hour), one.zone) for one in zoned_hours("3 pm EST, 15:00 to 16:00 Tokyo time; 3 PT; 21 Paris")
    ]
    assert found == [("15:00:00", "America/New_York"), ("15:00:00", "Asia/Tokyo")]


@pytest.mark.parametrize(
    ("sentence", "minutes"),
    [
        ("The train takes 2 h.", 120),
        ("It is a 45 min drive from the office.", 45),
        ("Allow an hour and a half by train.", 90),
        ("Half an hour on foot.", 30),
        ("Fahrtzeit 1 Stunde ab Büro.", 60),
        ("Mit dem Zug 1 Std. 20 Min. ab Hafen", 80),
        ("Comptez 1 h 20 de trajet.", 80),
        ("El tren tarda una hora.", 60),
        ("차로 1시간 30분 걸립니다.", 90),
        ("The talk lasts 2 hours.", None),
        ("The train leaves in 2 hours.", None),
        ("If there is traffic the drive takes 2 hours.", None),
        ("Is it a 2 hour drive?", None),
        ("The train was 2 hours late.", None),
        ("45 minutes by car or 2 hours by bus", None),
    ],
)
def test_how_long_a_way_takes(sentence, minutes):
    assert travel_time(sentence) == (None if minutes is None else timedelta(minutes=minutes))


def office(make, **more):
    values = {"organizer": ANNA, "attendees": {BEN: "accepted"}, "location": "Office", **more}
    return make.event("Budget round", "2026-03-24 10:00", "2026-03-24 11:00", **values)


def harbour(make, text="45 minutes by car from the office.", start="2026-03-24 11:15", **more):
    values = {"organizer": CARLA, "attendees": {ANNA: "accepted"}, "location": "Harbour, gate 3", **more}
    return make.event("Site visit", start, text=text, **values)


def apart(make, *artifacts):
    return make.see(*artifacts, kind="too-far-apart")


def test_the_way_takes_longer_than_the_time_between(make):
    (found,) = apart(make, office(make), harbour(make))
    assert found.certain
    assert found.template == "no-time-to-get-there"
    assert "15 minutes later. The way is said to take 45 minutes" in found.sentence
    assert found.action.function_name == "reschedule_meeting"
    # Not to before the visit without time to get there, either.
    assert found.action.parameters["new_start"] == "2026-03-24T13:00"


def test_a_mail_or_a_document_tells_of_the_way(make):
    mail = make.mail("The site visit is at the harbour, 45 minutes by car from your office.", title="Site visit")
    (found,) = apart(make, office(make), harbour(make, ""), mail)
    assert not found.certain
    plan = make.document(
        "Site visit.txt", "Site visit at the harbour: the drive from the office takes 45 minutes."
    )
    assert apart(make, office(make), harbour(make, ""), plan)


@pytest.mark.parametrize(
    "change",
    [
        {"start": "2026-03-24 11:45"},
        {"start": "2026-03-24 18:00"},
        {"text": "10 minutes on foot from the office."},
        {"text": "The visit takes 45 minutes."},
        {"text": ""},
        {"location": "Office, second floor"},
        {"location": "Zoom"},
        {"location": ""},
        {"cancelled": True},
        {"attendees": {ANNA: "declined"}},
    ],
)
def test_there_is_time_enough_or_no_way(make, change):
    assert apart(make, office(make), harbour(make, **change)) == []


def test_a_first_meeting_by_video_needs_no_way(make):
    assert apart(make, office(make, location="https://video.example/1"), harbour(make)) == []


def test_somebody_who_moves_it_has_noticed(make):
    mail = make.mail("Can we move the site visit?", "2026-03-17 09:00", sender=CARLA, title="Site visit")
    (found,) = apart(make, office(make), harbour(make), mail)
    assert not found.certain


def test_a_way_from_elsewhere_is_uncertain(make):
    (found,) = apart(make, office(make), harbour(make, "45 minutes by car from the airport."))
    assert not found.certain
