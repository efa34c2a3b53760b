"""The phrases by which text is read, in English, German, French, Spanish and Korean, in plain form (lower case,
no accents). One alternative a line."""

import re

from inference.observations.words import one_of

# A word that shows that a question is put to the reader, or concerns them.
TO_YOU = one_of(
    r"""
    (?:you|your|yours|u|we|us|our)\b
    (?:shall|should|may|can|could|do) i\b
    (?:du|dich|dir|sie|ihnen|ihr|euch|wir|uns)\b
    dein\w*
    (?:soll|darf|kann) ich\b
    (?:tu|te|toi|ton|ta|tes|vous|votre|vos|nous|on)\b
    t'
    (?:usted|puedes?|podrias?|podemos|podriamos|tienes?|quieres?|sabes?|has|crees?|prefieres?|vienes?|vas)\b
    (?:necesitas?|tus|confirmas|envias|mandas)\b
    [가-힣 ]*(?:까요|나요|가요|습니까|입니까|세요|는지요|을까|어요|죠)
    """
)

# What somebody is asked to do in answer; other imperatives ("please work from version C only") want none.
_ANSWER = (
    r"(?:\w+ ){0,2}?(?:send|confirm|reply|answer|respond|tell|let (?:me|us) know|decide|choose|pick|approve|sign"
    r"|advise|review|check|share|provide|forward|return|get back|come back|give (?:me|us)|fill|suggest|propose"
    r"|clarify|say|have a look|look (?:at|over|through)|call|ring|state|name|specify|submit|complete|comment)\b"
)
_ANTWORT = (
    r"(?:\w+ ){0,6}?(?:schick|send|bestatig|antwort|meld|gib|gebt|geben|sag|teil|pruf|schau|entscheid|wahl"
    r"|unterschreib|unterzeichn|nenn|erganz|ruckmeld|bescheid|freig)"
)
_REPONSE = (
    r"(?:\w+ ){0,3}?(?:[ml]')?(?:confirm|envoy|repon|dire|indiqu|valid|transmett|retourn|sign|precis|donn|choisi"
    r"|verifi|tenir)"
)
_RESPUESTA = (
    r"(?:\w+ ){0,3}?(?:confirm|envi|mand|dim|diga|respond|contest|avis|revis|firm|indi|elig|decid|compart)"
)

