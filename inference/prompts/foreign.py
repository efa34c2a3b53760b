"""Text from outside, made safe to show a model: fenced, with nothing invisible or like a fence in it."""

import re


def fence(text: str, nonce: str) -> str:
    """The text between two delimiters that nobody can have known when they wrote it."""
    return f"{opening(nonce)}\n{clean(text, nonce)}\n{closing(nonce)}"


def opening(nonce: str) -> str:
    return f"<data-{nonce}>"


def closing(nonce: str) -> str:
    return f"</data-{nonce}>"


def clean(text: str, nonce: str) -> str:
    """The text without what could pass for a delimiter, and without invisible and control characters.

    Invisible characters can carry instructions that a person never sees, and can split the words that a
    filter looks for, so they go first.
    """
    visible = _INVISIBLE.sub("", text).replace(nonce, "")
    while _FENCE.search(visible):
        visible = _FENCE.sub("", visible)
    return visible


# Controls but tab and line feed; soft hyphen, joiners, bidirectional marks and overrides, fillers, variation
# selectors, tags, and lone surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
_FENCE = re.compile(r"[<\uff1c]\s*[/\uff0f]?\s*data\s*-[\w-]*\s*>?", re.IGNORECASE)
