"""The phrases by which promises of something to come are read, in English, German, French, Spanish and Korean.

All are in plain form: lower case, no accents. Only what would leave a trace counts: a mail, a file, an answer.
"""

from inference.observations.words import one_of

# One of these stands in every text that is looked into; a plain search for them is quick.
PROMISING_WORDS = (
    *("send", "forward", "mail you", "get back", "come back", "let you", "you'll have", "you will have", "share"),
    *("schick", "send", "reich", "liefer", "melde", "leite", "bescheid", "maile"),
    *("envoi", "enverr", "transme", "reviens", "confirmer", "courant", "recevr", "auras", "aurez"),
    *("envi", "enví", "mand", "paso", "pasar", "confirmo", "confirmar", "aviso", "avisar", "recibir"),
    *("보내", "전달", "공유", "알려", "회신", "답변"),
)

PROMISE = one_of(
    r"""
    (?:i|we)(?:'ll| will| shall|'m going to| am going to) (?:then |also |gladly |certainly |still )?SENDING
    you(?:'ll| will| shall) (?:have|get|receive) (?:it|them|the|my|our|an?)\b
    (?:i|we) promise to\b
    (?:ich|wir) (?:schicke|schicken|sende|senden|maile|leite|leiten|reiche|reichen|liefere|liefern)\b
    (?:ich|wir) (?:gebe|geben) (?:dir|ihnen|euch) .{0,30}bescheid
    (?:ich|wir) melden? (?:mich|uns)\b
    (?:ich|wir) werden? .{0,60}(?:schicken|senden|nachreichen|liefern|weiterleiten|zusenden|zuschicken)\b
    (?:schicke|sende|maile|reiche|liefere|gebe|melde) ich\b
    (?:schicken|senden|reichen|liefern|geben|melden) wir\b
    (?:du|ihr|sie) (?:bekommst|bekommt|bekommen|erhaltst|erhalten) .{0,40}(?:von (?:mir|uns)|bis|morgen)
    (?:je|nous) (?:vous|te) (?:les? |la |l')?(?:envoie|enverrai|envoyons|enverrons|transmets|transmettrai)\b
    (?:je|nous) (?:vous|te) (?:transmettrons|confirmerai|confirmerons|recontacte|recontacterai|ferai parvenir)\b
    (?:je|nous) (?:vous|te) (?:tiens|tiendrai|tenons|tiendrons) au courant
    je (?:reviens|reviendrai) vers (?:vous|toi)
    je t'(?:envoie|enverrai)\b
    (?:vous (?:recevrez|aurez)|tu (?:recevras|auras))\b
    (?:te|le|les|os|se) (?:lo |la |los |las )?(?:envio|enviare|enviamos|enviaremos|mando|mandare|paso|pasare)\b
    (?:te|le|les|os|se) (?:lo |la |los |las )?(?:mandaremos|pasaremos|confirmo|confirmare|aviso|avisare)\b
    .*(?:보내|전달해|공유해|알려|확인해|회신해|답변해|송부해) ?(?:드리겠|드릴게|드릴 예정|주겠)
    .*(?:보내|전달하|공유하|회신하|답변하|송부하)(?:겠습니다|ㄹ게요|도록 하겠)
    """.replace(
        "SENDING",
        r"(?:(?:send|forward|mail|email|e-mail|share|pass|provide|deliver) "
        r"(?:you|it|them|that|this|the|over|on|a|an|my|our|along)|get (?:it|them|that|this|the \w+|back) to"
        r"|come back to you|let you (?:know|have))\b",
    )
)

# What is promised for the case that something happens, or has been done already by this very mail.
CONDITION = one_of(
    r"""
    (?:if|unless|in case|once|when|whenever|after|as soon as|as long as|until|should|would|could|not|never)\b
    (?:every|each|always|usually|an invitation|invite|by post|in the post|reminder|already|here(?:by|'s)?)\b
    (?:wenn|falls|sofern|sobald|nachdem|sollte|nicht|kein\w*|immer|jeden|jede|einladung|per post|hiermit|anbei)\b
    (?:wurde|hatte|bereits|schon)\b
    (?:si|s'il|des que|quand|lorsque|apres|au cas|ne|pas|chaque|toujours|invitation|par la poste)\b
    (?:ci-joint\w*|deja)\b
    (?:cuando|en cuanto|tras|despues|en caso|no|siempre|cada|invitacion|por correo postal|adjunt\w+|ya)\b
    .*(?:[으하되]면|면 |는 대로|은 후|뒤에|않|우편|초대|첨부)
    """
)

# Until something that is not named as a day, or at a time that is none.
BY_THEN = one_of(
    r"""
    (?:before\w*|ahead|in advance|in time|by then|later|next|soon|in (?:january|february|march|april|may))\b
    (?:in (?:june|july|august|september|october|november|december|spring|summer|autumn|fall|winter))\b
    (?:vorher|vorab|rechtzeitig|bis dahin|spater|nachste\w*|vor|im (?:januar|februar|marz|april|mai|juni|juli))\b
    (?:im (?:august|september|oktober|november|dezember|fruhjahr|sommer|herbst|winter)|bald|demnachst)\b
    (?:avant|d'avance|a temps|d'ici la|plus tard|prochain\w*|bientot|au printemps|en (?:ete|automne|hiver))\b
    (?:antes|a tiempo|mas tarde|proxim[oa]|pronto|en (?:primavera|verano|otono|invierno))\b
    .*(?:미리|전에|나중|다음|곧|봄에|여름에|가을에|겨울에)
    """
)

ATTACHED = one_of(
    r"""
    attached (?:is|are|you|please|here)\b
    (?:(?:is|are|find|see|i've|i have|i) attach(?:ed)?|i(?:'m| am) attaching|see (?:the )?attach(?:ed|ment))\b
    (?:anbei|im anhang|in der anlage)\b
    .{0,60}(?:hange ich|habe ich angehangt|ist beigefugt|sind beigefugt|angehangt ist)\b
    (?:ci-joints?|ci-jointe?s?|en piece jointe|je (?:vous |te )?joins|vous trouverez (?:ci-)?joint)
    (?:(?:te|le|les|os) adjunto|adjunto (?:te|le|les|encontrar\w*|el|la|los|las|envio))\b
    (?:va adjunt[oa]|en (?:el )?adjunto)\b
    .*첨부(?:해 ?드립|하였|했|합니다|드립|파일을 (?:확인|보내))
    """
)
ATTACHED_WORDS = (
    *("attach", "anbei", "anhang", "anlage", "angehängt", "beigefügt", "joint", "joins", "adjunt", "첨부"),
)
# It was attached elsewhere, or is not.
ELSEWHERE = one_of(
    r"""
    (?:not|no|nothing|never|without|forgot|was|were|last|earlier|yesterday|previous|to (?:the|my|your))\b
    (?:nicht|nichts|kein\w*|vergessen|gestern|letzte\w*|vorige\w*|war|waren)\b
    (?:pas|rien|oublie|hier|dernier|precedent)\b
    (?:no|nada|olvide|ayer|anterior)\b
    .*(?:않|못|어제|지난)
    """
)
