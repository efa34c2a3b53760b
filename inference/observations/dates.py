"""Days that a sentence names, in English, German, French, Spanish and Korean.

What can be read in two ways is left out: "next Friday" said early in a week, 3/4/2026, a weekday that is not that
of the date beside it, "on Fridays".
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from inference.observations.words import plain, word_set


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a sentence names; `limit` where the sentence says by, until or before it. `exact` where the
    words give the day itself ("28 May", "tomorrow"); a mere weekday, "in two weeks" and "the end of May" are
    looser."""

    day: date
    limit: bool
    exact: bool = True


def named_days(sentence: str, written: date) -> list[NamedDay]:
    """The days that a sentence names, read from the day on which it was written, in the order of the words.

    A day without a year is the one nearest to the day of writing; a weekday is the next one, or what the words
    beside it make of it ("last", "of next week"). A numeric date with dots or Korean marks is day-month or
    month-day as these are written; one with slashes is read only where its order is plain.
    """
    text = plain(sentence)
    found: list[_Found] = []
    for reading in _READINGS:
        for match in reading.pattern.finditer(text):
            if not any(match.start() < other.end and other.start < match.end() for other in found):
                found.append(_Found(match.start(), match.end(), reading.read(match, written), reading.exact))
    return [
        NamedDay(one.day, _is_limit(one, text), one.exact)
        for one in _joined(sorted(found, key=lambda one: one.start), text)
        if one.day is not None
    ]


