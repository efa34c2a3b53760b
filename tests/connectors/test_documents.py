"""Documents into text, in a process that may not take more than its share."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import docx
import openpyxl
import pytest
from reportlab.pdfgen.canvas import Canvas

from connectors.documents.extraction import FORMATS
from connectors.documents.folder import DocumentFolder
from connectors.documents.formats import SUFFIXES
from connectors.reading import Reader
from connectors.surroundings import Surroundings
from workspace import Kind

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
