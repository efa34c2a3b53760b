"""Which mail folders are read: all but those for what the person threw away, never wanted or has not sent."""

import base64
import binascii
import re
from typing import Literal

_LEFT_OUT = frozenset(
    {
        "trash", "deleted items", "deleted messages", "bin", "papierkorb", "gelöschte elemente", "corbeille",
        "éléments supprimés", "papelera", "cestino", "lixeira", "prullenbak", "kosz", "roskakori", "papirkurv",
        "papperskorgen", "koš", "корзина",
        "junk", "junk e-mail", "junk email", "junk mail", "spam", "bulk mail", "indésirables",
        "courrier indésirable", "correo no deseado", "posta indesiderata", "ongewenste e-mail", "спам",
        "drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten",
        "wersje robocze", "utkast", "kladder", "luonnokset", "koncepty", "черновики",
        "outbox", "templates", "unsent messages",
    }
)  # fmt: skip
_SENT = frozenset(
    {
        "sent", "sent items", "sent mail", "sent messages", "gesendet", "gesendete elemente", "gesendete objekte",
        "gesendete nachrichten", "envoyés", "éléments envoyés", "messages envoyés", "objets envoyés", "enviados",
        "elementos enviados", "mensajes enviados", "itens enviados", "posta inviata", "inviati", "inviata",
        "verzonden", "verzonden items", "verzonden berichten", "wysłane", "elementy wysłane", "lähetetyt",
        "sendt", "sendte", "sendt post", "sendte elementer", "skickat", "skickade", "odeslaná pošta", "odeslané",
        "отправленные",
    }
)  # fmt: skip
_ARCHIVE = frozenset(
    {
        "archive", "archives", "archived", "archiv", "archivo", "archivos", "archivio", "archiviati", "arquivo",
        "arquivos", "archief", "archiwum", "arkisto", "arkiv", "архив",
    }
)  # fmt: skip
_ENCODED = re.compile(r"&([A-Za-z0-9+,]*)-")


def is_read(name: str) -> bool:
    """Whether a folder is read, by its path: parts set off by `/` or `.`, in UTF-8 or IMAP's UTF-7."""
    parts = re.split(r"[/.]", decode_name(name).lower())
    return not any(part.strip() in _LEFT_OUT for part in parts)


def usual_role(name: str) -> Literal["sent", "archive", ""]:
    """What a folder of this name (as people see it) usually holds."""
    plain = name.strip().lower()
    if plain in _SENT:
        return "sent"
    return "archive" if plain in _ARCHIVE else ""


def decode_name(name: str) -> str:
    """A folder name in the modified UTF-7 of RFC 3501, section 5.1.3, as text; as it is where it is not that."""

    def decoded(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        try:
            data = base64.b64decode(found[1].replace(",", "/") + "===")
            return data.decode("utf-16-be")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return found[0]

    return _ENCODED.sub(decoded, name) if "&" in name else name
