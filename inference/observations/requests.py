"""Finding the sentence with which a mail asks its reader something, in English, German, French, Spanish and
Korean. Nothing is understood: a sentence counts by its question mark or by a phrase of asking, and what only
looks like a question (quoted speech, addresses of web pages, courtesies, rhetoric) does not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from inference.checks import MAX_QUOTE
from inference.observations import phrases
from inference.observations.words import plain

_SHORTEST = 3
_LONGEST = 1500
_READ = 20_000
_LETTERS = 0.6


@dataclass(frozen=True, slots=True)
class Asking:
    """A sentence that asks something, as it stands in the text. `direct` if it plainly wants an answer."""

    sentence: str
    direct: bool


def asking(text: str, other_names: frozenset[str] = frozenset()) -> Asking | None:
    """The first sentence that plainly asks the reader something, else the first that may, else None.

    `other_names`: names, in plain form, of others who read the text; a sentence that addresses one of them
    asks them.
    """
    found = list(_askings(text, other_names))
    return next((item for item in found if item.direct), found[0] if found else None)


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of what the writer says themselves, each in one line."""
    shadow = _shadow(text[:_READ])
    return tuple(" ".join(shadow[start:end].split()) for start, end in _sentences(shadow))


def wants_no_answer(text: str) -> bool:
    """Whether the text says itself that nothing is expected."""
    return bool(phrases.NO_NEED.search(_flat(text[:_READ])))


def is_patient(text: str) -> bool:
    """Whether the text leaves the time of the answer to the reader."""
    return bool(phrases.NO_HURRY.search(_flat(text[:_READ])))


def says_settled(text: str) -> bool:
    """Whether the text says that a matter is over or no longer needs an answer."""
    return bool(phrases.SETTLED.search(_flat(text[:_READ])))


def reminds(text: str) -> bool:
    """Whether the text comes back to something asked before: it asks, or says that it is waiting."""
    return asking(text) is not None or bool(phrases.REMINDER.search(_flat(text[:_READ])))


def by_machine(title: str) -> bool:
    """Whether the subject is that of an answer given by a machine."""
    return bool(phrases.MACHINE.match(plain(title)))


def thanks(text: str) -> bool:
    return any(phrases.THANKS.search(plain(sentence)) for sentence in sentences(text))


