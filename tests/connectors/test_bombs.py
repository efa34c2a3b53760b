"""What is made to exhaust its reader costs bounded time and memory, and one line in the defects."""

import io
import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import docx
import openpyxl
import pptx
import pytest

from connectors.calendars.calendar import CalendarReading, Window
from connectors.calendars.component import Context
from connectors.child import MEMORY
from connectors.mail.message import MAX_INVITATION, MAX_PARTS, Mailbox, read_message
from connectors.reading import Reader

MEGABYTE = bytes(2**20)
ROOT = Path(__file__).parents[2]


def zipped(members: dict[str, bytes | Iterable[bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            with archive.open(name, "w") as member:
                for chunk in [data] if isinstance(data, bytes) else data:
                    member.write(chunk)
    return file.getvalue()


def large(megabytes: int) -> Iterable[bytes]:
    return (MEGABYTE for _ in range(megabytes))


def lying() -> bytes:
    """An archive whose directory says that its member has a hundred bytes."""
    data = bytearray(zipped({"word/document.xml": large(210)}))
    place = data.rfind(b"PK\1\2")
    data[place + 24 : place + 28] = (100).to_bytes(4, "little")
    return bytes(data)


def overlapping(count: int) -> bytes:
    """An archive whose directory names the same bytes as many members."""
    data = zipped({"content.xml": large(30)})
    directory, end = data.rfind(b"PK\1\2"), data.rfind(b"PK\5\6")
    entries = data[directory:end] * count
    counts = count.to_bytes(2, "little") * 2
    return (
        data[:directory] + entries + data[end : end + 8] + counts + len(entries).to_bytes(4, "little") + data[-6:]
    )


def office(kind: str, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """A document that says hello, one of its parts changed."""
    file = io.BytesIO()
    if kind == "docx":
        document = docx.Document()
        document.add_paragraph("hello")
        document.save(file)
    elif kind == "pptx":
        show = pptx.Presentation()
        show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "hello"
        show.save(file)
    else:
        book = openpyxl.Workbook()
        book.active.append(["hello"])
        book.save(file)
    archive = zipfile.ZipFile(file)
    parts = {name: archive.read(name) for name in archive.namelist()}
    return zipped(parts | {part: change(parts[part])})


def laughing(xml: bytes) -> bytes:
    """The part with a word in it that entities blow up to a milliard."""
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    bare = xml.partition(b"?>")[2] if xml.startswith(b"<?xml") else xml
    declared = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "lol">{entities}]>'.encode()
    return declared + bare.replace(b"hello", b"&a9;")


def open_document(body: str) -> bytes:
    spaces = "".join(f' xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"' for one in SPACES)
    return f"<office:d{spaces}><office:body>{body}</office:body></office:d>".encode()


SPACES = ("office", "text", "table")
REPEATED = (
    '<table:table-row table:number-rows-repeated="1048576"><table:table-cell '
    'table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>'
)


def pdf(*objects: bytes) -> bytes:
    """A PDF of these objects; the first is its catalog."""
    data = b"%PDF-1.5\n"
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    return data + head + b"trailer\n<< /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))


def deflated(data: bytes, more: bytes = b"/Filter /FlateDecode", times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 1)
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), more, data)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
TWICE = b"/Filter [/FlateDecode /FlateDecode]"
OBJECTS = b"/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode"


def pages(kids: bytes, count: int) -> bytes:
    return b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, count)


