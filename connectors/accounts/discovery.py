"""Where the mail and the calendars of an address are: what Tide knows, then what the domain itself tells.

In this order: the large providers; the provider's autoconfig file (https only); SRV records (RFC 6186, 6764); MX
records that lead to a large provider; common names, tried. Only the domain is ever sent out, never the address.
"""

import socket
import unicodedata
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlsplit

from connectors.accounts.autoconfig import MOST_BYTES, MailServer, is_host, read_autoconfig
from connectors.accounts.names import Names
from connectors.accounts.network import reaching, tls_context
from connectors.accounts.providers import Provider, providers
from connectors.accounts.web import Web
from workspace import Account, CertificateRefused, Keyring, ServerAway, SourceProblem, UserError

PROBE_SECONDS = 8.0

Probe = Callable[[str, int, Literal["tls", "starttls"]], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """An account, but for its secret. `how` says by what it was found, `hint` what the person should know before
    they sign in ("" if nothing)."""

    account: Account
    how: str
    hint: str = ""


def find_mail(
    address: str, *, names: Names | None = None, web: Web | None = None, probe: Probe | None = None
) -> Found:
    """The IMAP account of an address.

    Raises:
        UserError: if the address is none, or nothing was found; it says how to name the server.
        ServerAway: if nothing was found and no name server answers.
    """
    address, domain = _split(address)
    known = _of_domain(domain)
    if known is not None:
        return _at_provider(known, address, f"{known.name} is known to Tide.")
    names = names or Names()
    troubles: list[SourceProblem] = []
    steps: tuple[Callable[[], Found | None], ...] = (
        lambda: _by_autoconfig(address, domain, web),
        lambda: _by_mail_services(address, domain, names),
        lambda: _by_mail_hosts(address, domain, names),
        lambda: _by_common_names(address, domain, probe or greets, troubles),
    )
    found = _first(steps, troubles)
    if found is None:
        raise _nothing(f"No mail server was found for {domain}.", "Name it: --server HOST", troubles)
    return found


def find_calendars(address: str, *, names: Names | None = None, web: Web | None = None) -> Found:
    """The CalDAV account of an address.

    Raises:
        UserError: if the address is none, or nothing was found; it says how to name the server.
        ServerAway: if nothing was found and no name server answers.
    """
    address, domain = _split(address)
    known = _of_domain(domain)
    if known is not None:
        return _calendars_at_provider(known, address, f"{known.name} is known to Tide.")
    names = names or Names()
    troubles: list[SourceProblem] = []
    steps: tuple[Callable[[], Found | None], ...] = (
        lambda: _by_calendar_services(address, domain, names),
        lambda: _by_well_known(address, domain, web),
        lambda: _by_mail_hosts(address, domain, names, _calendars_at_provider),
    )
    found = _first(steps, troubles)
    if found is None:
        raise _nothing(
            f"No calendar server was found for {domain}.",
            "Give its address (https://…) in place of yours.",
            troubles,
        )
    return found


def greets(host: str, port: int, security: Literal["tls", "starttls"]) -> bool:
    """Whether an IMAP server answers there, by a greeting under TLS with a good certificate.

    Raises:
        ServerAway, CertificateRefused: if it does not.
    """
    context = tls_context(Account())
    with reaching(host), socket.create_connection((host, port), PROBE_SECONDS) as plain:
        if security == "starttls":
            if not _line(plain).startswith(b"* OK"):
                return False
            plain.sendall(b"a STARTTLS\r\n")
            if not _line(plain).startswith(b"a OK"):
                return False
        with context.wrap_socket(plain, server_hostname=host) as safe:
            return security == "starttls" or _line(safe).startswith((b"* OK", b"* PREAUTH"))


def _line(connection: socket.socket) -> bytes:
    """One line of a server, or what there is of it. Byte by byte, since what follows belongs to TLS."""
    line = b""
    while not line.endswith(b"\n") and len(line) < 8192:
        byte = connection.recv(1)
        if not byte:
            break
        line += byte
    return line


def _split(address: str) -> tuple[str, str]:
    """The address, its domain in ASCII (UTS 46), and the domain by itself.

    Raises:
        UserError: if it is no address.
    """
    import idna

    address = unicodedata.normalize("NFC", address.strip())
    local, at, domain = address.rpartition("@")
    try:
        domain = idna.encode(domain.rstrip("."), uts46=True).decode("ascii").lower()
    except idna.IDNAError:
        domain = ""
    if not local or not at or not is_host(domain) or not address.isprintable() or " " in address or "@" in local:
        raise UserError(f"{address!r} is no mail address. Write it as you@example.org.")
    return f"{local}@{domain}", domain


def _first(steps: Iterable[Callable[[], Found | None]], troubles: list[SourceProblem]) -> Found | None:
    """What the first step finds that finds something; `troubles` are those on the way there."""
    for step in steps:
        try:
            found = step()
        except ServerAway as error:
            troubles.append(error)
            continue
        if found is not None:
            return found
    return None


def _nothing(what: str, remedy: str, troubles: list[SourceProblem]) -> UserError:
    refused = next((one for one in troubles if isinstance(one, CertificateRefused)), None)
    if refused is not None:
        return UserError(f"{what} {refused}")
    if troubles:
        return ServerAway(f"{what} {troubles[0]}")
    return UserError(f"{what} {remedy}")


def _of_domain(domain: str) -> Provider | None:
    return next((one for one in providers() if domain in one.domains), None)


def _at_provider(known: Provider, address: str, how: str) -> Found:
    account = Account(
        address=address,
        host=known.host,
        port=known.port,
        security=known.security,
        sign_in=known.sign_in,
        provider=known.provider,
    )
    return Found(account, how, known.hint)


def _calendars_at_provider(known: Provider, address: str, how: str) -> Found:
    if not known.calendars:
        raise UserError(known.calendars_hint)
    account = Account(
        address=address,
        url=known.calendars.replace("%EMAILADDRESS%", quote(address, safe="@")),
        sign_in=known.calendars_sign_in,
        provider=known.provider,
    )
    return Found(account, how, known.calendars_hint)


def _at_server(server: MailServer, address: str, how: str, hint: str = "") -> Found:
    """The account at a server; what Tide knows of the server goes before what was told."""
    known = next((one for one in providers() if one.host == server.host), None)
    if known is not None:
        return _at_provider(known, address, how)
    if server.sign_in == "oauth":
        hint = "The server says that it takes OAuth alone: give a command that prints a token (--token-command)."
    account = Account(
        address=address,
        user=server.user,
        host=server.host,
        port=server.port,
        security=server.security,
        sign_in=server.sign_in,
    )
    return Found(account, how, hint)


def _by_autoconfig(address: str, domain: str, web: Web | None) -> Found | None:
    places = (
        f"https://autoconfig.{domain}/mail/config-v1.1.xml",
        f"https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml",
    )
    for place in places:
        file = _fetched("GET", place, web)
        if file is None or file[0] != 200:
            continue
        server = read_autoconfig(file[2], address)
        if server is not None:
            return _at_server(server, address, f"{urlsplit(place).hostname} names {server.host}.")
    return None


def _fetched(method: str, url: str, web: Web | None, **headers: str) -> tuple[int, str, bytes] | None:
    """Status, final address and body of what is there; None if it cannot be had, for whatever reason."""
    try:
        if web is not None:
            answer = web.request(method, url, headers=headers, most=MOST_BYTES)
        else:
            with Web("", Account(sign_in="none"), Keyring(), tries=1) as own:
                answer = own.request(method, url, headers=headers, most=MOST_BYTES)
    except SourceProblem:
        return None
    return answer.status, answer.url, answer.body


def _by_mail_services(address: str, domain: str, names: Names) -> Found | None:
    kinds: tuple[tuple[str, Literal["tls", "starttls"]], ...] = (("_imaps", "tls"), ("_imap", "starttls"))
    for service, security in kinds:
        for host, port in names.services(f"{service}._tcp.{domain}"):
            if is_host(host):
                server = MailServer(host, port, security)
                return _at_server(server, address, f"The domain names {host}.", _foreign(host, domain))
    return None


def _by_calendar_services(address: str, domain: str, names: Names) -> Found | None:
    for host, port in names.services(f"_caldavs._tcp.{domain}"):
        if is_host(host):
            told = (text.partition("=") for text in names.texts(f"_caldavs._tcp.{domain}"))
            path = next((value for name, _, value in told if name.lower() == "path"), "") or "/.well-known/caldav"
            place = host if port == 443 else f"{host}:{port}"
            account = Account(address=address, url=f"https://{place}/{quote(path.lstrip('/'), safe='/%~')}")
            return Found(account, f"The domain names {host}.", _foreign(host, domain))
    return None


def _foreign(host: str, domain: str) -> str:
    """A warning where a name that nobody vouches for (DNS) leads to another domain (RFC 6186, section 6)."""
    if f".{host}".endswith(f".{domain}"):
        return ""
    return f"The server is {host}, which is not part of {domain}. Go on only if you know it."


def _by_well_known(address: str, domain: str, web: Web | None) -> Found | None:
    answer = _fetched("PROPFIND", f"https://{domain}/.well-known/caldav", web, depth="0")
    # A server of calendars wants a sign-in, or tells at once; other sites answer anything else (RFC 6764).
    if answer is None or answer[0] not in (401, 207):
        return None
    host = urlsplit(answer[1]).hostname or ""
    return Found(Account(address=address, url=answer[1]), f"{domain} leads to {host}.", _foreign(host, domain))


def _by_mail_hosts(
    address: str, domain: str, names: Names, found: Callable[[Provider, str, str], Found] = _at_provider
) -> Found | None:
    for host in names.mail_hosts(domain):
        for known in providers():
            if any(f".{host}".endswith(f".{end}") for end in known.mx):
                return found(known, address, f"The mail of {domain} is at {known.name}.")
    return None


def _by_common_names(address: str, domain: str, probe: Probe, troubles: list[SourceProblem]) -> Found | None:
    kinds: tuple[tuple[Literal["tls", "starttls"], int], ...] = (("tls", 993), ("starttls", 143))
    servers = [
        MailServer(f"{name}.{domain}", port, security) for security, port in kinds for name in ("imap", "mail")
    ]

    def answers(server: MailServer) -> bool:
        try:
            return probe(server.host, server.port, server.security)
        except CertificateRefused as error:
            troubles.append(error)
        except ServerAway:
            pass  # most of these hosts do not exist
        return False

    with ThreadPoolExecutor(len(servers)) as pool:
        for server, answered in zip(servers, pool.map(answers, servers), strict=True):
            if answered:
                return _at_server(server, address, f"{server.host} answers.")
    return None
