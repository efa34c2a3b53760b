"""The file in which a provider tells mail programs where its servers are (Mozilla's autoconfig, version 1.1).

It comes from a stranger: what it names has to be a server of the internet, asked over TLS.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lxml import etree

MOST_BYTES = 256 * 1024

_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SECURITY: dict[str, Literal["tls", "starttls"]] = {"ssl": "tls", "starttls": "starttls"}
_SIGN_IN: dict[str, Literal["password", "oauth"]] = {
    "": "password",
    "plain": "password",
    "secure": "password",
    "password-cleartext": "password",
    "password-encrypted": "password",
    "oauth2": "oauth",
}


@dataclass(frozen=True, slots=True)
class MailServer:
    """An IMAP server; `user` is the name to sign in with, "" for the address."""

    host: str
    port: int
    security: Literal["tls", "starttls"]
    user: str = ""
    sign_in: Literal["password", "oauth"] = "password"


def read_autoconfig(file: bytes, address: str) -> MailServer | None:
    """The IMAP server that the file names for an address, TLS from the first byte before STARTTLS.

    None if there is none that one may ask.
    """
    # Without entities and DTDs there is nothing to swell; libxml2 bounds depth and the length of a text.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(file, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root.getroottree().docinfo.doctype:  # type: ignore[union-attr]
        return None
    servers = list(_servers(root, address))
    return next((one for one in servers if one.security == "tls"), None) or next(iter(servers), None)


def is_host(name: str) -> bool:
    """Whether a name (lower case, ASCII) is that of a host in the internet: no number, and not this machine."""
    return bool(_HOST.fullmatch(name)) and len(name) < 254 and not name.endswith((".localhost", ".localdomain"))


def _servers(root: etree._Element, address: str) -> Iterator[MailServer]:
    local, _, domain = address.rpartition("@")
    for server in root.iterfind("emailProvider/incomingServer"):
        if (server.get("type") or "").lower() != "imap":
            continue

        def said(name: str, server: etree._Element = server) -> list[str]:
            values = (one.text or "" for one in server.iterfind(name))
            filled = (
                value.replace("%EMAILADDRESS%", address)
                .replace("%EMAILLOCALPART%", local)
                .replace("%EMAILDOMAIN%", domain)
                for value in values
            )
            return [value.strip() for value in filled] or [""]

        host, port = said("hostname")[0].lower(), said("port")[0]
        security = _SECURITY.get(said("socketType")[0].lower())
        ways = [_SIGN_IN[way] for way in map(str.lower, said("authentication")) if way in _SIGN_IN]
        if not is_host(host) or security is None or not ways or not re.fullmatch("[1-9][0-9]{0,4}", port):
            continue
        user = said("username")[0]
        if int(port) > 65_535 or not user.isprintable() or len(user) > 500:
            continue
        yield MailServer(
            host,
            int(port),
            security,
            "" if user == address else user,
            "password" if "password" in ways else "oauth",
        )
