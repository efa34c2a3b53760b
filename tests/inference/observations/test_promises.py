from dataclasses import replace

import pytest

from workspace import Commitment

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def own(make, text, sent="2026-03-11 09:00", **more):
    return make.mail(text, sent, **{"sender": ANNA, "to": [CARLA], "title": "Re: Offer", "thread": "t", **more})


def theirs(make, text, sent="2026-03-11 09:00", **more):
    return make.mail(text, sent, **{"sender": CARLA, "title": "Re: Offer", "thread": "t", **more})


@pytest.mark.parametrize(
    "text",
    [
        "Hello Carla,\n\nI'll send you the signed offer by Friday.\n\nAnna",
        "Ich schicke dir das Angebot bis Freitag.",
        "Das Angebot schicke ich dir am Freitag.",
        "Je vous envoie le devis vendredi.",
        "Te envío la oferta el viernes.",
        "금요일까지 견적서를 보내드리겠습니다.",
        "You'll have the offer by Friday.",
    ],
)
def test_a_promise_of_the_person_whose_day_is_over_is_told(make, text):
    (found,) = make.see(own(make, text), kind="promise-without-trace")
    assert "You promised Carla Ruiz" in found.sentence
    assert "by Fri 13 March 2026" in found.sentence
    assert (found.template, found.certain) == ("promise-not-kept", False)
    assert found.action.parameters["message"] == "a1"


@pytest.mark.parametrize(
    "text",
    ["I'll send you the drawings by Friday.", "Ich sende Ihnen die Pläne bis Freitag.", "내일 보내드릴게요."],
)
def test_a_promise_of_others_is_told_as_well(make, text):
    (found,) = make.see(theirs(make, text), kind="promise-without-trace")
    assert "Carla Ruiz promised you" in found.sentence
    assert found.template == "delivery-silently-late"


def test_a_promise_without_a_day_is_told_after_five_working_days(make):
    text = "I will send you the drawings."
    assert make.see(theirs(make, text, "2026-03-12 09:00"), kind="promise-without-trace") == []
    assert len(make.see(theirs(make, text, "2026-03-11 09:00"), kind="promise-without-trace")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "If you like, I'll send you the offer by Friday.",
        "Once it is signed, I'll send you the offer.",
        "I'll send you the offer next month.\n\nOr rather: I'll send it on 30 March.",
        "Wenn es passt, schicke ich dir das Angebot.",
        "Je vous envoie le devis dès que possible.",
        "Te envío la oferta cuando pueda.",
        "확인되면 견적서를 보내드리겠습니다.",
        "Shall I send you the offer by Friday?",
        "> I'll send you the offer by Friday.",
        'Ben said "I\'ll send you the offer" and laughed.',
        "Every month we will send you the newsletter.",
        "I'll send an invitation for Friday.",
        "I can't send you the offer.",
        "I'll send you my questions before the call.",
        "Ich schicke Ihnen die Fragen rechtzeitig.",
        "We will send you the dates next month.",
    ],
)
def test_conditions_questions_quotes_and_days_to_come_are_no_promise(make, text):
    found = make.see(own(make, text), kind="promise-without-trace")
    assert [item for item in found if "30 March" not in text] == []


PROMISE = "I'll send you the signed offer by Friday."


@pytest.mark.parametrize(
    "later",
    [
        {"sender": ANNA, "to": [CARLA], "text": "Here is the offer.", "title": "Something"},
        {"sender": ANNA, "to": [CARLA], "text": "As promised.", "title": "Re: Offer"},
        {"sender": ANNA, "to": [CARLA], "text": "See below for all of it.", "thread": "t", "title": "x"},
        {"sender": CARLA, "text": "Many thanks, it arrived.", "thread": "t", "title": "Re: Offer"},
        {"sender": CARLA, "text": "Never mind, found it.", "title": "Offer"},
    ],
)
def test_what_was_sent_or_said_since_keeps_it(make, later):
    mail = make.mail(**{"sent": "2026-03-16 09:00", "to": [ANNA], **later})
    assert make.see(own(make, PROMISE), mail, kind="promise-without-trace") == []


@pytest.mark.parametrize(
    "later",
    [
        {
            "sender": ANNA,
            "to": [CARLA],
            "text": "Lunch at the harbour was lovely, many greetings.",
            "title": "Lunch",
        },
        {
            "sender": CARLA,
            "text": "Great, thanks.",
            "sent": "2026-03-11 12:00",
            "thread": "t",
            "title": "Re: Offer",
        },
        {"sender": ANNA, "to": [BEN], "text": "The signed offer for your files.", "title": "Signed"},
    ],
)
def test_other_mail_does_not(make, later):
    mail = make.mail(**{"sent": "2026-03-16 09:00", "to": [ANNA], **later})
    assert len(make.see(own(make, PROMISE), mail, kind="promise-without-trace")) == 1


