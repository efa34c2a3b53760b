"""Bytes of a document to its text, per format. Runs in the limited process.

Formats inside of zip archives are unpacked with the bytes counted as they come, whatever their directory claims.
"""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from connectors.html import to_text
from connectors.text import MAX_CHARACTERS, clean, cut, decode

MAX_INFLATED = 200 * 1024 * 1024
MAX_MEMBERS = 5_000
MAX_PAGES = 2_000
MAX_ROWS = 100_000

_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


class Unreadable(ValueError):
    """The document can't be read, in words for the person."""


def extract(data: bytes, suffix: str, charset: str = "") -> tuple[str, tuple[str, ...]]:
    """The text of a document, at most a million characters, and its defects.

    `suffix` is one of FORMATS, with its dot.

    Raises:
        Exception: of any kind, if the parser of the format fails.
    """
    text, defects = FORMATS[suffix](data, charset)
    text, invisible = clean(text)
    text, long = cut(text.strip())
    return text, tuple(dict.fromkeys(defect for defect in (*defects, invisible, long) if defect))


Text = tuple[str, tuple[str, ...]]


def _plain(data: bytes, charset: str) -> Text:
    text, odd = decode(data[: 4 * MAX_CHARACTERS], charset or _wide(data))
    return text, (odd,)


def _wide(data: bytes) -> str:
    """UTF-16 without a mark shows by its zero bytes."""
    head = data[:1_000]
    if len(head) > 10 and head.count(0) > len(head) // 4:
        return "utf-16-le" if head[1:2] == b"\0" else "utf-16-be"
    return ""


def _html(data: bytes, charset: str) -> Text:
    found = _META.search(data[:2_000])
    html, odd = decode(
        data[: 10 * MAX_CHARACTERS], charset or (found[1].decode("ascii", "replace") if found else "")
    )
    text, defects = to_text(html)
    return text, (odd, *defects)


def _csv(data: bytes, charset: str) -> Text:
    text, defects = _plain(data, charset)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:4_000], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = csv.reader(io.StringIO(text, newline=""), dialect)
        return _table(rows), defects
    except csv.Error as error:
        return text, (*defects, f"not laid out as a table ({error})")


def _table(rows: Iterable[Iterable[object]]) -> str:
    lines: list[str] = []
    size = 0
    for count, row in enumerate(rows):
        line = " | ".join("" if cell is None else " ".join(str(cell).split()) for cell in row).rstrip(" |")
        if line:
            lines.append(line)
            size += len(line) + 1
        if count >= MAX_ROWS or size > MAX_CHARACTERS:
            break
    return "\n".join(lines)


def _pdf(data: bytes, _charset: str) -> Text:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    defects: list[str] = []
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("protected by a password")
    texts: list[str] = []
    size = 0
    for number, page in enumerate(reader.pages, 1):
        if number > MAX_PAGES or size > MAX_CHARACTERS:
            defects.append(f"only the first {number - 1} pages read")
            break
        try:
            text = page.extract_text().strip()
        except MemoryError:
            raise
        except Exception as error:  # one broken page must not cost the others
            defects.append(f"page {number} can't be read ({type(error).__name__})")
            continue
        texts.append(text)
        size += len(text)
    if texts and not any(texts):
        defects.append("no text in it (scanned pages?)")
    return "\n\n".join(texts), tuple(defects)


def _docx(data: bytes, _charset: str) -> Text:
    _measure(data)
    from docx import Document

    document = Document(io.BytesIO(data))
    parts = [document.element.body]
    for section in document.sections:
        for edge in (section.header, section.footer, section.first_page_header, section.first_page_footer):
            if not edge.is_linked_to_previous:
                parts.append(edge._element)
    texts = []
    for part in parts:
        text = re.sub(r"\n{3,}", "\n\n", "".join(_words(part))).strip()
        if text and text not in texts:
            texts.append(text)
    return "\n\n".join(texts), ()


def _words(node: Any, inside_cell: bool = False) -> Iterator[str]:
    """The text of a WordprocessingML element in reading order: paragraphs as lines, table rows with ` | `."""
    if node.tag == _FALLBACK:  # says once more what stands beside it, for older programs
        return
    if node.tag == _W + "t":
        yield str(node.text or "")
    elif node.tag == _W + "tab":
        yield "\t"
    elif node.tag in (_W + "br", _W + "cr"):
        yield "\n"
    elif node.tag == _W + "tr":
        for number, cell in enumerate(child for child in node if child.tag == _W + "tc"):
            yield " | " if number else ""
            yield from _words(cell, inside_cell=True)
        yield "\n"
    else:
        for child in node:
            yield from _words(child, inside_cell)
        if node.tag == _W + "p":
            yield " " if inside_cell else "\n"


def _xlsx(data: bytes, _charset: str) -> Text:
    _measure(data)
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    texts = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        table = _table(sheet.iter_rows(values_only=True))
        if table:
            texts.append(f"{sheet.title}\n{table}")
    return "\n\n".join(texts), ()


def _measure(data: bytes) -> None:
    """Unpack an archive into nothing and count.

    Raises:
        Unreadable: if it would fill more than MAX_INFLATED bytes, or has too many members.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise Unreadable("not a document of this type, or cut off") from error
    if len(archive.infolist()) > MAX_MEMBERS:
        raise Unreadable(f"holds more than {MAX_MEMBERS:,} parts")
    left = MAX_INFLATED
    for member in archive.infolist():
        with archive.open(member) as file:
            while chunk := file.read(1 << 20):
                left -= len(chunk)
                if left < 0:
                    raise Unreadable(f"unpacks to more than {MAX_INFLATED // 2**20} MB")


FORMATS: dict[str, Callable[[bytes, str], Text]] = {
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
    ".xlsx": _xlsx,
}
