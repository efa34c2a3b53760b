"""Names as mail and cards bear them: made fit to be shown, and to be compared."""

import re
import unicodedata


def clean_name(name: str) -> str:
    """A name as people say it: without quotes, remarks in brackets and addresses; `Ortiz, Ben` turned; "" if none.

    What has an address for a name has no name, and a comma before the form of a firm is none of a person.
    """
    said = " ".join(name.split()).strip("\"'\u201c\u201d\u2018\u2019 ")
    said = _REMARK.sub("", said) or said
    if "@" in said:
        return ""
    parts = [part.strip() for part in said.split(",")]
    if len(parts) == 2 and all(_NAME.fullmatch(part) for part in parts) and fold(parts[1]) not in _SUFFIXES:
        said = f"{parts[1]} {parts[0]}"
    return said.strip(",;")


def fold(name: str) -> str:
    """A name in the form in which two are compared: lower case, no accents, no titles, words in order."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    words = _WORD.findall("".join(one for one in plain if not unicodedata.combining(one)))
    return " ".join(sorted(word for word in words if word not in _TITLES))


def is_role(name: str) -> bool:
    """Whether a name is that of a desk or a list rather than of a person."""
    return any(word in _ROLES for word in fold(name).split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REMARK = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>)\s*$|\s+via\s+.*$", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_][\w.'\u2019-]*(?: [^\W\d_][\w.'\u2019-]*){0,2}")
_WORD = re.compile(r"[^\W_]+")
_TITLES = _words("dr prof mr mrs ms miss herr frau dipl ing mme m sir")
_SUFFIXES = _words(
    "ab ag bv co corp esq ev gmbh ii iii inc jr kg limited llc llp ltd ma mba md oy phd plc sa sarl se spa sr srl"
)
_ROLES = _words(
    """
    abo accounting accounts admin administration alert alerts billing bot buchhaltung bureau calendar committee
    contact customer department desk editor equipe feedback finance group hello helpdesk hr info information
    invoice kontakt kundenservice list mailer marketing news newsletter no noreply notification notifications
    office orders postmaster press rechnung reception redaktion reply sales secretariat sekretariat service
    services shop staff store support system team update updates verwaltung webmaster
    """
)
