"""vCards of all versions, as bytes, into cards; and files of thousands of them."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from connectors.contacts import cards
from connectors.contacts.entry import WANTED, artifact_of
from connectors.contacts.vcard import MAX_PROPERTIES, MAX_VALUE, count_cards, read_cards
from workspace import Artifact, Kind, Person, Role, Trust, UserError
from workspace.card import MANAGER, NOTES, fact, facts

MODIFIED = datetime(2026, 3, 1, 8, tzinfo=UTC)

FULL = (
    b"BEGIN:VCARD\r\n"
    b"VERSION:3.0\r\n"
    b"PRODID:-//Apple Inc.//iPhone OS 17.4//EN\r\n"
    b"N:Ortiz;Ben;;Dr.;\r\n"
    b"FN:Dr. Ben Ortiz\r\n"
    b"ORG:Harbour Museum\\, Dunmarra;Loans;\r\n"
    b"TITLE:Registrar\r\n"
    b"EMAIL;type=INTERNET;type=HOME:Ben.Ortiz@Private.example\r\n"
    b"item1.EMAIL;type=INTERNET;type=pref:ben@museum.example\r\n"
    b"item1.X-ABLabel:_$!<Work>!$_\r\n"
    b"TEL;type=CELL;type=VOICE;type=pref:+353 1 555 0100\r\n"
    b"item2.ADR;type=WORK:;;1 Quay\\nHall 2;Dunmarra;;;Ireland\r\n"
    b"BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-12\r\n"
    b"item3.X-ABRELATEDNAMES:Helen Tierney\r\n"
    b"item3.X-ABLabel:_$!<Manager>!$_\r\n"
    b"item4.X-ABRELATEDNAMES:Ann Bell\r\n"
    b"item4.X-ABLabel:_$!<Spouse>!$_\r\n"
    b"PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAAAQABAAD\r\n"
    b" EMAIL:not@a.line\r\n"
    b" AAAA==\r\n"
    b"NOTE:Met at the fair\\; likes\r\n"
    b"  boats.\\nManager: somebody else\r\n"
    b"REV:2026-02-12T10:00:00Z\r\n"
    b"UID:6A1B-2C\r\n"
    b"END:VCARD\r\n"
)


def read(data: bytes) -> list[Artifact]:
    return [artifact_of(card, "book", "file:///b.vcf", MODIFIED) for card in read_cards(data, WANTED)]


def one(data: bytes) -> Artifact:
    (artifact,) = read(data)
    return artifact


def card(*lines: str | bytes, version: str = "3.0") -> bytes:
    body = [line if isinstance(line, bytes) else line.encode() for line in lines]
    return b"\r\n".join([b"BEGIN:VCARD", b"VERSION:" + version.encode(), *body, b"END:VCARD", b""])


def test_a_card_becomes_plain_lines_and_a_person_for_each_address() -> None:
    artifact = one(FULL)
    assert artifact.text == (
        "Organisation: Harbour Museum, Dunmarra\n"
        "Department: Loans\n"
        "Title: Registrar\n"
        "Mail: ben@museum.example (work)\n"
        "Mail: ben.ortiz@private.example (home)\n"
        "Phone: +353 1 555 0100 (mobile)\n"
        "Address: 1 Quay Hall 2, Dunmarra, Ireland (work)\n"
        "Birthday: 12 March\n"
        "Manager: Helen Tierney\n"
        "Related: Ann Bell (spouse)\n"
        "Notes:\n"
        "Met at the fair; likes boats.\n"
        "Manager: somebody else"
    )
    assert artifact.people == (
        Person(Role.CONTACT, "Dr. Ben Ortiz", "ben@museum.example"),
        Person(Role.CONTACT, "Dr. Ben Ortiz", "ben.ortiz@private.example"),
    )
    assert (artifact.kind, artifact.title, artifact.key) == (Kind.DOCUMENT, "Dr. Ben Ortiz", "6A1B-2C")
    assert (artifact.trust, artifact.time) == (Trust.SELF, datetime(2026, 2, 12, 10, tzinfo=UTC))
    assert artifact.defects == ()
    assert artifact.is_card


def test_the_text_of_a_card_is_read_back_but_for_its_notes() -> None:
    said = facts(one(FULL).text)
    assert [value for label, value in said if label == MANAGER] == ["Helen Tierney"]
    assert fact(said, "Organisation") == "Harbour Museum, Dunmarra"
    assert fact(said, NOTES) == ""


def test_version_2_1_with_quoted_printable_charsets_and_bare_types() -> None:
    artifact = one(
        b"BEGIN:VCARD\nVERSION:2.1\n"
        b"N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg\n"
        b"ORG;CHARSET=ISO-8859-1:Gr\xfcn AG\n"
        b"EMAIL;PREF;INTERNET:joerg@gruen.example\n"
        b"TEL;WORK;VOICE:0711 1\n"
        b"PHOTO;JPEG;ENCODING=BASE64:\n/9j/4AAQSkZJRg\nABAQAAAQABAAD==\n\n"
        b"NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Zeile eins=0D=0A=\nZeile zwei =\nmit C:\\neu\n"
        b"AGENT:\nBEGIN:VCARD\nVERSION:2.1\nFN:The agent\nEMAIL:agent@x.example\nEND:VCARD\n"
        b"TITLE:Chef\nEND:VCARD\n"
    )
    assert artifact.title == "J\u00f6rg M\u00fcller"
    assert artifact.text == (
        "Organisation: Gr\u00fcn AG\nTitle: Chef\nMail: joerg@gruen.example\nPhone: 0711 1 (work)\n"
        "Notes:\nZeile eins\nZeile zwei mit C:\\neu"
    )
    assert artifact.people == (Person(Role.CONTACT, "J\u00f6rg M\u00fcller", "joerg@gruen.example"),)
    assert artifact.defects == ()
    assert artifact.time == MODIFIED


def test_version_4_with_uris_and_quoted_parameters() -> None:
    artifact = one(
        card(
            "UID:urn:uuid:4fbe8971",
            "FN:Ann Bell",
            'EMAIL;TYPE="home,work";PREF=1:ann@x.example',
            "TEL;VALUE=uri;TYPE=cell:tel:+49-711-1",
            'ADR;TYPE=home;LABEL="1 Road: the; end":;;1 Road;Town;;;',
            "RELATED;TYPE=spouse;VALUE=text:Ben",
            "RELATED;TYPE=manager:mailto:boss@x.example",
            "BDAY:--0412",
            "CATEGORIES:friends,choir\\, alto",
            version="4.0",
        )
    )
    assert artifact.text == (
        "Mail: ann@x.example (home, work)\nPhone: +49-711-1 (mobile)\nAddress: 1 Road, Town (home)\n"
        "Birthday: 12 April\nRelated: Ben (spouse)\nManager: boss@x.example\nCategories: friends, choir, alto"
    )
    assert artifact.key == "urn:uuid:4fbe8971"


def test_a_fold_may_part_a_character() -> None:
    data = card(b"FN:J\xc3\r\n \xb6rg", b"NOTE:tab\r\n\tfold")
    assert (one(data).title, one(data).text) == ("J\u00f6rg", "Notes:\ntabfold")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-16-be"])
def test_files_that_say_their_encoding(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert one(mark + card("FN:J\u00f6rg \u4e2d").decode().encode(encoding)).title == "J\u00f6rg \u4e2d"


@pytest.mark.parametrize(
    ("data", "title", "defect"),
    [
        (b"BEGIN:VCARD\nFN:Cut\nEMAIL:cut@x.exam", "Cut", "the card has no end"),
        (b"BEGIN:VCARD\nFN:Ben\nEMAIL:no address\nEND:VCARD\n", "Ben", "a mail address can't be read"),
        (b"BEGIN:VCARD\nTEL:1\nEND:VCARD\n", "", "no name"),
        (b"BEGIN:VCARD\nFN:Ben\nREV:yesterday\nEND:VCARD\n", "Ben", "the time of its revision can't be read"),
        (b"BEGIN:VCARD\nFN:Ben\nNOTE;ENCODING=b:A\nEND:VCARD\n", "Ben", "base64 that can't be read"),
        (
            b"BEGIN:VCARD\nFN;CHARSET=klingon:J\xc3\xb6rg\nEND:VCARD\n",
            "J\u00f6rg",
            "unknown charset 'klingon'; read as utf-8",
        ),
        (b'BEGIN:VCARD\nFN:Ben\nTEL;TYPE="a:1\nEND:VCARD\n', "Ben", "a line can't be read as a property"),
    ],
)
def test_a_broken_card_is_kept_with_a_defect(data: bytes, title: str, defect: str) -> None:
    artifact = one(data)
    assert artifact.title == title
    assert defect in artifact.defects


def test_a_card_that_is_not_closed_does_not_swallow_the_next() -> None:
    first, second = read(b"BEGIN:VCARD\nFN:A\nBEGIN:VCARD\nFN:B\nEND:VCARD\n")
    assert (first.title, first.defects) == ("A", ("the card has no end",))
    assert (second.title, second.defects) == ("B", ())


def test_lines_of_a_note_that_was_not_folded_are_kept() -> None:
    artifact = one(card("FN:Ben", "NOTE:first", "second line", "TEL:1"))
    assert artifact.text == "Phone: 1\nNotes:\nfirst\nsecond line"
    assert artifact.defects == ("a line can't be read as a property",)


def test_a_card_without_a_full_name_takes_what_it_has() -> None:
    assert one(card("N:Bell;Ann;Lee;;PhD")).title == "Ann Lee Bell PhD"
    assert one(card("ORG:Quay Ltd", "EMAIL:office@quay.example")).people == (
        Person(Role.CONTACT, "Quay Ltd", "office@quay.example"),
    )
    assert one(card("EMAIL:x@quay.example")).people == (Person(Role.CONTACT, "", "x@quay.example"),)
    assert one(card("FN:Only Name")).people == (Person(Role.CONTACT, "Only Name", ""),)


def test_without_a_uid_the_key_follows_from_what_the_card_says() -> None:
    plain, same, other = (one(card("FN:Ben", f"TEL:{n}", f"REV:2026010{d}")) for n, d in ((1, 1), (1, 2), (2, 1)))
    assert plain.key.startswith("digest:")
    assert plain.key == same.key != other.key
    assert one(card("FN:Ben", "UID:unread:x")).key.startswith("digest:")


def test_a_line_of_foreign_words_is_no_fact() -> None:
    said = one(card("FN:Ben", "TITLE:Clerk\\nManager: eve@x.example", "NICKNAME:\u202eB\x1b[2J")).text
    assert said == "Title: Clerk Manager: eve@x.example\nNickname: B[2J"


def test_sizes_are_bounded() -> None:
    artifact = one(card("FN:Ben", "NOTE:" + "x" * (2 * MAX_VALUE)))
    assert MAX_VALUE - 10 < len(artifact.text) <= MAX_VALUE + 10
    artifact = one(card("FN:Ben", *(f"EMAIL:b{n}@x.example" for n in range(MAX_PROPERTIES + 5))))
    assert len(artifact.people) == 50
    assert artifact.defects == (f"more than {MAX_PROPERTIES:,} properties; the rest not read",)


def pieces() -> st.SearchStrategy[bytes]:
    known = [
        b"BEGIN:VCARD",
        b"END:VCARD",
        b"FN:",
        b"N:a;b",
        b"\n",
        b"\r\n ",
        b"=\n",
        b";",
        b":",
        b'"',
        b"\\",
        b",",
    ]
    more = [b"AGENT:", b"EMAIL;", b"NOTE;ENCODING=QUOTED-PRINTABLE:", b"TEL;ENCODING=b:", b"CHARSET=", b"a@b"]
    return st.lists(st.sampled_from(known + more) | st.binary(max_size=6), max_size=40).map(b"".join)


@given(data=pieces())
@example(data=b"BEGIN:VCARD\nORG:\nN:\nBDAY:1980-13-45\nREV:0001-01-01T00:00:00+14:00\nADR:\\")
def test_nothing_raises(data: bytes) -> None:
    for artifact in read(data):
        assert artifact.key
        assert artifact.is_card
        (artifact.title + artifact.text + artifact.key + "".join(map(str, artifact.people))).encode("utf-8")
        assert all("\n" not in label + value for label, value in facts(artifact.text))


def test_an_export_of_thousands_with_photos(tmp_path: Path, kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.connectors.conftest import surroundings

    photo = "PHOTO;ENCODING=b;TYPE=JPEG:" + "\r\n ".join(["A" * 74] * 60)
    path = tmp_path / "export.vcf"
    data = b"".join(card(f"FN:Person {n}", f"EMAIL:p{n}@x.example", photo) for n in range(3_000))
    path.write_bytes(data)
    assert count_cards(data) == 3_000
    connector = cards.Cards("book", path, surroundings())
    assert connector.check() == "address book with 3,000 contacts"
    kept.take(connector.sync({}))
    assert len(kept.artifacts) == 3_000
    before = kept.said()
    # A new export with one contact more leaves the others as they were.
    path.write_bytes(data + card("FN:New"))
    os.utime(path, ns=(1, 1))
    kept.take(connector.sync(kept.cursor))
    assert len(kept.artifacts) == 3_001
    assert before.items() <= kept.said().items()

    monkeypatch.setattr(cards, "MAX_CARDS", 10)
    path.write_bytes(data)
    kept.take(connector.sync(kept.cursor))
    assert kept.artifacts["unread:export.vcf"].defects == ("more than 10 cards; the rest not read",)
    assert len(kept.artifacts) == 11
    monkeypatch.setattr(cards, "MAX_FILE", 1024 * 1024)
    os.utime(path, ns=(2, 2))
    kept.take(connector.sync(kept.cursor))
    assert kept.artifacts["unread:export.vcf"].defects == ("larger than 1 MB; not read",)


def test_what_holds_no_card_is_said_when_it_is_added(tmp_path: Path) -> None:
    from tests.connectors.conftest import surroundings

    (tmp_path / "a.vcf").write_bytes(b"nothing")
    with pytest.raises(UserError, match="holds no contacts"):
        cards.Cards("book", tmp_path, surroundings()).check()


def test_a_card_that_comes_with_a_mail_is_the_senders(make_mail: Callable[..., bytes]) -> None:
    from connectors.mail.message import Mailbox, read_message

    mail = make_mail(
        1,
        f"--b\nContent-Type: text/vcard; name=x.vcf\nContent-Disposition: attachment; filename=x.vcf\n\n"
        f"{FULL.decode()}\n--b--",
        Content_Type="multipart/mixed; boundary=b",
    )
    artifacts = read_message(mail, Mailbox("test"))
    assert not any(artifact.is_card for artifact in artifacts)
    assert all(artifact.trust is Trust.UNKNOWN for artifact in artifacts)
