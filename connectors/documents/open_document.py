"""The text of OpenDocument files (ODF 1.3, part 3): texts, presentations and spreadsheets."""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from connectors.documents.archive import Unreadable, opened
from connectors.documents.lines import paragraphs, table

_NAMESPACE = "{{urn:oasis:names:tc:opendocument:xmlns:{}:1.0}}"
_OFFICE, _STYLE, _TABLE, _TEXT = map(_NAMESPACE.format, ("office", "style", "table", "text"))
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_ROWS = tuple(_TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group"))
_MARKS = {f"{_TEXT}s": " ", f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n", f"{_TEXT}list-item": "- "}
# What was deleted under tracked changes, comments, and the numbers of footnotes.
_LEFT_OUT = (f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note-citation")
_MOST_REPEATED = 100
_SPACES = re.compile(r"[ \t\r\n]+")


def texts(data: bytes) -> Iterator[str]:
    """The body, then headers and footers, which stand with the styles; each sheet of a spreadsheet by itself.

    Raises:
        Unreadable: if it is protected by a password, or no archive within the limits.
        etree.XMLSyntaxError, KeyError: if it is broken.
    """
    archive = opened(data)
    names = archive.namelist()
    if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("protected by a password")
    body = _parsed(archive.read("content.xml")).find(f"{_OFFICE}body")
    for part in () if body is None else body:
        if part.tag == f"{_OFFICE}spreadsheet":
            for sheet in part.iterchildren(f"{_TABLE}table"):
                rows = table(_rows(sheet))
                if rows:
                    yield f"{sheet.get(_TABLE + 'name', '')}\n{rows}"
        else:
            yield paragraphs(_words(part))
    if "styles.xml" in names:
        for edge in _parsed(archive.read("styles.xml")).iter(f"{_STYLE}header", f"{_STYLE}footer"):
            yield paragraphs(_words(edge))


def _parsed(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def _words(node: Any, inside: bool = False) -> Iterator[str]:
    """The text of an element in reading order; `inside` a paragraph, where white space counts as one."""
    tag = node.tag
    if not isinstance(tag, str) or tag in _LEFT_OUT:
        return
    if tag == f"{_TABLE}table":
        yield f"{table(_rows(node))}\n"
        return
    if tag == f"{_TEXT}note":
        yield f" ({_line(node)})"
        return
    inside = inside or tag in _PARAGRAPHS
    yield _MARKS.get(tag, "")
    if inside and node.text:
        yield _SPACES.sub(" ", node.text)
    for child in node:
        yield from _words(child, inside)
        if inside and child.tail:
            yield _SPACES.sub(" ", child.tail)
    if tag in _PARAGRAPHS:
        yield "\n"


def _line(node: Any) -> str:
    """The text of what an element holds, on one line."""
    return " ".join("".join(word for child in node for word in _words(child)).split())


def _rows(node: Any) -> Iterator[list[str]]:
    for child in node:
        if child.tag in _ROWS:
            yield from _rows(child)
        elif child.tag == f"{_TABLE}table-row":
            cells: list[str] = []
            for cell in child.iterchildren(*_CELLS):
                cells += [_line(cell)] * _repeated(cell, "number-columns-repeated")
            for _ in range(_repeated(child, "number-rows-repeated") if any(cells) else 0):
                yield cells


def _repeated(node: Any, name: str) -> int:
    count = node.get(_TABLE + name, "1")
    return min(int(count), _MOST_REPEATED) if count.isascii() and count.isdigit() else 1