# A phrase that asks the reader for something, with or without a question mark.
REQUEST = one_of(
    r"""
    (?:could|can|would|will) (?:you|one of you)\b(?!.{0,20}believe)
    (?:please|pls|kindly) (?!(?:don'?t|do not|find|accept)\b)ANSWER
    let (?:me|us) know (?:whether|which|what|when|where|who|how|by|if (?:you|that|this|it|we)|your)\b
    (?:do|would) you mind\b
    (?:i|we) (?:still )?need (?:you|your|from you|to (?:know|hear)|an? (?:answer|decision|reply|sign-off))\b
    (?:i|we)(?:'d| would)? (?:like|appreciate|be grateful for) (?:your|an? (?:answer|reply|decision))\b
    (?:i|we)(?:'d| would) (?:be grateful|appreciate it) if you\b
    (?:get|come) back to (?:me|us) (?:by|on|with|about|before)\b
    (?:waiting|looking forward) (?:for|to) (?:hear\w* )?your (?:answer|reply|decision|approval|feedback)\b
    (?:konnte|konnten|kannst|konnt|wurdest|wurden|magst|mochtest|wollt|willst)(?:est|et)? (?:du|sie|ihr)\b
    bitte (?!nicht\b|entschuldig|um (?:verstandnis|entschuldigung))ANTWORT
    (?:sag|sagt|sagen sie|gib|geben sie|schick\w*|lass\w*) (?:mir|uns|mich)\b(?!.{0,30}falls)
    (?:ich|wir) (?:brauche|brauchen|benotigen?) (?:noch )?(?:von (?:dir|ihnen|euch)|deine|ihre|eure|bis)\b
    (?:pourr(?:iez|ais)|pouvez|peux|voudr(?:iez|ais))[- ](?:vous|tu)\b
    merci de (?!ne pas\b|votre\b|ton\b|ta\b|vos\b|tes\b)REPONSE
    merci d'(?:envoyer|indiquer|avance de)
    (?:dis|dites|tenez|tiens|envoie|envoyez|confirme|confirmez)[- ](?:moi|nous)\b
    (?:j'ai|nous avons|j'aurais) besoin (?:de (?:ton|ta|votre|tes|vos)|que (?:tu|vous))\b
    (?:puedes|podrias|podria usted|podeis)\b
    por favor,? (?!no\b)RESPUESTA
    (?:avisame|dime|digame|confirmame|enviame|mandame|aviseme|envieme|confirmeme|quedo a la espera)\b
    (?:necesito|necesitamos) (?:que|tu|su)\b
    .*부탁(?:드립|드려|합니다)
    .*(?:알려|보내|확인해|회신해|검토해|전달해|답해|답장해|공유해|연락|답변|해) ?주(?:세요|시기|십시오)
    .*(?:알려|보내|확인해|회신해|검토해|전달해|답해|답장해|공유해|연락|답변|해) ?주(?:실 수|시면|시겠|셨으면)
    .*회신 바랍
    """.replace("ANSWER", _ANSWER)
    .replace("ANTWORT", _ANTWORT)
    .replace("REPONSE", _REPONSE)
    .replace("RESPUESTA", _RESPUESTA)
)

# Words with which a question begins; the greeting and joining words before them are skipped.
INTERROGATIVE = one_of(
    r"""
    \W*(?:and |so |but |also,? |or )?(?:who|what|when|where|which|why|how)\b
    \W*(?:and |so |but |also,? |or )?(?:is|are|do|does|did|was|were|has|have)\b
    any (?:news|update|chance|idea|word)\b
    (?:und )?(?:wer|wann|wo|welche[rs]?|warum|wie|gibt|ist|sind|hat|haben)\b
    (?:et )?(?:qui|que|quoi|quand|ou|quel(?:le)?s?|pourquoi|comment|est-ce|combien)\b
    \W*(?:y )?(?:quien|cuando|donde|cual(?:es)?|que|por que|como|cuanto|hay|esta|es)\b
    .*(?:언제|어디|누가|무엇|어떻게|왜|몇)
    """
)

_IF_NEEDED = (
    r".{0,25} if (?:there\b|you (?:have|need|want|run|get stuck|spot|see|are stuck)|anything|something|any of)"
)

# Courtesies that have the form of a question or a request, to the end of their clause; where they set a
# condition ("if you have any questions, please call"), to the end of the sentence.
COURTESY = one_of(
    r"""
    (?:if|should) you (?:have|need|require|run into|get stuck)\b.{0,80}(?:question|anything|help).*
    (?:if|should) you (?:have|need|run into)\b.{0,80}(?:concern|problem|more).*
    (?:let (?:me|us) know|shout|ping me|get in touch|contact (?:me|us)|reach out|call me)CONDITION
    if (?:anything|something) is unclear.*
    (?:any|more) questions\?
    (?:what|anything) else (?:do|can|you)\b
    (?:do you )?need anything else
    feel free
    (?:don'?t|do not) hesitate
    at your convenience
    thanks? (?:so much |a lot |again )?for
    thank you
    how (?:are|is|was|were|did) (?:you|things|life|it going|your (?:weekend|trip|holiday|vacation|day))\b
    how's (?:it|life|everything|things)
    (?:i )?hope (?:you|this|all)
    (?:can|could) you believe
    (?:bei|falls|wenn) .{0,30}(?:fragen|ruckfragen|unklar).*
    melde[nt]? (?:dich|sie sich|euch) (?:gern|bei)
    wie geht
    (?:n'hesite|si (?:tu as|vous avez) (?:des|d'autres|la moindre) question).*
    comment (?:vas|allez|ca va)
    ca va\b
    \W*que tal
    \W*como (?:estas?|va)\b
    (?:no dudes?|cualquier (?:duda|pregunta|cosa)).*
    si (?:tienes|tiene) (?:alguna|dudas|preguntas).*
    gracias por
    (?:danke (?:fur|dir|euch|ihnen)|vielen dank)
    .*잘 지내
    .*궁금한 (?:점|사항).{0,12}(?:언제든|있으시면).*
    .*문의 ?사항.*
    안녕하(?:세요|십니까|신지)
    """.replace("CONDITION", _IF_NEEDED),
    r"[^,;\u2013\u2014]*",
)

