"""Adding a source, and signing in again: looked at first, then kept whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from desktop.pipeline import Work, connector, surroundings
from workspace import Account, Accounts, Keyring, Profile, SecretStore, SignInFailed, UserError, expanded
from workspace.accounts import on_this_machine

if TYPE_CHECKING:
    from workspace.store import Source


class Place(StrEnum):
    """The kinds of source that are on this machine."""

    MAILDIR = "maildir"
    MBOX = "mbox"
    EML = "eml"
    CALENDAR = "calendar"
    FOLDER = "folder"
    CONTACTS = "contacts"


MAIL = (Place.MAILDIR, Place.MBOX, Place.EML)


@dataclass(frozen=True, slots=True)
class Added:
    """A source that was added; `holds` is one line on what is there."""

    name: str
    kind: str
    location: str
    holds: str


@dataclass
class Tried:
    """Secrets that are tried out: they stand before those of the keyring, which gets them from `keep`."""

    keyring: SecretStore = field(default_factory=Keyring)
    new: dict[str, str] = field(default_factory=dict)

    def get(self, name: str) -> str | None:
        return self.new[name] if name in self.new else self.keyring.get(name)

    def put(self, name: str, secret: str) -> None:
        self.new[name] = secret

    def remove(self, name: str) -> None:
        self.new.pop(name, None)
        self.keyring.remove(name)

    def keep(self, undo: ExitStack) -> None:
        """Put them into the keyring; `undo` puts back what was there."""
        for name, secret in self.new.items():
            before = self.keyring.get(name)
            if before is None:
                undo.callback(self.keyring.remove, name)
            else:
                undo.callback(self.keyring.put, name, before)
            self.keyring.put(name, secret)


def add_source(
    work: Work, kind: Place, path: Path, *, name: str = "", emails: Sequence[str] = (), person: str = ""
) -> Added:
    """Add a source on this machine, and what is said of the person to the profile.

    Raises:
        UserError: if the place cannot be read, is there already, or mail is added while no address is known.
    """
    location = str(expanded(path).absolute())
    _refuse_odd(location, name, person)
    known = work.store.artifacts.sources()
    for source in known:
        # The same place may be named in several ways, through links and `..`.
        if source.kind == kind and os.path.realpath(source.location) == os.path.realpath(location):
            raise _there_already(location, source)
    profile = with_person(work.profile, emails, person)
    if kind in MAIL and not profile.persona.emails:
        raise UserError("Tide must know which address is yours. Add it: --email you@example.org")
    if not os.path.exists(location):
        raise UserError(f"{location} does not exist. Name the file or folder that holds the {kind.value}.")
    stem = path.absolute().name.rsplit(".", 1)[0] or path.name.lstrip(".")
    name = name or free_name(work, stem, kind)
    holds = connector(work, name, kind.value, location).check().rstrip(".")
    with ExitStack() as undo:
        _keep_profile(work, profile, undo)
        work.store.artifacts.add_source(name, kind.value, location, work.now)
        undo.pop_all()
    return Added(name, kind.value, location, holds)


def add_account(
    work: Work,
    kind: str,
    account: Account,
    tried: Tried,
    *,
    name: str,
    address: str = "",
    emails: Sequence[str] = (),
    person: str = "",
) -> Added:
    """Try an account at a server out, and add it as the source of this name, which `free` found free.

    What is in `tried` goes into the keyring, the account into accounts.toml, the person into the profile, the
    source into the store: all of it, or after a failure nothing. `address` is where it is, if that is its secret.

    Raises:
        UserError: if the server cannot be read as the account says, or something cannot be kept.
    """
    from connectors import open_connector

    _refuse_odd(person)
    location = location_of(kind, account, address)
    profile = with_person(work.profile, emails, person)
    opened = open_connector(kind, name, location, surroundings(work, tried), account)
    try:
        holds = opened.check().rstrip(".")
    except SignInFailed as error:
        # There is nothing yet that one could sign in to again.
        said = ". ".join(part for part in str(error).split(". ") if "tide sign-in" not in part).rstrip(".")
        raise SignInFailed(f"{said}. Nothing was kept; run the command again to try another.") from error
    with ExitStack() as undo:
        tried.keep(undo)
        _keep_account(work, name, account, undo)
        _keep_profile(work, profile, undo)
        work.store.artifacts.add_source(name, kind, location, work.now)
        undo.pop_all()
    return Added(name, kind, location, holds)


def sign_in(work: Work, source: Source, account: Account, tried: Tried) -> str:
    """Try what is in `tried` out at the server of a source and keep it; returns one line on what is there.

    Raises:
        UserError: if the server still refuses it, or it cannot be kept.
    """
    from connectors import open_connector

    opened = open_connector(source.kind, source.name, source.location, surroundings(work, tried), account)
    holds = opened.check().rstrip(".")
    with ExitStack() as undo:
        tried.keep(undo)
        work.store.artifacts.mark_source(source.name)
        undo.pop_all()
    return holds


def free(work: Work, name: str, stem: str, kind: str) -> str:
    """The name for a new account: the one asked for, or one made from a word.

    Raises:
        UserError: if a source or a table of accounts.toml is called so already, or it cannot be kept.
    """
    _refuse_odd(name)
    if name in {source.name for source in work.store.artifacts.sources()}:
        raise UserError(f"There is a source called {name!r} already. Choose another --name.")
    if name in Accounts.load(work.folders.accounts).root:
        raise UserError(f"accounts.toml has a table [{name}] already. Remove it, or choose another --name.")
    return name or free_name(work, stem, kind)


def free_name(work: Work, stem: str, kind: str) -> str:
    """A name that no source and no account has, made from a word."""
    taken = {source.name for source in work.store.artifacts.sources()}
    taken |= Accounts.load(work.folders.accounts).root.keys()
    first = re.sub(r"[^\w]+", "-", stem).strip("-_").lower() or kind
    return next(name for name in _numbered(first) if name not in taken)


def refuse_again(work: Work, kind: str, account: Account, address: str = "") -> None:
    """Refuse what is there already: the same mailbox or calendars, or a calendar at the same secret address.

    Raises:
        UserError: naming the source.
    """
    location = location_of(kind, account, address)
    accounts = Accounts.load(work.folders.accounts)
    for source in work.store.artifacts.sources():
        if source.kind != kind:
            continue
        other = accounts.get(source.name)
        if other is None or address:
            same = source.location == location
        else:
            same = _at_server(kind, other) == _at_server(kind, account)
        if same and address:
            same = other is not None and not other.secret_command and Keyring().get(source.name) == address
        if same:
            raise _there_already(place_of(source, other), source)


def _at_server(kind: str, account: Account) -> tuple[object, ...]:
    """What tells an account at a server from others: a port does where several servers may be behind one host."""
    from connectors.accounts.transport import origin

    if kind == "imap":
        port = account.port if on_this_machine(account.host) else 0
        return account.login, account.host.lower(), port
    if kind == "caldav" and account.url:
        return account.login, origin(account.url)
    return account.login, account.url


def location_of(kind: str, account: Account, address: str = "") -> str:
    """Where an account is, to be shown: no secret is in it. `address` is one that is a secret."""
    if kind == "imap":
        scheme, usual = ("imaps", 993) if account.security == "tls" else ("imap", 143)
        host = f"[{account.host}]" if ":" in account.host else account.host
        return f"{scheme}://{quote(account.login, safe='')}@{host}:{account.port or usual}"
    if not account.url:
        return f"{urlsplit(address).scheme or 'https'}://{urlsplit(address).netloc.rpartition('@')[2]}/…"
    parts = urlsplit(account.url)
    user = f"{quote(account.login, safe='')}@" if account.login else ""
    return f"{parts.scheme}://{user}{parts.netloc.rpartition('@')[2]}{parts.path}"


def place_of(source: Source, account: Account | None) -> str:
    """Where a source is, to be shown: as its account says by now, which the person may have edited."""
    if account is None or not (account.host if source.kind == "imap" else account.url):
        return source.location
    return location_of(source.kind, account)


_IN_OPTIONS = (
    ("Check host and port in accounts.toml", "Check host and port in {server}"),
    ("Correct the port in accounts.toml", "Correct the port in {server}"),
    ("Set security = 'tls' and the port for it in accounts.toml", "Name --security tls and the port for it"),
    (
        "Set security = 'tls', or sign_in = 'oauth', in accounts.toml",
        "Name --security tls, or sign in with --client-id or --token-command",
    ),
    ("Correct `folders` in accounts.toml", "Correct --folder"),
    ("Correct `calendars` in accounts.toml", "Correct --calendar"),
    ("Correct `certificate` in accounts.toml", "Correct --certificate"),
    ("as `certificate` in accounts.toml", "with --certificate FILE"),
    ("write it as `url` in accounts.toml", "add that address"),
    ("`secret_command` in accounts.toml", "--secret-command CMD"),
    ("The secret_command of", "The --secret-command (or --token-command) of"),
    ("; it stands in accounts.toml", ""),
    ("; it is tried again at the next sync", ""),
    (" It is tried again at the next sync.", " Try it again later."),
    ("It is tried again later.", "Try it again later."),
)
"""What is said of an account that is kept, and what is said while it is being added, when nothing is kept yet."""


def in_options(said: str, server: str) -> str:
    """What is wrong with an account, told in the options of the command that adds it."""
    for kept, option in _IN_OPTIONS:
        said = said.replace(kept, option.format(server=server))
    return said


def with_person(profile: Profile, emails: Iterable[str], person: str) -> Profile:
    """The profile with these addresses of the person's, and their name if it is given.

    Raises:
        UserError: if an address is none.
    """
    given = [checked_address(email) for email in emails]
    all_emails = tuple(dict.fromkeys([*profile.persona.emails, *given]))
    persona = profile.persona.model_copy(update={"emails": all_emails, "name": person or profile.persona.name})
    return profile.model_copy(update={"persona": persona})


def checked_address(email: str) -> str:
    """A mail address in lower case.

    Raises:
        UserError: if it is none.
    """
    if not email.isprintable() or not re.fullmatch(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+", email.strip()):
        raise UserError(f"{email!r} is no mail address. Write it like you@example.org")
    return email.strip().lower()


def made_account(**values: Any) -> Account:
    """An account of these values; its certificate is a file as seen from here.

    Raises:
        UserError: if one is not allowed.
    """
    from pydantic import ValidationError

    if values.get("certificate"):
        values["certificate"] = str(expanded(values["certificate"]).absolute())
    try:
        return Account(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise UserError(f"{place}: {what}." if place else f"{what[:1].upper()}{what[1:]}.") from error


def _keep_profile(work: Work, profile: Profile, undo: ExitStack) -> None:
    if profile != work.profile:
        existed = work.folders.profile.exists()
        profile.save(work.folders.profile)
        undo.callback(work.profile.save if existed else Path.unlink, work.folders.profile)


def _keep_account(work: Work, name: str, account: Account, undo: ExitStack) -> None:
    path = work.folders.accounts
    # Read anew: the person may have edited the file while they were asked for the password.
    Accounts.load(path).changed({name: account}).save(path)
    undo.callback(lambda: Accounts.load(path).changed({name: None}).save(path))


def _refuse_odd(*told: str) -> None:
    for text in told:
        if re.search("[\ud800-\udfff]", text):
            raise UserError(
                f"{text!r} is not in UTF-8, so that it cannot be kept. Rename it, or name a link to it."
            )


def _there_already(location: str, source: Source) -> UserError:
    return UserError(f"{location} is there already, as {source.name!r}. `tide sync {source.name}` brings it in.")


def _numbered(first: str) -> Iterator[str]:
    yield first
    number = 2
    while True:
        yield f"{first}-{number}"
        number += 1
