"""Write a workspace file out as real files: a Maildir, a calendar and a folder of documents.

The folder then holds what a person's own machine would, and the connectors read it like any other. Artifact ids
can be told from the keys: Message-ID and UID are `{artifact id}@{workspace id}.example`, and so is the
Content-ID of an attachment. Writing the same workspace twice gives the same bytes.
"""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from html import escape
from io import BytesIO
from os import utime
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from workspace.errors import UserError
from workspace.file import FileDocument, FileEmail, FileEvent, FileTask, WorkspaceFile

MARKER = ".tide-export"


def export_files(workspace: WorkspaceFile, folder: Path) -> None:
    """Write `mail/` (a Maildir, sent mail in `.Sent`), `calendar/calendar.ics` and `documents/` into the folder.

    A document that is attached to a mail is written with that mail and not a second time. An earlier export in
    the folder is replaced; what else lies there stays.

    Raises:
        UserError: if the folder holds something and is no earlier export, or cannot be written, or if a PDF is
            to hold characters that its built-in font lacks.
    """
    documents = {item.id: item for item in workspace.artifacts if isinstance(item, FileDocument)}
    content = {name: _document_bytes(document) for name, document in documents.items()}
    try:
        _make_room(folder)
        _write_mail(workspace, documents, content, folder / "mail")
        calendar = folder / "calendar" / "calendar.ics"
        _write(calendar, _calendar_bytes(workspace), workspace.now.replace(tzinfo=workspace.zone))
        attached = {
            name for item in workspace.artifacts if isinstance(item, FileEmail) for name in item.attachments
        }
        for name, document in documents.items():
            if name not in attached:
                modified = document.modified.replace(tzinfo=workspace.zone)
                _write(folder / "documents" / document.path, content[name], modified)
    except OSError as error:
        raise UserError(f"{error.filename or folder}: {error.strerror}. Choose another folder.") from error


def message_id(workspace: WorkspaceFile, artifact: str) -> str:
    """The Message-ID, without its angle brackets, or UID under which an artifact is written."""
    return f"{artifact}@{workspace.id}.example"


