"""Who waits for whom across several threads on one matter."""

import pytest

from workspace import Trust

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def mine(make, text="Could you send me the figures for the tender?", sent="2026-03-09 09:00", to=(BEN,), **more):
    return make.mail(text, sent, sender=ANNA, to=to, **{"title": "Tender figures", "thread": "t", **more})


def his(make, text="Which figures of the tender do you need?", sent="2026-03-11 09:00", **more):
    return make.mail(text, sent, **{"title": "Tender", "thread": "u", **more})


def crossed(make, *artifacts):
    return make.see(*artifacts, kind="waits-crossed")


def test_each_waits_for_the_other_in_another_thread(make):
    (found,) = crossed(make, mine(make), his(make))
    assert not found.certain
    assert [one.artifact for one in found.evidence] == [2, 1]
    assert found.sentence.startswith('You wait for Ben Okafor in "Tender figures" since Mon 9 March 2026')
    assert 'Ben Okafor waits for you in "Tender" since Wed 11 March 2026' in found.sentence
    assert found.action.parameters["message"] == "a2"


@pytest.mark.parametrize(
    "other",
    [
        {"title": "Roof", "text": "Which tiles do you want?"},
        {"thread": "t"},
        {"text": "Here are the figures of the tender."},
        {"sent": "2026-01-11 09:00"},
        {"sender": DAN},
        {"text": "Which figures do you need? No reply needed."},
    ],
)
def test_nothing_is_crossed(make, other):
    assert crossed(make, mine(make), his(make, **other)) == []


def test_what_came_to_rest_is_not_crossed(make):
    settled = make.mail("Never mind, found it.", "2026-03-12 09:00", title="Hello", thread="v")
    assert crossed(make, mine(make), his(make), settled) == []
    answered = mine(make, "All of them.", "2026-03-12 09:00", thread="u", title="Re: Tender")
    assert crossed(make, mine(make), his(make), answered) == []


def test_an_answer_went_to_one_of_two_who_asked(make):
    asked = his(make, "Which hall do you take for the summer fair?", title="Summer fair")
    told = mine(
        make, "We take the north hall for the summer fair.", "2026-03-12 09:00", (CARLA,), title="Summer fair"
    )
    (found,) = crossed(make, asked, told)
    assert "You wrote on it to Carla Ruiz" in found.sentence
    assert "and not to Ben Okafor" in found.sentence


def test_an_answer_on_another_matter_or_to_the_asker(make):
    asked = his(make, "Which hall do you take for the summer fair?", title="Summer fair")
    other = mine(make, "Thanks for the flowers.", "2026-03-12 09:00", (CARLA,), title="Summer fair flowers")
    both = mine(
        make, "We take the north hall for the summer fair.", "2026-03-12 09:00", (CARLA, BEN), title="Summer fair"
    )
    assert crossed(make, asked, other) == []
    assert crossed(make, asked, both) == []


def left(make, *artifacts):
    return make.see(*artifacts, kind="left-to-each-other")


def word(make, text, sender=BEN, title="Stand at the fair", **more):
    more.setdefault("to", (ANNA, DAN if sender == BEN else BEN))
    more.setdefault("trust", Trust.KNOWN)
    return make.mail(text, "2026-03-11 09:00", sender=sender, title=title, **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I leave the power for the stand to Dan.", "Ben orders the power for the stand."),
        ("Den Strom für den Stand übernimmt Dan, das macht Dan.", "Ben kümmert sich um den Strom für den Stand."),
        ("Pour la prise du stand, je la laisse à Dan.", "La prise du stand, c'est Ben."),
        ("Dan se encarga de la luz del stand.", "Ben se encarga de la luz del stand."),
    ],
)
def test_two_leave_it_to_each_other(make, one, other):
    (found,) = left(make, word(make, one), word(make, other, DAN))
    assert not found.certain
    assert found.template == "owner-assumed-elsewhere"
    assert [item.artifact for item in found.evidence] == [1, 2]


def test_the_person_may_be_one_of_them(make):
    one = make.mail("Ben orders the power for the stand.", sender=ANNA, to=(DAN,), title="Stand at the fair")
    (found,) = left(make, one, word(make, "Anna sees to the power for the stand.", to=(ANNA,)))
    assert "Anna Berger wrote" in found.sentence


@pytest.mark.parametrize(
    "other",
    [
        "I order the power for the stand.",
        "Dan orders the power for the stand.",
        "Does Ben order the power for the stand?",
        "Ben has ordered the power for the stand already.",
        "If Ben orders the power, I bring the lamps.",
        "Carla orders the power for the stand.",
    ],
)
def test_one_has_it(make, other):
    assert left(make, word(make, "I leave the power for the stand to Dan."), word(make, other, DAN)) == []


def test_two_matters_are_two(make):
    one = word(make, "I leave the power for the stand to Dan.")
    assert left(make, one, word(make, "Ben brings cake on Sunday.", DAN, "Birthday")) == []
