import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
NEW = "Bathroom, Marlow Street\nRevision D, 9 March 2026. Replaces revision C of 12 January 2026.\nNiche 1,180 mm."


def drawing(make, text=NEW, title="Drawings/Bathroom rev D.pdf"):
    return make.document(title, text, "2026-03-09 09:00")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Vanity for the bathroom in Marlow Street.\n\nBasis: your plans of 12 January for Marlow Street.",
            "Basis:",
        ),
        ("We cut the bathroom panels to revision C on Monday, Marlow Street first.", "We cut"),
    ],
)
def test_a_later_text_that_goes_by_what_was_replaced_is_told(make, text, words):
    new, mail = drawing(make), make.mail(text, "2026-03-13 09:00", title="Vanity")
    (found,) = make.see(new, mail, kind="replaced-in-use")
    assert [item.artifact for item in found.evidence] == [new.id, mail.id]
    assert found.evidence[0].quote == "Replaces revision C of 12 January 2026."
    assert found.evidence[1].quote.startswith(words)
    assert (found.template, found.certain) == ("superseded-version-in-use", False)


@pytest.mark.parametrize(
    "new",
    [
        "Bad Marlow Street\nFassung D, ersetzt den Plan vom 12. Januar 2026.",
        "Salle de bain Marlow Street\nCe plan remplace celui du 12 janvier 2026.",
        "Baño Marlow Street\nEste plano sustituye al del 12 de enero de 2026.",
        "Marlow Street 욕실\n2026년 1월 12일 도면을 대체합니다.",
    ],
)
def test_it_is_read_in_other_languages(make, new):
    mail = make.mail(
        "Bathroom Marlow Street: panels as in the sheet of 12 January.", "2026-03-13 09:00", title="x"
    )
    bathroom = drawing(make, new + "\nBathroom panels.")
    assert len(make.see(bathroom, mail, kind="replaced-in-use")) == 1


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("2026-03-05 09:00", "We cut the bathroom panels to revision C, Marlow Street first."),
        ("2026-03-13 09:00", "We cut the bathroom panels to revision D, Marlow Street first."),
        ("2026-03-13 09:00", "Throw revision C away, it is replaced: bathroom in Marlow Street."),
        ("2026-03-13 09:00", "Should we cut the bathroom panels to revision C in Marlow Street?"),
        ("2026-03-13 09:00", "Revision C of the stable doors is with the printer."),
        ("2026-03-13 09:00", "On 12 January we all went skiing."),
        ("2026-03-13 09:00", "> We cut the bathroom panels to revision C, Marlow Street first."),
    ],
)
def test_earlier_newer_asking_quoted_and_other_matters_are_left_alone(make, sent, text):
    assert make.see(drawing(make), make.mail(text, sent, title="x"), kind="replaced-in-use") == []


def test_machines_are_not_read(make):
    mail = make.mail(
        "Bathroom panels of Marlow Street to revision C.", "2026-03-13 09:00", title="x", automatic=True
    )
    assert make.see(drawing(make), mail, kind="replaced-in-use") == []
