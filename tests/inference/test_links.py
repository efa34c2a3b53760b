"""Links: what is on one matter is linked, the more strongly the rarer what it shares."""

import pytest

from inference.embedding import SentenceEmbedder
from inference.links import Links
from tests.inference.small_world import FILLER, NOW, event, ids_of, mail, open_index, open_store
from workspace import Artifact, Kind, Person, Role


@pytest.fixture(scope="module")
def minilm():
    return SentenceEmbedder()


@pytest.fixture
def linked(tmp_path, minilm):
    """`linked(*artifacts)`: a function from two keys to the strength of their link, among filler."""
    opened = []

    def build(*artifacts):
        store = open_store(tmp_path / "tide.sqlite", [*artifacts, *FILLER])
        opened.append(store)
        links = Links(store, open_index(store, minilm, tmp_path), NOW)
        ids = ids_of(store)
        return lambda one, other: links.of([ids[one]])[ids[one]].get(ids[other], 0.0)

    yield build
    for store in opened:
        store.close()


def test_a_rare_reference_links_more_than_a_common_word(linked):
    strength = linked(
        mail("order", "Order HL-26-1187 is confirmed.", sender="A B"),
        mail("cover", "The note for HL-26-1187 is attached.", sender="C D"),
        mail("other", "The evening went well.", sender="E F"),
    )
    assert strength("order", "cover") > 0.3
    assert strength("order", "cover") > 2 * strength("order", "other")


def test_links_go_both_ways(linked):
    strength = linked(mail("a", "Ask Brannigan."), mail("b", "Brannigan called."))
    assert strength("a", "b") == pytest.approx(strength("b", "a"))


def test_the_same_day_and_amount_link_however_they_are_written(linked):
    strength = linked(
        mail("offer", "It costs 6,180 euro until 21 May 2026.", sender="A B"),
        mail("reminder", "Preis: 6.180 EUR, g\u00fcltig bis 21.05.2026", sender="C D"),
        mail("other", "It costs 7,350 euro until 22 June 2026.", sender="E F"),
    )
    assert strength("offer", "reminder") > 0.3


@pytest.mark.parametrize(
    "said",
    [
        "See you on Thursday.",
        "Wir sehen uns am Donnerstag.",
        "On se voit jeudi.",
        "Nos vemos el jueves.",
        "목요일에",
    ],
)
def test_a_weekday_is_the_day_that_it_means(linked, said):
    strength = linked(
        mail("said", said, sender="A B"),
        event("there", "Choir", days=3),
        event("elsewhere", "Dentist", days=5),
    )
    assert strength("said", "there") > strength("said", "elsewhere") + 0.2


def test_somebody_known_by_an_address_alone_is_the_one_of_that_name(linked):
    guest = Person(Role.ATTENDEE, "", "paula.gately@harbourline.example")
    strength = linked(
        mail("named", "The list is with Paula Gately.", sender="A B"),
        event("meeting", "Broker", days=3, people=(guest,)),
        event("other", "Dentist", days=5),
    )
    assert strength("named", "meeting") > strength("named", "other") + 0.2


def test_other_scripts_link_by_their_words(linked):
    strength = linked(
        mail(
            "a",
            "\u0414\u0443\u043d\u043c\u0430\u0440\u0440\u0430 \u0433\u043e\u0442\u043e\u0432",
            sender="A B",
        ),
        mail("b", "\u0416\u0434\u0451\u043c \u0414\u0443\u043d\u043c\u0430\u0440\u0440\u0430", sender="C D"),
        mail("c", "\u6771\u4eac\u4f1a\u8b70", sender="E F"),
        mail("d", "\u6b21\u306e\u6771\u4eac\u4f1a\u8b70", sender="G H"),
    )
    assert strength("a", "b") > strength("a", "c") + 0.1
    assert strength("c", "d") > strength("b", "d") + 0.1


def test_thread_attachment_and_series_link(linked):
    strength = linked(
        mail("one", "Yes.", title="x", thread="t", sender="A B"),
        mail("two", "Fine, see below.", title="y", thread="t", sender="C D"),
        mail("alone", "Fine, see below.", title="y", sender="C D"),
        Artifact("mail", "file", Kind.DOCUMENT, "plan.txt", "Rows and columns.", time=NOW, parent="one"),
        event("week1", "Choir", series="s", days=1),
        event("week2", "Choir", series="s", days=8),
        event("choir", "Choir", days=15),
    )
    assert strength("one", "two") > strength("one", "alone") + 0.29
    assert strength("one", "file") > 0.8
    assert strength("file", "one") > 0.8
    assert strength("week1", "week2") > strength("week1", "choir") + 0.29


def test_a_deadline_inside_an_absence_is_linked_to_it(linked):
    strength = linked(
        event("leave", "Out of office", hours=24 * 5, all_day=True),
        Artifact("mail", "claim", Kind.TASK, "Send the claim", due=NOW.replace(day=21), status="open"),
        Artifact("mail", "later", Kind.TASK, "Send the form", due=NOW.replace(month=8), status="open"),
    )
    assert strength("leave", "claim") > strength("leave", "later") + 0.2


def test_the_neighbours_come_strongest_first(tmp_path, minilm):
    artifacts = [mail("seed", "Gantly Print, quote 2026-318"), mail("near", "Gantly Print and 2026-318"), *FILLER]
    with open_store(tmp_path / "tide.sqlite", artifacts) as store:
        links = Links(store, open_index(store, minilm, tmp_path), NOW)
        ids = ids_of(store)
        found = links.of([ids["seed"], ids["near"]])
    strengths = list(found[ids["seed"]].values())
    assert strengths == sorted(strengths, reverse=True)
    assert next(iter(found[ids["seed"]])) == ids["near"]
    assert ids["seed"] not in found[ids["seed"]]


def test_an_artifact_that_is_gone_has_no_links(tmp_path, minilm):
    with open_store(tmp_path / "tide.sqlite", FILLER) as store:
        assert Links(store, open_index(store, minilm, tmp_path), NOW).of([999]) == {999: {}}
