"""Documents into text, in a process that may not take more than its share."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import docx
import openpyxl
import pptx
import pytest
from reportlab.pdfgen.canvas import Canvas

from connectors.documents.extraction import FORMATS
from connectors.documents.folder import DocumentFolder
from connectors.documents.formats import SUFFIXES
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from workspace import Kind, Trust

AROUND = Surroundings(frozenset(), frozenset(), ZoneInfo("UTC"), lambda: datetime.now(UTC), 30, 30)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as reader:
        yield reader


def read(reader: Reader, name: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    found = reader.document(name, "", data)
    assert found is not None
    return found


def test_the_known_endings_are_those_that_can_be_read() -> None:
    assert frozenset(FORMATS) == SUFFIXES


def test_unknown_types_are_left_alone(reader: Reader) -> None:
    assert reader.document("a.bin", "application/octet-stream", b"x") is None
    assert reader.document("no ending", "text/plain", b"x") == ("x", ())


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße".encode(), "Grüße"),
        ("Grüße aus Köln".encode("cp1252"), "Grüße aus Köln"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Hello world".encode("utf-16-le"), "Hello world"),
        (
            "会議の資料を送りましたので、ご確認ください。".encode("cp932"),
            "会議の資料を送りましたので、ご確認ください。",
        ),
        (b"\x00\x01 a\r\nb", "a\nb"),
        (b"", ""),
    ],
)
def test_plain_text_in_many_charsets(reader: Reader, data: bytes, text: str) -> None:
    assert read(reader, "a.txt", data)[0] == text


def test_tables_become_rows(reader: Reader) -> None:
    assert read(reader, "a.csv", b'Item;Sum\r\n"Rent; flat";100\r\n')[0] == "Item | Sum\nRent; flat | 100"
    book = openpyxl.Workbook()
    book.active.title = "Budget"
    book.active.append(["Item", "Sum"])
    book.active.append(["Rent", 100])
    book.create_sheet("Empty")
    file = io.BytesIO()
    book.save(file)
    assert read(reader, "a.XLSX", file.getvalue())[0] == "Budget\nItem | Sum\nRent | 100"


def test_word_documents_with_tables_and_headers(reader: Reader) -> None:
    document = docx.Document()
    document.add_paragraph("First")
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "left"
    table.cell(0, 1).text = "right"
    document.add_paragraph("Last")
    document.sections[0].header.paragraphs[0].text = "Confidential"
    file = io.BytesIO()
    document.save(file)
    text, defects = read(reader, "a.docx", file.getvalue())
    assert [line.strip() for line in text.split("\n") if line.strip()] == [
        "First",
        "left  | right",
        "Last",
        "Confidential",
    ]
    assert defects == ()


def test_pdf_pages(reader: Reader) -> None:
    file = io.BytesIO()
    canvas = Canvas(file)
    for number in (1, 2):
        canvas.drawString(100, 700, f"Page number {number}")
        canvas.showPage()
    canvas.save()
    text, defects = read(reader, "a.pdf", file.getvalue())
    assert text.split("\n\n") == ["Page number 1", "Page number 2"]
    assert defects == ()
    assert read(reader, "cut.pdf", file.getvalue()[:300])[1]


def test_slides_in_order_with_tables_and_notes(reader: Reader) -> None:
    show = pptx.Presentation()
    for number in (1, 2):
        slide = show.slides.add_slide(show.slide_layouts[5])
        slide.shapes.title.text = f"Slide {number}"
    grid = slide.shapes.add_table(2, 2, 0, 0, 900_000, 900_000).table
    for place, text in enumerate(("Item", "Sum", "Rent", "100")):
        grid.cell(place // 2, place % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say it slowly"
    file = io.BytesIO()
    show.save(file)
    text, defects = read(reader, "a.pptx", file.getvalue())
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    assert lines == ["Slide 1", "Slide 2", "Item | Sum", "Rent | 100", "Say it slowly"]
    assert defects == ()


OPEN = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">{}</office:document-content>"""


