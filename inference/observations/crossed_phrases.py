"""The phrases by which somebody leaves something to somebody else, in English, German, French, Spanish and Korean,
in plain form (lower case, no accents)."""

import re
from collections.abc import Iterator

from inference.observations.words import one_of

# One of these stands in every text that is looked into.
LEAVING_WORDS = re.compile(
    r"leav|left\b|up to|tak(?:es|ing) care|looks after|sees to|does\b|will do|is doing|handl|organi[sz]|orders"
    r"|books|sorts|arrang|deals with|job\b|picks? up|fetch|stays|brings|will\b"
    r"|ubernimmt|kummert|macht|erledigt|bestellt|uberlass|sache\b|holt|laisse|s'occupe|c'est|charge"
    r"|se encarga|se ocupa|dejo|hace\b|맡|담당|하기로"
)
# What stands before the name of the one to whom it is left.
BEFORE = re.compile(
    r"(?:leav(?:e|es|ing)|left) (?:\w+ ){1,9}(?:to|with) $|(?:that's|that is|it's|it is) (?:up to |a job for )?$"
    r"|(?:is|are) (?:up to|with|a matter for) $|uberlass\w* (?:\w+ ){0,4}$|das (?:ist sache von |macht )$"
    r"|laisse (?:\w+ ){0,3}a $|,? c'est $|(?:lo|la|los|las|se lo) dejo a $|dejo (?:\w+ ){0,4}a $"
)
# What follows it.
AFTER = re.compile(
    r"'s job\b"
    r"|\s(?:then |also |already )?(?:"
    r"is (?:doing|handling|ordering|organi[sz]ing|arranging|booking|sorting|bringing|on it|picking|staying)"
    r"|is (?:fetching|collecting)|takes care|is taking care|looks after|sees to"
    r"|will (?:see to|take care|handle|organi[sz]e|order|book|arrange|pick|fetch|stay|do (?:it|that|this))"
    r"|does (?:it|that|this|the)|handles|orders|organi[sz]es|books|arranges|sorts|deals with|brings|picks|fetches"
    r"|collects|stays)\b"
    r"|\s(?:ubernimmt|kummert sich|macht das|erledigt|bestellt|organisiert|bucht|bringt|holt)\b"
    r"|\s(?:s'en occupe|s'occupe|se charge|s'en charge|commande|reserve|apporte|organise)\b"
    r"|\s(?:se encarga|se ocupa|lo hace|reserva|pide|trae|organiza)\b"
    r"|\S{0,4}\s?.{0,20}(?:하기로 했|맡기로|맡아|담당)"
)
# What asks, hopes, denies, or is over.
OPEN = one_of(
    r"""
    (?:if|unless|could|would|might|not|n't|maybe|perhaps|did|has|had|already|thanks)\b
    (?:wenn|falls|konnte|nicht|vielleicht|hat|hatte|danke|schon)\b
    (?:si|pas|pourrait|peut-etre|merci|podria|no|quiza|gracias|ha)\b
    """
)


def tokens(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text with where they begin."""
    return ((match.start(), match.group()) for match in _TOKEN.finditer(text))


_TOKEN = re.compile(r"[^\W\d_]+")
