"""Words by which two texts are recognised as being on the same matter."""

import re
import unicodedata
from functools import lru_cache


def word_set(text: str) -> frozenset[str]:
    """The words of a list written with spaces."""
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_]+")
_STEM = 6
# What Korean writes together with the word before it.
_PARTICLE = re.compile(r"(?<=[가-힣]{2})(?:에서|에는|까지|부터|으로|은|는|이|가|을|를|에|의|도|와|과|로)$")
_REPLY = re.compile(r"^\s*(?:(?:re|aw|fwd?|wg|sv|tr|rv|ref|답장|전달)\s*(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)
# Words that so many mails and meetings carry that they say nothing about the matter.
_GENERAL = word_set(
    """
    about accepted after again agenda also been before call chat check could declined does done event every
    first from have hello here holiday info into invitation just last later like look meet meeting meetings
    monthly more need news next note open please question quick regarding reminder reply request review
    session short some status sync talk task team tentative thank thanks that their them then there they
    this time today tomorrow update updated urgent weekly well were what when where which will with work
    would your yours monday tuesday wednesday thursday friday january february march april june july august
    september october november december
    anfrage besprechung bitte danke dringend einladung erinnerung frage heute kurze morgen nachricht termin
    treffen woche wochentlich
    bonjour demande merci question rappel rendez reunion semaine
    consulta gracias hola mensaje pregunta recordatorio reunion semana solicitud
    """
)


def one_of(alternatives: str, then: str = "") -> re.Pattern[str]:
    """A pattern of alternatives, one a line, each at the beginning of a word, and what follows any of them."""
    lines = [line.strip() for line in alternatives.splitlines() if line.strip()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(lines)}){then}")


def plain(text: str) -> str:
    """Lower case, compatibility forms unified, accents off, apostrophes straight."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def subject(title: str) -> str:
    """The title without the marks of answering and forwarding."""
    return _REPLY.sub("", title).strip()


def same_title(title: str) -> str:
    """The title in a form that is equal for two copies of it."""
    return " ".join(_WORD.findall(plain(subject(title))))


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """The words that carry the matter, cut to six letters so that inflected forms meet."""
    found = set()
    for word in _WORD.findall(plain(text)):
        if word in _GENERAL or not _carries(word):
            continue
        found.add((word if word.isascii() else _PARTICLE.sub("", word))[:_STEM])
    return frozenset(found)


def alike(a: str, b: str) -> bool:
    """Whether two titles share a word that carries the matter, or are the same title."""
    return bool(stems(subject(a)) & stems(subject(b))) or (same_title(a) == same_title(b) != "")


def _carries(word: str) -> bool:
    if word.isascii():
        return len(word) >= 4 or (len(word) >= 2 and any(c.isdigit() for c in word))
    return len(word) >= 2
