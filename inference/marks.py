"""Marks: the names, numbers, dates, references and words by which artifacts on one matter recognise each other.

A mark is one normal form without spaces: `2026-05-28` however the date was written, `6180` for 6,180 or 6.180,
an address, a reference such as `hl-26-1187`, a name without case and accents. Ordinary words are cut to a stem
and begin with `/`. What a mark is worth is decided by how few carry it, not here.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from inference.observations.dates import named_days
from workspace import Artifact, Kind, Note

MOST = 200
"""How many marks one artifact has at most; the more telling kinds come first."""

STEM = "/"
"""The beginning of a mark that is the stem of an ordinary word."""


def marks_of(artifact: Artifact, notes: Iterable[Note], zone: ZoneInfo) -> tuple[str, ...]:
    """The marks of one artifact and its notes, each once, the telling kinds first; at most `MOST`."""
    said = [artifact.title, artifact.location, artifact.text]
    for note in notes:
        said += [note.line, *note.things, *note.dates, *note.amounts, *note.states, *note.rules, *note.absences]
        said += [f"{owed.who}. {owed.what}. {owed.by}" for owed in note.commitments]
    text = unicodedata.normalize("NFKC", "\n".join(said))
    near = (artifact.time or artifact.due or datetime.now(zone)).astimezone(zone).date()
    found: dict[str, None] = {}
    found.update(dict.fromkeys(_own_days(artifact, zone)))
    dates, rest = _dates(text, near)
    found.update(dict.fromkeys(dates))
    found.update(dict.fromkeys(_days_in_words(text, near)))
    found.update(dict.fromkeys(person.email for person in artifact.people if _plain_token(person.email)))
    found.update(dict.fromkeys(_ADDRESS.findall(rest.lower())))
    rest = _ADDRESS.sub(" ", rest)
    found.update(dict.fromkeys(_references(rest)))
    found.update(dict.fromkeys(_numbers(rest)))
    names, words = _words(rest)
    for person in artifact.people:
        # Who is invited is often known by the address alone.
        called = person.name or person.email.partition("@")[0]
        names.update(dict.fromkeys(plain(word) for word in _WORD.findall(called) if len(word) > 2))
    found.update(names)
    found.update(dict.fromkeys(f"{STEM}{word[:_STEM_LETTERS]}" for word in words))
    return tuple(list(found)[:MOST])


def _own_days(artifact: Artifact, zone: ZoneInfo) -> Iterator[str]:
    """The day on which it is due, and for an event every day that it touches, up to `_LONGEST_EVENT`."""
    if artifact.due is not None:
        yield artifact.due.astimezone(zone).date().isoformat()
    if artifact.kind is Kind.EVENT and artifact.time is not None:
        first = artifact.time.astimezone(zone).date()
        last = first
        if artifact.end is not None and artifact.end > artifact.time:
            last = (artifact.end - timedelta(seconds=1)).astimezone(zone).date()
        for ahead in range(min((last - first).days, _LONGEST_EVENT) + 1):
            yield (first + timedelta(days=ahead)).isoformat()


def plain(text: str) -> str:
    """Lower case, compatibility forms unified, accents off."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def _dates(text: str, near: date) -> tuple[list[str], str]:
    """The dates as ISO days, and the text without them and without times of day."""
    found: list[str] = []

    def take(match: re.Match[str]) -> str:
        parts = match.groupdict()
        month = parts["month"] if parts["month"].isdecimal() else _MONTHS.get(plain(parts["month"])[:4], "")
        day = _day(parts.get("year") or "", month, parts["day"], near)
        if day is None:
            return match.group()
        found.append(day.isoformat())
        return " "

    for form in _DATE_FORMS:
        text = form.sub(take, text)
    return found, _CLOCK.sub(" ", text)


