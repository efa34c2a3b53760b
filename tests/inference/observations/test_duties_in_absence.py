import pytest

from workspace import Commitment

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def leave(make, title="Out of office", start="2026-03-23", end="2026-03-28"):
    return make.event(title, f"{start} 00:00", f"{end} 00:00", all_day=True)


def asked(make, text, sent="2026-03-17 09:00", **more):
    return make.mail(text, sent, **{"sender": CARLA, "title": "Signature", **more})


@pytest.mark.parametrize(
    "text",
    [
        "Please send me the signed contract by 25 March.",
        "The signed contract is due on 25 March at the latest, so we need it from you.",
        "Bitte schick mir den Vertrag bis zum 25. März.",
        "Merci de m'envoyer le contrat avant le 25 mars.",
        "Por favor, envíame el contrato antes del 25 de marzo.",
        "3월 25일까지 계약서를 보내 주세요.",
    ],
)
def test_what_somebody_asks_for_by_a_day_of_the_absence_is_told(make, text):
    away = leave(make)
    mail = asked(make, text)
    (found,) = make.see(away, mail, kind="due-in-absence")
    assert "by Wed 25 March 2026" in found.sentence
    assert "from Mon 23 March 2026 to Fri 27 March 2026" in found.sentence
    assert (found.template, found.certain) == ("due-during-absence", False)
    assert [item.artifact for item in found.evidence] == [mail.id, away.id]
    assert found.evidence[0].quote == text
    assert found.action.parameters["due"] == "2026-03-20"
    assert found.deadline == make.at("2026-03-23 00:00")


def test_what_the_person_promised_for_such_a_day_is_told(make):
    mail = make.mail("I'll send you the contract on 25 March.", "2026-03-17 09:00", sender=ANNA, to=[CARLA])
    (found,) = make.see(leave(make), mail, kind="due-in-absence")
    assert "has you do by Wed 25 March 2026" in found.sentence


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Please send me the signed contract by 20 March.", {}),
        ("Please send me the signed contract by 30 March.", {}),
        ("The library is closed until 25 March.", {}),
        ("Please send it by 25 March.", {"automatic": True}),
        ("Please send it by 25 March.", {"sender": DAN}),
        ("> Please send it by 25 March.", {}),
        ("Please send it by 25 March, or before you leave.", {}),
        ("Ben, please send it by 25 March.", {"cc": [BEN]}),
    ],
)
def test_other_days_closings_machines_strangers_quotes_and_others_are_left_alone(make, text, more):
    if "cc" in more:
        text, more = text.replace("Ben, please", "Ben will"), more
    assert make.see(leave(make), asked(make, text, **more), kind="due-in-absence") == []


TEXT = "Please send me the signed contract by 25 March."


def test_an_answer_since_or_a_task_settles_it(make):
    mail, away = asked(make, TEXT), leave(make)
    answer = make.mail("You have it tomorrow.", "2026-03-17 12:00", sender=ANNA, to=[CARLA], title="Re: Signature")
    other = make.mail("Lunch was lovely.", "2026-03-17 12:00", sender=ANNA, to=[CARLA], title="Lunch")
    task = make.task("Signed contract to Carla", "2026-03-19 12:00")
    assert make.see(mail, away, answer, kind="due-in-absence") == []
    same_day = make.task("Papers", "2026-03-25 12:00")
    assert make.see(mail, away, task, kind="due-in-absence") == []
    assert [item.evidence[0].artifact for item in make.see(mail, away, same_day, kind="due-in-absence")] == [
        same_day.id
    ]
    assert len(make.see(mail, away, other, kind="due-in-absence")) == 1


def test_without_an_absence_there_is_nothing(make):
    assert make.see(asked(make, TEXT), leave(make, "Ben on leave"), kind="due-in-absence") == []


def commitment(who, by):
    return Commitment(who=who, what="hand in the tax form", to="the office", by=by)


def test_a_commitment_of_a_note_stands_against_the_absence(make, noted):
    away = leave(make)
    letter = make.document(
        "Steueramt.pdf", "Das Formular erwarten wir am 25. März 2026 in unserem Haus.", "2026-03-10 09:00"
    )
    notes = {letter.id: [noted(commitments=[commitment("Anna Berger", "2026-03-25 Wed")])]}
    (found,) = make.see(away, letter, kind="due-in-absence", notes=notes)
    assert found.evidence[0].quote == "Das Formular erwarten wir am 25. März 2026 in unserem Haus."
    for who, by in (("Ben Okafor", "2026-03-25 Wed"), ("Anna Berger", "2026-03-20 Fri"), ("Anna Berger", "soon")):
        notes = {letter.id: [noted(commitments=[commitment(who, by)])]}
        assert make.see(away, letter, kind="due-in-absence", notes=notes) == []


def test_an_absence_that_only_a_note_of_an_own_mail_tells_counts(make, noted):
    mail = make.mail(
        "I am in Crete from 23 to 27 March.", "2026-03-10 09:00", sender=ANNA, to=[BEN], title="Spring"
    )
    notes = {mail.id: [noted(absences=["Anna Berger away 2026-03-23 Mon to 2026-03-27 Fri"])]}
    task = make.task("VAT return", "2026-03-25 12:00")
    (found,) = make.see(mail, task, kind="due-in-absence", notes=notes)
    assert not found.certain
    assert found.evidence[1].quote == "I am in Crete from 23 to 27 March."
    wanted = asked(make, TEXT.replace("25", "26"))
    assert len(make.see(mail, task, wanted, kind="due-in-absence", notes=notes)) == 2


@pytest.mark.parametrize(
    ("sender", "phrase"),
    [
        (BEN, "Anna Berger away 2026-03-23 Mon to 2026-03-27 Fri"),
        (ANNA, "Ben Okafor away 2026-03-23 Mon to 2026-03-27 Fri"),
        (ANNA, "Anna Berger away for some days"),
        (ANNA, "Anna Berger away 2026-02-23 Mon to 2026-02-27 Fri"),
    ],
)
def test_absences_of_others_told_by_others_over_or_without_days_do_not(make, noted, sender, phrase):
    mail = make.mail("Something on Crete.", "2026-03-10 09:00", sender=sender, to=[ANNA, BEN], title="Spring")
    notes = {mail.id: [noted(absences=[phrase])]}
    assert make.see(mail, make.task("VAT return", "2026-03-25 12:00"), kind="due-in-absence", notes=notes) == []
