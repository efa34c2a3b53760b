"""Text from outside cannot do anything to a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.plain import one_line, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("a\x1bcb", "ab"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("ze\u200bro\ufeff\u00ad", "zero"),
        ("tag\U000e0041", "tag"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("tab\tstays", "tab\tstays"),
        ("half \ud83d", "half \ufffd"),
        ("👩\u200d🚀 Ölçü \u0646\u200c\u06cc", "👩\u200d🚀 Ölçü \u0646\u200c\u06cc"),
    ],
)
def test_what_a_terminal_would_obey_is_gone_and_the_words_stay(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text(st.characters()))
def test_no_control_character_is_left_in_any_text(text: str) -> None:
    left = {unicodedata.category(letter) for letter in plain(text) if letter not in "\t\n"}
    assert "Cc" not in left
    assert "Cs" not in left
    plain(text).encode("utf-8")


def test_a_line_is_one_line_and_is_cut_with_an_ellipsis() -> None:
    assert one_line("  a\n b\t c ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"