# Of each the name, its making, and how its one defect begins; "" where the limits leave nothing to say.
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "one member.docx": (lambda: zipped({"word/document.xml": large(210)}), "unpacks to more than 200 MB"),
    "members.xlsx": (lambda: zipped({f"xl/{n}.xml": MEGABYTE for n in range(210)}), "unpacks to more than 200 MB"),
    "many members.pptx": (lambda: zipped({str(n): b"" for n in range(6_000)}), "holds more than 5,000 parts"),
    "lying.docx": (lying, "one of its parts is broken"),
    "overlapping.odt": (lambda: overlapping(1_000), "its parts lie over each other"),
    "method.odt": (lambda: zipped({"content.xml": large(5)}, zipfile.ZIP_BZIP2), "packed as no office program"),
    "nested.odt": (
        lambda: zipped(
            {
                "content.xml": open_document("<office:text><text:p>hello</text:p></office:text>"),
                "inner.zip": zipped({"inner.zip": zipped({"x": large(210)})}),
            }
        ),
        "",
    ),
    "entities.docx": (lambda: office("docx", "word/document.xml", laughing), "can't be read (XMLSyntaxError"),
    "entities.pptx": (lambda: office("pptx", "ppt/slides/slide1.xml", laughing), "can't be read (XMLSyntaxError"),
    "entities.xlsx": (
        lambda: office("xlsx", "xl/worksheets/sheet1.xml", lambda xml: laughing(xml.replace(b"0<", b"hello<"))),
        "can't be read (ValueError",
    ),
    "entities.odt": (
        lambda: zipped(
            {"content.xml": laughing(open_document("<office:text><text:p>hello</text:p></office:text>"))}
        ),
        "can't be read (XMLSyntaxError",
    ),
    "paragraphs.docx": (
        lambda: office(
            "docx", "word/document.xml", lambda xml: xml.replace(b"<w:p>", b"<w:p/>" * 9_000_000 + b"<w:p>")
        ),
        "can't be read (XMLSyntaxError",
    ),
    "deep.odt": (
        lambda: zipped({"content.xml": open_document("<office:text>" + "<text:p>" * 500_000)}),
        "can't be read (XMLSyntaxError",
    ),
    "repeated.ods": (
        lambda: zipped(
            {
                "content.xml": open_document(
                    f"<office:spreadsheet><table:table>{REPEATED * 20_000}</table:table></office:spreadsheet>"
                )
            }
        ),
        "only its first 1,000,000 characters kept",
    ),
    "wide.xlsx": (
        lambda: office(
            "xlsx",
            "xl/worksheets/sheet1.xml",
            lambda xml: xml.replace(
                b"</sheetData>",
                b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(2, 9_000))
                + b"</sheetData>",
            ),
        ),
        "only its first 1,000,000 characters kept",
    ),
    "deflated.pdf": (
        lambda: pdf(CATALOG, pages(b"3 0 R", 1), PAGE, deflated(b"BT (x) Tj ET " * (8 * 2**20))),
        "no text in it",
    ),
    "twice deflated.pdf": (
        lambda: pdf(CATALOG, pages(b"3 0 R", 1), PAGE, deflated(bytes(100 * 2**20), TWICE, times=2)),
        "no text in it",
    ),
    "same page.pdf": (
        lambda: pdf(CATALOG, pages(b"3 0 R " * 5_000, 5_000), PAGE, deflated(b"BT (x) Tj ET " * 2**20)),
        "only the first 2,000 pages read",
    ),
    "loop.pdf": (
        lambda: pdf(CATALOG, pages(b"2 0 R 3 0 R", 2), PAGE, deflated(b"")),
        "can't be read (PdfReadError",
    ),
    "deep.pdf": (
        lambda: pdf(CATALOG, *(pages(b"%d 0 R" % (n + 3), 1) for n in range(5_000)), PAGE),
        "can't be read (LimitReachedError",
    ),
    "objects.pdf": (
        lambda: pdf(b"<< /Type /Catalog /Pages 10 0 R >>", deflated(b"10 0 " + b" " * 100 * 2**20, OBJECTS)),
        "can't be read (PdfReadError",
    ),
    "words.html": (lambda: b"<p>" + b"word " * (10 * 2**20), "only its first 1,000,000 characters kept"),
    "tags.html": (lambda: b"<b><i>x<p>" * 2**20, "can't be read (SelectolaxError"),
    "line.csv": (lambda: b"a," * (25 * 2**20), "only its first 1,000,000 characters kept"),
}

READ = """
import json, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from connectors.reading import Reader
with Reader() as reader:
    found = {path.name: reader.document(path.name, "", path.read_bytes()) for path in Path(sys.argv[2]).iterdir()}
print(json.dumps([found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]))
"""

