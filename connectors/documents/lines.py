"""How the paragraphs and tables of documents are laid out as lines of text."""

import re
from collections.abc import Iterable

from connectors.text import MAX_CHARACTERS

MAX_ROWS = 100_000


def paragraphs(words: Iterable[str]) -> str:
    """The words as they follow each other, with at most one empty line between paragraphs."""
    return re.sub(r"\n{3,}", "\n\n", "".join(words)).strip()


def table(rows: Iterable[Iterable[object]]) -> str:
    """A line for each row that says something, its cells with ` | ` between them."""
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
