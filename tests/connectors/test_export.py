"""An export is read back by the libraries of others, with the same text."""

import csv
import json
import os
import re
from collections import defaultdict
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from connectors.export import export_files, message_id
from workspace.errors import UserError
from workspace.file import FileDocument, FileEmail, FileEvent, FileTask, WorkspaceFile, read_workspace

SAMPLE = Path(__file__).parents[2] / "workspace" / "sample.json"


@pytest.fixture(scope="module")
def sample() -> WorkspaceFile:
    return read_workspace(SAMPLE)


@pytest.fixture(scope="module")
def exported(sample: WorkspaceFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "files"
    export_files(sample, folder)
    return folder


@pytest.fixture(scope="module")
def messages(exported: Path) -> dict[str, EmailMessage]:
    """Every message by Message-ID, without its angle brackets."""
    made = {}
    for box in ("mail", "mail/.Sent"):
        for path in (exported / box / "cur").iterdir():
            message = message_from_bytes(path.read_bytes(), policy=policy.default)
            made[message["Message-ID"].strip("<>")] = message
    return made


@pytest.fixture(scope="module")
def components(exported: Path) -> dict[str, Any]:
    from icalendar import Calendar

    calendar = Calendar.from_ical((exported / "calendar" / "calendar.ics").read_bytes())
    return {str(part["UID"]): part for part in calendar.walk() if part.name in ("VEVENT", "VTODO")}


def with_artifacts(*artifacts: dict[str, Any]) -> WorkspaceFile:
    """The sample with other artifacts and no problems."""
    content = json.loads(SAMPLE.read_text(encoding="utf-8"))
    content |= {"artifacts": artifacts, "problems": [], "distractors": {}, "notes": {}}
    return WorkspaceFile.model_validate(content)


def document(path: str, text: str) -> dict[str, Any]:
    return {"id": "d1", "kind": "document", "path": path, "modified": "2026-05-04T10:00", "text": text}


def words(text: str) -> list[str]:
    """The words of a text without the marks by which the format writes headings and tables."""
    return re.sub(r"^#+ |\|", " ", text, flags=re.MULTILINE).split()


def read_back(path: str, raw: bytes) -> list[str]:
    """The words of a document file as the usual library of its format reads them, in their order."""
    if path.endswith(".pdf"):
        from pypdf import PdfReader

        return " ".join(page.extract_text() for page in PdfReader(BytesIO(raw)).pages).split()
    if path.endswith(".docx"):
        from docx import Document
        from docx.table import Table

        parts = []
        for block in Document(BytesIO(raw)).iter_inner_content():
            cells = (cell.text for row in block.rows for cell in row.cells) if isinstance(block, Table) else ()
            parts += cells or [block.text]
        return " ".join(parts).split()
    if path.endswith(".xlsx"):
        from openpyxl import load_workbook

        parts = []
        for sheet in load_workbook(BytesIO(raw)).worksheets:
            parts.append(sheet.title)
            parts += [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]
        return " ".join(parts).split()
    if path.endswith(".html"):
        from selectolax.lexbor import LexborHTMLParser

        body = LexborHTMLParser(raw.decode()).body
        return body.text(separator=" ").split() if body else []
    return words(raw.decode())


def tree(folder: Path) -> dict[str, tuple[bytes, float]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime)
        for path in folder.rglob("*")
        if path.is_file()
    }


# Mail


def test_every_mail_lies_in_its_folder(sample: WorkspaceFile, exported: Path) -> None:
    count = {"inbox": 0, "sent": 0}
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            count[item.folder] += 1
    assert len(list((exported / "mail" / "cur").iterdir())) == count["inbox"]
    assert len(list((exported / "mail" / ".Sent" / "cur").iterdir())) == count["sent"]
    assert (exported / "mail" / ".Sent" / "maildirfolder").exists()
    for box in ("mail", "mail/.Sent"):
        assert list((exported / box / "new").iterdir()) == []


