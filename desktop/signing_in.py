"""Asking for what signs in to an account: a password typed unseen or piped in, or the browser."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from threading import Event

from desktop.adding import Tried
from desktop.output import say
from workspace import Account, UserError


def signed_in(name: str, account: Account) -> Tried:
    """The secret of an account, asked for where a person or the browser has it; nothing is kept yet.

    Raises:
        KeyringLocked: if it could not be kept.
        SignInFailed: if the browser brings none.
    """
    tried = Tried()
    if account.secret_command or (account.sign_in == "none" and account.url):
        return tried
    tried.keyring.get(name)  # before the person types something in vain
    if account.sign_in == "none":
        tried.put(name, http_address(ask_secret("Address of the calendar: ", "address")))
    elif account.sign_in == "password":
        where = account.host or account.url
        tried.put(name, ask_secret(f"Password of {account.login} at {where}: ", "password"))
    else:
        _authorize(name, account, tried)
    return tried


def ask_secret(question: str, wanted: str = "") -> str:
    """What the person types without seeing it, or else the next line of what is piped in.

    Raises:
        UserError: if nothing comes where something is `wanted`.
    """
    try:
        secret = getpass(question) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    except EOFError:
        secret = ""
    if wanted and not secret:
        raise UserError(f"No {wanted} came in. Type it, pipe it in, or name --secret-command, which prints it.")
    return secret


def http_address(address: str) -> str:
    """An address of a published calendar as one that can be asked for."""
    scheme, separator, rest = address.strip().partition("://")
    if scheme.lower() in ("webcal", "webcals"):
        scheme = "https"
    return f"{scheme}{separator}{rest}"


def _authorize(name: str, account: Account, tried: Tried) -> None:
    from connectors.accounts.oauth import authorize

    told = "Client secret of your client (Enter if it has none, or as before): "
    client_secret = ask_secret(told)
    authorize(name, account, tried, show=_show, stop=Event(), client_secret=client_secret)


def _show(address: str) -> None:
    """Have the browser open an address; the person does where there is none."""
    import webbrowser

    say(f"Sign in in your browser, at: {address}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
