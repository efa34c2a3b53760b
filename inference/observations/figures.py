"""Figures in rows: what stands in a table or a list as a label and a number."""

import re
from dataclasses import dataclass

from inference.observations.words import plain

_READ = 20_000
_MOST_ROWS = 500


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its label as it stands, its last number as it stands and as a value, and the whole line."""

    label: str
    figure: str
    value: float
    line: str


def rows(text: str) -> dict[str, Row]:
    """The rows of a text by their label in plain form, without labels that stand twice with other numbers."""
    found: dict[str, Row] = {}
    unclear: set[str] = set()
    before = ""
    for line in text[:_READ].splitlines()[:_MOST_ROWS]:
        row = _row(line) or _row_of_two(before, line)
        before = line.strip()
        if row is None:
            continue
        key = " ".join(plain(row.label).split())
        if key in found and found[key].value != row.value:
            unclear.add(key)
        found.setdefault(key, row)
    return {key: row for key, row in found.items() if key not in unclear}


def value_of(figure: str) -> float | None:
    """The number that a figure says: 4,250.00 and 4.250,00 and 4 250 are the same; None where it is none."""
    digits = re.sub(r"[\s'\u00a0\u202f]", "", figure)
    if not _DIGITS.fullmatch(digits):
        return None
    if "," in digits and "." in digits:
        decimal = max(digits.rfind(","), digits.rfind("."))
        whole, rest = re.sub(r"[.,]", "", digits[:decimal]), digits[decimal + 1 :]
        return float(f"{whole}.{rest}")
    parts = re.split(r"[.,]", digits)
    if len(parts) > 1 and all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return float("".join(parts))
    return float(".".join(parts)) if len(parts) <= 2 else None


def values_in(sentence: str) -> set[float]:
    """All numbers of a sentence."""
    found = (value_of(match.group()) for match in _NUMBER.finditer(sentence))
    return {value for value in found if value is not None}


def _row(line: str) -> Row | None:
    cells = _cells(line)
    numbers = [(cell, match["number"]) for cell in cells if (match := _FIGURE.fullmatch(cell)) is not None]
    words = [cell for cell in cells if any(c.isalpha() for c in cell) and not _FIGURE.fullmatch(cell)]
    value = value_of(numbers[-1][1]) if numbers and words else None
    if value is None or len(words[0]) > _LONGEST_LABEL:
        return None
    return Row(words[0], numbers[-1][0], value, " ".join(line.split()))


def _row_of_two(before: str, line: str) -> Row | None:
    """A row of which the text has every cell in a line of its own, as texts of PDF files do."""
    match = _FIGURE.fullmatch(line.strip())
    value = value_of(match["number"]) if match is not None else None
    if value is None or not 0 < len(before) <= _LONGEST_LABEL // 2 or not any(c.isalpha() for c in before):
        return None
    return Row(before, line.strip(), value, f"{before} {line.strip()}")


def _cells(line: str) -> list[str]:
    line = line.strip()
    for sign in ("|", "\t", ";"):
        if sign in line:
            return [cell.strip() for cell in line.strip("|").split(sign)]
    label, colon, rest = line.lstrip("-*\u2022 ").partition(": ")
    if colon:
        return [label, rest.strip()]
    # A comma parts cells only where no blank follows it, and between quotation marks none does.
    return [cell.strip().strip('"') for cell in _COMMA.split(line)] if _COMMA.search(line) else []


_LONGEST_LABEL = 80
_COMMA = re.compile(r',(?=\S)(?=(?:[^"]*"[^"]*")*[^"]*$)')
_DIGITS = re.compile(r"-?\d+(?:[.,]\d+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,]\d{1,2})?(?![\d])")
_FIGURE = re.compile(
    r"(?:[A-Z]{3}|[€$£₩]|euro)? ?(?P<number>-?\d[\d.,' \u00a0\u202f]*\d|\d) ?(?:[A-Z]{3}|[€$£₩%]|euros?|원"
    r"|h|kg|m|cm|pcs)?",
    re.IGNORECASE,
)
