"""The phrases by which contracts that renew themselves are read, in English, German, French, Spanish and Korean.

All are in plain form: lower case, no accents."""

import re

from inference.observations.words import one_of, word_set

ONCE = ("another", "further", "weiteres", "weiterer", "weiteren", "nouvel", "nouvelle", "otro")
NOTED = re.compile(
    r"last day (?:for|to|of) (?:\w+ )?(?:notice|cancel|terminat|end)|notice (?:deadline|by|must)|cancel by"
)
# One of these stands in every text that is looked into; a plain search for them is quick.
RENEWING_WORDS = (
    *(
        "renew",
        "verläng",
        "reconduc",
        "reconduit",
        "renouvel",
        "renov",
        "renuev",
        "prorrog",
        "prórrog",
        "갱신",
        "연장",
    ),
    "extended by",
)
RENEWS = one_of(
    r"""
    (?:auto)?renew\w*
    (?:is|are|will be) extended (?:by|for)
    verlangert sich|automatisch(?:e|en)? verlanger\w*|(?:ver)?langerung
    (?:tacite(?:ment)? |tacitement )?reconduct\w*|reconduit\w*|renouvel\w*
    renov\w+|renuev\w+|prorrog\w+
    (?:자동 ?)?(?:갱신|연장)
    """
)
_UNITS = (
    r"days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|semaines?|mois|ans?|dias?|semanas?"
    r"|mes(?:es)?|anos?"
)
_END = (
    r"(?:end|expir\w+|renewal|term|anniversary|ablauf|ende|\w+ende|verlangerung|echeance|fin|terme|renouvellement"
    r"|vencimiento|finalizacion|termino)\b"
)
# How long before the end notice has to be given, in the forms of the five languages.
BEFORE = re.compile(
    rf"(?<!\w)(?P<n>[a-z]+|\d{{1,3}})(?: ?\(\w+\))?[ -](?P<u>{_UNITS})\b(?:'s?)?(?:"
    r"(?: \w+){0,2} (?:before|prior to|ahead of|vor|avant|antes del?)\b"
    rf"(?: (?:the|der|dem|des|la|le|el|each|any|current))*(?: | ?l'){_END}"
    rf"|(?: written)? notice\b|(?: \w+)? zum {_END}|(?: \w+)? de (?:antelacion|preaviso|preavis)\b)"
    r"|(?:preavis|preaviso|kundigungsfrist|notice period|period of notice)(?: (?:of|de|von|betragt|is|est))* "
    rf"(?P<n2>[a-z]+|\d{{1,3}})(?: ?\(\w+\))? (?P<u2>{_UNITS})\b"
    r"|(?:만료|종료|만기)일?(?:의)? ?(?:최소 |늦어도 )?(?P<n3>\d{1,3}|한|두|세) ?(?P<u3>개월|달|주|일) ?이?전"
)
# By how much the contract goes on each time.
TERM = re.compile(
    r"(?:renew\w*|extended|prolonged)\b.{0,40}?(?:year to year|annually"
    r"|\b(?P<n>[a-z]+|\d+)(?: ?\(\w+\))?[ -](?P<u>months?|years?)\b)"
    r"|verlangert sich.{0,60}?\b(?P<n2>[a-z]+|\d+) (?:weitere[ns]? )?(?P<u2>monate?|jahre?)\b"
    r"|(?:reconduct\w+|reconduit\w*|renouvel\w+|renov\w+|renuev\w+|prorrog\w+).{0,60}?"
    r"\b(?P<n3>[a-z]+|\d+) (?P<u3>mois|ans?|annees?|mes(?:es)?|anos?)\b"
    r"|(?P<n4>\d+) ?(?P<u4>년|개월)(?:씩|간)? ?(?:자동 ?)?(?:갱신|연장)"
)
# A sentence that tells when the term ends.
ENDS = one_of(
    r"""
    (?:until|ends?|ending|expir\w+|through|runs|term(?= ?:))\b
    (?:bis|endet|ende|laufzeit|lauft|befristet|vertragsende)\b
    (?:jusqu'au|echeance|se termine|prend fin|expire|fin|au)\b
    (?:hasta|vence|vencimiento|finaliza|termina|al)\b
    .*(?:까지|만료|종료|만기)
    """
)
GIVING = one_of(
    r"""
    (?:notice|cancel\w*|terminat\w*|opt out)\b
    kundig\w*|gekundigt|(?:denonc|resili)\w*|(?:cancel|rescind|rescis|baja)\w*|.*(?:해지|통지|통보)
    """
)
KEEPING = one_of(
    r"""
    (?:renew\w*|otherwise|extended|goes on|avoid)\b
    verlanger\w*|andernfalls|sonst|reconduct\w*|reconduit\w*|renouvel\w*|a defaut|renov\w*|renuev\w*|prorrog\w*
    .*(?:갱신|연장)
    """
)
LEAVING_WORDS = (
    *("cancel", "terminat", "end the", "to an end", "notice", "get rid", "give up", "switch", "compar", "let it"),
    *("not renew", "n't renew", "renew", "kündig", "kuendig", "beenden", "loswerden", "wechsel", "vergleich"),
    *("résili", "resili", "arrêter", "mettre fin", "dénonc", "comparer", "rescind", "cancelar", "dar de baja"),
    *("darnos de baja", "terminar", "no renovar", "해지", "그만", "종료", "비교", "바꾸"),
)
WISHES = one_of(
    r"""
    (?:cancel|terminat|end|ending|ends|drop|leave|leaving|replace|switch|compar|quit|stop)(?:e|ed|ing)?\b
    (?:bring|brought|come|put) (?:it |this |them )?to an end
    (?:not|n't|never) (?:want to )?renew\b
    (?:get rid of|give (?:it )?up|give notice|let (?:it|the \w+|the big \w+) (?:go|lapse|run out))\b
    (?:kundig\w*|gekundigt|beenden|loswerden|wechsel\w*|vergleich\w*|auslaufen|abschaffen|aussteigen)
    (?:resili\w*|arret\w*|mettre fin|denonc\w*|compar\w*|chang\w* de|quitt\w*|ne pas renouveler)
    (?:rescind\w*|cancel\w*|baja|terminar|no renov\w*|compar\w*|cambiar de|dejar)\b
    .*(?:해지|그만|종료|비교|바꾸)
    """
)
GIVES_NOTICE = one_of(
    r"""
    (?:(?:hereby )?(?:terminate|cancel|give (?:you )?notice)|notice of (?:termination|cancellation|non-renewal))\b
    (?:not (?:wish to |want to )?renew|end (?:our|the|this) (?:agreement|contract|lease|hire|subscription))\b
    (?:kundig\w*|kundige|resili\w*|denonc\w*|rescind\w*|cancel\w*|baja)
    .*해지
    """
)
CONFIRMS = one_of(
    r"""
    (?:confirm\w*|received|acknowledg\w*|accept\w*)\b.{0,60}(?:cancel|terminat|notice)
    (?:bestatig\w*).{0,60}kundig|kundigung.{0,40}(?:erhalten|bestatigt|eingegangen)
    (?:confirm\w*|recu|bien pris).{0,60}(?:resili|denonc)
    (?:confirm\w*|recibi\w*).{0,60}(?:baja|cancelacion|rescision)
    .*해지.{0,20}(?:확인|접수|완료)
    """
)
# Words that are in the title of any contract.
ANY_CONTRACT = frozenset(
    word[:6]
    for word in word_set(
        """
        contract agreement lease hire service subscription membership policy terms conditions signed final copy
        renewal insurance invoice vertrag vereinbarung mietvertrag wartungsvertrag dienstvertrag abonnement
        versicherung contrat convention bail contrato acuerdo suscripcion seguro alquiler 계약서 계약 약관
        """
    )
)
