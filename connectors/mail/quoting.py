"""What the author of a mail wrote anew, and what they quoted.

Works on plain text (HTML comes here as text with `> ` before what its containers quote). Recognised are `>`
lines with the line that introduces them in the languages of the common mail programs, separators such as
`-----Original Message-----`, and header blocks (From, Sent, To, Subject) as Outlook writes them.
"""

# ruff: noqa: RUF001 (letters of many languages stand here on purpose)

import re
from itertools import islice

_SIGNATURE_LINES = 10
_SIGNATURE_CHARACTERS = 500

_SEPARATOR = re.compile(
    r"^[ \t>]*(?:-{2,}|_{2,}|—{2,})[ \t]*(?:original message|original appointment|forwarded message"
    r"|forwarded by.{0,80}|reply message|ursprüngliche nachricht|originalnachricht|weitergeleitete nachricht"
    r"|message d'origine|message original|message transféré|mensaje original|mensaje reenviado|mensagem original"
    r"|mensagem encaminhada|messaggio originale|messaggio inoltrato|oorspronkelijk bericht|doorgestuurd bericht"
    r"|wiadomość oryginalna|oryginalna wiadomość|ursprungligt meddelande|opprinnelig melding|oprindelig meddelelse"
    r"|alkuperäinen viesti|původní zpráva|исходное сообщение|пересылаемое сообщение|özgün ileti|原始邮件|原始郵件"
    r"|元のメッセージ|original-nachricht)[ \t]*(?:-{2,}|_{2,}|—{2,})?[ \t]*$"
    r"|^[ \t]*(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message réexpédié"
    r"|début du message transféré|inicio del mensaje reenviado|inizio messaggio inoltrato):[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_INTRODUCTION = re.compile(
    r"(?:\bwrote|\bschrieb(?:en)?\b.{0,150}|\ba écrit|\bescribió|\bescreveu|\bha scritto|\bschreef\b.{0,150}"
    r"|\bpisze|\bnapisał(?:\(a\)|a)?|\bskrev\b.{0,150}|\bkirjoitti\b.{0,80}|\bпишет|\bнаписал(?:\(а\)|а)?"
    r"|\bnapsala?(?:\(a\))?|\bnapísala?|\byazdı|\bírta|\ba scris|写道|寫道|のメール|が書きました|님이 작성)"
    r"[ \t\xa0]*[:：]?[ \t]*$",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^(?:On|Am|Le|El|Em|Il|Op|W dniu|Den|Dne|Dňa|Pe|Em|În|Lainaus)\b.{0,200}\d"
    r"|^\d{1,4}[-./年]|^.{0,60}\d{4}.{0,80}\d:\d\d",
    re.IGNORECASE,
)
_NAMES_SENDER = re.compile(r"^.{0,200}@.{0,100}$")
_FROM = re.compile(
    r"^[ \t>*]*(?:From|Von|De|Da|Van|Od|Från|Fra|Lähettäjä|От|Kimden|差出人|发件人|寄件者|보낸 사람)"
    r"[ \t]*\*?[ \t]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_SENT = re.compile(
    r"^[ \t>*]*(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Fecha|Data|Inviato|Verzonden|Wysłano|Skickat|Sendt"
    r"|Lähetetty|Отправлено|Дата|Gönderilen|Tarih|Odesláno|送信日時|日時|发送时间|寄件日期|보낸 날짜)"
    r"[^:：\n]{0,20}[:：]",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"^[ \t>*]*(?:Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Temat|Ämne|Emne|Aihe|Тема|Konu|Předmět"
    r"|件名|主题|主旨|제목)[ \t]*\*?[ \t]*[:：]",
    re.IGNORECASE,
)
_RULE = re.compile(r"^[ \t]*[_-]{8,}[ \t]*$")


def split(text: str) -> tuple[str, str]:
    """The fresh and the quoted part of a mail's text, each stripped of blank ends."""
    text, tail = _cut_at_separator(text)
    if text.startswith(">") or "\n>" in text or "\n >" in text:
        fresh, quoted = _quoted_lines(text.split("\n"))
    else:
        fresh, quoted = _introduced(text)
    both = "\n\n".join(part for part in (quoted.strip("\n"), tail.strip("\n")) if part.strip())
    return _bounded_signature(fresh).strip(), both.strip()


def _cut_at_separator(text: str) -> tuple[str, str]:
    """Cut where a separator or a header block says that another message begins."""
    places = [found.start() for found in (_SEPARATOR.search(text), _header_block(text)) if found]
    if not places:
        return text, ""
    place = min(places)
    head = text[:place].rstrip()
    last = head.rpartition("\n")[2]
    if _RULE.match(last):
        head = head[: len(head) - len(last)]
    return head, text[place:]


def _header_block(text: str) -> re.Match[str] | None:
    """Where three header lines stand together as in a message quoted by Outlook, if anywhere."""
    for found in islice(_FROM.finditer(text), 100):
        following = text[found.start() : found.start() + 3_000].split("\n")[1:8]
        sent = any(_SENT.match(line) for line in following[:4])
        if sent and any(_SUBJECT.match(line) for line in following):
            return found
    return None


def _quoted_lines(lines: list[str]) -> tuple[str, str]:
    fresh: list[str] = []
    quoted: list[str] = []
    inside = False
    for line in lines:
        if line.startswith((">", " >")):
            if not inside:
                quoted += _introduction(fresh)
            quoted.append(line)
            inside = True
        else:
            fresh.append(line)
            inside = inside and not line.strip()
    return "\n".join(fresh), "\n".join(quoted)


def _introduction(fresh: list[str]) -> list[str]:
    """Take the line that introduces a quotation (it may be wrapped onto three) off the end of the fresh text."""
    end = len(fresh)
    while end and not fresh[end - 1].strip():
        end -= 1
    for opens, most in ((_OPENS, 3), (_NAMES_SENDER, 1)):
        for count in range(1, min(most, end) + 1):
            lines = fresh[end - count : end]
            joined = " ".join(line.strip() for line in lines)
            if not lines[0].strip() or len(joined) > 400:
                break
            if opens.search(joined) and _INTRODUCTION.search(joined):
                del fresh[end - count :]
                return lines
    return []


def _introduced(text: str) -> tuple[str, str]:
    """Split a text without `>` where a dated line introduces the rest, as some programs on phones write it."""
    place = 0
    for line in text.split("\n"):
        if line.endswith((":", "：")) and 20 < len(line) < 400:
            stripped = line.strip()
            if re.search(r"\d", stripped) and _INTRODUCTION.search(stripped) and _OPENS.search(stripped):
                return text[:place], text[place:]
        place += len(line) + 1
    return text, ""


def _bounded_signature(text: str) -> str:
    """Keep no more than some lines of what follows the last signature mark."""
    head, mark, signature = text.rpartition("\n-- \n")
    if not mark:
        return text
    kept = "\n".join(signature.split("\n")[:_SIGNATURE_LINES])[:_SIGNATURE_CHARACTERS]
    return head + mark + kept
