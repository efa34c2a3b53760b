"""Meetings to come without the one who must be there, and requests that reach nobody in time."""

import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
AUTOMATIC = "Thank you for your mail. I am out of the office and back on Thursday 26 March."


def called_by(make, host, title="Contract review", start="2026-03-24 10:00", **more):
    more.setdefault("attendees", {ANNA: "accepted"})
    return make.event(title, start, organizer=host, **more)


def mine(make, attendees, title="Contract review", start="2026-03-24 10:00", **more):
    return make.event(title, start, organizer=ANNA, attendees=attendees, **more)


def answer(make, text=AUTOMATIC, sender=BEN, sent="2026-03-17 09:00", **more):
    more.setdefault("title", "Automatic reply: Figures")
    return make.mail(text, sent, sender=sender, automatic=True, **more)


def leave(make, title="Ben on leave", host=BEN, start="2026-03-23", end="2026-03-28", **more):
    return make.event(title, start, end, organizer=host, all_day=True, attendees={}, **more)


def missing(make, *artifacts):
    return [one for one in make.see(*artifacts) if one.kind in ("needed-missing", "organizer-gone")]


def test_an_organiser_whom_a_machine_says_away_is_missing(make):
    (found,) = missing(make, called_by(make, BEN), answer(make))
    assert found.certain
    assert found.template == "needed-person-away"
    assert "Ben Okafor is away from Tue 17 March 2026 to Wed 25 March 2026" in found.sentence
    assert [one.artifact for one in found.evidence] == [1, 2]
    assert found.deadline == make.at("2026-03-24 10:00")


def test_the_other_of_a_meeting_of_two_is_on_leave_and_it_is_moved(make):
    (found,) = missing(make, mine(make, {BEN: "accepted"}), leave(make))
    assert found.certain
    assert found.action.function_name == "reschedule_meeting"
    assert found.action.parameters["new_start"] == "2026-03-30T09:00"


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin bis zum 27. März im Urlaub.",
        "Je suis en congé jusqu'au 27 mars.",
        "Estoy de vacaciones hasta el 27 de marzo.",
        "I am on leave from 16 March to 27 March.",
        "안녕하세요. 3월 27일까지 휴가입니다.",
    ],
)
def test_absences_are_read_in_five_languages(make, text):
    (found,) = missing(make, called_by(make, BEN), answer(make, text))
    assert found.certain


@pytest.mark.parametrize(
    "text",
    [
        "Thank you for your mail. I am out of the office and back on Tuesday 24 March.",
        "I am away until 24 March.",
        "I read mail twice a day only.",
        "I am out of the office. Your ticket will be answered by 27 March.",
    ],
)
def test_a_machine_that_says_otherwise_tells_no_absence(make, text):
    assert missing(make, called_by(make, BEN), answer(make, text)) == []


@pytest.mark.parametrize(
    ("title", "host"),
    [
        ("Carla on leave", CARLA),
        ("Leave policy: Ben's draft", BEN),
        ("Team on leave", BEN),
        ("Public holiday", BEN),
        ("Ben back from leave", BEN),
    ],
)
def test_entries_that_are_no_absence_of_theirs(make, title, host):
    assert missing(make, mine(make, {BEN: "accepted"}), leave(make, title, host)) == []


def test_the_bare_entry_of_a_colleague_is_theirs(make):
    assert missing(make, mine(make, {BEN: "accepted"}), leave(make, "Out of office"))


@pytest.mark.parametrize(
    "change",
    [
        {"start": "2026-03-30 10:00"},
        {"start": "2026-03-17 10:00"},
        {"cancelled": True},
        {"attendees": {ANNA: "declined"}},
        {"text": "Ben is away, Dan stands in for him."},
        {"all_day": True},
    ],
)
def test_a_meeting_that_is_not_touched(make, change):
    assert missing(make, called_by(make, BEN, **change), leave(make)) == []


def test_somebody_who_stands_in_or_moves_it_has_noticed(make):
    event = called_by(make, BEN)
    covers = make.mail("I'm on leave then, Dan takes over the contract review.", title="Contract review")
    moves = make.mail("Can we move the contract review?", title="Contract review")
    assert missing(make, event, leave(make), covers) == []
    assert missing(make, event, leave(make), moves) == []


