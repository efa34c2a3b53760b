"""The sections of a long text: cut at its own headings where it has any, else between paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from inference.foreign import unlabelled, visible

SECTION = 6000
"""Characters of text that one request carries at most."""

MOST_SECTIONS = 24

MAX_HEADING = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text under its own heading; "" where the text is one part, or there is no heading above it.

    Where a section holds several headings that follow each other, it is known by the first. One that goes on with
    what did not fit into the part before has the heading of that part.
    """

    heading: str
    text: str


def sections(text: str, limit: int = SECTION) -> list[Section]:
    """The text in parts of at most `limit` characters; none of a text without words.

    Headings are lines of Markdown, numbered clauses and agenda items, underlined lines and lines in capitals. As
    much of what follows each other under them as fits is one part. What lies beyond `MOST_SECTIONS` parts is left
    out: such a text is a book or a table, not a message.
    """
    text = text.strip()
    if len(text) <= limit:
        return [Section("", text)] if text else []
    found: list[Section] = []
    for heading, block in _blocks(text, MOST_SECTIONS * limit):
        if found and len(found[-1].text) + 2 + len(block) <= limit:
            found[-1] = Section(found[-1].heading, f"{found[-1].text}\n\n{block}")
            continue
        for part in _pieces(block, limit):
            if len(found) == MOST_SECTIONS:
                return found
            found.append(Section(heading, part))
    return found


def beginning(text: str, limit: int) -> str:
    """At most `limit` characters from the beginning of a text, cut between paragraphs, lines or words."""
    return next(_pieces(text.strip(), limit), "")


def _blocks(text: str, most: int) -> Iterator[tuple[str, str]]:
    """Each heading with the text that it heads, itself included; what stands before the first has none."""
    heading, block, taken = "", list[str](), 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        title = _title(line, lines[number + 1] if number + 1 < len(lines) else "")
        if title:
            if any(part.strip() for part in block):
                yield heading, "\n".join(block).strip()
            heading, block = title, []
        block.append(line)
        taken += len(line) + 1
        if taken > most:
            break
    if any(part.strip() for part in block):
        yield heading, "\n".join(block).strip()


def _title(line: str, following: str) -> str:
    """The line as a heading, in one line of at most `MAX_HEADING` characters; "" where it is none."""
    said = line.strip()
    if not said or not any(map(str.isalnum, said)):
        return ""
    marked = _MARKED.match(said) or (_UNDERLINE.fullmatch(following.strip()) and len(said) <= MAX_HEADING)
    capitals = len(said) <= MAX_HEADING and said.isupper() and len(_CAPITALS.findall(said)) > 1
    if not (marked or capitals):
        return ""
    clean = " ".join(unlabelled(visible(said.lstrip("#"))).split())
    return clean if len(clean) <= MAX_HEADING else clean[:MAX_HEADING].rsplit(" ", 1)[0] + " \u2026"


def _pieces(text: str, limit: int) -> Iterator[str]:
    rest = text
    while rest:
        end = len(rest)
        if end > limit:
            cuts = [rest.rfind(sign, limit // 2, limit) for sign in ("\n\n", "\n", " ")]
            end = next((cut for cut in cuts if cut > 0), limit)
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()


_NUMBER = r"(?:\d{1,3}(?:\.\d{1,3}){0,3}|[IVXL]{1,6}|[A-Z])"
_MARKED = re.compile(
    "|".join(
        (
            r"#{1,6}\s+\S",
            # 4 Notice; 4.2. Notice; but no date, amount or time, and no number that a sentence begins with
            r"\d{1,2}(?:\.\d{1,2}){0,3}[.)]?\s{1,4}[^\W\d_]",
            r"\u00a7{1,2}\s*\d",
            rf"(?:agenda item|item|section|clause|article|chapter|part|annex|appendix|schedule)\s+{_NUMBER}\b",
            rf"(?:top|tagesordnungspunkt|abschnitt|artikel|kapitel|teil|anlage|anhang)\s+{_NUMBER}\b",
            rf"(?:article|chapitre|annexe|point|titre|art\u00edculo|cap\u00edtulo|secci\u00f3n|cl\u00e1usula|anexo|punto)"
            rf"\s+{_NUMBER}\b",
            r"(?:\uc81c\s*)?\d{1,3}\s*(?:\uc870|\uc7a5|\ud56d|\uc808)(?:\W|$)",
            r"\u7b2c\s*[\d\u4e00-\u9fff]{1,4}\s*[\u6761\u7ae0\u7bc0\u8282]",
        )
    ),
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"={3,}|-{3,}|~{3,}")
_CAPITALS = re.compile(r"[^\W\d_]{2,}")
