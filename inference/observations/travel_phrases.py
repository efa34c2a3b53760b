"""The phrases by which it is read how long a way takes, in English, German, French, Spanish and Korean, in plain
form (lower case, no accents)."""

import re

from inference.observations.words import one_of

# Events that need no going to.
ONLINE = re.compile(
    r"https?:|\b(?:zoom|teams|meet\.|google meet|webex|skype|jitsi|online|virtual|remote|video|visio|phone|call"
    r"|telefon|telephone|telefono|anruf|distanciel|videoconferencia|webinar)\b|videokonferenz|온라인|화상|전화"
)
# A sentence that speaks of a way.
WAY = one_of(
    r"""
    drive\b|driving|by (?:car|train|bus|tram|bike|ferry|boat|foot|taxi|metro|tube)|on foot|walk\b|travel\b|journey
    the (?:train|bus|ferry|tram|boat|flight|way) |train (?:ride|takes)|ride\b|to get (?:there|here|from|to)\b
    fahrt(?:zeit|dauer)?\b|autofahrt|zugfahrt|bahnfahrt|fahrweg|anfahrt|zu fuss
    mit (?:dem|der) (?:auto|zug|bahn|bus)\b
    fussweg|der zug braucht|(?:man )?braucht (?:man )?von
    trajet|en (?:voiture|train|bus|tram|metro)|a pied|de route|le train met
    trayecto|en (?:coche|tren|autobus|metro)|a pie|de camino|el tren tarda
    .*(?:이동 ?시간|걸립니다|걸려요|걸린다|차로|기차로|버스로|지하철로|도보)
    """
)
# What is no way of the person's, or is left open.
OPEN = one_of(
    r"""
    (?:if|would|could|might|no longer|not|used to|was|were|late|delay\w*|every|cancel\w*|battery|test drive)\b
    (?:leaves?|departs?|goes|starts?|faehrt|fahrt|part|sale) (?:in|every|at|um|dans|en)\b
    (?:meeting|talk|visit|tour|presentation|workshop|lunch|lesson) (?:takes|lasts)\b
    (?:wenn|falls|ware|konnte|nicht|verspat\w*|alle|probefahrt|verspatung)\b
    (?:si|serait|pourrait|pas|retard|toutes les|seria|podria|no|retraso|cada)\b
    """
)
# Every text that is looked into has a length of time.
LENGTH = re.compile(r"\d[ -]?(?:h|min|std|stunde|시간|분)|hour|stunde|heure|hora")
LASTING = re.compile(
    r"(?<![\w.,:])(?:"
    r"(?:(?P<only_half>half an|eine halbe|une demi|media)[ -]?(?:hour|stunde|heure|hora)\b)"
    r"|(?P<hours>\d{1,2}|an?|one|two|three|four|five|eine[rn]?|zwei|drei|vier|une?|deux|trois|quatre|una?|dos|tres)"
    r" ?(?P<half>and a half |einhalb )?-?(?:h|hr|hrs|hours?|std|stunden?|heures?|horas?|시간)\b\.?"
    r"(?:\s?(?:and |und |et |y )?(?P<minutes>\d{1,2})(?:\s?(?:min|minutes?|minuten|minutos|분))?)?"
    r"(?P<more> and a half\b)?"
    r")|(?<![\w.,:])(?P<alone>\d{1,3})[ -]?(?:min|mins|minutes?|minuten|minutos|분)"
)