def months_later(day: date, months: int) -> date:
    """The same day of another month, or its last where it has no such day; `months` may be negative."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return _last_of_month(year, month + 1, day.day)


def number_in_words(word: str) -> int | None:
    """The number that a word in plain form says, up to a hundred, in figures or in one of the five languages."""
    return int(word) if word.isdigit() else _NUMBERS.get(word)


@dataclass(frozen=True, slots=True)
class _Reading:
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date], date | None]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Found:
    """Words that name a day, `day` None where they can be read in two ways or name no single one."""

    start: int
    end: int
    day: date | None
    exact: bool


def _joined(found: list[_Found], text: str) -> Iterator[_Found]:
    """A weekday beside a date is part of it; where the two do not agree, neither is a day that can be told."""
    kept: list[_Found] = []
    for one in found:
        before = kept[-1] if kept else None
        if before is None or not _BESIDE.fullmatch(text[before.end : one.start]):
            kept.append(one)
            continue
        is_weekday = [_WEEKDAY.fullmatch(text[part.start : part.end]) for part in (before, one)]
        if bool(is_weekday[0]) == bool(is_weekday[1]) or not (before.exact or one.exact):
            kept.append(one)
            continue
        name, dated = (before, one) if is_weekday[0] else (one, before)
        number = _WEEKDAYS[text[name.start : name.end]]
        day = dated.day if dated.day is not None and dated.day.weekday() == number else None
        kept[-1] = _Found(before.start, one.end, day, True)
    return iter(kept)


def _is_limit(one: _Found, text: str) -> bool:
    before, after = text[max(one.start - 28, 0) : one.start], text[one.end : one.end + 12]
    return bool(_BY_BEFORE.search(before) or _BY_AFTER.search(after) or _LIMIT.search(text[one.start : one.end]))


def _iso(match: re.Match[str], written: date) -> date | None:
    return _date(int(match["y"]), int(match["m"]), int(match["d"]))


def _month_name(match: re.Match[str], written: date) -> date | None:
    return _nearest(_MONTHS[match["month"][:4].rstrip(".")], int(match["d"]), match["y"], written)


def _numbers(match: re.Match[str], written: date) -> date | None:
    return _nearest(int(match["m"]), int(match["d"]), match["y"], written)


def _slashed(match: re.Match[str], written: date) -> date | None:
    first, second, year = int(match["a"]), int(match["b"]), match["y"]
    if match["article"] or (first > 12 and year):
        return _nearest(second, first, year, written)
    return _nearest(first, second, year, written) if second > 12 and year else None


def _day_alone(match: re.Match[str], written: date) -> date | None:
    """The coming day of this number; one that is just over may be meant as well."""
    day = int(match["d"])
    this = _date(written.year, written.month, day)
    if this is not None and this >= written:
        return this
    after = months_later(written.replace(day=1), 1)
    return None if this is not None and (written - this).days <= 7 else _date(after.year, after.month, day)


def _nearest(month: int, day: int, year: str | None, written: date) -> date | None:
    if year:
        return _date(int(year) if len(year) == 4 else 2000 + int(year), month, day)
    near = [_date(written.year + shift, month, day) for shift in (-1, 0, 1)]
    return min((day for day in near if day), key=lambda day: abs((day - written).days), default=None)


def _weekday(match: re.Match[str], written: date) -> date | None:
    """The weekday as the words around it have it; None for one that comes again and again or is ambiguous."""
    number = _WEEKDAYS[match["day"]]
    coming = written + timedelta(days=(number - written.weekday() - 1) % 7 + 1)
    before, after = (match["before"] or "").strip(), (match["after"] or "").strip()
    if _AGAIN.fullmatch(before) or match["plural"]:
        return None
    if _NEXT_WEEK.search(before) or _NEXT_WEEK.search(after):
        return written + timedelta(days=7 - written.weekday() + number)
    if _THIS_WEEK.search(before):
        return written + timedelta(days=number - written.weekday())
    if _LAST_WEEK.search(before):
        return written - timedelta(days=7 + written.weekday() - number)
    if _LAST.search(before) or _LAST_AFTER.search(after):
        return written - timedelta(days=(written.weekday() - number - 1) % 7 + 1)
    if _NEXT.search(before):
        # In some mouths the coming one, in others that of the next week.
        next_week = written + timedelta(days=7 - written.weekday() + number)
        return coming if coming == next_week else None
    return coming


def _weekday_alone(match: re.Match[str], written: date) -> date:
    number = _WEEKDAYS[match.group()]
    return written + timedelta(days=(number - written.weekday() - 1) % 7 + 1)


def _shift(match: re.Match[str], written: date) -> date | None:
    before = _LAST_WORD.search(match.string, 0, match.start())
    if before is not None and (before["word"] in _NO_MORNING_AFTER or before["word"] in _WEEKDAYS):
        return None
    return written + timedelta(days=_SHIFTS[match.group()])


def _counted(match: re.Match[str], written: date) -> date | None:
    count = number_in_words(match["n"])
    if count is None:
        return None
    unit = next(size for names, size in _UNITS if match["unit"].startswith(names))
    return months_later(written, count) if unit == _MONTH_LONG else written + timedelta(days=count * unit)


def _end_of_week(match: re.Match[str], written: date) -> date:
    friday = written + timedelta(days=(4 - written.weekday()) % 7)
    return friday + timedelta(days=7) if _NEXT_WEEK.search(match.group()) and friday.weekday() == 4 else friday


def _end_of_month(match: re.Match[str], written: date) -> date:
    return _last_of_month(written.year, written.month, 31)


def _end_of_named(match: re.Match[str], written: date) -> date | None:
    first = _nearest(_MONTHS[match["month"][:4].rstrip(".")], 1, match["y"], written)
    return _last_of_month(first.year, first.month, 31) if first else None


def _end_of_korean(match: re.Match[str], written: date) -> date | None:
    first = _nearest(int(match["m"]), 1, match["y"], written)
    return _last_of_month(first.year, first.month, 31) if first else None


def _last_of_month(year: int, month: int, day: int) -> date:
    while True:
        found = _date(year, month, day)
        if found is not None:
            return found
        day -= 1


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
    r"(?P<month>jan(?:uary|uar|vier|v)?|ener?o|feb(?:ruary|ruar|rero)?|fevr(?:ier)?|mar(?:ch|s|z|zo)?|apr(?:il)?"
    r"|avril?|abril|may|mai|mayo|june?|juni|juin|juni?o|july?|juli|juillet|juil|julio|aug(?:ust)?|aout|agosto"
    r"|sept?(?:ember|embre|iembre)?|oct(?:ober|obre|ubre)?|okt(?:ober)?|nov(?:ember|embre|iembre)?"
    r"|de[cz](?:ember|embre)?|diciembre)\b"
)
_YEAR = r"(?:,? (?:de |del )?(?P<y>20\d\d))?"
_ISO = re.compile(r"\b(?P<y>20\d\d)[-/](?P<m>\d\d)[-/](?P<d>\d\d)\b")
_DAY_MONTH = re.compile(r"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|\.)? (?:of |de )?" + _MONTH + r"\.?" + _YEAR)
# The first day of "23 to 27 May", which has the month of the second.
_FIRST_OF = re.compile(
    r"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|\.)? ?"
    r"(?:[-\u2013/]|to|until|till|through|and|bis|und|au|et|al|y|o|or|oder|ou) ?(?:the |zum |den |le |el )?"
    r"(?=[0-3]?\d(?:st|nd|rd|th|er|\.)? (?:of |de )?" + _MONTH + r"\.?" + _YEAR + ")"
)
_MONTH_DAY = re.compile(_MONTH + r"\.? (?:the )?(?P<d>[0-3]?\d)(?:st|nd|rd|th)?\b(?![:.]\d)" + _YEAR)
_DOTTED = re.compile(r"(?<![\d.])(?P<d>[0-3]?\d)\. ?(?P<m>[01]?\d)\.(?: ?(?P<y>20\d\d))?(?!\d|\.\d)")
_KOREAN_DOTTED = re.compile(r"(?<![\d.])(?P<y>20\d\d)\. ?(?P<m>[01]?\d)\. ?(?P<d>[0-3]?\d)\b\.?")
_SLASHED = re.compile(
    r"(?:(?<!\w)(?P<article>le|du|au|el|del|al) )?(?<![\d/.])(?P<a>[0-3]?\d)/(?P<b>[0-3]?\d)"
    r"(?:/(?P<y>20\d\d|\d\d))?(?![\d/])"
)
_KOREAN = re.compile(r"(?:(?P<y>20\d\d)년 ?)?(?P<m>[01]?\d)월 ?(?P<d>[0-3]?\d)일")
_ALONE = re.compile(
    r"(?:(?<=on the )|(?<=by the )|(?<=until the )|(?<=before the ))(?P<d>[0-3]?\d)(?:st|nd|rd|th)\b"
    r"(?! (?:of|floor)\b)"
)
_KOREAN_ALONE = re.compile(r"(?<![\d월] )(?<![\d월.,])(?P<d>[0-3]?\d)일(?=까지|에 |\()")
_WEEKDAYS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        *("monday montag lundi lunes 월요일 mon", "tuesday dienstag mardi martes 화요일 tue tues"),
        *(
            "wednesday mittwoch mercredi miercoles 수요일 wed",
            "thursday donnerstag jeudi jueves 목요일 thu thur thurs",
        ),
        *("friday freitag vendredi viernes 금요일 fri", "saturday samstag sonnabend samedi sabado 토요일 sat"),
        "sunday sonntag dimanche domingo 일요일 sun",
    )
):
    _WEEKDAYS.update(dict.fromkeys(_names.split(), _number))
_LONG_NAMES = "|".join(
    name for name in _WEEKDAYS if len(name) > 5 or not name.isascii() or name in ("lundi", "mardi")
)
_NAMES = f"(?:{_LONG_NAMES}|lunes|jeudi)"
# Short forms count only beside a date ("Mon 11 May", "(Fri)"), where they are no words of their own.
_SHORT = re.compile(
    r"(?<!\w)(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b(?=\.?,? ?\d)|(?<=\()(?:mon|tue|wed|thu|fri|sat|sun)(?=\))"
)
_WEEKDAY = re.compile(rf"{_NAMES}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun")
_NEXT_WEEK_WORDS = (
    r"next week|(?:der )?(?:nachste[rn]?|kommende[rn]?) woche|(?:de )?la semaine prochaine"
    r"|(?:de )?la (?:semana (?:que viene|proxima)|proxima semana)|(?:다음|담) ?주"
)
_WEEKDAY_SAID = re.compile(
    rf"(?:(?<!\w)(?P<before>(?:{_NEXT_WEEK_WORDS}),?(?: on| am| le| el)?|지난 ?주|이번 ?주|지난|다음|매주"
    r"|next|last|this|every|each|nachste[nr]?|kommende[nr]?|letzte[nr]?|vergangene[nr]?|diese[nr]?|jede[nr]?"
    r"|ce|chaque|tous les|le dernier|este|cada|todos los|los|el pasado|el proximo)[ ,]+)?"
    rf"(?<!\w)(?P<day>{_NAMES})(?P<plural>s\b(?<=[ygio]s))?(?:abend|morgen|mittag|vormittag|nachmittag|fruh)?(?![a-z])"
    rf"(?P<after>,? (?:{_NEXT_WEEK_WORDS}|dernier|pasado)(?!\w))?"
)
_AGAIN = re.compile(r"every|each|jede[nr]?|chaque|tous les|cada|todos los|los|매주")
_NEXT_WEEK = re.compile(_NEXT_WEEK_WORDS)
_THIS_WEEK = re.compile(r"이번 ?주")
_LAST_WEEK = re.compile(r"지난 ?주")
_LAST = re.compile(r"last|letzte|vergangene|le dernier|el pasado|지난")
_LAST_AFTER = re.compile(r"dernier|pasado")
_NEXT = re.compile(r"next|nachste|다음")
_BESIDE = re.compile(r"(?:\.?,? ?(?:(?:the|den|dem|der|le|el|dia) )?| ?\(|, (?:den|the|le|el) )")
_SHIFTS = {
    **dict.fromkeys(("today", "tonight", "heute", "aujourd'hui", "hoy", "오늘", "cob", "eod"), 0),
    **dict.fromkeys(("end of the day", "end of day"), 0),
    **dict.fromkeys(("tomorrow", "morgen", "demain", "manana", "내일"), 1),
    **dict.fromkeys(("day after tomorrow", "ubermorgen", "apres-demain", "apres demain", "pasado manana"), 2),
    **dict.fromkeys(("내일모레", "모레"), 2),
    **dict.fromkeys(("yesterday", "gestern", "ayer", "어제"), -1),
}
_SHIFT = re.compile(r"(?<!\w)(?:" + "|".join(sorted(_SHIFTS, key=len, reverse=True)) + r")(?![a-z])")
_LAST_WORD = re.compile(r"(?P<word>[^\W\d]+) $")
# "guten Morgen", "heute Morgen", "por la mañana": the morning, no day.
_NO_MORNING_AFTER = word_set("guten schonen am heute jeden diesen gestern fruhen ganzen esta la cada buenas")
_NUMBERS: dict[str, int] = {}
for _number, _names in enumerate(
    (
        *(
            "a an one ein eine einer einem einen un une una uno 한 일",
            "two zwei deux dos 두 이",
            "three drei trois tres 세 삼",
        ),
        *("four vier quatre cuatro 네 사", "five funf cinq cinco 다섯 오", "six sechs seis 여섯 육"),
        *("seven sieben sept siete 일곱 칠", "eight acht huit ocho 여덟 팔", "nine neun neuf nueve 아홉 구"),
        *(
            "ten zehn dix diez 열 십",
            "eleven elf onze once",
            "twelve zwolf douze doce",
            "thirteen",
            "fourteen vierzehn",
        ),
    ),
    start=1,
):
    _NUMBERS.update(dict.fromkeys(_names.split(), _number))
_NUMBERS |= {"quinze": 15, "quince": 15, "thirty": 30, "dreissig": 30, "trente": 30, "treinta": 30, "삼십": 30}
_NUMBERS |= {"sixty": 60, "sechzig": 60, "sesenta": 60, "ninety": 90, "neunzig": 90, "noventa": 90}
_MONTH_LONG = 0
_UNITS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("day", "tag", "jour", "dia", "일"), 1),
    (("week", "woche", "semaine", "semana", "주"), 7),
    (("month", "monat", "mois", "mes", "개월", "달"), _MONTH_LONG),
)
_IN_UNITS = re.compile(
    r"(?<!\w)(?:in|dans|en|dentro de) (?:about )?(?P<n>[a-z]+|\d\d?) (?P<unit>days?|weeks?|months?|tag(?:en)?"
    r"|wochen?|monat(?:en)?|jours?|semaines?|mois|dias?|semanas?|mes(?:es)?)\b(?!')"
)
_FROM_NOW = re.compile(r"(?<!\w)(?P<n>[a-z]+|\d\d?) (?P<unit>days?|weeks?|months?) from (?:now|today)\b")
_KOREAN_UNITS = re.compile(r"(?<!\d)(?P<n>\d\d?|한|두|세|네|일) ?(?P<unit>일|주일?|개월|달) ?(?:후|뒤)")
_END_OF_WEEK = re.compile(
    r"(?<!\w)(?:end of (?:the |this |next )?week|ende (?:der|dieser|nachster|kommender) woche"
    r"|fin de (?:la )?semaine(?: prochaine)?|fin de (?:la )?semana|이번 ?주(?! ?[월화수목금토일])"
    r"|다음 ?주 ?(?:중|안|내))"
)
_END_OF_MONTH = re.compile(
    r"(?<!\w)(?:end of (?:the |this )?month|ende des monats|monatsende|fin du mois|fin de mes"
    r"|이달 ?말|이번 ?달 ?말|월말)"
)
_END_OF_NAMED = re.compile(
    r"(?<!\w)(?:(?:the )?end of|ende|fin|finales de|fin de) (?:de )?" + _MONTH + r"(?:,? (?:de )?(?P<y>20\d\d))?"
)
_KOREAN_END = re.compile(r"(?:(?P<y>20\d\d)년 ?)?(?<!\d)(?P<m>1?\d)월 ?말")
_LIMIT = re.compile(r"end of|ende |monatsende|fin de|fin du|fin |finales|cob|eod|말$|(?:중|안|내)$")
_BY_BEFORE = re.compile(
    r"(?:\bby|until|till|before|latest|no later than|due|bis|spatestens|vor|avant|d'ici|jusqu'au?|au plus tard"
    r"|antes del?|hasta|para|a mas tardar)\W+"
    r"(?:(?:the|on|zum|am|dem|den|le|el|la|du|au|next|this|coming|kommenden|mon|tue|wed|thu|fri|sat|sun)\W+)*$"
)
_BY_AFTER = re.compile(r"^(?:\s?\([월화수목금토일]\))?\s?(?:까지|전)|^,? (?:at the latest|latest\b)")
_READINGS = (
    _Reading(_ISO, _iso),
    _Reading(_KOREAN_DOTTED, _numbers),
    _Reading(_DOTTED, _numbers),
    _Reading(_FIRST_OF, _month_name),
    _Reading(_DAY_MONTH, _month_name),
    _Reading(_MONTH_DAY, _month_name),
    _Reading(_KOREAN, _numbers),
    _Reading(_SLASHED, _slashed),
    _Reading(_END_OF_NAMED, _end_of_named, exact=False),
    _Reading(_KOREAN_END, _end_of_korean, exact=False),
    _Reading(_END_OF_MONTH, _end_of_month, exact=False),
    _Reading(_END_OF_WEEK, _end_of_week, exact=False),
    _Reading(_ALONE, _day_alone),
    _Reading(_KOREAN_ALONE, _day_alone),
    _Reading(_WEEKDAY_SAID, _weekday, exact=False),
    _Reading(_SHORT, _weekday_alone, exact=False),
    _Reading(_KOREAN_UNITS, _counted, exact=False),
    _Reading(_IN_UNITS, _counted, exact=False),
    _Reading(_FROM_NOW, _counted, exact=False),
    _Reading(_SHIFT, _shift),
)
