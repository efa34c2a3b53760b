"""What was written anew, and what was quoted."""

# ruff: noqa: RUF001 (letters of many languages stand here on purpose)

import pytest

from connectors.html import tame, to_text
from connectors.mail.quoting import split


@pytest.mark.parametrize(
    "introduction",
    [
        "On Mon, 16 Mar 2026 at 08:30, Ann <ann@example.com> wrote:",
        "On Mon, 16 Mar 2026 at 08:30, Ann Somebody\n<ann@example.com> wrote:",
        "Am Mo., 16. März 2026 um 08:30 Uhr schrieb Ann <ann@example.com>:",
        "Am 16.03.26 um 08:30 schrieb Ann:",
        "Le lun. 16 mars 2026 à 08:30, Ann <ann@example.com> a écrit :",
        "El lun, 16 mar 2026 a las 8:30, Ann (<ann@example.com>) escribió:",
        "Em seg., 16 de mar. de 2026 às 08:30, Ann <ann@example.com> escreveu:",
        "Il giorno lun 16 mar 2026 alle ore 08:30 Ann <ann@example.com> ha scritto:",
        "Op ma 16 mrt 2026 om 08:30 schreef Ann <ann@example.com>:",
        "W dniu 16.03.2026 o 08:30, Ann pisze:",
        "Den mån 16 mars 2026 kl 08:30 skrev Ann <ann@example.com>:",
        "2026年3月16日(月) 8:30 Ann <ann@example.com>のメール:",
        "пн, 16 мар. 2026 г. в 08:30, Ann <ann@example.com> написал(а):",
    ],
)
def test_the_line_that_introduces_a_quotation_belongs_to_it(introduction: str) -> None:
    fresh, quoted = split(f"My answer: yes.\n\n{introduction}\n> The question\n> in two lines\n")
    assert fresh == "My answer: yes."
    assert quoted == f"{introduction}\n> The question\n> in two lines"


def test_answers_between_quotations_are_fresh() -> None:
    fresh, quoted = split("On Monday, 16 March, Ann wrote:\n> First?\nYes.\n\n> Second?\n\nNo.\n")
    assert fresh.split() == ["Yes.", "No."]
    assert quoted.split("\n") == ["On Monday, 16 March, Ann wrote:", "> First?", "> Second?"]


@pytest.mark.parametrize(
    "block",
    [
        "-----Original Message-----\nFrom: Ann\nSubject: x\n\nOld words",
        "-----Ursprüngliche Nachricht-----\nVon: Ann\n\nOld words",
        "---------- Forwarded message ---------\nFrom: Ann\n\nOld words",
        "Begin forwarded message:\n\nFrom: Ann\n\nOld words",
        "________________________________\nFrom: Ann <ann@example.com>\nSent: Monday, March 16, 2026 8:30 AM\n"
        "To: Me\nSubject: Offer\n\nOld words",
        "Von: Ann <ann@example.com>\nGesendet: Montag, 16. März 2026 08:30\nAn: Me\nBetreff: Angebot\n\nOld words",
        "De : Ann\nEnvoyé : lundi 16 mars 2026 08:30\nÀ : Me\nObjet : Offre\n\nOld words",
        "*From:* Ann\n*Date:* Monday\n*To:* Me\n*Subject:* Offer\n\nOld words",
        "On Mon, Mar 16, 2026 at 8:30 AM Ann <ann@example.com> wrote:\n\nOld words",
    ],
)
def test_what_follows_a_separator_is_quoted(block: str) -> None:
    fresh, quoted = split(f"New words.\n\n{block}\n")
    assert fresh == "New words."
    assert "Old words" in quoted


@pytest.mark.parametrize(
    "text",
    [
        "From: the left side, go on.\nThen turn.",
        "She wrote:\nno quotation follows.",
        "We met on 16 March and Ann wrote: fine.",
        "Dear Ann,\n\n--- the usual ---\n\nBye",
    ],
)
def test_words_that_only_look_like_a_quotation_stay_fresh(text: str) -> None:
    assert split(text) == (text, "")


def test_a_long_signature_is_cut_and_a_short_one_stays() -> None:
    fresh, _ = split("Text\n-- \nAnn\nHead of Sales\n")
    assert fresh == "Text\n-- \nAnn\nHead of Sales"
    fresh, _ = split("Text\n-- \n" + "legal words\n" * 200)
    assert len(fresh) < 600


@pytest.mark.parametrize(
    "quotation",
    [
        '<div class="gmail_quote"><div class="gmail_attr">On Mon, 16 Mar 2026, Ann wrote:<br></div>'
        '<blockquote class="gmail_quote">Old <b>words</b></blockquote></div>',
        '<div class="moz-cite-prefix">Am 16.03.26 um 08:30 schrieb Ann:<br></div>'
        '<blockquote type="cite"><p>Old words</p></blockquote>',
        '<div class="yahoo_quoted"><div>On Monday, 16 March 2026, Ann wrote:</div><div>Old words</div></div>',
        '<div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Ann<br><b>Sent:</b> Monday<br>'
        "<b>Subject:</b> x</div><div>Old words</div>",
        '<div style="border-top:solid #E1E1E1 1.0pt"><p><b>From:</b> Ann<br><b>Sent:</b> Monday<br>'
        "<b>To:</b> Me<br><b>Subject:</b> x</p></div><p>Old words</p>",
    ],
)
def test_quotations_in_html_are_told_by_their_containers(quotation: str) -> None:
    text, _ = to_text(f"<html><body><div>New words.</div>{quotation}</body></html>")
    fresh, quoted = split(text)
    assert fresh == "New words."
    assert "Old words" in quoted.replace("> ", "")


def test_a_table_keeps_its_rows_and_columns() -> None:
    text, _ = to_text("<table><tr><th>Item<th>Sum</tr><tr><td>Rent</td><td>100</td></tr></table>")
    assert text == "Item | Sum\nRent | 100"


def test_long_texts_are_split_in_linear_time() -> None:
    for line in ("> quoted\n", "From: x\n", "On 1 wrote\n", "-- \n", "_" * 50 + "\n", "Sent: x\n"):
        fresh, quoted = split(line * 50_000)
        assert len(fresh) + len(quoted) <= len(line) * 50_000


@pytest.mark.parametrize(
    "html",
    [
        "<div " * 9_000,
        "<pre>\n" * 9_000,
        "<style>" * 9_000,
        "<style>" + "a{" * 100_000,
        "<p style='" + "display " * 100_000,
        "<tr> " * 9_000,
        "<td><table>" * 1_000 + "x",
        "</p>" * 9_000,
        "<" * 9_000,
    ],
)
def test_pages_that_never_close_anything_cost_little(html: str) -> None:
    assert tame(html)
    text, _ = to_text(html)
    assert len(text) <= len(html)


def test_preformatted_text_keeps_its_lines() -> None:
    assert to_text("<p>a\nb</p><PRE class=x>one\ntwo</PRE>")[0].split("\n")[-2:] == ["one", "two"]