# What somebody says of themselves and ends with a question mark, wondering.
OWN_STATEMENT = re.compile(
    r"(?:and |but |so |also |oh )?(?:i|i've|i'm|ich|je|j'ai|yo)\b"
    r"(?! (?:wonder|was wondering|am wondering|ask|would like to know|frage|wusste gern|me demande)\b)"
    r"(?!.*\b(?:you|your|du|dir|dich|ihr|euch|ihnen|tu|toi|vous|usted|te|os)\b)"
)
# Questions that nobody is meant to answer; they are short and begin the sentence.
RHETORIC = one_of(
    r"""
    who (?:knows|knew|would have thought|doesn'?t)\b[^?]{0,40}\?
    (?:guess what|why not|remember|you know|right|really|seriously)\b[^?]{0,15}\?
    (?:know what i mean|what else|what can i say)\b[^?]{0,15}\?
    what could (?:possibly )?go wrong
    (?:isn'?t (?:it|that|this)|wasn'?t (?:it|that)|what'?s not to)\b
    how (?:cool|great|nice|funny|lovely) (?:is|was)\b
    (?:wer weiss|oder|nicht wahr|qui sait|n'est-ce pas|quien sabe|verdad)\b[^?]{0,15}\?
    .*, (?:remember|right|you know|oder|nicht wahr|gell|non|hein|verdad|no)\?
    """
)

# A question that a writer may put only in order to answer it, and how that answer then begins.
EXPLAINING = one_of(
    r"""
    \W*(?:and |so |but )?(?:why|how|what)\b
    (?:warum|wieso|wie|was|pourquoi|comment|por que|como)\b
    \W*(?:por que|como)\b
    .*(?:왜|어떻게)
    """
)
ANSWERING = one_of(
    r"""
    (?:because|it|it's|that|that's|this|the (?:answer|reason)|well|simple|simply|yes|no|none|nobody|nothing|just)\b
    (?:weil|ja|nein|ganz einfach|das|es|parce que|oui|non|c'est|porque|si|no|es)\b
    (?:왜냐하면|네|아니)
    """
)

NO_NEED = one_of(
    r"""
    no (?:need|reason) (?:to |for (?:a |an |you to )?)(?:reply|respond|answer|do|act)
    no (?:reply|response|answer|action) (?:is )?(?:needed|required|necessary|expected)
    nothing (?:for you )?to do\b
    nothing (?:more |else |further )?(?:is )?(?:needed|required) from you
    (?:just|only) (?:for your info|fyi\b)
    for your information\b
    you don'?t (?:need|have) to (?:reply|answer|do)
    don'?t (?:bother|worry about) (?:to )?(?:reply|respond|answer)
    keine antwort (?:notig|erforderlich|notwendig)
    (?:nur )?zur (?:info\b|kenntnis)
    pas besoin de (?:repondre|reponse)
    pour (?:info|information)\b
    no hace falta (?:que )?(?:respond|contest)
    회신(?:은|하지)? ?(?:안|필요|않)
    """
)

