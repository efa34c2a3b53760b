"""Text that somebody else wrote, made fit to stand in a prompt: fenced, with nothing invisible or forged in it."""

import re
import unicodedata


def fence(text: str, nonce: str) -> str:
    """The text between two delimiters that nobody can have known when they wrote it."""
    return f"{opening(nonce)}\n{clean(text, nonce)}\n{closing(nonce)}"


def opening(nonce: str) -> str:
    return f"<data-{nonce}>"


def closing(nonce: str) -> str:
    return f"</data-{nonce}>"


def clean(text: str, nonce: str) -> str:
    """The visible text without what could pass for a delimiter."""
    # Invisible characters go first: they can split what the search for delimiters looks for.
    seen = visible(text).replace(nonce, "")
    while _FENCE.search(seen):
        seen = _FENCE.sub("", seen)
    return seen


def visible(text: str) -> str:
    """The text without the characters that a person cannot see, in which orders to a model can be hidden.

    Line break and tab stay, and joiners between letters of scripts that need them.
    """
    return _INVISIBLE.sub(_instead, text)


def unlabelled(text: str) -> str:
    """The text with nothing in it that looks like the label of an artifact, such as `[a17]`."""
    return _LABEL.sub(r"(\1)", text)


def _instead(found: re.Match[str]) -> str:
    letter, text = found[0], found.string
    if letter in "\u2028\u2029":
        return "\n"
    if letter in "\u200c\u200d":
        around = text[max(0, found.start() - 1) : found.start()] + text[found.end() : found.end() + 1]
        if len(around) == 2 and all(_needs_joiners(other) for other in around):
            return letter
    return ""


def _needs_joiners(letter: str) -> bool:
    return not letter.isascii() and unicodedata.category(letter)[0] in "LM"


# Controls but tab and line feed; soft hyphen, joiners, bidirectional marks and overrides, fillers, variation
# selectors, private use, tags, and lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)
_FENCE = re.compile(r"[<\uff1c]\s*[/\uff0f]?\s*data\s*-[\w-]*\s*>?", re.IGNORECASE)
_LABEL = re.compile(r"\[\s*(a\d+)\s*\]", re.IGNORECASE)