READ_MAIL = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from connectors import open_connector
from connectors.surroundings import Surroundings
around = Surroundings(frozenset(), frozenset(), None, None, 0, 0)
found = [
    [change.artifact.title, len(change.artifact.text), change.artifact.defects]
    for batch in open_connector("eml", "test", sys.argv[2], around).sync({})
    for change in batch.changes
]
(peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
print(json.dumps([found, int(peak) * 1024]))
"""


def run(script: str, path: Path) -> Any:
    """What a process of its own prints, so that its memory is measured alone."""
    done = subprocess.run([sys.executable, "-c", script, ROOT, path], capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[str, list[str]]], int]:
    """The text and defects of each bomb, and the most memory that their reader had, in bytes."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, (make, _) in BOMBS.items():
        (folder / name).write_bytes(make())
    found, peak = run(READ, folder)
    return found, peak


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_one_line_in_the_defects(readings: Any, name: str) -> None:
    text, defects = readings[0][name]
    begins = BOMBS[name][1]
    if begins:
        (defect,) = defects
        assert defect.startswith(begins)
        assert "\n" not in defect
    else:
        assert (text, defects) == ("hello", [])


def test_no_bomb_takes_more_memory_than_is_allowed(readings: Any) -> None:
    assert readings[1] <= MEMORY


def test_a_mail_of_200_megabytes_is_read_in_part(tmp_path: Path) -> None:
    head = (
        b"From: a@b.c\nMessage-ID: <m@x>\nDate: Mon, 16 Mar 2026 08:00:00 +0000\nSubject: Large\n"
        b"Content-Type: multipart/mixed; boundary=B\n\n--B\n\nhello\n--B\n"
        b"Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n"
    )
    line = b"QUJD" * 19 + b"\n"
    with (tmp_path / "large.eml").open("wb") as file:
        file.write(head)
        for _ in range(200):
            file.write(line * (2**20 // len(line)))
    (mail, attachment), peak = run(READ_MAIL, tmp_path)
    assert mail == ["Large", 5, ["larger than 60 MB; the rest not read"]]
    assert attachment == ["a.pdf", 0, ["larger than 25 MB; not read"]]
    assert peak <= 600 * 2**20


HEAD = b"From: a@b.c\nMessage-ID: <m@x>\nDate: Mon, 16 Mar 2026 08:00:00 +0000\nSubject: s\n"
MIXED = HEAD + b"Content-Type: multipart/mixed; boundary=B\n\n--B\n\nhello\n"


def nested(depth: int) -> bytes:
    return b"".join(b"Content-Type: multipart/mixed; boundary=B%d\n\n--B%d\n" % (n, n) for n in range(depth))


@pytest.mark.parametrize(
    ("data", "defect"),
    [
        (MIXED + b"--B\nContent-Disposition: attachment; filename=a.x\n\nx\n" * 10_000, "more than 500 parts"),
        (MIXED + b"--B\n\nx\n" * 1_000_000, "more lines or parts than any mail has"),
        (HEAD + nested(30) + b"end", "parts nested more than 20 deep"),
        (HEAD + nested(800) + b"\n" * 900_000, "parts nested too deep"),
        (HEAD + nested(5_000) + b"end", "parts nested too deep"),
        (HEAD + b"X: a\n" * 2_000_000 + b"\nhello", "more lines or parts than any mail has"),
        (HEAD + b"\n" * 5_000_000, "more lines or parts than any mail has"),
    ],
    ids=["parts", "myriads of parts", "nested", "nested with lines", "nested deep", "headers", "lines"],
)
def test_a_mail_without_end_is_read_in_part(data: bytes, defect: str) -> None:
    artifacts = read_message(data, Mailbox("test"))
    assert artifacts[0].title == "s"
    assert len(artifacts) <= MAX_PARTS
    (said,) = artifacts[0].defects
    assert said.startswith(defect)


def test_parameters_without_end_do_not_hold_up_the_parser() -> None:
    (mail, part) = read_message(
        HEAD + b"Content-Type: multipart/mixed" + b";a" * 2_000_000 + b"\n\nx", Mailbox("t")
    )
    assert (mail.title, mail.defects, part.text) == ("s", (), "")


SECONDLY = (
    b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nSUMMARY:s\nDTSTART:20260101T000000Z\nRRULE:FREQ=SECONDLY\n"
    b"END:VEVENT\nEND:VCALENDAR\n"
)


def test_an_event_of_every_second_is_one_event(now: datetime) -> None:
    zone = ZoneInfo("UTC")
    with Reader() as reader:
        reading = reader.calendar(SECONDLY, Context("test", zone), Window(now, 30, 30, zone))
        invited = MIXED + b"--B\nContent-Type: text/calendar\n\n" + SECONDLY
        _, event = read_message(invited, Mailbox("test", documents=reader))
    assert isinstance(reading, CalendarReading)
    (series,) = reading.artifacts
    assert series.defects == ("repeats within the hour; not spread out",)
    assert (event.series, event.recurrence, event.defects) == ("u", "FREQ=SECONDLY", ())


def test_a_calendar_in_a_mail_has_its_limit() -> None:
    events = b"BEGIN:VEVENT\nUID:u\nSUMMARY:s\nEND:VEVENT\n" * (MAX_INVITATION // 30)
    with Reader() as reader:
        mailbox = Mailbox("test", documents=reader)
        _, part = read_message(MIXED + b"--B\nContent-Type: text/calendar\n\n" + events, mailbox)
    assert part.defects == ("larger than 1 MB; its events are not read",)
