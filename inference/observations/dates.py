"""Days that a sentence names, in English, German, French, Spanish and Korean."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from inference.observations.words import plain


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a sentence names; `limit` where the sentence says by, until or before it."""

    day: date
    limit: bool


def named_days(sentence: str, written: date) -> list[NamedDay]:
    """The days that a sentence names, read from the day on which it was written, in the order of the words.

    A day without a year is the one nearest to the day of writing; a weekday is the next one. A numeric date
    with dots or Korean marks is day-month or month-day as these are written; one with slashes is not read,
    as its order differs between countries.
    """
    text = plain(sentence)
    found: dict[int, NamedDay] = {}
    for pattern, read in ((_ISO, _iso), (_DAY_MONTH, _month_name), (_MONTH_DAY, _month_name), (_DOTTED, _numbers)):
        for match in pattern.finditer(text):
            _add(found, read(match, written), text, match)
    for match in _KOREAN.finditer(text):
        _add(found, _numbers(match, written), text, match)
    for match in _WEEKDAY.finditer(text):
        number = _WEEKDAYS[match.group(0)]
        _add(found, written + timedelta(days=(number - written.weekday() - 1) % 7 + 1), text, match)
    for match in _RELATIVE.finditer(text):
        _add(found, _relative(match.group(0), written), text, match)
    return [found[at] for at in sorted(found)]


def _add(found: dict[int, NamedDay], day: date | None, text: str, match: re.Match[str]) -> None:
    if day is not None:
        before, after = text[max(match.start() - 24, 0) : match.start()], text[match.end() : match.end() + 6]
        limit = bool(_BY_BEFORE.search(before) or _BY_AFTER.search(after) or _LIMIT.search(match.group(0)))
        found.setdefault(match.start(), NamedDay(day, limit))


def _iso(match: re.Match[str], written: date) -> date | None:
    return _date(int(match["y"]), int(match["m"]), int(match["d"]))


def _month_name(match: re.Match[str], written: date) -> date | None:
    return _nearest(_MONTHS[match["month"][:4].rstrip(".")], int(match["d"]), match["y"], written)


def _numbers(match: re.Match[str], written: date) -> date | None:
    return _nearest(int(match["m"]), int(match["d"]), match["y"], written)


def _nearest(month: int, day: int, year: str | None, written: date) -> date | None:
    if year:
        return _date(int(year), month, day)
    near = [_date(written.year + shift, month, day) for shift in (-1, 0, 1)]
    return min((day for day in near if day), key=lambda day: abs((day - written).days), default=None)


def _relative(words: str, written: date) -> date:
    if _TODAY.fullmatch(words):
        return written
    if _TOMORROW.fullmatch(words):
        return written + timedelta(days=1)
    return written + timedelta(days=(4 - written.weekday()) % 7)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_MONTHS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        *("jan janu janv ener", "feb febr fevr", "mar marc mars marz", "apr apri avri abri", "may mai mayo"),
        *("jun june juni juin", "jul july juli juil", "aug augu aout agos", "sep sept", "oct octo okt okto octu"),
        *("nov nove novi", "dec dece deze dez dici"),
    ),
    start=1,
):
    _MONTHS.update(dict.fromkeys(_names.split(), _number))
_MONTH = (
    r"(?P<month>jan(?:uary|uar|vier)?|ener?o|feb(?:ruary|ruar|rero)?|fevr(?:ier)?|mar(?:ch|s|z|zo)?|apr(?:il)?|avril"
    r"|abril|may|mai|mayo|june?|juni|juin|juni?o|july?|juli|juillet|julio|aug(?:ust)?|aout|agosto|sept?(?:ember|embre)?"
    r"|septiembre|oct(?:ober|obre|ubre)?|okt(?:ober)?|nov(?:ember|embre|iembre)?|de[cz](?:ember|embre)?|diciembre)\b"
)
_YEAR = r"(?:,? (?:de |del )?(?P<y>20\d\d))?"
_ISO = re.compile(r"\b(?P<y>20\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b")
_DAY_MONTH = re.compile(r"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|\.)? (?:of |de )?" + _MONTH + r"\.?" + _YEAR)
_MONTH_DAY = re.compile(_MONTH + r"\.? (?P<d>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)" + _YEAR)
_DOTTED = re.compile(r"(?<![\d.])(?P<d>[0-3]?\d)\.(?P<m>[01]?\d)\.(?P<y>20\d\d)?(?![\d.])")
_KOREAN = re.compile(r"(?:(?P<y>20\d\d)년 ?)?(?P<m>[01]?\d)월 ?(?P<d>[0-3]?\d)일")
_WEEKDAYS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        *("monday montag lundi lunes 월요일", "tuesday dienstag mardi martes 화요일"),
        *("wednesday mittwoch mercredi miercoles 수요일", "thursday donnerstag jeudi jueves 목요일"),
        *("friday freitag vendredi viernes 금요일", "saturday samstag samedi sabado 토요일"),
        "sunday sonntag dimanche domingo 일요일",
    )
):
    _WEEKDAYS.update(dict.fromkeys(_names.split(), _number))
_WEEKDAY = re.compile(r"(?<!\w)(?:" + "|".join(_WEEKDAYS) + r")")
_TODAY = re.compile(r"today|tonight|heute|aujourd'?hui|hoy|오늘|cob|eod|end of (?:the )?day")
_TOMORROW = re.compile(r"tomorrow|demain|manana|내일")
_RELATIVE = re.compile(
    r"(?<!\w)(?:today|tonight|heute|aujourd'?hui|hoy\b|오늘|cob\b|eod\b|end of (?:the )?day|tomorrow|demain|manana"
    r"|내일|end of (?:the |this )?week|ende der woche|fin de (?:la )?semaine|fin de (?:la )?semana|이번 주)"
)
_LIMIT = re.compile(r"end of|ende der|fin de|cob|eod")
_BY_BEFORE = re.compile(
    r"(?:\bby|until|till|before|latest|no later than|due|bis|spatestens|vor|avant|d'ici|jusqu'?au?"
    r"|antes del?|hasta|para)\W+"
    r"(?:(?:the|on|zum|am|dem|le|el|la|du|next|this|coming|mon|tue|wed|thu|fri|sat|sun)\W+)*$"
)
_BY_AFTER = re.compile(r"^\s?(?:까지|전)")
