"""A large mail without its large attachments: planned from BODYSTRUCTURE, put together from the parts that are
wanted (RFC 3501, sections 6.4.5 and 7.4.2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.mail.imap_answers import Token, number
from connectors.mail.message import MAX_DEPTH, MAX_PARTS

MOST_OF_TEXT = 4_000_000  # octets of a text, more than is kept of it
_MOST_KEPT = 32 * 1024 * 1024  # octets of all the parts of one mail


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a mail by its number ("" for a mail that is itself multipart). One that has a `boundary` holds
    others; a leaf has `octets`, of which `wanted` are to be downloaded."""

    number: str
    boundary: bytes = b""
    inner: tuple["Part", ...] = ()
    octets: int = 0
    wanted: int = 0

    def leaves(self) -> Iterator["Part"]:
        if self.boundary:
            for part in self.inner:
                yield from part.leaves()
        else:
            yield self

    def parts(self) -> Iterator["Part"]:
        """All parts but the mail itself."""
        for part in self.inner:
            yield part
            yield from part.parts()


def planned(structure: Token, largest: int) -> Part | None:
    """Which parts of a mail to download, leaving out attachments that have more bytes than `largest`; None where
    the structure is none, or belies itself."""
    try:
        return _Plan(largest).part(structure, "", 0)
    except ValueError:
        return None


def left_out(mail: Part) -> Mapping[str, int]:
    """The parts that stay at the server, with their octets."""
    return {leaf.number: leaf.octets for leaf in mail.leaves() if leaf.octets and not leaf.wanted}


def assembled(mail: Part, header: bytes, heads: Mapping[str, bytes], bodies: Mapping[str, bytes]) -> bytes:
    """The mail from its header, the headers of its parts and their bodies; what is missing is empty."""
    pieces: list[bytes] = []
    _assemble(mail, header, heads, bodies, pieces)
    return b"".join(pieces)


def _assemble(
    part: Part, head: bytes, heads: Mapping[str, bytes], bodies: Mapping[str, bytes], pieces: list[bytes]
) -> None:
    pieces.append(head if head.endswith(b"\r\n\r\n") else head.rstrip(b"\r\n") + b"\r\n\r\n")
    if not part.boundary:
        pieces.append(bodies.get(part.number, b""))
        return
    for inner in part.inner:
        pieces.append(b"--" + part.boundary + b"\r\n")
        _assemble(inner, heads.get(inner.number, b""), heads, bodies, pieces)
        pieces.append(b"\r\n")
    pieces.append(b"--" + part.boundary + b"--\r\n")


@dataclass(slots=True)
class _Plan:
    """Counts parts and octets over all levels."""

    largest: int
    parts: int = 0
    kept: int = field(default=0)

    def part(self, structure: Token, number_: str, depth: int) -> Part:
        self.parts += 1
        if not isinstance(structure, list) or not structure or depth > MAX_DEPTH:
            raise ValueError("no structure of a mail")
        if isinstance(structure[0], list):
            return self._several(structure, number_, depth)
        return self._leaf(structure, number_ or "1")

    def _several(self, structure: Sequence[Token], number_: str, depth: int) -> Part:
        count = next((place for place, one in enumerate(structure) if not isinstance(one, list)), 0)
        rest = structure[count:]  # subtype, parameters, disposition, language, location
        boundary = _parameters(rest[1] if len(rest) > 1 else None).get(b"BOUNDARY", b"")
        if not count or not boundary or any(odd in boundary for odd in b"\r\n"):
            raise ValueError("no boundary")
        inner = []
        for place, one in enumerate(structure[:count], 1):
            if self.parts > MAX_PARTS:
                break  # one more than is read, so that it is told
            inner.append(self.part(one, f"{number_}.{place}" if number_ else str(place), depth + 1))
        return Part(number_, boundary, tuple(inner))

    def _leaf(self, structure: Sequence[Token], number_: str) -> Part:
        if len(structure) < 7 or not isinstance(structure[0], bytes):
            raise ValueError("no part")
        kind, encoding, octets = structure[0].upper(), structure[5], number(structure[6])
        base64 = isinstance(encoding, bytes) and encoding.upper() == b"BASE64"
        attached = any(
            isinstance(one, list) and one and isinstance(one[0], bytes) and one[0].upper() == b"ATTACHMENT"
            for one in structure[7:]
        )
        if kind == b"TEXT" and not attached:
            wanted = min(octets, MOST_OF_TEXT)
        else:
            wanted = octets if (octets * 3 // 4 if base64 else octets) <= self.largest else 0
        if self.kept + wanted > _MOST_KEPT:
            wanted = 0
        self.kept += wanted
        return Part(number_, octets=octets, wanted=wanted)


def _parameters(listed: Token) -> dict[bytes, bytes]:
    if not isinstance(listed, list):
        return {}
    pairs = zip(listed[::2], listed[1::2], strict=False)
    return {name.upper(): value for name, value in pairs if isinstance(name, bytes) and isinstance(value, bytes)}
