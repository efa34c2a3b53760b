"""`tide add imap`, `caldav` and `webcal`: accounts at servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from desktop.commands.options import (
    Certificate,
    ClientId,
    Json,
    Name,
    Person,
    Provider,
    ProviderOption,
    SecretCommand,
    Security,
    TokenCommand,
    User,
)

if TYPE_CHECKING:
    from desktop.adding import Added


def register_kinds(group: typer.Typer) -> None:
    group.command(epilog="Example: tide add imap you@example.org --person 'Ann Lee'")(imap)
    group.command(epilog="Example: tide add caldav https://dav.example.org/ --user ann")(caldav)
    group.command(epilog="Example: tide add webcal https://example.org/holidays.ics --public --name holidays")(
        webcal
    )


def imap(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Your mail address there.", show_default=False)
    ],
    server: Annotated[
        str,
        typer.Option(
            "--server", metavar="HOST[:PORT]", help="The server; found if not given.", show_default=False
        ),
    ] = "",
    security: Annotated[
        Security | None,
        typer.Option(
            "--security",
            metavar="HOW",
            help="tls, starttls, or none (on this machine alone).",
            show_default=False,
        ),
    ] = None,
    user: User = "",
    secret_command: SecretCommand = "",
    client_id: ClientId = "",
    provider: ProviderOption = None,
    token_command: TokenCommand = "",
    certificate: Certificate = "",
    folder: Annotated[
        list[str] | None,
        typer.Option(
            "--folder",
            metavar="NAME",
            help="A folder to read, again for each; inbox, sent and archive if not given.",
            show_default=False,
        ),
    ] = None,
    months: Annotated[
        int | None,
        typer.Option(
            "--months",
            metavar="N",
            min=0,
            max=1200,
            help="Mail of so many months first, older mail later (12); 0: all at once.",
            show_default=False,
        ),
    ] = None,
    name: Name = "",
    person: Person = "",
    json: Json = False,
) -> None:
    """Mail at a server.

    The server is found from the domain of the address and shown before the password is asked for; piped in, the
    password is the first line. It is tried out, then kept in the keyring. Mail is read only; unread stays unread.
    """
    from desktop.adding import add_account, checked_address, free, made_account, refuse_again
    from desktop.pipeline import looking
    from desktop.signing_in import signed_in

    with _adding("--server"), looking() as work:
        address = checked_address(address)
        name = free(work, name, _domain(address), "imap")
        values = _at(address, server, security) if server else _found(address)
        values |= {
            "address": address,
            "user": user or values.get("user", ""),
            "certificate": certificate,
            "folders": tuple(folder or ()),
            **_oauth(values, client_id, provider, token_command, secret_command),
        }
        if months is not None:
            values["months"] = months
        account = made_account(**values)
        refuse_again(work, "imap", account)
        tried = signed_in(name, account)
        added = add_account(work, "imap", account, tried, name=name, emails=(address,), person=person)
    tell(added, json)


def caldav(
    place: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS", help="Your mail address, or https://… where the server begins.", show_default=False
        ),
    ],
    user: User = "",
    secret_command: SecretCommand = "",
    client_id: ClientId = "",
    provider: ProviderOption = None,
    token_command: TokenCommand = "",
    certificate: Certificate = "",
    calendar: Annotated[
        list[str] | None,
        typer.Option(
            "--calendar",
            metavar="NAME",
            help="A calendar to read, by name or address, again for each; all if not given.",
            show_default=False,
        ),
    ] = None,
    name: Name = "",
    person: Person = "",
    json: Json = False,
) -> None:
    """Calendars and tasks at a server.

    As Nextcloud, iCloud, Fastmail and Radicale have them (CalDAV). Piped in, the password is the first line. It is
    tried out, then kept in the keyring. Calendars are read only.
    """
    from desktop.adding import add_account, checked_address, free, made_account, refuse_again
    from desktop.pipeline import looking
    from desktop.signing_in import signed_in
    from workspace import UserError

    with _adding(), looking() as work:
        emails: tuple[str, ...] = ()
        if "@" in place and not is_address(place):
            emails = (checked_address(place),)
            place = emails[0]
        elif not is_address(place):
            place = f"https://{place}"
        name = free(work, name, f"{_domain(place)}-calendar", "caldav")
        values = _found_calendars(place) if emails else _at_url(place)
        values |= {
            "user": user or values.get("user", ""),
            "certificate": certificate,
            "calendars": tuple(calendar or ()),
            **_oauth(values, client_id, provider, token_command, secret_command),
        }
        account = made_account(**values)
        if not account.login:
            raise UserError("Tide must know who signs in there. Add it: --user NAME")
        refuse_again(work, "caldav", account)
        tried = signed_in(name, account)
        added = add_account(work, "caldav", account, tried, name=name, emails=emails, person=person)
    tell(added, json)


def webcal(
    address: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS",
            help="https://… or webcal://…; asked for if not given, so that no history keeps it.",
            show_default=False,
        ),
    ] = "",
    public: Annotated[
        bool, typer.Option("--public", help="The address is no secret, and may stand in accounts.toml.")
    ] = False,
    user: Annotated[
        str,
        typer.Option(
            "--user",
            metavar="NAME",
            help="The name to sign in with, where a password is wanted.",
            show_default=False,
        ),
    ] = "",
    secret_command: Annotated[
        str,
        typer.Option(
            "--secret-command",
            metavar="CMD",
            help="A command that prints the address (or, with --user, the password), in place of the keyring.",
            show_default=False,
        ),
    ] = "",
    certificate: Certificate = "",
    name: Name = "",
    json: Json = False,
) -> None:
    """A calendar that a server publishes as an .ics file.

    Who has the address can read the calendar. So it is kept in the keyring, and is shown as its host alone, unless
    it is --public or a password is wanted besides.
    """
    add_webcal(
        address,
        public=public,
        user=user,
        secret_command=secret_command,
        certificate=certificate,
        name=name,
        json=json,
    )


def add_webcal(
    address: str,
    *,
    public: bool = False,
    user: str = "",
    secret_command: str = "",
    certificate: str = "",
    name: str = "",
    emails: Sequence[str] = (),
    person: str = "",
    json: bool = False,
) -> None:
    """Add a published calendar, by whichever name of the kind the person calls it."""
    from urllib.parse import urlsplit

    from connectors.accounts.credentials import Credentials
    from desktop.adding import Tried, add_account, free, made_account, refuse_again
    from desktop.pipeline import looking
    from desktop.signing_in import ask_secret, signed_in
    from workspace import UserError

    with _adding(), looking() as work:
        tried = Tried()
        open_address = public or bool(user)
        if not address and (open_address or not secret_command):
            address = ask_secret("Address of the calendar: ", "address")
        address = _published(address) if address else ""
        if open_address and "@" in urlsplit(address).netloc:
            raise UserError(
                "Leave user and password out of the address. If they are wanted there: --user NAME; the password"
                " is asked for, and kept in the keyring."
            )
        stem = address.rstrip("/").rpartition("/")[2].rpartition(".")[0] if open_address else "calendar"
        name = free(work, name, stem, "calendar")
        values = {"secret_command": secret_command, "certificate": certificate}
        if user:
            account = made_account(url=address, user=user, sign_in="password", **values)
            tried = signed_in(name, account)
        elif public:
            account = made_account(url=address, sign_in="none", certificate=certificate)
        else:
            account = made_account(sign_in="none", **values)
            if not secret_command:
                tried.keyring.get(name)
                tried.put(name, address)
        secret = "" if open_address else _published(Credentials(name, account, tried).secret())
        refuse_again(work, "webcal", account, secret)
        added = add_account(
            work, "webcal", account, tried, name=name, address=secret, emails=emails, person=person
        )
    tell(added, json)


def is_address(place: str) -> bool:
    """Whether a place is one of the web, not of this machine.

    Raises:
        UserError: if it begins like one and is none.
    """
    from urllib.parse import urlsplit

    from workspace import UserError

    if not place.lower().startswith(("https://", "http://", "webcal://", "webcals://")):
        return False
    try:
        urlsplit(place).port  # noqa: B018  # looks at all of it
    except ValueError as error:
        raise UserError(
            "This is no address of the web. Write it like https://dav.example.org/ or https://dav.example.org:8443/"
        ) from error
    return True


def _published(address: str) -> str:
    """An address of a published calendar as one that can be asked for.

    Raises:
        UserError: if it is none.
    """
    from desktop.signing_in import http_address
    from workspace import UserError

    asked = http_address(address)
    if not is_address(asked):
        raise UserError("This is no address of the web. Write it like https://example.org/holidays.ics")
    return asked


def tell(added: Added, json: bool) -> None:
    """Say what was added."""
    from desktop.output import print_json, say

    if json:
        print_json(asdict(added))
    else:
        say(f"Added {added.name}: {added.holds}. Next: tide run")


@contextmanager
def _adding(server: str = "the address") -> Iterator[None]:
    """Tell what ends the adding as what the person can do about it. `server` is how they name it here."""
    from desktop.adding import in_options
    from desktop.errors import Stopped
    from workspace import UserError

    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped("Stopped. Nothing was added.") from error
    except UserError as error:
        said = in_options(str(error), server)
        if said == str(error):
            raise
        raise UserError(said) from error


def _at(address: str, server: str, security: Security | None) -> dict[str, object]:
    """The server that the person names."""
    from urllib.parse import urlsplit

    from desktop.output import say
    from workspace import UserError

    try:
        parts = urlsplit(f"//{server}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.path or "@" in parts.netloc:
        raise UserError(
            f"{server!r} is no server. Write it like --server imap.example.org or imap.example.org:993"
        )
    if security is None:
        security = Security.STARTTLS if port == 143 else Security.TLS
    port = port or (993 if security is Security.TLS else 143)
    say(f"Mail of {address}: {host}:{port}, {_ENCRYPTED[security]}.")
    return {"host": host, "port": port, "security": security.value}


_ENCRYPTED = {
    Security.TLS: "encrypted (TLS)",
    Security.STARTTLS: "encrypted (STARTTLS)",
    Security.NONE: "not encrypted",
}


def _found(address: str) -> dict[str, object]:
    """The server that the domain of an address leads to."""
    from connectors.accounts.discovery import find_mail
    from desktop.output import say

    found = find_mail(address)
    account = found.account
    say(f"Mail of {address}: {account.host}:{account.port}, {_ENCRYPTED[Security(account.security)]}. {found.how}")
    if found.hint:
        say(found.hint)
    return account.model_dump()


def _found_calendars(address: str) -> dict[str, object]:
    """Where the calendars are to which the domain of an address leads."""
    from connectors.accounts.discovery import find_calendars
    from desktop.output import say

    found = find_calendars(address)
    say(f"Calendars of {address}: {found.account.url}. {found.how}")
    if found.hint:
        say(found.hint)
    return found.account.model_dump()


def _at_url(url: str) -> dict[str, object]:
    """The server that the person names by an address of the web, which may name the user too."""
    from urllib.parse import unquote, urlsplit, urlunsplit

    from workspace import UserError

    parts = urlsplit(url)
    user, separator, _ = parts.netloc.rpartition("@")[0].partition(":")
    if separator:
        raise UserError("Leave the password out of the address: it is asked for, and kept in the keyring.")
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return {"url": plain, "user": unquote(user)}


def _oauth(
    values: dict[str, object], client_id: str, provider: Provider | None, token_command: str, secret_command: str
) -> dict[str, object]:
    """How to sign in, as the options say, and where they don't, the server."""
    from workspace import UserError

    if sum(map(bool, (client_id, token_command, secret_command))) > 1:
        raise UserError("Name one of --client-id, --token-command and --secret-command: each is a way to sign in.")
    if token_command:
        return {"sign_in": "oauth", "secret_command": token_command}
    if client_id:
        named = provider.value if provider else values.get("provider")
        if not named:
            raise UserError("Tide must know whose client that is. Add it: --provider google or microsoft")
        return {"sign_in": "oauth", "client_id": client_id, "provider": named}
    if secret_command:
        return {"secret_command": secret_command}
    if values.get("sign_in") == "oauth":
        raise UserError(
            "That server takes no password. Sign in with a --client-id of your own, or --token-command."
        )
    return {"provider": ""}


def _domain(place: str) -> str:
    """The telling part of a domain, to name a source by: of mail.firm.co.uk the longest."""
    from urllib.parse import urlsplit

    host = (urlsplit(place).hostname or "") if is_address(place) else place.rpartition("@")[2]
    labels = host.split(".")[:-1]
    return host if host[-1:].isdecimal() or not labels else max(reversed(labels), key=len)