def test_a_large_meeting_whose_organiser_is_away_is_uncertain(make):
    event = called_by(make, BEN, attendees={ANNA: "accepted", CARLA: "accepted", DAN: "accepted"})
    (found,) = missing(make, event, leave(make))
    assert not found.certain


def test_lunch_on_a_day_off_is_uncertain(make):
    (found,) = missing(make, called_by(make, BEN, "Lunch with Ben"), leave(make))
    assert not found.certain


def test_an_absence_told_in_a_mail_is_uncertain(make):
    told = make.mail("By the way, I'm on leave from 23 March to 27 March.", "2026-03-16 09:00", title="Rota")
    (found,) = missing(make, called_by(make, BEN), told)
    assert not found.certain
    assert 'as "Rota" says' in found.sentence


@pytest.mark.parametrize(
    "text",
    [
        "If I'm on leave on 24 March, ask Dan.",
        "Are you on leave on 24 March?",
        "I was on leave on 24 March last year.",
        "Ben might be away on 24 March.",
    ],
)
def test_a_mail_that_does_not_say_so(make, text):
    assert missing(make, called_by(make, BEN), make.mail(text, "2026-03-16 09:00", title="Rota")) == []


def test_an_organiser_who_has_left_is_gone(make):
    gone = answer(make, "Carla Ruiz no longer works for this company. Please write to info@client.example.", CARLA)
    (found,) = missing(make, called_by(make, CARLA), gone)
    assert found.kind == "organizer-gone"
    assert found.template == "duty-of-someone-gone"
    assert found.certain


def test_who_wrote_since_has_not_gone(make):
    gone = answer(make, "This mailbox is no longer in use.", CARLA)
    later = make.mail("Back on the old address.", "2026-03-17 15:00", sender=CARLA, title="Hello")
    assert missing(make, called_by(make, CARLA), gone, later) == []


def test_an_address_that_mail_comes_back_from_is_gone(make):
    text = "Delivery has failed. carla@client.example: 550 5.1.1 user unknown"
    back = answer(make, text, "mailer-daemon@firm.example", title="Undelivered mail")
    sent = asked(make, "The papers are on their way.", (CARLA,))
    (found,) = missing(make, called_by(make, CARLA), back, sent)
    assert found.kind == "organizer-gone"
    # Nobody can tell so who was not written to, and a stranger's word is not certain.
    assert missing(make, called_by(make, CARLA), back) == []
    strange = answer(make, text, "mailer-daemon@elsewhere.example")
    assert not missing(make, called_by(make, CARLA), strange, sent)[0].certain
    full = answer(make, "carla@client.example: mailbox full, try again later", "mailer-daemon@firm.example")
    assert missing(make, called_by(make, CARLA), full, sent) == []


def test_a_last_day_that_is_announced(make):
    told = make.mail("Dan's last day is Friday 20 March.", "2026-03-16 09:00", title="News")
    event = called_by(make, DAN)
    (found,) = missing(make, event, told)
    assert (found.kind, found.certain) == ("organizer-gone", False)
    assert missing(make, called_by(make, DAN, start="2026-03-20 10:00"), told) == []


@pytest.mark.parametrize(
    "text",
    [
        "Carla must be there, she decides on the terms.",
        "Only Carla can sign.",
        "Carla Ruiz signs at the end.",
        "Carla entscheidet.",
        "Carla muss dabei sein.",
        "Carla doit signer.",
        "Carla debe firmar.",
        "We need the approval of Carla.",
    ],
)
def test_who_must_be_there_is_not_invited(make, text):
    known = make.mail("Hello", title="Hello", sender=CARLA)
    (found,) = missing(make, mine(make, {BEN: "accepted", DAN: "accepted"}, text=text), known)
    assert found.template == "decision-maker-missing"
    assert "Carla Ruiz is not invited" in found.sentence
    assert not found.certain


def test_who_must_be_there_has_declined_or_is_away(make):
    text = "Carla must sign."
    declined = mine(make, {BEN: "accepted", CARLA: "declined"}, text=text)
    assert "Carla Ruiz has declined" in missing(make, declined)[0].sentence
    coming = mine(make, {BEN: "accepted", CARLA: "accepted"}, text=text)
    assert missing(make, coming) == []
    assert "Carla Ruiz is away" in missing(make, coming, leave(make, "Carla on leave", CARLA))[0].sentence


