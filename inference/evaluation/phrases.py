"""Whether a text says a phrase, word for word but for what does not change what it says."""

import re

from inference.marks import plain


def says(text: str, phrase: str) -> bool:
    """Whether the phrase stands in the text: case, accents, punctuation and the marks of thousands aside.

    It stands there as whole words; where a script sets no spaces, or hangs particles on words, anywhere.
    """
    wanted = _normal(phrase)
    if not wanted:
        return False
    before = r"(?<!\w)" if wanted[0] < _NO_SPACES else ""
    after = r"(?!\w)" if wanted[-1] < _NO_SPACES else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", _normal(text)) is not None


def _normal(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", plain(_THOUSANDS.sub("", text))).split())


# What begins here is written without spaces between words, or with endings: kana, ideographs, Hangul.
_NO_SPACES = "\u2e80"
_THOUSANDS = re.compile(r"(?<=\d)[.,'\u2019\u00a0\u202f](?=\d{3}(?!\d))")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