def test_mail_is_read_back_as_it_was(sample: WorkspaceFile, messages: dict[str, EmailMessage]) -> None:
    for item in sample.artifacts:
        if not isinstance(item, FileEmail):
            continue
        message = messages[message_id(sample, item.id)]
        assert message.defects == []
        assert message["Subject"] == item.subject
        assert str(message["From"]) == item.sender
        for header, people in (("To", item.to), ("Cc", item.cc)):
            found = message[header].addresses if message[header] else ()
            assert [person.addr_spec for person in found] == [parseaddr(text)[1] for text in people]
            assert [person.display_name for person in found] == [parseaddr(text)[0] for text in people]
        assert message["Date"].datetime == item.sent.replace(tzinfo=sample.zone)
        body = message.get_body(("plain",))
        assert body is not None
        assert body.get_content() == item.body + "\n"


def test_replies_point_to_what_came_before_in_their_thread(
    sample: WorkspaceFile, messages: dict[str, EmailMessage]
) -> None:
    threads: dict[str, list[FileEmail]] = defaultdict(list)
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            threads[item.thread].append(item)
    assert max(len(mails) for mails in threads.values()) >= 4
    for mails in threads.values():
        earlier: list[str] = []
        for item in sorted(mails, key=lambda mail: mail.sent):
            message = messages[message_id(sample, item.id)]
            assert (message["References"] or "").split() == earlier
            assert message["In-Reply-To"] == (earlier[-1] if earlier else None)
            earlier.append(f"<{message_id(sample, item.id)}>")


def test_attachments_are_real_files_and_not_written_twice(
    sample: WorkspaceFile, exported: Path, messages: dict[str, EmailMessage]
) -> None:
    documents = {item.id: item for item in sample.artifacts if isinstance(item, FileDocument)}
    attached = 0
    for item in sample.artifacts:
        if not isinstance(item, FileEmail):
            continue
        parts = list(messages[message_id(sample, item.id)].iter_attachments())
        assert len(parts) == len(item.attachments)
        for part, name in zip(parts, item.attachments, strict=True):
            attached += 1
            path = documents[name].path
            assert part.get_filename() == Path(path).name
            assert part["Content-ID"] == f"<{message_id(sample, name)}>"
            content = part.get_content()
            raw = content.encode() if isinstance(content, str) else content
            assert read_back(path, raw) == words(documents[name].text)
            assert not (exported / "documents" / path).exists()
    assert attached >= 5


def test_machines_say_that_they_are_machines(sample: WorkspaceFile, messages: dict[str, EmailMessage]) -> None:
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            message = messages[message_id(sample, item.id)]
            local = parseaddr(item.sender)[1].partition("@")[0]
            away = item.subject.startswith("Automatic reply:")
            assert (message["Auto-Submitted"] is not None) == (local == "no-reply" or away)
            assert (message["List-Id"] is not None) == (local == "newsletter")


# Calendar


def test_events_are_read_back_as_they_were(sample: WorkspaceFile, components: dict[str, Any]) -> None:
    for item in sample.artifacts:
        if not isinstance(item, FileEvent):
            continue
        event = components[message_id(sample, item.id)]
        assert event.name == "VEVENT"
        assert str(event["SUMMARY"]) == item.title
        assert str(event.get("DESCRIPTION", "")) == item.description
        assert str(event.get("LOCATION", "")) == item.location
        assert (event["STATUS"] == "CANCELLED") == item.cancelled
        assert (event["TRANSP"] == "OPAQUE") == item.busy
        assert str(event["ORGANIZER"]) == f"mailto:{parseaddr(item.organizer)[1]}"
        if item.all_day:
            assert (event.start, event.end) == (item.start.date(), item.end.date())
        else:
            assert event.start.astimezone(UTC) == item.start.replace(tzinfo=sample.zone).astimezone(UTC)
            assert event.end.astimezone(UTC) == item.end.replace(tzinfo=sample.zone).astimezone(UTC)
            assert event["DTSTART"].params["TZID"] == sample.timezone
        attendees = event.get("ATTENDEE", [])
        attendees = attendees if isinstance(attendees, list) else [attendees]
        assert [(str(person), person.params["PARTSTAT"]) for person in attendees] == [
            (f"mailto:{parseaddr(person.email)[1]}", person.status.upper()) for person in item.attendees
        ]


