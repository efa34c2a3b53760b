"""Addresses that stand in texts, and addresses at which nobody reads.

Whom a matter concerns often stands only in a contract or a signature. Text can be forged, though, and so an
address counts only where the person or somebody they deal with wrote or keeps it.
"""

import re

from inference.foreign import visible
from workspace import Artifact, Trust


def written_in(artifact: Artifact) -> frozenset[str]:
    """The addresses in the text of an artifact that is trusted, in lower case; none of a stranger's.

    What a mail quotes does not count, nor what is part of a link, nor addresses at which nobody reads.
    """
    if artifact.trust is Trust.UNKNOWN:
        return frozenset()
    found = _ADDRESS.findall(_LINK.sub(" ", visible(artifact.text)).lower())
    return frozenset(address for address in found if not unattended(address))


def unattended(address: str) -> bool:
    """Whether an address says of itself that nobody reads what is sent there."""
    name = _SEPARATOR.sub("", address.partition("@")[0].lower())
    return any(word in name for word in _UNATTENDED)


_UNATTENDED = ("noreply", "donotreply", "mailerdaemon", "bounce")
_SEPARATOR = re.compile(r"[._-]")
_LINK = re.compile(r"://\S+")
# Only whole words of plain letters: half of an address in another script would be somebody else's.
_ADDRESS = re.compile(
    r"(?<![\w.%+'/@-])[a-z0-9](?:[a-z0-9._%+-]{0,62}[a-z0-9_])?@(?:[a-z0-9-]{1,63}\.){1,5}[a-z][a-z0-9-]{1,62}(?![\w@-])",
)
