"""The phrases by which absences and departures of others are read, in English, German, French, Spanish and Korean,
in plain form (lower case, no accents)."""

import re

from inference.observations.words import one_of, word_set

POSTMEN = word_set("mailer-daemon postmaster mail-daemon mailerdaemon")

# One of these stands in every mail that tells of an absence; a plain search for them is quick.
AWAY_WORDS = (
    *("away", "leave", "leaving", "holiday", "vacation", "out of", "off ", "last day", "retire", "travel"),
    *("abroad", "offline", "signal", "no email"),
    *("urlaub", "nicht da", "nicht im", "abwesend", "unterwegs", "verreist", "letzter", "verlasse", "ruhestand"),
    *("absent", "congé", "vacances", "quitte", "dernier jour", "retraite", "déplacement", "sans réseau"),
    *("vacaciones", "fuera", "ausente", "último día", "dejo", "jubil", "de viaje"),
    *("휴가", "연차", "부재", "출장", "퇴사", "퇴직"),
)

AWAY = one_of(
    r"""
    away\b|out of (?:the )?(?:office|country)|on (?:\w+ )?leave\b|on (?:holiday|vacation)|abroad|travell?ing
    off (?:work|from|until|on|next|this)\b|unavailable|not available|absent|offline
    without (?:a )?(?:laptop|e-?mail)
    (?:im|in|auf) \w*urlaub|nicht (?:da|im (?:haus|buro))\b|abwesend|unterwegs|verreist|auf (?:dienst)?reise\b
    en (?:conge|vacances|deplacement)|absente?\b|injoignable
    de vacaciones|fuera de la oficina|ausente|de viaje|de permiso
    .*(?:휴가|연차|부재|출장|자리를 비)
    """
)
I_AM_AWAY = one_of(
    r"""
    (?:i'm|i am|i'll be|i will be|i shall be) (?:then |also |again |still )?(?:AWAY)
    (?:i'm|i am|i'll be) .{0,50}\b(?:and|then) (?:away|on leave|out of (?:the )?office)\b
    i (?:have|will have|'ll have) no (?:signal|reception|internet|e-?mail|line|network)\b
    ich bin (?:\S+ ){0,6}?(?:im \w*urlaub|nicht (?:da|im (?:haus|buro))|abwesend|verreist|auf (?:dienst)?reise)\b
    bin ich (?:\S+ ){0,6}?(?:im \w*urlaub|nicht (?:da|im (?:haus|buro))|abwesend|verreist|auf (?:dienst)?reise)\b
    je (?:suis|serai) (?:\S+ ){0,3}?(?:en (?:conge|vacances|deplacement)|absente?)\b
    je (?:suis|serai) .{0,80}\bsans (?:reseau|connexion)\b
    (?:estoy|estare) (?:\S+ ){0,3}?(?:de vacaciones|fuera|ausente|de viaje)\b
    .*(?:휴가|연차|출장)(?:입니다|이에요|예정|을 갑|를 갑|를 냈|을 냈)
    """.replace(
        "AWAY",
        r"away\b|out of (?:the )?(?:office|country)|on (?:\w+ )?leave\b|on (?:holiday|vacation)|abroad"
        r"|travell?ing\b|off (?:work|from|until|on|next|this)\b"
        r"|unavailable|out of (?:the world|reach|touch|contact)|offline|at sea\b",
    )
)
RETURNS = one_of(
    r"""
    back\b|return|again (?:from|on)\b|wieder\b|zuruck\b|de retour|reviens|rentre\b|regreso|vuelvo|volvere|de vuelta
    .*(?:복귀|돌아)
    """
)
# Somebody has left for good.
LEFT = one_of(
    r"""
    no longer (?:work|with|employed|at\b|part of|in (?:this|the) (?:role|post|position))|no longer works?\b
    (?:has|have) left (?:the|our|us\b|this)|left the (?:company|firm|organi[sz]ation|office|team)|has retired
    (?:this )?(?:mailbox|address|account) is (?:no longer|not) (?:in use|used|monitored|active)
    (?:nicht mehr|nicht langer) (?:bei|fur|im unternehmen|in unserem|hier|tatig)|arbeitet? (?:\S+ )?nicht mehr
    ausgeschieden|in den ruhestand|unternehmen verlassen
    ne (?:travaille|fait) plus (?:partie|chez|a|au|pour|dans)|a quitte (?:l|la|le|notre)
    plus (?:parmi nous|en poste)
    ya no (?:trabaja|trabajo|forma)|ha dejado (?:la|el|nuestra)
    .*(?:퇴사(?:하|했|한)|퇴직(?:하|했|한)|더 이상 근무)
    """
)
# Somebody will leave for good.
LEAVES = one_of(
    r"""
    (?:my|her|his|the|'s|s) last (?:working )?day|last (?:working )?day (?:is|will be|at|with|here)
    (?:leaves|leaving|will leave|am leaving) (?:us\b|the (?:company|firm|team|office|museum)|our)|retires?\b
    letzter (?:arbeits)?tag|verlasst uns|verlasse (?:ich )?(?:die|das|den)|geht in (?:den ruhestand|rente)
    (?:mon|son) dernier jour|quitte (?:l'entreprise|la societe|l'equipe|notre)|part a la retraite
    (?:mi|su) ultimo dia|deja (?:la|el) (?:empresa|equipo)|se jubila
    .*(?:퇴사|퇴직|마지막 (?:근무|출근))
    """
)
SELF = one_of(r"(?:i|i'm|i'll|my|ich|mein\w*|je|mon|mi|me|dejo|quitte)\b|제|저")
UNSURE = one_of(
    r"""
    (?:if|unless|might|maybe|perhaps|could|would|not away|no longer away|was away|was on|were|cancel\w*)\b
    (?:wenn|falls|vielleicht|war|si|peut-etre|etait|quiza|tal vez|estuve|estaba)\b
    """
)
UNKNOWN_ADDRESS = re.compile(
    r"5\.1\.[1-3]\b|5\.0\.0\b.*unknown|user unknown|unknown user|no such (?:user|recipient|person|mailbox)"
    r"|address not found|recipient not found|(?:address|mailbox|recipient|user|account) (?:\S+ ){0,4}?"
    r"(?:does not exist|doesn't exist|not exist|couldn't be found|could not be found|wasn't found|was not found"
    r"|unknown|is disabled)|unbekannt|existiert nicht|n'existe pas|introuvable|no existe|존재하지 않"
)
# The title of an entry that says nothing but that its keeper is away.
BARE = re.compile(
    r"(?:(?:out of (?:the )?office|ooo|on|annual|sick|parental|maternity|paternity|unpaid|leave|holidays?"
    r"|vacation|pto|away|off|day|days|time|urlaub|im|elternzeit|abwesend|abwesenheit|conges?|en|annuels?|vacances|absence"
    r"|absente?|vacaciones|de|ausente|permiso|휴가|연차|부재|휴직|출산휴가|육아휴직)\s?)+"
)
# Somebody stands in for another.
COVERED = one_of(
    r"""
    (?:stand|stands|standing|step|steps|fill|fills|sit|sits) in\b|(?:take|takes|taking|took|taken) over\b
    cover(?:s|ing)? (?:for|me|my|it|him|her|this|the)\b|on (?:my|his|her|their) behalf|deput|instead of|in place of
    represent\w*|delegat\w*|hand(?:s|ed|ing)? over|without (?:me|him|her|them)\b|join(?:s|ing)? (?:remotely|online)
    vertritt|vertret\w*|ubernimm\w*|ubernehm\w*|an (?:meiner|seiner|ihrer) stelle|statt \w+\b
    ohne (?:mich|ihn|sie)\b
    remplac\w*|suppleant|a (?:ma|sa) place|represente|sans (?:moi|lui|elle)\b
    sustitu\w*|reemplaz\w*|en (?:mi|su) lugar|represent\w*|sin (?:mi|el|ella)\b
    .*(?:대신|대리|대행|인계)
    """
)
