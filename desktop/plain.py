"""Text from outside made harmless for a terminal and a page: no control characters, no invisible ones.

A subject line may hold escape sequences that repaint a terminal or fill its clipboard, and direction overrides
that let one text look like another. Neither is ever shown.
"""

import re

# Escape sequences as terminals read them: operating system commands, control sequences, and short escapes.
_SEQUENCE = re.compile(
    "\x1b\\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\\\)|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)
# Control characters but tab and newline; soft hyphens, marks of zero width, direction marks, tags.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_BREAK = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with its words, tabs and line breaks, and without all that a terminal might obey."""
    text = _BREAK.sub("\n", _SEQUENCE.sub("", text))
    return _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text))


def one_line(text: str, limit: int = 0) -> str:
    """The text as one plain line, cut with an ellipsis at `limit` characters (0: not cut)."""
    line = " ".join(plain(text).split())
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"