def test_series_recur_at_the_same_local_time_until_their_end(sample: WorkspaceFile, exported: Path) -> None:
    import recurring_ical_events
    from icalendar import Calendar

    calendar = Calendar.from_ical((exported / "calendar" / "calendar.ics").read_bytes())
    found = defaultdict(list)
    for event in recurring_ical_events.of(calendar).between(datetime(2026, 4, 1), datetime(2026, 11, 30)):
        found[str(event["SUMMARY"])].append(event.start)
    assert found["Helen / Nora"][-1].replace(tzinfo=None) == datetime(2026, 5, 13, 16)
    assert len(found["Helen / Nora"]) == 6
    assert {start.strftime("%a %H:%M") for start in found["Team meeting"]} == {"Thu 09:15"}


def test_tasks_are_read_back_as_they_were(sample: WorkspaceFile, components: dict[str, Any]) -> None:
    for item in sample.artifacts:
        if isinstance(item, FileTask):
            todo = components[message_id(sample, item.id)]
            assert todo.name == "VTODO"
            assert str(todo["SUMMARY"]) == item.title
            assert todo["STATUS"] == ("COMPLETED" if item.status == "done" else "NEEDS-ACTION")
            assert item.due
            assert todo["DUE"].dt == item.due.replace(tzinfo=sample.zone)


def test_an_until_is_local_in_the_file_and_utc_in_the_calendar(tmp_path: Path) -> None:
    event = {
        "id": "e1",
        "kind": "event",
        "title": "Stand-up",
        "start": "2026-05-04T09:00",
        "end": "2026-05-04T09:15",
        "organizer": "A <a@example.org>",
    }
    dated = event | {"id": "e2", "recurrence": "FREQ=DAILY;UNTIL=20260506"}
    timed = event | {"id": "e3", "recurrence": "FREQ=DAILY;UNTIL=20260506T090000"}
    export_files(with_artifacts(dated, timed), tmp_path / "x")
    raw = (tmp_path / "x" / "calendar" / "calendar.ics").read_text(encoding="utf-8")
    assert "RRULE:FREQ=DAILY;UNTIL=20260506T225959Z" in raw
    assert "RRULE:FREQ=DAILY;UNTIL=20260506T080000Z" in raw


# Documents


def test_documents_are_read_back_with_the_same_words(sample: WorkspaceFile, exported: Path) -> None:
    attached = {name for item in sample.artifacts if isinstance(item, FileEmail) for name in item.attachments}
    endings = set()
    for item in sample.artifacts:
        if not isinstance(item, FileDocument) or item.id in attached:
            continue
        path = exported / "documents" / item.path
        endings.add(path.suffix)
        assert read_back(item.path, path.read_bytes()) == words(item.text)
        assert path.stat().st_mtime == item.modified.replace(tzinfo=sample.zone).timestamp()
    assert endings == {".md", ".txt", ".html", ".csv", ".pdf", ".docx", ".xlsx"}


def test_tables_become_tables(tmp_path: Path) -> None:
    from docx import Document
    from openpyxl import load_workbook

    text = "# Rates\nTwo of them\nItem | EUR\nRope | 12\nTwine | 3\nThat is all"
    export_files(with_artifacts(document("rates.docx", text)), tmp_path / "x")
    (table,) = Document(str(tmp_path / "x" / "documents" / "rates.docx")).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["Item", "EUR"],
        ["Rope", "12"],
        ["Twine", "3"],
    ]
    export_files(with_artifacts(document("rates.xlsx", text)), tmp_path / "x")
    sheet = load_workbook(tmp_path / "x" / "documents" / "rates.xlsx")["Rates"]
    assert [list(row) for row in sheet.iter_rows(values_only=True)] == [
        ["Two of them", None],
        ["Item", "EUR"],
        ["Rope", 12],
        ["Twine", 3],
        ["That is all", None],
    ]


