"""What came later on a matter: shared names, numbers and rare words, by the marks and by the full text."""

import pytest

from inference.later import MOST, later_on_matter
from inference.marks import marks_of
from tests.inference.small_world import FILLER, NORA, NOW, PROFILE, add, ids_of, mail, open_store
from workspace import Artifact, Kind, Person, Role
from workspace.store import Marked

CLAIM = "The crates of the Harland loan, order HL-26-1187, are not insured for the transport by Jonas Feld."
ASKED = "Who insures the Harland crates (order HL-26-1187) on their way?"


@pytest.fixture(params=[True, False], ids=["marks", "full text alone"])
def marked(request):
    return request.param


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "tide.sqlite", [*FILLER, mail("asked", ASKED, days=-9)]) as opened:
        yield opened


def later(store, marked, *cited, claim=CLAIM):
    if marked:
        stale = store.ties.stale("e")
        held = store.artifacts.get(list(stale))
        store.ties.put(Marked(row, stale[row], marks_of(held[row], (), PROFILE.zone)) for row in held)
    keys = ids_of(store)
    artifacts = store.artifacts.get([keys[key] for key in cited])
    return [one.key for one in later_on_matter(claim, list(artifacts.values()), store, PROFILE, NOW)]


def test_it_is_found_in_mail_notes_and_tasks_newest_first_and_nothing_else(store, marked):
    add(
        store,
        mail("answer", "We insure HL-26-1187 from door to door.", title="Cover", sender="Una Byrne", days=-3),
        Artifact("mail", "note", Kind.DOCUMENT, "phone.txt", "Harland: crates covered.", time=NOW),
        Artifact("mail", "task", Kind.TASK, "Insure the Harland crates", status="done"),
        mail("before", "The Harland crates are heavy.", days=-30),
        mail("other", "Lunch on Friday?", days=-1),
    )
    assert later(store, marked, "asked") == ["note", "answer", "task"]


def test_people_alone_make_no_matter(store, marked):
    add(store, *(mail(f"m{n}", f"A word on subject {n}.", days=-1, sender="Jonas Feld") for n in range(6)))
    assert later(store, marked, "asked") == []


def test_of_two_on_the_matter_those_come_that_share_more(store, marked):
    add(
        store,
        *(mail(f"m{n}", "The Harland loan is in the papers.", sender=f"P{n} Q{n}", days=-n) for n in range(4)),
        mail("on it", "Jonas has insured the crates of HL-26-1187.", title="Harland", days=-8),
    )
    found = later(store, marked, "asked")
    assert len(found) == MOST
    assert found[-1] == "on it"


def test_what_everybody_writes_says_nothing(store, marked):
    add(store, *(mail(f"m{n}", "Insured crates.", sender="Ina May", days=-1) for n in range(340)))
    claim = "Crates are not insured."
    assert later(store, marked, "asked", claim=claim) == []


def test_a_note_at_the_end_of_a_long_text_is_found_by_its_words(store):
    names = " ".join(f"Name{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(400))
    text = f"Minutes. {names} The Harland crates, HL-26-1187, are insured."
    add(store, Artifact("mail", "long", Kind.DOCUMENT, "minutes.txt", text, time=NOW))
    assert later(store, True, "asked") == ["long"]


def test_the_names_of_the_person_say_nothing(store, marked):
    people = (Person(Role.FROM, "Una Byrne", "una@x.example"), NORA)
    add(store, mail("to me", "Dear Nora Keane, come to the fair.", people=people, days=-1))
    add(store, mail("too", "Nora Keane asked about the loan fair.", people=people, days=-2))
    assert later(store, marked, "too", claim="Nora Keane did not answer.") == []
