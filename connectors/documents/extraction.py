"""Bytes of a document to its text, per format. Runs in the limited process, in its main thread.

A format is a generator of pieces of text, so that what was read until time or space ran out is kept. Formats
inside of zip archives are unpacked with the bytes counted as they come, whatever their directory claims.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

from connectors.child import TookTooLong, at_most
from connectors.documents.archive import Unreadable, opened
from connectors.documents.lines import paragraphs, table
from connectors.html import to_text
from connectors.text import MAX_CHARACTERS, clean, decode

MAX_PAGES = 2_000
SECONDS = 15.0  # of the processor, less than the limited process may take

_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def extract(data: bytes, suffix: str, charset: str = "") -> tuple[str, tuple[str, ...]]:
    """The text of a document, at most a million characters, and its defects.

    `suffix` is one of FORMATS, with its dot.

    Raises:
        Exception: of any kind, if the parser of the format fails.
    """
    defects: list[str] = []
    pieces: list[str] = []
    size = 0
    try:
        with at_most(SECONDS):
            for piece in FORMATS[suffix](data, charset, defects):
                pieces.append(piece.strip())
                size += len(piece)
                if size > MAX_CHARACTERS:
                    break
    except TookTooLong:
        defects.append("takes too long to read; only its beginning kept" if size else "takes too long to read")
    text, invisible = clean("\n\n".join(piece for piece in pieces if piece))
    if len(text) > MAX_CHARACTERS:
        defects.append(f"only its first {MAX_CHARACTERS:,} characters kept")
    return text[:MAX_CHARACTERS].strip(), tuple(dict.fromkeys(one for one in (*defects, invisible) if one))


def _plain(data: bytes, charset: str, defects: list[str]) -> Iterator[str]:
    # One more than is kept, in the widest of charsets, shows that there is more.
    text, odd = decode(data[: 4 * MAX_CHARACTERS + 4], charset or _wide(data))
    defects.append(odd)
    yield text


def _wide(data: bytes) -> str:
    """UTF-16 without a mark shows by its zero bytes."""
    head = data[:1_000]
    if len(head) > 10 and head.count(0) > len(head) // 4:
        return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    return ""


def _html(data: bytes, charset: str, defects: list[str]) -> Iterator[str]:
    found = _META.search(data[:2_000])
    most = 10 * MAX_CHARACTERS
    html, odd = decode(data[:most], charset or (found[1].decode("ascii", "replace") if found else ""))
    text, noted = to_text(html)
    defects += [odd, *noted]
    if len(data) > most and len(text) <= MAX_CHARACTERS:
        defects.append(f"only its first {most // 10**6} MB read")
    yield text


def _csv(data: bytes, charset: str, defects: list[str]) -> Iterator[str]:
    text = "".join(_plain(data, charset, defects))
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:4_000], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        yield table(csv.reader(io.StringIO(text, newline=""), dialect))
    except csv.Error as error:
        defects.append(f"not laid out as a table ({error})")
        yield text


def _pdf(data: bytes, _charset: str, defects: list[str]) -> Iterator[str]:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("protected by a password")
    broken: list[str] = []
    said = False
    for number, page in enumerate(reader.pages, 1):
        if number > MAX_PAGES:
            defects.append(f"only the first {MAX_PAGES:,} pages read")
            break
        try:
            text = page.extract_text().strip()
        except MemoryError:
            raise
        except Exception as error:  # one broken page must not cost the others
            broken.append(f"page {number} can't be read ({type(error).__name__})")
            continue
        said = said or bool(text)
        yield text
    if len(broken) > 1:
        broken = [f"{broken[0]}, as can't {len(broken) - 1:,} more"]
    defects += broken
    if not said and not defects:
        defects.append("no text in it (scanned pages?)")


def _docx(data: bytes, _charset: str, _defects: list[str]) -> Iterator[str]:
    opened(data)
    from docx import Document

    document = Document(io.BytesIO(data))
    parts = [document.element.body]
    for section in document.sections:
        for edge in (section.header, section.footer, section.first_page_header, section.first_page_footer):
            if not edge.is_linked_to_previous:
                parts.append(edge._element)
    said = set()
    for part in parts:
        text = paragraphs(_words(part, _WORD))
        if text not in said:
            said.add(text)
            yield text


def _pptx(data: bytes, _charset: str, _defects: list[str]) -> Iterator[str]:
    opened(data)
    from pptx import Presentation

    for slide in Presentation(io.BytesIO(data)).slides:
        yield paragraphs(_words(slide._element, _DRAWING))
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        if notes is not None:
            yield notes.text


def _words(node: Any, namespace: str, inside_cell: bool = False) -> Iterator[str]:
    """The text of a document's or slide's element in reading order: paragraphs as lines, table rows with ` | `.

    WordprocessingML and DrawingML name what matters alike.
    """
    if node.tag == _FALLBACK:  # says once more what stands beside it, for older programs
        return
    if node.tag == namespace + "t":
        yield str(node.text or "")
    elif node.tag == namespace + "tab":
        yield "\t"
    elif node.tag in (namespace + "br", namespace + "cr"):
        yield "\n"
    elif node.tag == namespace + "tr":
        for number, cell in enumerate(child for child in node if child.tag == namespace + "tc"):
            yield " | " if number else ""
            yield from _words(cell, namespace, inside_cell=True)
        yield "\n"
    elif node.tag != namespace + "fld" or node.get("type") != "slidenum":
        for child in node:
            yield from _words(child, namespace, inside_cell)
        if node.tag == namespace + "p":
            yield " " if inside_cell else "\n"


def _xlsx(data: bytes, _charset: str, _defects: list[str]) -> Iterator[str]:
    opened(data)
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        rows = table(sheet.iter_rows(values_only=True))
        if rows:
            yield f"{sheet.title}\n{rows}"


def _open_document(data: bytes, _charset: str, _defects: list[str]) -> Iterator[str]:
    from connectors.documents.open_document import texts

    return texts(data)


FORMATS: dict[str, Callable[[bytes, str, list[str]], Iterator[str]]] = {
    ".txt": _plain,
    ".text": _plain,
    ".log": _plain,
    ".md": _plain,
    ".markdown": _plain,
    ".html": _html,
    ".htm": _html,
    ".csv": _csv,
    ".tsv": _csv,
    ".pdf": _pdf,
    ".docx": _docx,
    ".pptx": _pptx,
    ".xlsx": _xlsx,
    ".odt": _open_document,
    ".odp": _open_document,
    ".ods": _open_document,
}
