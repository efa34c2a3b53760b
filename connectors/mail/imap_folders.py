"""The folders of an IMAP mailbox: which are there, and which are read.

Without a word from the person these are the inbox, what was sent, and the archive, as the server marks them
(SPECIAL-USE, RFC 6154) or as they are usually called; where one folder holds everything, that one alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from connectors.mail.folders import decode_name, is_read, usual_role
from connectors.mail.imap_answers import Answer
from connectors.mail.imap_session import Session
from workspace import SourceProblem

_UNWANTED = frozenset({b"\\JUNK", b"\\TRASH", b"\\DRAFTS", b"\\FLAGGED", b"\\IMPORTANT"})
_NO_MAIL = frozenset({b"\\NOSELECT", b"\\NONEXISTENT"})
_ROLES = {"sent": b"\\SENT", "archive": b"\\ARCHIVE"}


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder by the name that the server knows it by; its attributes are in capitals."""

    wire: bytes
    delimiter: str = ""
    attributes: frozenset[bytes] = frozenset()

    @property
    def name(self) -> str:
        """As people see it."""
        return decode_name(self.wire.decode("utf-8", "replace"))

    @property
    def key(self) -> str:
        """As the cursor has it: no `/` in it."""
        return quote(self.wire, safe="")

    @classmethod
    def of_key(cls, key: str) -> "Folder":
        return cls(unquote_to_bytes(key))


def listed(session: Session) -> list[Folder]:
    """All folders of the mailbox, the inbox among them."""
    special = {b"SPECIAL-USE", b"LIST-EXTENDED"} <= session.capabilities
    found = {}
    for one in session.answers(b'LIST "" "*"' + (b" RETURN (SPECIAL-USE)" if special else b"")):
        folder = _folder(one)
        if folder is not None:
            found[folder.wire] = folder
    return list({b"INBOX": Folder(b"INBOX"), **found}.values())


def _folder(one: Answer) -> Folder | None:
    if one.kind != b"LIST" or len(one.tokens) < 3:
        return None
    attributes, delimiter, name = one.tokens[:3]
    if not isinstance(attributes, list) or not isinstance(name, bytes) or not name:
        return None
    if any(odd in name for odd in b"\r\n\0"):
        return None  # can't be named in a command
    return Folder(
        b"INBOX" if name.upper() == b"INBOX" else name,
        delimiter.decode("latin-1") if isinstance(delimiter, bytes) else "",
        frozenset(mark.upper() for mark in attributes if isinstance(mark, bytes)),
    )


def chosen(folders: Sequence[Folder], names: Sequence[str]) -> list[Folder]:
    """The folders that are read: those the person names, or the usual ones. Those that only hold others are none.

    Raises:
        SourceProblem: if there is none of a name: what was brought in from it stays until that is settled.
    """
    with_mail = [folder for folder in folders if not folder.attributes & _NO_MAIL]
    if names:
        missing = [name for name in names if not any(named(folder, (name,)) for folder in with_mail)]
        if missing:
            raise SourceProblem(
                f"There is no folder {', '.join(map(repr, missing))} at the server. Correct `folders` in"
                f" accounts.toml; there are: {', '.join(folder.name for folder in with_mail)[:500]}."
            )
        return [folder for folder in with_mail if named(folder, names)]
    everything = [folder for folder in with_mail if holds_all(folder)]
    return everything[:1] or _usual(folders, with_mail)


def named(folder: Folder, names: Iterable[str]) -> bool:
    """Whether the person names a folder; INBOX in any case of letters (RFC 3501, section 5.1)."""
    return folder.name in names or (folder.wire == b"INBOX" and any(name.upper() == "INBOX" for name in names))


def holds_all(folder: Folder) -> bool:
    """Whether a folder shows all mail, drafts included, as Gmail's does."""
    return b"\\ALL" in folder.attributes


def _usual(folders: Sequence[Folder], with_mail: Sequence[Folder]) -> list[Folder]:
    """Inbox, sent, archive, and what is below inbox and archive; nothing that is or is below junk or the like."""
    sent, archive = (_of_role(folders, role) for role in _ROLES)
    roots = [Folder(b"INBOX"), *archive]
    unwanted = [folder for folder in folders if folder.attributes & _UNWANTED]
    return [
        folder
        for folder in with_mail
        if folder in sent or _at_or_below(folder, roots)
        if not _at_or_below(folder, unwanted)
        if folder in (*sent, *archive) or is_read(folder.name)
    ]


def _of_role(folders: Sequence[Folder], role: str) -> list[Folder]:
    """The folders marked for a role; where none is, those that are usually called so."""
    marked = [folder for folder in folders if _ROLES[role] in folder.attributes]
    return marked or [folder for folder in folders if usual_role(_plain(folder)) == role]


def _plain(folder: Folder) -> str:
    """The name without the inbox that a server may put everything below; a folder deeper down keeps its path."""
    below = f"INBOX{folder.delimiter}"
    return folder.name[len(below) :] if folder.delimiter and folder.name.startswith(below) else folder.name


def _at_or_below(folder: Folder, roots: Iterable[Folder]) -> bool:
    below = folder.delimiter.encode("latin-1")
    return any(folder.wire == root.wire or (below and folder.wire.startswith(root.wire + below)) for root in roots)
