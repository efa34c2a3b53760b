"""The parts of a mail, and of each its type, its parameters and its bytes, read by accessors that cannot raise."""

import base64
import binascii
import re
from email.feedparser import BytesFeedParser
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import Any

from connectors.mail.headers import Fields, decoded
from connectors.text import decode

_MAX_PARAMETERS = 8_000  # characters; what is looked for costs their square at worst
_MAX_LINES = 1_000_000
_MAX_BOUNDARIES = 20_000
_STEP = 1 << 16
_MANY_LINES = 100_000
_MAX_COMPARISONS = 100_000_000
_MULTIPART = re.compile(rb"multipart/", re.IGNORECASE)
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/=]+")
_TYPE = re.compile(r"\s*([\w!#$&^.+-]+/[\w!#$&^.+-]+)")
_PARAMETER = re.compile(r';\s*([\w.-]+)(\*\d+)?(\*)?\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)')


def bounded(data: bytes) -> bytes:
    """The beginning of a mail that can be parsed in seconds: all of it, unless its lines or parts are myriads.

    60 MB of base64 have fewer than a million lines; of parts only some hundreds are read.
    """
    if data.count(b"\n") <= _MAX_LINES and data.count(b"\n--") <= _MAX_BOUNDARIES:
        return data
    lines = boundaries = 0
    for place in range(0, len(data), _STEP):
        lines += data.count(b"\n", place, place + _STEP)
        boundaries += data.count(b"\n--", place, place + _STEP)
        if lines > _MAX_LINES or boundaries > _MAX_BOUNDARIES:
            return data[:place]
    return data


def parsed(data: bytes, defects: list[str]) -> "Message[str, str]":
    """The parts of a mail; all of it as one plain part, with a defect, where they can't be told."""
    try:
        if _too_deep(data):
            raise RecursionError
        # Piece by piece: the parser for whole mails holds four bytes for each of theirs.
        parser = BytesFeedParser(_Part, policy=compat32)
        for place in range(0, len(data), _STEP):
            parser.feed(data[place : place + _STEP])
        return parser.close()
    except RecursionError:
        defects.append("parts nested too deep; read as plain text")
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, LookupError, AssertionError) as error:
        defects.append(f"structure can't be read ({type(error).__name__}); read as plain text")
    head, _, body = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    message = BytesHeaderParser(policy=compat32).parsebytes(head[:1_000_000] + b"\n\n")
    message.set_payload(body.decode("ascii", "surrogateescape"))
    del message["Content-Type"], message["Content-Transfer-Encoding"]
    return message


def _too_deep(data: bytes) -> bool:
    """Whether parsing would take more than some seconds: each line is held against each boundary around it."""
    lines = data.count(b"\n")
    return lines > _MANY_LINES and lines * len(_MULTIPART.findall(data)) > _MAX_COMPARISONS


class _Part(Message):
    """A part as the parser makes it. Its boundary is looked for within bounds, as it takes the field's square."""

    def get_boundary(self, failobj: Any = None) -> Any:
        field = str(self.get("content-type", ""))
        if len(field) <= _MAX_PARAMETERS:
            return super().get_boundary(failobj)
        short: Message[str, str] = Message()
        short["Content-Type"] = field[:_MAX_PARAMETERS]
        return short.get_boundary(failobj)


def content_type(fields: Fields) -> str:
    found = _TYPE.match(fields.raw("content-type"))
    return found[1].lower() if found else "text/plain"


def parameter(fields: Fields, name: str) -> str:
    """A parameter of Content-Type or Content-Disposition, continued and encoded ones (RFC 2231) put together."""
    value = fields.raw("content-disposition" if name == "filename" else "content-type")[:_MAX_PARAMETERS]
    if name not in value.lower():
        return ""
    pieces: list[tuple[int, bool, str]] = []
    for found in _PARAMETER.finditer(";" + value.partition(";")[2].replace("\n", " ").replace("\r", "")):
        if found[1].lower() == name:
            text = found[4]
            text = re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') and len(text) > 1 else text
            pieces.append((int(found[2][1:6]) if found[2] else 0, bool(found[3]), text))
    if not pieces:
        return ""
    pieces.sort(key=lambda piece: piece[0])
    if not any(encoded for _, encoded, _ in pieces):
        return "".join(text for _, _, text in pieces)
    charset, quote, _ = pieces[0][2].partition("'")
    data = b""
    for place, (_, encoded, text) in enumerate(pieces):
        if place == 0 and quote:
            text = text.split("'", 2)[-1]
        raw = text.encode("ascii", "surrogateescape") if text.isascii() else text.encode("utf-8", "replace")
        data += re.sub(rb"%([0-9A-Fa-f]{2})", lambda hit: bytes([int(hit[1], 16)]), raw) if encoded else raw
    return decode(data, charset if quote else "")[0]


def payload(part: "Message[str, str]", fields: Fields) -> tuple[bytes, str]:
    """The decoded bytes of a part, and a defect or ""."""
    coding = fields.raw("content-transfer-encoding").strip().strip(";\"'").lower()
    if coding in ("base64", "x-uuencode", "uuencode", "x-uue", "uue"):
        whole = part.get_payload()
        data = whole.encode("ascii", "replace") if isinstance(whole, str) else b""
        return _base64(data) if coding == "base64" else (_uudecoded(data), "")
    raw = part.get_payload(decode=True)  # quoted-printable is decoded by it, the rest left as it stands
    data = raw if isinstance(raw, bytes) else b""
    if coding in ("quoted-printable", "quoted-printeable"):
        return data if coding == "quoted-printable" else binascii.a2b_qp(data), ""
    known = coding.replace("-", "") in ("", "7bit", "8bit", "binary", "8bits", "plain")
    return data, "" if known else f"unknown transfer encoding {decoded(coding)[:40]!r}"


def _base64(data: bytes) -> tuple[bytes, str]:
    try:
        return base64.b64decode(data, validate=False), ""
    except binascii.Error:
        pass
    data = _NOT_BASE64.sub(b"", data).replace(b"=", b"")
    data = data[: len(data) - 1] if len(data) % 4 == 1 else data
    return binascii.a2b_base64(data + b"=" * (-len(data) % 4)), "base64 is cut off or broken"


def _uudecoded(data: bytes) -> bytes:
    found = bytearray()
    for line in data.splitlines():
        if line.startswith(b"begin ") or not line or line in (b"end", b"`"):
            continue
        try:
            found += binascii.a2b_uu(line)
        except binascii.Error:
            # Some encoders pad the last group with blanks; the count in front says how much is meant.
            size = (((line[0] - 32) & 63) * 4 + 5) // 3
            try:
                found += binascii.a2b_uu(line[:size])
            except binascii.Error:
                continue
    return bytes(found)
