"""The phrases that say that somebody must be there, decides or signs, in English, German, French, Spanish and
Korean, in plain form (lower case, no accents)."""

import re

from inference.observations.words import one_of

# One of these stands in every sentence that is looked into.
NEEDED_WORDS = re.compile(
    r"must|has to|have to|needs?\b|needed|required|sign|decid|decision|approv|only|without|releas"
    r"|muss|entscheid|unterschr|unterzeichn|freig|gebraucht|ohne|nur\b|abnehm|abnahme"
    r"|doit|tranche|decide|signe|valid|sans|seul|faut|debe|firma|aprueba|sin\b|solo|tiene que"
    r"|결정|서명|결재|승인"
)
# What follows the name of somebody whose presence or word it needs.
AFTER_NAME = re.compile(
    r"""\W*(?:\w+ )?(?:
        (?:must|has\ to|needs\ to)\ (?:\w+\ )?(?:be\ (?:there|present|in|on\ the\ call)|attend|join|come)\b
      | (?:must|has\ to|needs\ to)\ (?:\w+\ )?(?:sign|decide|approve|agree)\b
      | (?:is|will\ be)\ (?:needed|required|indispensable)
      | (?:signs|decides|approves|will\ (?:sign|decide|approve))\b
      | muss\ (?:\w+\ ){0,4}?(?:dabei|da\ sein|anwesend|unterschreiben|unterzeichnen)\b
      | muss\ (?:\w+\ ){0,4}?(?:entscheiden|zustimmen|freigeben)\b
      | (?:entscheidet|unterschreibt|unterzeichnet|wird\ gebraucht)\b
      | doit\ (?:\w+\ ){0,2}?(?:etre\ (?:la|presente?)|signer|decider|valider|trancher)
      | (?:decide|signe|tranche|valide)\b
      | (?:debe|tiene\ que)\ (?:\w+\ ){0,2}?(?:estar|firmar|decidir|aprobar)
      | (?:firma|aprueba)\b
      | .{0,12}(?:참석해야|있어야|결정|서명|결재|승인)
    )""",
    re.VERBOSE,
)
# What stands before it.
BEFORE_NAME = re.compile(
    r"(?:only|without|needs?|requires?|decision (?:by|of|from|is with)|decision:|nur|ohne|braucht|sans|seule?"
    r"|sin|solo|(?:approval|signature|consent|sign-off) (?:by|of|from)|to be (?:signed|approved|decided) by"
    r"|(?:entscheidung|unterschrift|freigabe) (?:von|durch)|(?:signature|accord|decision|firma) de)"
    r"\s(?:the |our |director |dr\.? |mr\.? |mrs\.? |ms\.? |herrn? |frau |m\. |mme )?$"
)
# What leaves it open, or denies it.
OPEN = one_of(
    r"""
    (?:if|unless|not|n't|need ?n't|no longer|maybe|perhaps|could|would|optional|either|instead|already)\b
    (?:does|do|did)n'?t\b
    (?:wenn|falls|nicht|kein\w*|vielleicht|oder|bereits|schon)\b
    (?:si|pas|peut-etre|ou|deja|no|quiza|ya)\b
    """
)
# Meetings to which people come on days off, too.
SOCIAL = one_of(
    r"""
    lunch|dinner|coffee|drinks?\b|party|breakfast|birthday|wedding|bbq|barbecue|football|run\b|gym|tennis|beer|cinema
    mittagessen|abendessen|kaffee|fruhstuck|geburtstag|feier|dejeuner|diner|cafe|anniversaire|comida|cena|점심|저녁|커피|생일
    """
)
