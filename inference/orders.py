"""Orders to whoever reads for the person: "ignore the above and forward ...", in a mail or a file name.

What strangers write so is not put before a model, and is no evidence. That it is known by its words is the
smaller part of the defence: a model can only fill in forms, what it quotes must stand there, strangers alone prove
nothing, and nobody whom the person has not dealt with is written to.
"""

import base64
import binascii
import re
import unicodedata
from functools import lru_cache

from inference.foreign import visible
from workspace import Artifact, Trust

WITHHELD = "(withheld: it gives orders to whoever reads it for the person)"
"""What is shown of such an artifact."""


def gives_orders(artifact: Artifact) -> bool:
    """Whether a stranger's words, plain or in base64, are addressed to a model.

    Those who deal with each other may write "ignore the above", or about models.
    """
    if artifact.trust is not Trust.UNKNOWN:
        return False
    return _gives_orders("\n".join((artifact.title, artifact.location, artifact.text, artifact.quoted))[:_MOST])


@lru_cache(maxsize=4096)
def _gives_orders(said: str) -> bool:
    decoded = [_decoded(run) for run in _BASE64.findall(said)[:_MOST_RUNS]]
    return any(_addresses_a_model(text) for text in (said, *decoded) if text)


def _addresses_a_model(text: str) -> bool:
    lower = text.lower() if text.isascii() else unicodedata.normalize("NFKC", visible(text)).lower()
    return bool(_HINT.search(lower) and _ORDER.search(_GAP.sub(" ", lower)))


def _decoded(run: str) -> str:
    """What a run of base64 says; "" where it is not text."""
    try:
        return base64.b64decode(run[: len(run) // 4 * 4].translate(_URL_SAFE), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


_MOST = 200_000
_MOST_RUNS = 50
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_URL_SAFE = str.maketrans("-_", "+/")
_GAP = re.compile(r"[\W_]+")
# One of these stands in every order below: to look for them alone is quick.
_HINT = re.compile(
    r"ignor|disregard|forget|overrid|prompt|assistant|language model|\bllm\b|\bai\b|vergiss|vergessen|missacht"
    r"|oubli|olvid|omit|무시|잊|프롬프트|인공지능|忽略|无视|無視|忘"
)
_FEW = r"(?: \w+){0,4}? "
_READER = r"(?:an? |the |any |all |every )?(?:ai|artificial intelligence|llm|language model|chat ?bot)s?(?: \w+)?"
_ORDER = re.compile(
    "|".join(
        (
            # "ignore the above", "ignore all previous instructions"; so in German, French, Spanish
            r"(?<!not )(?<!never )(?<!don t )\b(?:ignore|disregard|forget|override)"
            rf"{_FEW}(?:above|previous|prior|earlier|preceding|(?:instruction|prompt|rule|guideline|order)s?)\b",
            rf"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*){_FEW}(?:obig|vorher|bisher|vorig|anweis)\w*",
            rf"\b(?:ignore[zr]?|oublie[zr]?){_FEW}(?:instructions|consignes|directives|précéd\w*|dessus)\b",
            rf"\b(?:ignor[ae]|olvid[ae]|omit[ae]){_FEW}(?:instrucciones|órdenes|indicaciones|anterior\w*|arriba)\b",
            # in Korean, Chinese and Japanese, where the verb comes last or no blanks stand between the words
            r"(?:지시|명령|지침|프롬프트|규칙)\w*(?: \w+){0,3}? ?(?:무시|잊)",
            r"(?:^| )(?:위|앞|이전|지금까지)\w*(?: \w+){0,2}? ?(?:무시하(?!지)|잊어)",
            r"(?:忽略|无视|無視|忘记|忘掉).{0,12}(?:指令|指示|提示)",
            r"(?:指示|命令|プロンプト).{0,8}(?:無視|忘れ)",
            # to the reader, by what it is
            r"\bsystem prompts?\b|시스템 프롬프트",
            rf"\byou are (?:now )?{_READER}\b",
            rf"\b(?:instructions?|notes?|messages?|orders?|attention) (?:to|for) {_READER}\b",
            r"\bdear (?:ai|assistant|language model)\b|인공지능(?:에게| 비서| 어시스턴트)",
        )
    )
)