def test_a_file_sent_later_a_meeting_or_a_task_keeps_it(make):
    mail = make.mail(
        "Greetings from the harbour, dear Carla.", "2026-03-13 09:00", sender=ANNA, to=[CARLA], title="x"
    )
    met = make.event("Coffee", "2026-03-16 09:00", organizer=ANNA, attendees={CARLA: "accepted"})
    for more in (
        (mail, make.attach(mail, "offer.pdf")),
        (met,),
        (make.task("Offer signed for Carla", "2026-04-01 09:00"),),
    ):
        assert make.see(own(make, PROMISE), *more, kind="promise-without-trace") == []


def test_what_a_mail_carries_is_not_promised(make):
    mail = own(make, "We will send you the figures with this mail.")
    assert make.see(mail, make.attach(mail, "figures.xlsx"), kind="promise-without-trace") == []


@pytest.mark.parametrize("change", [{"automatic": True}, {"sender": DAN}], ids=str)
def test_machines_and_strangers_promise_nothing(make, change):
    assert make.see(theirs(make, PROMISE, **change), kind="promise-without-trace") == []


def test_a_promise_of_long_ago_is_left_alone(make):
    assert make.see(own(make, PROMISE, "2026-02-02 09:00"), kind="promise-without-trace") == []


def test_only_the_last_promise_of_a_thread_is_told(make):
    again = own(make, "I'll send you the offer by Monday, promised.", "2026-03-12 09:00")
    (found,) = make.see(own(make, PROMISE), again, kind="promise-without-trace")
    assert found.evidence[0].artifact == again.id


def test_a_commitment_of_a_note_is_cited_in_the_words_of_the_mail(make, noted):
    mail = own(make, "Dear Carla,\n\nall good here. The offer reaches you on 13 March at the latest.\n\nAnna")
    notes = {
        mail.id: [noted(commitments=[commitment("Anna Berger", "signed offer", "Carla Ruiz", "2026-03-13 Fri")])]
    }
    (found,) = make.see(mail, kind="promise-without-trace", notes=notes)
    assert found.evidence[0].quote == "The offer reaches you on 13 March at the latest."
    assert "by Fri 13 March 2026" in found.sentence


@pytest.mark.parametrize(
    ("who", "by"),
    [
        ("Carla Ruiz", "2026-03-13 Fri"),
        ("Anna Berger", "2026-03-20 Fri"),
        ("Anna Berger", "soon"),
        ("Anna Berger", "2026-03-13 or 2026-03-14"),
        ("Anna Berger and Ben Okafor", "2026-03-13 Fri"),
        ("", "2026-03-13 Fri"),
    ],
)
def test_commitments_of_others_to_come_or_without_a_day_are_none(make, noted, who, by):
    mail = own(make, "All good here.")
    notes = {mail.id: [noted(commitments=[commitment(who, "signed offer", "Carla Ruiz", by)])]}
    assert make.see(mail, kind="promise-without-trace", notes=notes) == []


def commitment(who, what, to, by):
    return Commitment(who=who, what=what, to=to, by=by)


@pytest.mark.parametrize(
    "text",
    [
        "Please find attached the signed form.",
        "The form is attached.",
        "Anbei die unterschriebene Vollmacht.",
        "Veuillez trouver ci-joint le formulaire.",
        "Te adjunto el formulario firmado.",
        "신청서를 첨부합니다. 확인 부탁드립니다.",
    ],
)
def test_a_mail_that_says_attached_and_carries_nothing_is_told(make, text):
    (found,) = make.see(own(make, text), kind="attachment-missing")
    assert (found.template, found.certain) == ("promise-not-kept", False)
    (found,) = make.see(theirs(make, text), kind="attachment-missing")
    assert found.template == "delivery-silently-late"


@pytest.mark.parametrize(
    "text",
    [
        "The form was attached to my mail of Monday.",
        "Nothing is attached, as it is too large.",
        "We are all very attached to this house.",
        "The form is attached here: https://files.example/form",
        "> Please find attached the form.",
        "Is the form attached?",
    ],
)
def test_what_is_elsewhere_linked_quoted_or_figurative_is_not_missing(make, text):
    assert make.see(own(make, text), kind="attachment-missing") == []


def test_an_attachment_that_is_there_or_came_later_is_not_missing(make):
    mail = own(make, "The form is attached.")
    assert make.see(mail, make.attach(mail, "form.pdf"), kind="attachment-missing") == []
    later = own(make, "Sorry, now with the form.", "2026-03-11 09:10")
    assert make.see(mail, later, make.attach(later, "form.pdf"), kind="attachment-missing") == []
    answer = theirs(make, "Your attachment was missing, but I have it already.", "2026-03-11 10:10")
    assert make.see(mail, answer, kind="attachment-missing") == []


def test_a_forwarded_mail_carries_what_it_quotes(make):
    mail = replace(own(make, "FYI, the form is attached."), quoted="Dear Anna, attached the form.")
    assert make.see(mail, kind="attachment-missing") == []