def greeted(text: str) -> str | None:
    """Whom the text greets, in plain form; None where it begins without a greeting."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    match = phrases.GREETING.match(plain(first).strip())
    return match["names"].strip() if match else None


def _askings(text: str, other_names: frozenset[str]) -> Iterator[Asking]:
    text = text[:_READ]
    shadow = _shadow(text)
    spans = list(_sentences(shadow))
    for number, (start, end) in enumerate(spans):
        said = _flat(shadow[start:end])
        if len(said) > _LONGEST or _addresses(said, other_names):
            continue
        kind = _kind(said, _following(shadow, spans, number))
        if kind is None:
            continue
        # A sentence of one or two words is cited together with the one before it.
        while len(text[start:end].split()) < _SHORTEST and number > 0 and _together(shadow, spans, number):
            number -= 1
            start = spans[number][0]
        yield Asking(_tail(text[start:end]), kind)


def _kind(said: str, following: str) -> bool | None:
    """True for a sentence that plainly asks, False for one that may, None for one that does not."""
    said = phrases.COURTESY.sub("", said)
    if not _is_language(said):
        return None
    if said.rstrip(" \"')*_").endswith("?"):
        if phrases.RHETORIC.match(said):
            return None
        # "I found out we pay for a duck??" wonders and asks nothing.
        if phrases.OWN_STATEMENT.match(said) and not phrases.REQUEST.search(said):
            return None
        if phrases.TO_YOU.search(said) or phrases.REQUEST.search(said):
            return True
        # "Why does this matter? Because ...": a question that the text goes on to answer itself.
        answered = phrases.EXPLAINING.match(said) and phrases.ANSWERING.match(following)
        return bool(phrases.INTERROGATIVE.match(said)) and not answered
    return True if phrases.REQUEST.search(said) else None


def _is_language(said: str) -> bool:
    """Whether most of a sentence is letters; encoded data and rows of numbers are not."""
    shown = said.replace("#", "")
    letters = sum(c.isalpha() for c in shown)
    return letters > 0 and letters + shown.count(" ") >= _LETTERS * len(shown)


def _shadow(text: str) -> str:
    """The text, of the same length, with all that its writer did not ask blanked out: lines quoted from
    others, quoted speech, web addresses, and everything from the signature or a forwarded mail on."""
    cut = _END.search(text)
    shadow = text[: cut.start()] + "\n" * (len(text) - cut.start()) if cut else text
    shadow = _QUOTED_LINE.sub(lambda match: "\n" * len(match.group()), shadow)
    for pattern in (_URL, _SPEECH):
        shadow = pattern.sub(lambda match: "#" * len(match.group()), shadow)
    return shadow


def _sentences(shadow: str) -> Iterator[tuple[int, int]]:
    for block in _BLOCK.finditer(shadow):
        opening = _OPENING.match(shadow, block.start(), block.end())
        start = opening.end() if opening else block.start()
        for stop in _STOP.finditer(shadow, start, block.end()):
            if _ABBREVIATION.search(shadow[start : stop.end()]) or _is_ordinal(shadow, stop):
                continue
            yield from _trimmed(shadow, start, stop.end())
            start = stop.end()
        yield from _trimmed(shadow, start, block.end())


def _is_ordinal(shadow: str, stop: re.Match[str]) -> bool:
    """Whether a full stop is that of a day before its month, as in "30. April"."""
    return shadow[stop.start() - 1].isdigit() and _MONTH.match(shadow, stop.end()) is not None


def _trimmed(shadow: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = shadow[start:end]
    left = len(part) - len(part.lstrip(" \t\r\n*->\u2022"))
    if part.strip():
        yield start + left, start + len(part.rstrip())


def _flat(part: str) -> str:
    return " ".join(plain(part).split())


def _tail(sentence: str) -> str:
    """The sentence, or as much of its end as can be cited."""
    while len(sentence) > MAX_QUOTE and " " in sentence:
        sentence = sentence.partition(" ")[2]
    return sentence.strip()


def _together(shadow: str, spans: list[tuple[int, int]], number: int) -> bool:
    return not shadow[spans[number - 1][1] : spans[number][0]].strip()


def _following(shadow: str, spans: list[tuple[int, int]], number: int) -> str:
    """The next sentence of the same paragraph, in plain form."""
    if number + 1 == len(spans) or "\n\n" in shadow[spans[number][1] : spans[number + 1][0]]:
        return ""
    return _flat(shadow[slice(*spans[number + 1])])


def _addresses(said: str, names: frozenset[str]) -> bool:
    """Whether a sentence speaks to one of these people: "Ben, ...", "@Ben ...", "..., Ben?"."""
    match = _VOCATIVE.match(said) or _MENTION.search(said) or _TRAILING.search(said)
    return match is not None and match["name"] in names


_URL = re.compile(r"(?:https?://|www\.|mailto:)\S+?(?=[.?!,;:)>]*(?:\s|$))|\S+@\S+\.\w+")
_SPEECH = re.compile(
    '"(?:[^"\\n]|\\n(?!\\s*\\n)){1,300}?"|\u201c[^\u201d]{1,300}\u201d|\u201e[^\u201c\u201d]{1,300}[\u201c\u201d]'
    "|\u00ab[^\u00bb]{1,300}\u00bb|\u300c[^\u300d]{1,300}\u300d"
)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_END = re.compile(
    r"^(?:--[ \t]?$|_{5,}|-{3,} ?(?:original|forwarded|urspr|weiterg|message|mensaje|원본|전달)"
    r"|(?:on|am|le|el)\b.{6,120}(?:wrote|schrieb.{0,60}|[ée]crit|escribi[óo]) ?:[ \t]*$|.{4,80}(?:님이 작성|작성:)"
    r"|(?:from|von|de|보낸 ?사람) ?: .*@|sent from my |von meinem \w+ gesendet|envoy[ée] de mon "
    r"|enviado desde mi )",
    re.MULTILINE | re.IGNORECASE,
)
_BLOCK = re.compile(r"(?:[^\n]|\n(?![ \t\r]*\n|[ \t]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]))+")
_STOP = re.compile(r"[.!?…。\uff1f\uff01]+[\"')\u201d\u00bb]*(?=\s)(?!\s*[?!])")
# A greeting that stands in a line by itself.
_OPENING = re.compile(r"[^\n]{1,40}[,!:][ \t\r]*\n")
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:mr|mrs|ms|dr|prof|nr|st|vs|ca|e\.g|i\.e|z\. ?b|bzw|ggf|usw|sr|sra|mme|fr|hr|str|[A-Z])\.$",
    re.IGNORECASE,
)
_MONTH = re.compile(r"\s(?:jan|j\u00e4n|feb|m\u00e4rz|april|mai|jun|jul|aug|sept|okt|nov|dez)", re.IGNORECASE)
_VOCATIVE = re.compile(r"(?:and |but |so |hi |hey |und |et |y )?@?(?P<name>[^\W\d_]+)(?: ?[,:\u2013]| -)")
_MENTION = re.compile(r"@(?P<name>[^\W\d_]+)")
_TRAILING = re.compile(r", (?P<name>[^\W\d_]+) ?[?.!]*$")