NO_HURRY = one_of(
    r"""
    no (?:rush|hurry)\b
    (?:not|isn'?t) (?:urgent|pressing)
    whenever (?:you|it)
    when you (?:have|get|find) (?:a |some )?(?:time|moment|minute|chance)
    take your time
    eilt nicht
    keine eile
    in ruhe\b
    wenn du zeit
    (?:rien ne presse|pas urgent|quand tu (?:peux|auras))
    (?:sin prisa|no (?:corre prisa|es urgente)|cuando puedas)
    (?:급하지|천천히|시간 (?:날|되실) 때)
    """
)

# The writer comes back to what they asked.
REMINDER = one_of(
    r"""
    (?:remind(?:er|ing)?|following up|follow-up|chasing|nudge|any news|still wait(?:ing)?|still need)\b
    (?:haven'?t|have not|did not|didn'?t) (?:yet )?(?:hear|heard|get|got|receive|received|had)\b
    (?:erinnerung|nachgehakt|nachhaken|noch keine (?:antwort|ruckmeldung))
    (?:relance|je me permets de revenir|toujours pas (?:de|recu|eu))
    (?:recordatorio|sigo esperando|aun no (?:he|hemos)|todavia no (?:he|hemos))
    (?:다시 한번|아직 (?:회신|답변|답장))
    """
)

# The subjects of answers that a machine gives.
MACHINE = one_of(
    r"""
    (?:automatic reply|auto-?reply|autoreply|out of (?:the )?office|away from)
    (?:automatische antwort|abwesenheitsnotiz|abwesend)
    (?:reponse automatique|absence du bureau)
    (?:respuesta automatica|fuera de la oficina)
    자동 ?(?:회신|응답)
    """
)

# The writer says that what they asked has been seen to.
SETTLED = one_of(
    r"""
    never ?mind
    (?:all|now|been|got it|is|it'?s|has|have) sorted
    sorted (?:it|this|that|out|now)\b
    found (?:it|them|the)\b
    no longer (?:need|necessary|relevant|required)
    (?:is|are|been|now|it'?s|all) (?:settled|resolved|solved|fixed)
    (?:already|just) (?:sorted|solved|settled|got|have it|done)\b
    got (?:it|an answer|the answer) from
    all set\b
    (?:ignore|disregard|forget) (?:my|that|this|the) (?:last|mail|e-?mail|question|message|request)
    don'?t need (?:it|this|that|your)
    as (?:discussed|agreed) (?:on the phone|by phone|in person|just now|yesterday|today)
    (?:wie (?:telefonisch )?besprochen|comme convenu|segun lo acordado)
    thanks for (?:calling|ringing|phoning|answering|replying|sorting|getting back|coming back)
    thanks for (?:the|your) (?:call|chat|answer|reply|quick|help|sending|clarif|confirm)
    taken care of
    (?:hat sich|ist|schon|bereits) erledigt
    (?:nicht mehr notig|gefunden|geklart)
    danke fur (?:deine|die|ihre|das) (?:antwort|schnelle|telefonat|info)
    c'est (?:regle|resolu)
    plus besoin
    ya (?:esta|lo (?:tengo|encontre)|no (?:hace falta|es necesario))\b
    (?:resuelto|solucionado)
    (?:해결(?:됐|되었|했)|찾았|괜찮습니다|필요 ?없)
    """
)

THANKS = one_of(r"(?:thanks|thank you|thx|cheers|danke|merci|gracias)\b|감사|고맙")

GREETING = one_of(
    r"""
    (?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|morning)\b
    (?:hallo|liebe[rs]?|guten (?:morgen|tag|abend)|sehr geehrte[rs]?|moin|servus)\b
    (?:bonjour|bonsoir|salut|chere?s?)\b
    (?:hola|buen[oa]s (?:dias|tardes)|buenas|estimad[oa]s?|querid[oa]s?)\b
    """,
    r"[ ,]*(?P<names>[^,!:;.?\n\u2013-]{0,60})",
)