def _make_room(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / MARKER
    if not marker.is_file():
        if any(folder.iterdir()):
            raise UserError(f"{folder} is not empty and no earlier export. Choose a new or an empty folder.")
        marker.write_text("Written by tide workspace export; a new export replaces these files.\n")
    for name in ("mail", "calendar", "documents"):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
        (folder / name).mkdir()


def _write(path: Path, content: bytes, moment: datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    utime(path, (moment.timestamp(), moment.timestamp()))


def _write_mail(
    workspace: WorkspaceFile, documents: dict[str, FileDocument], content: dict[str, bytes], maildir: Path
) -> None:
    boxes = {"inbox": maildir, "sent": maildir / ".Sent"}
    for box in boxes.values():
        for part in ("cur", "new", "tmp"):
            (box / part).mkdir(parents=True)
    _write(boxes["sent"] / "maildirfolder", b"", workspace.now.replace(tzinfo=workspace.zone))
    threads: dict[str, list[str]] = defaultdict(list)
    emails = [item for item in workspace.artifacts if isinstance(item, FileEmail)]
    for email in sorted(emails, key=lambda item: (item.sent, item.id)):
        sent = email.sent.replace(tzinfo=workspace.zone)
        message = _message(workspace, email, sent, threads[email.thread])
        for name in email.attachments:
            path = PurePosixPath(documents[name].path)
            main, sub = _TYPES.get(path.suffix.lower(), "application/octet-stream").split("/")
            message.add_attachment(
                content[name],
                maintype=main,
                subtype=sub,
                filename=path.name,
                cid=f"<{message_id(workspace, name)}>",
            )
        if message.is_multipart():
            message.set_boundary(f"=-{email.id}-{workspace.id}")
        threads[email.thread].append(message["Message-ID"])
        name = f"{int(sent.timestamp())}.{email.id}.{workspace.id}:2,S"
        _write(boxes[email.folder] / "cur" / name, message.as_bytes(), sent)


def _message(workspace: WorkspaceFile, email: FileEmail, sent: datetime, before: list[str]) -> EmailMessage:
    """The mail without attachments; `before` are the Message-IDs of its thread, oldest first."""
    message = EmailMessage()
    message["From"] = _address(email.sender)
    message["To"] = [_address(person) for person in email.to]
    if email.cc:
        message["Cc"] = [_address(person) for person in email.cc]
    message["Date"] = format_datetime(sent)
    message["Subject"] = " ".join(email.subject.split())
    message["Message-ID"] = f"<{message_id(workspace, email.id)}>"
    if before:
        message["In-Reply-To"] = before[-1]
        message["References"] = " ".join(before)
    local, _, domain = parseaddr(email.sender)[1].partition("@")
    if email.subject.startswith("Automatic reply:"):
        message["Auto-Submitted"] = "auto-replied"
    elif local == "no-reply":
        message["Auto-Submitted"] = "auto-generated"
    elif local == "newsletter":
        message["List-Id"] = f"<newsletter.{domain}>"
        message["List-Unsubscribe"] = f"<mailto:unsubscribe@{domain}>"
        message["Precedence"] = "bulk"
    message.set_content(email.body)
    return message


def _address(text: str) -> Address:
    name, address = parseaddr(text)
    return Address(display_name=name, addr_spec=address)


def _calendar_bytes(workspace: WorkspaceFile) -> bytes:
    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("prodid", "-//Tide//workspace export//EN")
    calendar.add("version", "2.0")
    for item in workspace.artifacts:
        if isinstance(item, FileEvent):
            calendar.add_component(_event(workspace, item))
        elif isinstance(item, FileTask):
            calendar.add_component(_todo(workspace, item))
    year = workspace.now.year
    calendar.add_missing_timezones(date(year - 2, 1, 1), date(year + 3, 1, 1))
    content: bytes = calendar.to_ical()
    return content


def _event(workspace: WorkspaceFile, item: FileEvent) -> Any:
    from icalendar import Event

    def moment(value: datetime) -> date:
        return value.date() if item.all_day else value.replace(tzinfo=workspace.zone)

    event = Event()
    event.add("uid", message_id(workspace, item.id))
    event.add("dtstamp", workspace.now.replace(tzinfo=workspace.zone).astimezone(UTC))
    event.add("summary", item.title)
    event.add("dtstart", moment(item.start))
    event.add("dtend", moment(item.end))
    event.add("status", "CANCELLED" if item.cancelled else "CONFIRMED")
    event.add("transp", "OPAQUE" if item.busy else "TRANSPARENT")
    if item.recurrence:
        event.add("rrule", _rule(item.recurrence, item, workspace))
    if item.location:
        event.add("location", item.location)
    if item.description:
        event.add("description", item.description)
    event.add("organizer", _calendar_address(item.organizer))
    for attendee in item.attendees:
        address = _calendar_address(attendee.email)
        address.params["PARTSTAT"] = attendee.status.upper()
        address.params["ROLE"] = "REQ-PARTICIPANT"
        event.add("attendee", address)
    return event


def _rule(recurrence: str, item: FileEvent, workspace: WorkspaceFile) -> Any:
    """The rule with its UNTIL in UTC, as RFC 5545 (3.3.10) asks for where the start has a zone."""
    from icalendar import vRecur

    rule = vRecur.from_ical(recurrence)
    if "UNTIL" in rule and not item.all_day:
        until = rule["UNTIL"][0]
        if not isinstance(until, datetime):
            until = datetime.combine(until, time(23, 59, 59))
        rule["UNTIL"] = [(until if until.tzinfo else until.replace(tzinfo=workspace.zone)).astimezone(UTC)]
    return rule


def _calendar_address(text: str) -> Any:
    from icalendar import vCalAddress

    name, address = parseaddr(text)
    made = vCalAddress(f"mailto:{address}")
    if name:
        made.params["CN"] = name
    return made


def _todo(workspace: WorkspaceFile, item: FileTask) -> Any:
    from icalendar import Todo

    todo = Todo()
    todo.add("uid", message_id(workspace, item.id))
    todo.add("dtstamp", workspace.now.replace(tzinfo=workspace.zone).astimezone(UTC))
    todo.add("summary", item.title)
    if item.due:
        todo.add("due", item.due.replace(tzinfo=workspace.zone))
    todo.add("status", "COMPLETED" if item.status == "done" else "NEEDS-ACTION")
    if item.notes:
        todo.add("description", item.notes)
    return todo


def _document_bytes(document: FileDocument) -> bytes:
    """The file of a document by the ending of its path; what is no office format is written as it is."""
    suffix = PurePosixPath(document.path).suffix.lower()
    made_by = {".docx": _docx, ".xlsx": _xlsx, ".pdf": _pdf, ".html": _html}.get(suffix)
    return made_by(document) if made_by else f"{document.text}\n".encode()


def _blocks(text: str) -> Iterator[tuple[int, list[list[str]]]]:
    """The text as (level, rows): a heading (level 1 to 6), a paragraph (level 0) or a table (level -1).

    A heading begins with `#`, a table is a run of lines with ` | ` between their cells.
    """
    table: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        if " | " in line:
            table.append([cell.strip() for cell in line.split("|")])
            continue
        if table:
            width = max(len(row) for row in table)
            yield -1, [row + [""] * (width - len(row)) for row in table]
            table = []
        if heading := re.match(r"(#{1,6}) +(.*)", line):
            yield len(heading[1]), [[heading[2]]]
        elif line.strip():
            yield 0, [[line.strip()]]


def _docx(document: FileDocument) -> bytes:
    from docx import Document

    made = Document()
    for level, rows in _blocks(document.text):
        if level > 0:
            made.add_heading(rows[0][0], level)
        elif level == 0:
            made.add_paragraph(rows[0][0])
        else:
            table = made.add_table(len(rows), len(rows[0]), style="Table Grid")
            for filled, row in zip(table.rows, rows, strict=True):
                for cell, text in zip(filled.cells, row, strict=True):
                    cell.text = text
    made.core_properties.author = ""
    made.core_properties.comments = ""
    made.core_properties.created = document.modified
    return _timeless(made.save, document.modified)


def _xlsx(document: FileDocument) -> bytes:
    """Each heading starts a sheet of that name; digits become numbers."""
    from openpyxl import Workbook

    book = Workbook()
    for first in book.worksheets:
        book.remove(first)
    sheet = None
    for level, rows in _blocks(document.text):
        if level > 0:
            sheet = book.create_sheet(re.sub(r"[\\/*?:\[\]]", " ", rows[0][0])[:31])
            continue
        sheet = sheet or book.create_sheet("Sheet1")
        for row in rows:
            sheet.append([int(cell) if re.fullmatch(r"0|-?[1-9]\d{0,14}", cell) else cell for cell in row])
            for cell in sheet[sheet.max_row]:
                if cell.data_type == "f":
                    # A text that begins with "=" is no formula here.
                    cell.data_type = "s"
    if not book.worksheets:
        book.create_sheet("Sheet1")
    book.properties.created = document.modified
    return _timeless(book.save, document.modified)


def _timeless(save: Callable[[BytesIO], Any], modified: datetime) -> bytes:
    """The zip that an office library saves, with the document's time in place of the present one."""
    raw, made = BytesIO(), BytesIO()
    save(raw)
    stamp = modified.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with ZipFile(raw) as source, ZipFile(made, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, content)
            info = ZipInfo(name, max(modified, datetime(1980, 1, 1)).timetuple()[:6])
            target.writestr(info, content, ZIP_DEFLATED)
    return made.getvalue()


def _pdf(document: FileDocument) -> bytes:
    from reportlab.lib.colors import grey
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

    try:
        document.text.encode("cp1252")
    except UnicodeEncodeError as error:
        letter = document.text[error.start]
        raise UserError(
            f"{document.path}: the PDF font lacks {letter!r}. Give this document another ending than .pdf."
        ) from error
    styles = getSampleStyleSheet()
    story: list[Flowable] = []
    for level, rows in _blocks(document.text):
        style = styles[f"Heading{level}" if level > 0 else "BodyText"]
        if level >= 0:
            story.append(Paragraph(escape(rows[0][0]), style))
        else:
            cells = [[Paragraph(escape(cell), style) for cell in row] for row in rows]
            table = Table(cells, style=[("GRID", (0, 0), (-1, -1), 0.5, grey)])
            story += [Spacer(0, 6), table, Spacer(0, 6)]
    made = BytesIO()
    title = PurePosixPath(document.path).stem
    # invariant: no present time and no random id in the file.
    SimpleDocTemplate(made, title=title, author="", invariant=1).build(story or [Spacer(0, 1)])
    return made.getvalue()


def _html(document: FileDocument) -> bytes:
    """A page made of the text, or the text itself where it is a page already."""
    if document.text.lstrip().lower().startswith(("<!doctype", "<html")):
        return f"{document.text}\n".encode()
    body: list[str] = []
    for level, rows in _blocks(document.text):
        if level >= 0:
            tag = f"h{level}" if level else "p"
            body.append(f"<{tag}>{escape(rows[0][0])}</{tag}>")
        else:
            filled = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
            body.append("<table>" + "".join(f"<tr>{row}</tr>" for row in filled) + "</table>")
    title = escape(PurePosixPath(document.path).stem)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return "\n".join(["<!DOCTYPE html>", "<html>", head, "<body>", *body, "</body>", "</html>", ""]).encode()


_TYPES = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".html": "text/html",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
