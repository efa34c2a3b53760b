"""Bytes to characters, and characters to text that can be shown, searched and stored.

Everything that comes from outside goes through `decode` and `clean`: what they return holds no control,
surrogate or invisible characters, and line ends are `\\n`.
"""

import codecs
import re

MAX_CHARACTERS = 1_000_000

# What the senders of mail call the encodings of the web: the superset is what they mean.
_ALIASES = {
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "utf8": "utf-8",
    "utf-8": "utf-8",
    "unknown-8bit": "",
    "x-unknown": "",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-8-i": "iso-8859-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "windows-31j": "cp932",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "iso-2022-jp": "iso2022_jp_2",
    "unicode-1-1-utf-7": "utf-7",
    "big5": "big5hkscs",
    "tis-620": "cp874",
    "macintosh": "mac-roman",
}
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Zero width spaces, bidirectional overrides, tags and variation selectors carry text that no reader sees.
# Joiners between letters of scripts that need them stay; so does the selector that makes an emoji one.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\u02ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff])"
)


def decode(data: bytes, charset: str = "") -> tuple[str, str]:
    """Decode by the declared charset, or the one it seems to be; return the text and a defect or "".

    Never raises: bytes that fit no charset become U+FFFD.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) if name == "utf-8" else 0 :].decode(name, "replace"), ""
    codec = _codec(charset)
    if codec:
        try:
            return data.decode(codec), ""
        except (UnicodeError, ValueError, LookupError):
            pass
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        guess = _guess(data)
        return data.decode(guess, "replace"), f"text is not in the charset it claims; read as {guess}"
    known = codec or charset.strip().lower() in ("", "x-unknown", "unknown-8bit")
    return text, "" if known or data.isascii() else f"unknown charset {clean_line(charset)[:40]!r}; read as utf-8"


def clean(text: str) -> tuple[str, str]:
    """Text fit to be kept, and a defect that tells of invisible characters taken out, or ""."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x0c" in text:
        text = text.replace("\x0c", "\n")
    text = _CONTROL.sub("", text)
    if text.isascii():
        return text, ""
    text = _SURROGATE.sub("\ufffd", text).removeprefix("\ufeff")
    text, count = _INVISIBLE.subn("", text)
    return text, f"{count} invisible characters taken out" if count else ""


def clean_line(text: str) -> str:
    """One line fit to be kept: white space of any kind becomes one space."""
    return " ".join(clean(text)[0].split())


def cut(text: str, limit: int = MAX_CHARACTERS) -> tuple[str, str]:
    """At most `limit` characters, and a defect if there were more."""
    if len(text) <= limit:
        return text, ""
    return text[:limit], f"text cut to {limit:,} of {len(text):,} characters"


def _codec(charset: str) -> str:
    """The codec of a declared charset, "" if there is none that could be meant."""
    name = charset.strip().strip("\"'").lower()[:40]
    name = _ALIASES.get(name, name)
    if not name or not name.isascii() or "\0" in name:
        return ""
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return "" if found.replace("-", "_") in _NO_CHARSETS else found


def _guess(data: bytes) -> str:
    """The likeliest charset of bytes that are not UTF-8, by the letters that each candidate would give."""
    sample = data[:20_000]
    best, score = "cp1252", 0.0
    if b"\x1b$" in sample:
        return "iso2022_jp_2"
    for codec, letters, needed in _CANDIDATES:
        try:
            text = codecs.getincrementaldecoder(codec)().decode(sample)
        except (UnicodeError, ValueError):
            continue
        count = sum(character > "\x7f" for character in text)
        if count < 4 or (needed and len(needed.findall(text)) < count / 10):
            continue
        share = len(letters.findall(text)) / count
        if share > max(score, 0.5):
            best, score = codec, share
    return best


_CYRILLIC = re.compile(
    "(?<=[\u0410-\u044f])[\u0430-\u044f]|(?<![\u0410-\u044f])[\u0410-\u042f](?=[\u0430-\u044f])"
)
_KANA = re.compile("[\u3041-\u30ff]")
_JAPANESE = re.compile("[\u3001-\u30ff\u4e00-\u9fff\uff01-\uff5e]")
_CANDIDATES = (
    # Western text has single letters with accents between plain ones; it is tried first and wins ties.
    (
        "cp1252",
        re.compile("(?<=[A-Za-z])[à-öø-ÿß](?=[A-Za-zà-ÿß\\s,.])|(?<![À-ÿ])[À-Þ](?=[a-z])|[\u2018-\u201d€]"),
        None,
    ),
    ("euc_jp", _JAPANESE, _KANA),
    ("cp932", _JAPANESE, _KANA),
    ("euc_kr", re.compile("[\uac00-\ud7a3]"), None),
    ("gb2312", re.compile("[\u4e00-\u9fff\u3001\u3002\uff01-\uff1f]"), None),
    ("cp1251", _CYRILLIC, None),
    ("koi8_r", _CYRILLIC, None),
    ("cp1250", re.compile("(?<=[A-Za-z])[ąćęłńóśźżčďěňřšťůž](?=[a-z\\s,.])"), None),
)