def _days_in_words(text: str, near: date) -> Iterator[str]:
    """The days that are named otherwise than by a date, such as "Thursday" or "in two weeks"."""
    for line in text[:_READ].splitlines():
        for named in named_days(line, near):
            yield named.day.isoformat()


def _day(year: str, month: str, day: str, near: date) -> date | None:
    """The day, in the year that brings it nearest where none is named; None where there is no such day."""
    try:
        if year:
            return date(int(year), int(month), int(day))
        years = [date(near.year + shift, int(month), int(day)) for shift in (-1, 0, 1)]
    except ValueError:
        return None
    return min(years, key=lambda candidate: abs((candidate - near).days))


def _references(text: str) -> Iterator[str]:
    """Tokens that mix letters, digits and joints: order numbers, file names, rooms, versions."""
    for token in _TOKEN.findall(text):
        has_digit = any(c.isdigit() for c in token)
        has_joint = any(c in "-_/#" for c in token)
        if has_digit and (has_joint or any(c.isalpha() for c in token)) and len(token) > 2:
            yield plain(token)[:40]


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        written, percent = match.group(1), bool(match.group(2))
        number = _THOUSANDS.sub("", written).replace(",", ".")
        if "." in number:
            number = number.rstrip("0").rstrip(".")
        if percent:
            yield f"{number}%"
        elif sum(c.isdigit() for c in number) >= 3:
            yield number


def _words(text: str) -> tuple[dict[str, None], dict[str, None]]:
    """The names, and all words of some length, in plain form and in order; a name is a word as well."""
    names: dict[str, None] = {}
    words: dict[str, None] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        if _UNSPACED.match(word):
            names.update(dict.fromkeys(word[i : i + 2] for i in range(max(1, len(word) - 1))))
            continue
        form = plain(word)
        if len(form) < 3 and form.isascii():
            continue
        begins = _BEGINS.search(text, max(0, match.start() - 4), match.start()) is not None or match.start() == 0
        caseless = word.lower() == word.upper()
        if caseless or (word[0].isupper() and (not begins or not word[1:].islower())):
            names[form] = None
        if len(form) > 3:
            words[form] = None
    return names, words


def _plain_token(text: str) -> bool:
    return bool(text) and not any(c.isspace() for c in text)


_READ = 6000
_STEM_LETTERS = 6
_LONGEST_EVENT = 31
_MONTHS = {
    name: str(number)
    for number, names in enumerate(
        (
            "jan janu janv ener genn", "feb febr fevr febb", "mar marc mars marz mrz",
            "apr apri avri abri", "may mai mayo magg mei", "jun june juni juin giug",
            "jul july juli juil lugl", "aug augu aout agos", "sep sept sett",
            "oct octo okt okto ott otto", "nov nove", "dec dece deze dez dici",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAME = r"(?P<month>[^\W\d_]{3,10})\.?"
_YEAR = r"(?:\s+(?:de\s+)?(?P<year>\d{4})(?!\d))?"
_DATE_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:T\d\d:\d\d)?(?!\d)",
        r"(?<!\d)(?P<year>\d{4})\s*[年년]\s*(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日일]",
        r"(?<!\d)(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日일]",
        r"(?<!\d)(?P<day>\d{1,2})[./](?P<month>\d{1,2})[./](?P<year>\d{4})(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:de\s+|of\s+)?{_NAME}{_YEAR}",
        rf"\b{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<year>\d{{4}})(?!\d))?",
    )
)
_CLOCK = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_TOKEN = re.compile(r"[^\W_]+(?:[-_./#][^\W_]+)*")
_NUMBER = re.compile(
    r"(?<![\w.,-])(\d{1,3}(?:[.,'\u2019 \u00a0]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?)(?![\w-])\s?(%)?"
)
_THOUSANDS = re.compile(r"[.,'\u2019 \u00a0](?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W\d_]+")
_BEGINS = re.compile(r"(?:[.!?:\n|>\u2022]|^)[\s\"'(\u201c\u201e*-]*$")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