def test_a_cell_that_looks_like_a_formula_stays_text(tmp_path: Path) -> None:
    from openpyxl import load_workbook

    export_files(with_artifacts(document("a.xlsx", "=1+1 | 007")), tmp_path / "x")
    (row,) = load_workbook(tmp_path / "x" / "documents" / "a.xlsx")["Sheet1"].iter_rows()
    assert [(cell.value, cell.data_type) for cell in row] == [("=1+1", "s"), ("007", "s")]


def test_marks_of_the_formats_are_text_in_documents(tmp_path: Path) -> None:
    text = "a < b & c > d <b>not bold</b>"
    for path in ("a.pdf", "a.html", "a.docx", "a.xlsx"):
        export_files(with_artifacts(document(path, text)), tmp_path / "x")
        assert " ".join(read_back(path, (tmp_path / "x" / "documents" / path).read_bytes())).endswith(text)


def test_a_page_is_written_as_it_is(tmp_path: Path) -> None:
    page = "<!DOCTYPE html>\n<p>Hello</p>"
    export_files(with_artifacts(document("a.html", page)), tmp_path / "x")
    assert (tmp_path / "x" / "documents" / "a.html").read_text(encoding="utf-8") == page + "\n"


def test_empty_documents_are_files_as_well(tmp_path: Path) -> None:
    for ending in ("md", "csv", "html", "pdf", "docx", "xlsx"):
        export_files(with_artifacts(document(f"a.{ending}", "")), tmp_path / "x")
        path = tmp_path / "x" / "documents" / f"a.{ending}"
        assert read_back(path.name, path.read_bytes()) in ([], ["Sheet1"])


def test_a_pdf_with_letters_beyond_its_font_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.pdf: the PDF font lacks '字'"):
        export_files(with_artifacts(document("a.pdf", "A word: 字")), tmp_path / "x")
    assert not (tmp_path / "x").exists()


# The folder


def test_a_second_export_gives_the_same_bytes(sample: WorkspaceFile, exported: Path, tmp_path: Path) -> None:
    before = tree(exported)
    export_files(sample, exported)
    assert tree(exported) == before
    export_files(sample, tmp_path / "elsewhere")
    assert tree(tmp_path / "elsewhere").keys() == before.keys()
    assert {name: content for name, (content, _) in tree(tmp_path / "elsewhere").items()} == {
        name: content for name, (content, _) in before.items()
    }


def test_an_earlier_export_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    export_files(with_artifacts(document("old.txt", "old")), tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    export_files(with_artifacts(document("new.txt", "new")), tmp_path)
    assert [path.name for path in (tmp_path / "documents").iterdir()] == ["new.txt"]
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_folder_with_something_else_in_it_is_refused(sample: WorkspaceFile, tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    with pytest.raises(UserError, match="is not empty and no earlier export"):
        export_files(sample, tmp_path)
    assert os.listdir(tmp_path) == ["mail"]


def test_a_file_in_place_of_the_folder_is_refused(sample: WorkspaceFile, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a file")
    with pytest.raises(UserError, match="x: File exists"):
        export_files(sample, tmp_path / "x")


def test_documents_that_stand_in_each_others_way_are_refused(tmp_path: Path) -> None:
    one, other = document("a", "a file"), document("a/b", "in a folder of that name") | {"id": "d2"}
    with pytest.raises(UserError, match="Choose another folder"):
        export_files(with_artifacts(one, other), tmp_path / "x")


def test_csv_cells_are_read_back(sample: WorkspaceFile, exported: Path) -> None:
    path = exported / "documents" / "Building" / "Incident log.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert {len(row) for row in rows} == {4}
    assert rows[1][2] == "Flood at spring tide, 4 cm of water, cable samples wet"