def open_document(body: str, **others: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.xml", OPEN.format(f"<office:body>{body}</office:body>"))
        for name, text in others.items():
            archive.writestr(name.replace("_", "/") + ".xml", text)
    return file.getvalue()


def test_open_documents_with_headings_lists_tables_and_notes(reader: Reader) -> None:
    body = """<office:text>
     <text:tracked-changes><text:deletion><text:p>deleted words</text:p></text:deletion></text:tracked-changes>
     <text:h>Plan</text:h>
     <text:p>We
       <text:span>meet</text:span><text:s text:c="3"/>soon<text:note><text:note-citation>1</text:note-citation>
       <text:note-body><text:p>on Monday</text:p></text:note-body></text:note>.<office:annotation><dc:creator>Bo
       </dc:creator><text:p>really?</text:p></office:annotation><text:line-break/>All.</text:p>
     <text:list><text:list-item><text:p>milk</text:p></text:list-item>
      <text:list-item><text:p>bread</text:p></text:list-item></text:list>
     <table:table table:name="Table1"><table:table-header-rows><table:table-row>
      <table:table-cell><text:p>Item</text:p></table:table-cell><table:table-cell><text:p>Sum</text:p></table:table-cell></table:table-row>
      </table:table-header-rows><table:table-row>
      <table:table-cell table:number-columns-repeated="2"><text:p>1</text:p>
      </table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row>
      <table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row></table:table>
     </office:text>"""
    head = OPEN.format("<style:header><text:p>Confidential</text:p></style:header>")
    text, defects = read(reader, "a.odt", open_document(body, styles=head))
    assert text.replace("\n\n", "\n").split("\n") == [
        "Plan",
        "We meet soon (on Monday).",
        "All.",
        "- milk",
        "- bread",
        "Item | Sum",
        "1 | 1",
        "Confidential",
    ]
    assert defects == ()


def test_open_spreadsheets_by_sheet(reader: Reader) -> None:
    row = "<table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row>"
    sheets = f"""<office:spreadsheet><table:table table:name="May">{row.format("Rent") + row.format("Food")}
     </table:table><table:table table:name="None"/>
     <table:table table:name="June">{row.format("Rent")}</table:table>
     </office:spreadsheet>"""
    assert read(reader, "a.ods", open_document(sheets)) == ("May\nRent\nFood\n\nJune\nRent", ())


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx", ".odt"])
def test_what_needs_a_password_says_so(reader: Reader, suffix: str) -> None:
    protected = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3_000)
    if suffix == ".odt":
        protected = open_document("", **{"META-INF_manifest": "<m:encryption-data/>"})
    text, (defect,) = read(reader, f"a{suffix}", protected)
    assert text == ""
    assert defect.startswith("protected by a password")


def test_long_text_is_cut_and_says_so(reader: Reader) -> None:
    for name in ("a.txt", "a.html", "a.csv"):
        text, defects = read(reader, name, b"word, " * 300_000)
        assert len(text) <= 1_000_000
        assert defects == ("only its first 1,000,000 characters kept",)


