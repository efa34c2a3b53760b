"""Text that somebody else wrote, made fit to stand in a view: nothing invisible, nothing like a label in it."""

import re
import unicodedata


def visible(text: str) -> str:
    """The text without the characters that a person cannot see.

    Control characters but line break and tab go, and format characters (zero width spaces, direction marks,
    tags), in which orders to a model can be hidden; joiners stay between letters of scripts that need them.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    kept = []
    for number, letter in enumerate(text):
        category = unicodedata.category(letter)
        if letter in _JOINERS:
            around = text[max(0, number - 1) : number] + text[number + 1 : number + 2]
            if len(around) == 2 and all(_needs_joiners(other) for other in around):
                kept.append(letter)
        elif category in ("Zl", "Zp"):
            kept.append("\n")
        elif letter in "\n\t" or category not in _UNSEEN:
            kept.append(letter)
    return "".join(kept)


def unlabelled(text: str) -> str:
    """The text with nothing in it that looks like the label of an artifact, such as `[a17]`."""
    return _LABEL.sub(r"(\1)", text)


def _needs_joiners(letter: str) -> bool:
    return not letter.isascii() and unicodedata.category(letter)[0] in "LM"


_JOINERS = "\u200c\u200d"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_LABEL = re.compile(r"\[\s*(a\d+)\s*\]", re.IGNORECASE)
