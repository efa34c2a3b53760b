"""Documents that are zip archives: what they unpack to is counted before any parser has them."""

import io
import zipfile

MAX_INFLATED = 200 * 1024 * 1024
MAX_MEMBERS = 5_000

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what Office writes around a protected document, and wrote before 2007
_LOCAL_HEADER = 30


class Unreadable(ValueError):
    """The document can't be read, in words for the person."""


def opened(data: bytes) -> zipfile.ZipFile:
    """The archive, after it was unpacked into nothing once and counted, whatever its directory claims.

    Archives inside of it stay packed.

    Raises:
        Unreadable: if it would fill more than MAX_INFLATED bytes, has too many members, or is none.
    """
    if data.startswith(_OLE):
        raise Unreadable("protected by a password, or in the format of before 2007")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise Unreadable("not a document of this type, or cut off") from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise Unreadable(f"holds more than {MAX_MEMBERS:,} parts")
    if any(member.flag_bits & 1 for member in members):
        raise Unreadable("protected by a password")
    # Other methods than these two could unpack to any size in one step; no office program writes them.
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise Unreadable("packed as no office program does")
    if _overlap(members, archive.start_dir):
        raise Unreadable("its parts lie over each other")
    left = MAX_INFLATED
    for member in members:
        try:
            with archive.open(member) as file:
                while chunk := file.read(1 << 20):
                    left -= len(chunk)
                    if left < 0:
                        raise Unreadable(f"unpacks to more than {MAX_INFLATED // 2**20} MB")
        except zipfile.BadZipFile as error:
            raise Unreadable("one of its parts is broken") from error
    return archive


def _overlap(members: list[zipfile.ZipInfo], end: int) -> bool:
    """Whether members share bytes of the archive: so a small one unpacks to as much as a large one."""
    places = sorted((one.header_offset, one.header_offset + _LOCAL_HEADER + one.compress_size) for one in members)
    begins = [begin for begin, _ in places[1:]] + [end]
    return any(finish > begin for (_, finish), begin in zip(places, begins, strict=True))
