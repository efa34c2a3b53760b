"""An event is one, in however many calendars it stands and however many mails invite to it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from inference.index import VectorIndex
from inference.links import ATTACHED, SAME_SERIES, Links
from inference.observations import observe
from inference.occurrences import Occurrences
from inference.reading import read_artifacts
from tests.inference.scripted import Scripted
from tests.inference.small_world import NOW, PROFILE, event, mail, note, open_store
from workspace import Artifact, Batch, Kind, Person, Put, Relationship, Role, Trust, WorldModel

NORA, JONAS = "nora@harbour.example", "jonas@north.example"
KNOWING = PROFILE.model_copy(
    update={"world_model": WorldModel(relationships=(Relationship(name="Jonas Feld", email=JONAS),))}
)
WEEK = timedelta(days=7)
RULE = "FREQ=WEEKLY"


def people(status):
    return (
        Person(Role.ORGANIZER, "Jonas Feld", JONAS),
        Person(Role.ATTENDEE, "Nora Keane", NORA, status),
        Person(Role.ATTENDEE, "Eva Lind", "eva@north.example", "accepted"),
    )


def entry(uid="tender@north", *, status="needs-action", source="calendar", title="Tender talk", **other):
    """A single event, tomorrow at eight, in a calendar."""
    made = event(uid, title, days=1, people=people(status), trust=Trust.KNOWN)
    return replace(made, source=source, **other)


def invitation(number, *, sent=-3, uid="tender@north", title="Tender talk", trust=Trust.KNOWN, **other):
    """A mail that came `sent` days after now, and the event that it tells of."""
    letter = mail(f"m{number}@north", f"Invitation {number}", f"Invitation: {title}", days=sent, trust=trust)
    made = event(f"m{number}@north#2", title, days=1, people=people("needs-action"), trust=trust)
    return letter, replace(made, series=uid, parent=letter.key, thread=letter.key, **other)


def numbered(*artifacts):
    return [replace(artifact, id=number) for number, artifact in enumerate(artifacts, start=1)]


def seen(*artifacts, kind=""):
    """The observations of a world, each with the ids that it rests on."""
    found = observe(numbered(*artifacts), KNOWING, NOW)
    return [(one.kind, sorted(item.artifact for item in one.evidence)) for one in found if kind in ("", one.kind)]


def unanswered(*artifacts):
    """Which of the artifacts, from 1, are told to be unanswered invitations."""
    return [row for _, rows in seen(*artifacts, kind="invitation-unanswered") for row in rows]


def overlapping(*artifacts):
    return seen(*artifacts, kind="overlap")


def test_an_invitation_that_no_calendar_holds_is_an_event():
    assert unanswered(*invitation(1)) == [2]


def test_the_calendar_speaks_for_an_invitation_that_it_holds():
    assert unanswered(*invitation(1), entry()) == [3]
    assert unanswered(*invitation(1), entry(status="accepted")) == []


def test_the_calendar_speaks_for_the_invitation_to_a_series():
    occurrences = [entry(key=f"tender@north|{n}", series="tender@north", recurrence=RULE) for n in (1, 2)]
    occurrences[1] = replace(occurrences[1], time=NOW + WEEK, end=NOW + WEEK + timedelta(hours=1))
    assert unanswered(*invitation(1, recurrence=RULE), *occurrences) == [3]


def test_an_event_does_not_clash_with_its_own_invitation_or_its_copy():
    letter, invited = invitation(1)
    accepted = replace(invited, people=people("accepted"))
    other = replace(entry(source="team", status="accepted"), people=people("accepted")[:2])
    assert overlapping(letter, accepted, entry(status="accepted"), other) == []
    clash = replace(entry("lunch@north", title="Lunch with the printer", status="accepted"))
    assert overlapping(letter, accepted, entry(status="accepted"), other, clash) == [("overlap", [3, 5])]


def test_of_several_invitations_the_last_that_was_sent_speaks():
    moved = {"time": NOW + timedelta(days=20), "end": NOW + timedelta(days=20, hours=1)}
    assert unanswered(*invitation(1, sent=-5), *invitation(2, sent=-4)) == [4]
    assert unanswered(*invitation(1, sent=-3), *invitation(2, sent=-4)) == [2]
    assert unanswered(*invitation(1, sent=-5), *invitation(2, sent=-4, **moved)) == []


def test_what_was_called_off_later_is_off_and_may_be_called_again():
    called_off = invitation(2, sent=-2, cancelled=True)
    assert unanswered(*invitation(1, sent=-3), *called_off) == []
    assert unanswered(*called_off, *invitation(3, sent=-1)) == [4]


def test_a_stranger_who_has_learnt_of_an_event_does_not_call_it_off():
    forged = invitation(2, sent=-2, cancelled=True, trust=Trust.UNKNOWN)
    assert unanswered(*invitation(1, sent=-3), *forged) == [2]


def test_a_series_known_from_mail_alone_is_the_one_occurrence_described():
    first = invitation(1, sent=-5, recurrence=RULE)
    assert unanswered(*first) == [2]
    week = {"time": NOW + timedelta(days=8), "end": NOW + timedelta(days=8, hours=1)}
    assert unanswered(*first, *invitation(2, sent=-4, cancelled=True, **week)) == [2]
    assert unanswered(*first, *invitation(2, sent=-4, cancelled=True)) == []


def test_an_event_of_a_mail_that_names_nobody_binds_nobody():
    letter, offered = invitation(1, uid="webinar@x", title="Webinar on roofs", people=())
    meeting = entry(status="accepted")
    assert overlapping(letter, offered, meeting) == []
    assert overlapping(replace(offered, parent="", series=""), meeting) == [("overlap", [1, 2])]


def test_an_event_in_two_calendars_counts_once_and_the_one_that_names_the_person_speaks():
    bare = replace(entry(source="team"), people=people("accepted")[2:])
    assert unanswered(bare, entry()) == [2]
    assert unanswered(entry(), bare) == [1]
    assert unanswered(entry(), entry(source="team")) == [1]


def test_events_of_programs_that_number_from_one_stay_apart():
    other = entry("1", source="team", title="Quay walk", time=NOW + timedelta(hours=30))
    assert unanswered(entry("1"), other) == [1, 2]


@pytest.fixture
def store(tmp_path):
    """Two sources, mail and calendar, to be filled by `put`."""
    with open_store(tmp_path / "tide.sqlite") as opened:
        opened.artifacts.add_source("calendar", "calendar", "/calendar.ics", NOW)
        opened.artifacts.add_source("team", "calendar", "/team.ics", NOW)
        yield opened


def put(store, *artifacts):
    for artifact in artifacts:
        store.artifacts.take(artifact.source, Batch((Put(artifact),), {}))
    ids = {(artifact.source, artifact.key): artifact.id for artifact in store.artifacts.all()}
    return [ids[artifact.source, artifact.key] for artifact in artifacts]


def kin(store, artifact):
    return store.ties.kin(artifact, NOW, 40)


def test_mail_invitation_and_single_entry_are_kin_in_both_directions(store):
    letter, invited, single, copy, alone = put(
        store, *invitation(1), entry(), entry(source="team"), entry("other")
    )
    assert set(kin(store, invited).series) == {single, copy}
    assert set(kin(store, single).series) == {invited, copy}
    assert kin(store, invited).parents == (letter,)
    assert kin(store, letter).attachments == (invited,)
    assert kin(store, single).invited == (letter,)
    assert set(kin(store, letter).invited) == {single, copy}
    assert kin(store, invited).invited == ()
    assert kin(store, alone) == replace(kin(store, alone), series=(), invited=())
    assert store.ties.occurrences(single) == store.ties.occurrences(invited) == (invited, single, copy)
    assert store.ties.occurrences(alone) == ()
    assert store.ties.series([invited, single, copy]) == {}


def test_an_invitation_is_kin_of_a_series_and_counts_as_none_of_its_occurrences(store):
    both = [
        entry(key=f"tender@north|{n}", series="tender@north", recurrence=RULE, time=NOW + n * WEEK) for n in (1, 2)
    ]
    letter, invited, again, first, second = put(store, *invitation(1, recurrence=RULE), invitation(2)[1], *both)
    assert set(kin(store, invited).series) == {again, first, second}
    assert set(kin(store, first).series) == {invited, again, second}
    assert kin(store, first).invited == kin(store, second).invited == (letter,)
    assert set(kin(store, letter).invited) == {first, second}
    assert store.ties.series([first])[first].count == 2
    assert store.ties.series([invited, again]) == {}


def test_a_mail_whose_key_is_a_uid_is_no_kin_of_the_event(store):
    letter = mail("tender@north", "words")
    _, single = put(store, letter, entry())
    assert kin(store, single).series == kin(store, single).invited == ()


def test_links_lead_from_the_mail_to_the_entry_and_back(store):
    letter, invited, single = put(store, *invitation(1), entry())
    store.readings.put_vectors([])
    links = Links(store, NoVectors(), NOW)
    assert links.of([single])[single] == {letter: ATTACHED, invited: SAME_SERIES}
    assert links.of([letter])[letter][single] == ATTACHED


class NoVectors(VectorIndex):
    """An index that holds nothing."""

    def __init__(self):
        pass

    def vectors_of(self, artifacts):
        return {}


def shown_for(store, *ids):
    occurrences = Occurrences(store, PROFILE, NOW)
    return [occurrences.stands_for(artifact) for artifact in store.artifacts.get(ids).values()]


def test_an_entry_is_shown_for_the_invitation_that_says_the_same(store):
    _, invited, _, moved, _, called_off, single = put(
        store,
        *invitation(1),
        *invitation(2, time=NOW + WEEK),
        *invitation(3, cancelled=True),
        entry(status="accepted"),
    )
    assert shown_for(store, invited, moved, called_off, single) == [single, moved, called_off, single]


def test_of_invitations_alike_that_no_calendar_holds_one_is_shown(store):
    _, first, _, second, _, moved = put(store, *invitation(1), *invitation(2), *invitation(3, time=NOW + WEEK))
    assert shown_for(store, first, second, moved) == [first, first, moved]


def test_the_next_occurrence_is_shown_for_the_invitation_to_its_series(store):
    both = [
        entry(key=f"tender@north|{n}", series="tender@north", recurrence=RULE, time=NOW + n * WEEK) for n in (1, 2)
    ]
    _, invited, other, first, _ = put(
        store, *invitation(1, recurrence=RULE), invitation(2, recurrence="FREQ=MONTHLY")[1], *both
    )
    assert shown_for(store, invited, other) == [first, other]


def test_the_text_of_an_invitation_is_read_once(store):
    said = {"text": "Please bring the drawings of the quay."}
    put(store, *invitation(1, **said), *invitation(2, **said), entry(**said), *invitation(3, text="The agenda."))
    model = Scripted(lambda request: note("A card.").model_dump())
    read_artifacts(store, model, PROFILE, NOW)
    asked = [request.messages[-1].content for request in model.asked]
    assert sum("drawings of the quay" in text for text in asked) == 1
    assert sum("The agenda" in text for text in asked) == 1


def test_an_entry_has_the_uid_of_the_invitation_to_it_and_a_mail_has_none():
    letter, invited = invitation(1)
    assert (entry().uid, invited.uid, letter.uid) == ("tender@north", "tender@north", "")
    assert (entry().is_invitation, invited.is_invitation, letter.is_invitation) == (False, True, False)
    assert Artifact("mail", "t1", Kind.TASK).uid == ""
