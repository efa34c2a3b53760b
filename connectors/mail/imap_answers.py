"""What an IMAP server answers, taken apart: tokens, sets of UIDs, and what a refusal means.

Nothing here trusts the server. What is no IMAP gives tokens that mean nothing, and never more of them than there
are bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workspace import QuotaReached, ServerAway, SourceProblem

Token = bytes | list["Token"] | None
Ranges = Sequence[tuple[int, int]]
"""Sets of numbers as the protocol writes them: first and last of each range, in rising order."""

_MAX_DEPTH = 200
_MOST_UIDS = 2_000_000
_TOKEN = re.compile(rb'([()])|"((?:[^"\\]|\\.)*+)\\?(?:"|\Z)|([^\s()"]+)', re.DOTALL)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_NUMBER = re.compile(rb"\d{1,20}")
_LITERAL = re.compile(rb"~?\{(\d{1,20})\+?\}$")
_CODE = re.compile(r"\[([A-Z][A-Z0-9-]*)[^\]]*\]")

_QUOTA = re.compile(
    r"bandwidth|throttl|rate.?limit|too often|too many \w* ?(?:connections|commands|requests|logins)"
    r"|connections.{0,60}exceeded",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"temporar|try again|unavailable|not available|server busy|server error|internal error|timed? ?out",
    re.IGNORECASE,
)
_QUOTA_CODES = frozenset({"LIMIT", "THROTTLED", "OVERQUOTA"})
_PASSING_CODES = frozenset({"UNAVAILABLE", "INUSE"})


@dataclass(frozen=True, slots=True)
class Answer:
    """One untagged response. `number` is the message's of `* 23 FETCH`, 0 where there is none; `said` the text of
    OK, NO, BAD and BYE, whose `tokens` are empty."""

    kind: bytes
    number: int = 0
    tokens: Sequence[Token] = ()
    said: bytes = b""


def answer(parts: Sequence[bytes]) -> Answer:
    """The response that came as a line, or as lines with the literals between them, its `* ` taken away."""
    kind, _, rest = parts[0].partition(b" ")
    if kind.upper() in STATES:
        return Answer(kind.upper(), said=rest)
    number = 0
    if kind.isdigit():
        number = int(kind[:20])
        kind, _, rest = rest.partition(b" ")
    return Answer(kind.upper(), number, tokens([rest, *parts[1:]]))


STATES = frozenset({b"OK", b"NO", b"BAD", b"BYE", b"PREAUTH"})


def tokens(parts: Sequence[bytes]) -> list[Token]:
    """Atoms and strings as bytes, lists as lists, NIL as None. Every second part is a literal, whose announcement
    ends the line before it.

    Raises:
        ValueError: if lists are nested too deep.
    """
    whole: list[Token] = []
    open_lists: list[list[Token]] = []
    here = whole
    for place, part in enumerate(parts):
        if place % 2:
            here.append(part)
            continue
        line = part[: max(part.rfind(b"{"), 0)].removesuffix(b"~") if place + 1 < len(parts) else part
        for bracket, quoted, atom in _TOKEN.findall(line):
            if bracket == b"(":
                if len(open_lists) >= _MAX_DEPTH:
                    raise ValueError("lists nested too deep")
                inner: list[Token] = []
                here.append(inner)
                open_lists.append(here)
                here = inner
            elif bracket:
                here = open_lists.pop() if open_lists else here
            elif atom:
                here.append(None if atom.upper() == b"NIL" else atom)
            else:
                here.append(_ESCAPED.sub(rb"\1", quoted) if b"\\" in quoted else quoted)
    return whole


def literal(line: bytes) -> int | None:
    """How many octets follow a line, None if nothing does."""
    found = _LITERAL.search(line[-30:]) if line.endswith(b"}") else None
    return int(found[1]) if found else None


def fields(listed: Token) -> dict[bytes, Token]:
    """The attributes of a FETCH or STATUS, by name; the origin octet of a partial body (`BODY[]<0>`) left out."""
    if not isinstance(listed, list):
        return {}
    pairs = zip(listed[::2], listed[1::2], strict=False)
    return {name.upper().partition(b"<")[0]: value for name, value in pairs if isinstance(name, bytes)}


def number(token: Token) -> int:
    """A number, 0 where there is none."""
    return int(token) if isinstance(token, bytes) and _NUMBER.fullmatch(token) else 0


def ranges(text: Token) -> list[tuple[int, int]]:
    """`4:7,9` as ranges; what is none is left out."""
    found = []
    for piece in text.split(b",") if isinstance(text, bytes) else ():
        first, colon, last = piece.partition(b":")
        low, high = number(first), number(last if colon else first)
        if low and high:
            found.append((min(low, high), max(low, high)))
    return merged(found)


def merged(some: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in rising order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(some):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def numbers(some: Ranges) -> set[int]:
    """The numbers in ranges.

    Raises:
        ValueError: if they are more than a folder holds.
    """
    if sum(last - first + 1 for first, last in some) > _MOST_UIDS:
        raise ValueError("more numbers than a folder holds messages")
    return {one for first, last in some for one in range(first, last + 1)}


def compressed(uids: Iterable[int]) -> bytes:
    """UIDs as the set of a command, runs of them as ranges."""
    runs = merged((uid, uid) for uid in uids)
    return b",".join(b"%d:%d" % (first, last) if last > first else b"%d" % first for first, last in runs)


def code(said: str) -> str:
    """The response code of a text (RFC 5530), "" where there is none."""
    found = _CODE.search(said)
    return found[1] if found else ""


def codes(answers: Iterable[Answer]) -> Mapping[str, int]:
    """The numbers that came as response codes: UIDVALIDITY, UIDNEXT, HIGHESTMODSEQ."""
    found = {}
    for one in answers:
        if one.kind == b"OK" and (hit := re.match(rb"\[([A-Z]+) (\d{1,20})\]", one.said)):
            found[hit[1].decode()] = int(hit[2])
    return found


def shown(said: bytes | str) -> str:
    """What a server said, as it may stand in a line for the person."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:160]


def passing(said: str, host: str, *, sign_in: bool = False) -> SourceProblem | None:
    """The problem behind a refusal that has nothing to do with what was asked and passes; None if it is none.

    Only at the `sign_in` is the wording taken for it: a server says "internal error" of a single mail too.
    """
    if code(said) in _QUOTA_CODES or _QUOTA.search(said):
        return QuotaReached(f"{host} wants to be asked less often ({shown(said)}). It is tried again later.")
    if code(said) in _PASSING_CODES or (sign_in and _PASSING.search(said)):
        return ServerAway(f"{host} cannot serve at the moment ({shown(said)}). It is tried again later.")
    return None