def test_a_mail_on_the_meeting_says_who_must_be_there(make):
    event = mine(make, {BEN: "accepted", DAN: "accepted"})
    mail = make.mail("For the contract review we need Carla, she decides.", title="Contract review")
    (found,) = missing(make, event, mail)
    assert [one.artifact for one in found.evidence] == [1, 2]


@pytest.mark.parametrize(
    "told",
    [
        "I board on 20 March and until we are back on 9 April I'm out of reach, no line, no email.",
        "I'm in the office all week, and away from 23 March to 27 March.",
        "Je suis à la mer du 20 mars au 27 mars, sans réseau, de retour au bureau le 30 mars.",
    ],
)
def test_the_event_names_somebody_who_is_away(make, told):
    event = mine(make, {BEN: "accepted", CARLA: "accepted"}, text="Carla joins by video.")
    (found,) = missing(make, event, make.mail(told, "2026-03-16 09:00", sender=CARLA, title="Spring"))
    assert "Carla Ruiz is away" in found.sentence
    assert not found.certain
    assert missing(make, event) == []
    declined = mine(make, {BEN: "accepted", CARLA: "declined"}, text="Carla joins by video.")
    assert missing(make, declined, make.mail(told, "2026-03-16 09:00", sender=CARLA, title="Spring")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Carla must not sign yet.",
        "If Carla signs, we are done.",
        "Does Carla sign?",
        "Carla already signed.",
        "Carla sends the papers.",
        "Carla signs, Dan stands in for her.",
        "Anna must be there.",
        "Maria must sign.",
    ],
)
def test_nobody_who_is_known_is_missing(make, text):
    assert missing(make, mine(make, {BEN: "accepted", DAN: "accepted"}, text=text)) == []


def asked(make, text="Could you sign the order by Friday 20 March?", to=(BEN,), sent="2026-03-17 08:00", **more):
    more.setdefault("title", "Order 7")
    return make.mail(text, sent, sender=ANNA, to=to, **more)


def in_vain(make, *artifacts):
    return make.see(*artifacts, kind="asked-in-vain")


def test_somebody_asked_is_away_beyond_the_day(make):
    (found,) = in_vain(make, asked(make), answer(make))
    assert found.certain
    assert found.template == "approval-holds-up-work"
    assert "by Fri 20 March 2026" in found.sentence
    assert found.deadline == make.at("2026-03-21 00:00")


def test_a_document_tells_the_day_by_which_it_is_needed(make):
    order = asked(make, "Here is the order. I send it off as soon as it is signed.", title="Order 7 for signature")
    quote = make.document("Order 7.pdf", "Order 7, signature needed\nThe price holds until Friday 20 March 2026.")
    (found,) = in_vain(make, order, answer(make), quote)
    assert not found.certain
    assert '"Order 7.pdf" needs it by Fri 20 March 2026' in found.sentence


def test_mail_that_came_back_was_asked_in_vain(make):
    text = "Delivery has failed. carla@client.example: 550 5.1.1 user unknown"
    back = answer(make, text, "mailer-daemon@firm.example", title="Undelivered mail")
    (found,) = in_vain(make, asked(make, "Could you send the figures?", (CARLA,)), back)
    assert found.certain
    assert found.template == "duty-of-someone-gone"


@pytest.mark.parametrize(
    "mail",
    [
        {"text": "Could you sign the order by Friday 27 March?"},
        {"text": "Here is the order by Friday 20 March."},
        {"to": (BEN, DAN)},
        {"sent": "2026-01-17 08:00"},
    ],
)
def test_what_can_still_be_answered_in_time(make, mail):
    assert in_vain(make, asked(make, **{"title": "Hello", **mail}), answer(make)) == []


def test_who_turned_to_somebody_else_or_got_an_answer(make):
    request = asked(make, thread="t")
    other = asked(make, "Dan, could you sign order 7 instead?", (DAN,), "2026-03-17 11:00")
    got = make.mail("Signed, here it is.", "2026-03-17 20:00", title="Re: Order 7", thread="t")
    assert in_vain(make, request, answer(make), other) == []
    assert in_vain(make, request, answer(make), got) == []