LOOP = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources 5 0 R >>
endobj
4 0 obj
4 0 R
endobj
5 0 obj
<< /XObject << /X 5 0 R >> >>
endobj
trailer
<< /Root 1 0 R /Prev 0 >>
startxref
0
%%EOF
"""


def test_a_pdf_that_loops_is_a_defect(reader: Reader) -> None:
    assert read(reader, "loop.pdf", LOOP)[1]
    assert read(reader, "a.txt", b"next") == ("next", ())


@pytest.mark.parametrize("name", ["bomb.docx", "bomb.xlsx"])
def test_what_unpacks_without_end_is_a_defect(reader: Reader, name: str) -> None:
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/sharedStrings.xml", "w") as member,
    ):
        for _ in range(300):
            member.write(bytes(2**20))
    data = bomb.getvalue()
    _, defects = read(reader, name, data)
    assert "unpacks to more than" in defects[0]
    # The directory may claim less than there is: what comes out is counted.
    lied = data.replace((300 * 2**20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert read(reader, name, lied)[1]


def test_a_document_that_takes_too_long_costs_no_more_than_its_time() -> None:
    with Reader(seconds=0.0) as reader:
        text, defects = read(reader, "a.txt", b"x" * 10_000_000)
        assert (text, len(defects)) == ("", 1)
    with Reader() as reader:
        assert read(reader, "a.txt", b"x") == ("x", ())


def test_memory_is_bounded_and_the_next_document_is_read(reader: Reader) -> None:
    rows = io.BytesIO()
    with zipfile.ZipFile(rows, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" * 30_000_000)
    assert read(reader, "deep.docx", rows.getvalue())[1]
    assert read(reader, "a.txt", b"next") == ("next", ())


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_garbage_of_every_type_raises_nothing(reader: Reader, suffix: str) -> None:
    for data in (
        b"",
        b"\x00",
        os.urandom(3_000),
        b"PK\x03\x04" + os.urandom(300),
        b"%PDF-1.7\n" + os.urandom(300),
    ):
        text, defects = read(reader, f"a{suffix}", data)
        text.encode()
        assert all("\n" not in defect for defect in defects)


def test_every_document_of_the_corpora_is_read(reader: Reader, corpora: Any) -> None:
    files = sorted(path for path in (corpora / "documents").rglob("*") if path.is_file())
    assert len(files) > 15
    for path in files:
        text, defects = read(reader, path.name, path.read_bytes())
        assert text or path.stem == "empty", path
        assert not defects, path


def test_a_new_file_at_the_path_of_a_moved_one_is_another_document(tmp_path: Path, kept: Any) -> None:
    (tmp_path / "a.txt").write_text("old words")
    kept.take(DocumentFolder("test", tmp_path, AROUND).sync({}))
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    (tmp_path / "a.txt").write_text("other words")
    os.utime(tmp_path / "a.txt", (1, 1))
    kept.take(DocumentFolder("test", tmp_path, AROUND).sync(kept.cursor))
    assert {one.text for one in kept.artifacts.values()} == {"old words", "other words"}
    assert kept.gone == []


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, kept: Any) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "loop").symlink_to(folder)
    kept.take(DocumentFolder("test", folder, AROUND).sync({}))
    assert set(kept.artifacts) == {"a.txt"}


def test_a_document_beyond_the_size_limit_is_named_not_read(
    tmp_path: Path, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.documents.folder.MAX_FILE", 2**20)
    (tmp_path / "large.txt").write_bytes(b"x" * (2**20 + 1))
    kept.take(DocumentFolder("test", tmp_path, AROUND).sync({}))
    (large,) = kept.artifacts.values()
    assert (large.kind, large.title, large.text) == (Kind.DOCUMENT, "large.txt", "")
    assert large.defects == ("larger than 1 MB; not read",)


def test_an_attached_document_is_read_like_any_other(reader: Reader, make_mail: Callable[..., bytes]) -> None:
    assert reader.document("", "text/csv", b"a,b\n1,2\n") == ("a | b\n1 | 2", ())


def test_mails_in_a_folder_are_mail_with_what_they_carry(
    tmp_path: Path, kept: Any, make_mail: Callable[..., bytes]
) -> None:
    body = "--B\n\nSee the table.\n--B\nContent-Type: text/csv; name=a.csv\n\nRent,100\n--B--"
    (tmp_path / "1.eml").write_bytes(
        make_mail(1, body, MIME_Version="1.0", Content_Type="multipart/mixed; boundary=B")
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "copy.EML").write_bytes((tmp_path / "1.eml").read_bytes())
    (tmp_path / "2.eml").write_bytes(make_mail(2, Message_ID="<a.txt>"))
    (tmp_path / "a.txt").write_text("mine")
    folder = DocumentFolder("test", tmp_path, replace(AROUND, known=frozenset({"ann@example.com"})))
    kept.take(folder.sync({}))
    mail, table = kept.artifacts["m1@example.com"], kept.artifacts["m1@example.com#2"]
    assert (mail.kind, mail.text, mail.trust) == (Kind.EMAIL, "See the table.", Trust.KNOWN)
    assert (table.kind, table.text, table.parent) == (Kind.DOCUMENT, "Rent | 100", mail.key)
    assert set(kept.artifacts) == {"m1@example.com", "m1@example.com#2", "./a.txt", "a.txt"}
    assert kept.artifacts["a.txt"].text == "mine"
    (tmp_path / "1.eml").unlink()
    kept.take(folder.sync(kept.cursor))
    assert kept.artifacts["m1@example.com"].origin.endswith("copy.EML")
    (tmp_path / "sub").rename(tmp_path / "other")
    kept.take(folder.sync(kept.cursor))
    assert kept.gone == []
    assert list(folder.sync(kept.cursor)) == []
