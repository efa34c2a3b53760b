import pytest

from inference.observations.figures import rows, value_of

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
OLD = "Item | EUR\nSteel beams | 12,400\nGlass roof | 8,300\nLabour | 15,000\nScaffold | 2,100"
NEW = OLD.replace("8,300", "9,650")
NAMES = ("Offers/Estimate pavilion v1.xlsx", "Offers/Estimate pavilion v2.xlsx")


def two(make, old=OLD, new=NEW, names=NAMES):
    return (
        make.document(names[0], old, "2026-03-02 09:00"),
        make.document(names[1], new, "2026-03-09 09:00"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "I took the glass roof of the pavilion at 8,300 into the estimate for the client.",
        "The client signs the pavilion estimate, version 1, on Monday.",
    ],
)
def test_a_text_that_goes_by_the_older_version_is_told_with_both_numbers(make, text):
    older, newer = two(make)
    mail = make.mail(text, "2026-03-12 09:00", sender=BEN, title="Pavilion estimate")
    (found,) = make.see(older, newer, mail, kind="versions-differ")
    assert '"Glass roof" is 8,300 in the older and 9,650 in the newer one' in found.sentence
    assert (found.template, found.certain) == ("superseded-version-in-use", False)
    assert [item.artifact for item in found.evidence] == [newer.id, older.id, mail.id]
    assert found.evidence[0].quote == "Glass roof | 9,650"
    assert found.evidence[2].quote == text
    assert found.action.function_name == "share_document"
    assert found.action.parameters["recipients"] == ["Ben Okafor <ben@firm.example>"]


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("2026-03-05 09:00", "The glass roof of the pavilion is 8,300 in the estimate."),
        ("2026-03-12 09:00", "The glass roof of the pavilion is 9,650 in the estimate, it was 8,300."),
        ("2026-03-12 09:00", "Version 2 of the pavilion estimate replaces version 1."),
        ("2026-03-12 09:00", "The pavilion estimate, version 2, is with the client."),
        ("2026-03-12 09:00", "The pavilion has a new estimate, all 8,300 words of it."),
    ],
)
def test_texts_before_on_the_newer_or_on_the_change_are_left_alone(make, sent, text):
    mail = make.mail(text, sent, sender=BEN, title="Pavilion estimate")
    assert make.see(*two(make), mail, kind="versions-differ") == []


def test_versions_that_nobody_uses_are_left_alone(make):
    assert make.see(*two(make), kind="versions-differ") == []


@pytest.mark.parametrize(
    "names",
    [
        ("Budget 2025.xlsx", "Budget 2026.xlsx"),
        ("Estimate pavilion.xlsx", "Estimate boathouse.xlsx"),
        ("Invoice 2026-041.pdf", "Invoice 2026-042.pdf"),
    ],
)
def test_other_years_projects_and_numbers_are_no_versions(make, names):
    mail = make.mail(
        "The glass roof is at 8,300.", "2026-03-12 09:00", sender=BEN, title="Budget estimate invoice"
    )
    assert make.see(*two(make, names=names), mail, kind="versions-differ") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, OLD + "\n"),
        (OLD, OLD.replace("Steel", "steel")),
        (OLD, "Item | EUR\nSteel beams | 1,400\nGlass roof | 9,300\nLabour | 11,000\nScaffold | 1,100"),
        ("A sketch without numbers.", "A better sketch without numbers."),
    ],
    ids=["same", "in letters", "another week", "no numbers"],
)
def test_versions_of_the_same_numbers_or_of_all_other_ones(make, old, new):
    mail = make.mail("The glass roof is at 8,300 in version 1.", "2026-03-12 09:00", sender=BEN, title="Pavilion")
    assert make.see(*two(make, old, new), mail, kind="versions-differ") == []


def sent(make, to, name, text, when):
    mail = make.mail("Here it is.", when, sender=ANNA, to=[to], title="Estimate")
    return mail, make.attach(mail, name, text)


def test_somebody_who_got_the_older_version_only_is_told_of(make):
    older = sent(make, CARLA, "Estimate pavilion v1.xlsx", OLD, "2026-03-03 09:00")
    newer = make.document(NAMES[1], NEW, "2026-03-09 09:00")
    (found,) = make.see(*older, newer, kind="versions-differ")
    assert "went to Carla Ruiz on Tue 3 March 2026" in found.sentence
    assert found.action.parameters["document"] == newer.label


def test_a_row_that_was_added_is_a_difference_as_well(make):
    older = sent(make, CARLA, "Objects 2 March.csv", OLD, "2026-03-03 09:00")
    newer = make.document("Objects v3.xlsx", f"{OLD}\nRailing | 3,300", "2026-03-09 09:00")
    (found,) = make.see(*older, newer, kind="versions-differ")
    assert 'adds "Railing" with 3,300' in found.sentence


def test_somebody_who_got_both_or_was_told_is_not(make):
    older = sent(make, CARLA, "Estimate pavilion v1.xlsx", OLD, "2026-03-03 09:00")
    newer = sent(make, CARLA, "Estimate pavilion v2.xlsx", NEW, "2026-03-09 09:00")
    assert make.see(*older, *newer, kind="versions-differ") == []
    filed = make.document(NAMES[1], NEW, "2026-03-09 09:00")
    told = make.mail(
        "The pavilion estimate has gone up, mind the glass.", "2026-03-10 09:00", sender=ANNA, to=[CARLA]
    )
    assert make.see(*older, filed, told, kind="versions-differ") == []


def test_a_newer_version_of_long_ago_is_settled(make):
    older = sent(make, CARLA, "Estimate pavilion v1.xlsx", OLD, "2025-11-03 09:00")
    newer = make.document(NAMES[1], NEW, "2025-11-09 09:00")
    assert make.see(*older, newer, kind="versions-differ") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("| Design | 4.250,00 \u20ac |", {"design": 4250.0}),
        ("No | Object | Year | Value\n1 | Knot board | 1912 | 27500", {"knot board": 27500.0}),
        ('1,"Hawser, tarred hemp",1871,18000', {"hawser, tarred hemp": 18000.0}),
        ("Sum insured\nEUR 348,000\nObjects\n12", {"sum insured": 348000.0, "objects": 12.0}),
        ("- Miete: 1.250 EUR", {"miete": 1250.0}),
        ("\uc784\ub300\ub8cc | 1,200,000\uc6d0", {"\uc784\ub300\ub8cc": 1200000.0}),
        ("Total | 5\nTotal | 6", {}),
        ("Date: 2026-03-04", {}),
        ("We have 3, 4 and 5 of them.", {}),
    ],
)
def test_rows_are_read_from_tables_lists_and_lines(text, found):
    assert {label: row.value for label, row in rows(text).items()} == found


@pytest.mark.parametrize(
    ("figure", "value"),
    [("1,200", 1200.0), ("1.5", 1.5), ("0.125", 0.125), ("1'200", 1200.0), ("12,5", 12.5), ("1.2.3", None)],
)
def test_figures_are_read_in_all_writings(figure, value):
    assert value_of(figure) == value
