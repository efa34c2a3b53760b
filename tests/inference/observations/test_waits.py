from datetime import timedelta

import pytest

from inference.observations import observe
from workspace import Trust

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
QUESTION = "Hi Anna,\n\nwhich of the two offers do you want to take?\n\nBen"


def answer(make, text="Here it is.", sent="2026-03-12 09:00", title="Something else", to=(BEN,), **more):
    return make.mail(text, sent, sender=ANNA, to=to, title=title, **more)


def test_a_question_without_an_answer_is_told(make):
    (found,) = make.see(make.mail(QUESTION))
    assert (found.kind, found.certain) == ("waits-for-you", True)
    assert "Ben Okafor" in found.sentence
    assert "on Wed 11 March 2026, 5 working days ago" in found.sentence
    assert found.evidence[0].quote == "which of the two offers do you want to take?"
    assert found.action.function_name == "reply_email"
    assert found.action.parameters["message"] == "a1"


def test_a_day_named_in_it_is_the_deadline(make):
    (found,) = make.see(make.mail("Anna, can you answer by Friday 20 March?"))
    assert found.deadline == make.at("2026-03-21 00:00")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("2026-03-13 17:00", True),
        ("2026-03-14 12:00", True),
        ("2026-03-16 09:00", False),
        ("2026-03-18 09:00", False),
        ("2026-01-20 09:00", True),
        ("2026-01-10 09:00", False),
    ],
)
def test_it_waits_for_three_working_days_and_is_forgotten_after_sixty_days(make, sent, told):
    assert bool(make.see(make.mail(QUESTION, sent))) is told


@pytest.mark.parametrize(
    "change",
    [
        {"to": [BEN], "cc": [ANNA]},
        {"automatic": True},
        {"sender": "noreply@shop.example", "trust": Trust.KNOWN},
        {"sender": "stranger@nowhere.example"},
        {"text": "Thank you so much, Anna! How are you?"},
        {"text": "Good to know.\n\n> which of the two offers do you want to take?"},
        {"text": "Hi Anna, which of the two offers do you want? No need to reply, I'll take A."},
        {"text": "Hi Dan,\n\nwhich of the two offers do you want to take?", "to": [ANNA, DAN]},
        {"text": "Dan, which of the two offers do you want to take?", "cc": [DAN]},
    ],
    ids=str,
)
def test_what_asks_the_person_nothing_is_left_alone(make, change):
    assert make.see(make.mail(change.pop("text", QUESTION), **change)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"to": [ANNA, DAN], "text": "Which of the two offers do you want to take?"},
        {"to": [ANNA, DAN], "text": "Hi both,\n\nwhich of the two offers do you want to take?"},
        {"text": "Hi all,\n\nwhich of the two offers do you want to take?"},
        {"text": "Anna, could you look at the offers? No rush, whenever you have time."},
        {"text": "Are you free for lunch on Friday?", "sent": "2026-03-10 09:00"},
        {"text": "Anna, I need your receipts by 14 April."},
    ],
    ids=str,
)
def test_questions_to_several_patient_ones_and_those_that_are_over_are_not_certain(make, change):
    (found,) = make.see(make.mail(**{"text": QUESTION, **change}))
    assert not found.certain


def test_a_question_by_name_among_several_is_certain(make):
    assert make.sure(make.mail(QUESTION, to=[ANNA, DAN])) == ["waits-for-you"]


def test_a_stranger_whom_the_person_has_written_to_is_known(make):
    first = answer(make, "Hello Dan.", "2026-03-01 09:00", to=[DAN])
    assert make.sure(first, make.mail(QUESTION, sender=DAN)) == ["waits-for-you"]


def test_an_answer_in_the_thread_ends_it(make):
    assert make.see(make.mail(QUESTION, thread="t"), answer(make, thread="t")) == []


def test_an_automatic_answer_in_the_thread_does_not(make):
    away = answer(make, "I am away.", thread="t", automatic=True)
    assert make.see(make.mail(QUESTION, thread="t"), away, kind="waits-for-you") != []


@pytest.mark.parametrize(
    ("title", "text"),
    [("Tender", "Here you are."), ("New mail", "Of the two offers I take the first.")],
)
def test_an_answer_on_another_path_ends_it(make, title, text):
    assert make.see(make.mail(QUESTION), answer(make, text, title=title)) == []


@pytest.mark.parametrize("text", ["Here it is.", "The offers are with Ingrid, who knows the roofers."])
def test_a_later_mail_to_the_writer_that_may_answer_makes_it_uncertain(make, text):
    (found,) = make.see(make.mail(QUESTION), answer(make, text))
    assert not found.certain


def test_one_on_quite_another_matter_does_not(make):
    text = "The scaffolding at the school stays until Tuesday, and the painters bring their own ladders."
    assert make.sure(make.mail(QUESTION), answer(make, text)) == ["waits-for-you"]


def test_an_earlier_mail_answers_nothing(make):
    assert make.sure(make.mail(QUESTION), answer(make, sent="2026-03-10 09:00")) == ["waits-for-you"]


def test_a_meeting_on_the_matter_ends_it_and_any_small_one_makes_it_uncertain(make):
    people = {"organizer": BEN, "attendees": {ANNA: "accepted"}}
    alike = make.event("Tender figures", "2026-03-20 09:00", **people)
    assert make.see(make.mail(QUESTION), alike) == []
    other = make.event("Ben / Anna", "2026-03-13 09:00", **people)
    assert make.sure(make.mail(QUESTION), other) == []
    cancelled = make.event("Tender figures", "2026-03-20 09:00", cancelled=True, **people)
    assert make.sure(make.mail(QUESTION), cancelled) == ["waits-for-you"]


@pytest.mark.parametrize(
    ("thread", "text"),
    [("t", "Thanks for ringing back!"), ("t", "Danke, passt."), ("u", "Never mind, it is settled.")],
)
def test_word_from_the_writer_that_it_is_settled_ends_it(make, thread, text):
    later = make.mail(text, "2026-03-12 09:00", thread=thread)
    assert make.see(make.mail(QUESTION, thread="t"), later) == []


def test_a_reminder_keeps_the_first_question_certain(make):
    reminder = make.mail("Anna, did you see my question?", "2026-03-17 09:00", thread="t")
    (found,) = make.see(make.mail(QUESTION, thread="t"), reminder)
    assert found.certain
    assert found.evidence[0].artifact == 2


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("A gentle reminder, the slot goes tomorrow.", True),
        ("Petite relance.", True),
        ("The offers, again.", False),
    ],
)
def test_a_reminder_need_not_ask_again(make, text, certain):
    reminder = make.mail(text, "2026-03-17 09:00", thread="t")
    assert bool(make.sure(make.mail(QUESTION, thread="t"), reminder)) is certain


def own_question(make, text="Ben, can you send me the signed offer by 20 March?", sent="2026-03-11 09:00", **more):
    more.setdefault("to", [BEN])
    more.setdefault("title", "Signed offer")
    return make.mail(text, sent, sender=ANNA, **more)


def test_a_question_of_the_person_with_a_day_in_it_is_told_when_nobody_answers(make):
    (found,) = make.see(own_question(make))
    assert (found.kind, found.certain) == ("waits-for-others", True)
    assert "You asked Ben Okafor" in found.sentence
    assert found.deadline == make.at("2026-03-21 00:00")
    assert found.action.parameters["message"] == "a1"


def test_a_question_on_which_nothing_depends_is_not_certain(make):
    (found,) = make.see(own_question(make, "Ben, can you send me the signed offer?"))
    assert not found.certain


@pytest.mark.parametrize("kind", ["event", "task"])
def test_what_depends_on_it_is_named_and_cited(make, kind):
    question = own_question(make, "Ben, can you send me the signed offer?")
    coming = (
        make.event("Offer opening", "2026-03-24 10:00", organizer=BEN, attendees={ANNA: "accepted"})
        if kind == "event"
        else make.task("Hand in the offer", "2026-03-24 10:00")
    )
    (found,) = make.see(question, coming)
    assert found.certain
    assert [item.artifact for item in found.evidence] == [1, 2]
    assert found.deadline == make.at("2026-03-24 10:00")


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Here is the signed offer.", "thread": "t"},
        {"text": "Here it is.", "title": "Offer, signed"},
        {"text": "I have sent the signed offer by post.", "title": "Post"},
    ],
    ids=str,
)
def test_an_answer_in_the_thread_or_beside_it_ends_the_wait(make, other):
    assert make.see(own_question(make, thread="t"), make.mail(sent="2026-03-13 09:00", **other)) == []


def test_another_mail_of_theirs_makes_it_uncertain(make):
    other = make.mail("The canteen is closed.", "2026-03-13 09:00", title="Canteen")
    assert make.sure(own_question(make), other) == []


def test_an_answer_by_a_machine_is_known_by_its_subject(make):
    away = make.mail("Back on Monday.", "2026-03-11 09:01", title="Respuesta automática: Signed offer", thread="t")
    (found,) = make.see(own_question(make, thread="t"), away)
    assert found.kind == "waits-for-others"


def test_an_automatic_answer_is_none_but_tells_of_an_absence(make):
    away = make.mail("I am away.", "2026-03-11 09:01", title="Automatic reply: Signed offer", automatic=True)
    (found,) = make.see(own_question(make), away)
    assert not found.certain


@pytest.mark.parametrize(
    "change",
    [
        {"sent": "2026-03-17 09:00"},
        {"sent": "2026-01-05 09:00"},
        {"text": "Ben, here is the offer. Thanks!"},
        {"text": "Ben, can you file the offer by 20 March? No need to reply."},
        {"to": [ANNA]},
        {"to": ["noreply@shop.example"]},
        {"to": [f"p{number}@firm.example" for number in range(9)]},
    ],
    ids=str,
)
def test_fresh_old_and_empty_questions_of_the_person_are_left_alone(make, change):
    assert make.see(own_question(make, **change)) == []


def test_a_meeting_with_them_on_the_matter_ends_the_wait(make):
    met = make.event("Offer", "2026-03-13 09:00", organizer=ANNA, attendees={BEN: "accepted"})
    assert make.see(own_question(make), met) == []


def test_the_number_of_working_days_is_the_persons_choice(make):
    mail = make.mail(QUESTION)
    assert len(observe([mail], make.profile, make.now, answer_days=5)) == 1
    assert observe([mail], make.profile, make.now, answer_days=6) == []
    assert observe([mail], make.profile, make.now - timedelta(days=1), answer_days=5) == []
