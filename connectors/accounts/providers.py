"""The providers that Tide knows: where their mail and calendars are, and how one signs in there."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from connectors.accounts.transport import origin


class Provider(BaseModel):
    """A provider of mail.

    `domains` are those of its addresses, `mx` the ends of the names of hosts that take mail for domains of others.
    `calendars` is where its CalDAV begins, "" if it has none; `%EMAILADDRESS%` in it stands for the address.
    `hosts` is the domain whose hosts share one sign-in for calendars; "" if one host has all of them. `hint` says
    to the person how to sign in for mail, `calendars_hint` for calendars.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    domains: tuple[str, ...]
    mx: tuple[str, ...] = ()
    host: str
    port: int = 993
    security: Literal["tls", "starttls"] = "tls"
    sign_in: Literal["password", "oauth"] = "password"
    provider: Literal["", "google", "microsoft"] = ""
    hint: str
    calendars: str = ""
    calendars_sign_in: Literal["password", "oauth"] = "password"
    calendars_hint: str = ""
    hosts: str = ""


class Endpoints(BaseModel):
    """Where a provider gives OAuth tokens, and the scopes they are asked for ("" for what it does not have).

    `redirect` is the host of the loopback address to which it sends the browser back, as it wants it written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    authorize: str
    token: str
    mail: str
    calendars: str = ""
    offline: str = ""
    redirect: str = "127.0.0.1"
    parameters: dict[str, str] = {}


@cache
def _data() -> dict[str, object]:
    return tomllib.loads(Path(__file__).with_name("providers.toml").read_text("utf-8"))


@cache
def providers() -> tuple[Provider, ...]:
    return TypeAdapter(tuple[Provider, ...]).validate_python(_data()["providers"])


def endpoints(provider: str) -> Endpoints:
    """The OAuth endpoints of an account's `provider`.

    Raises:
        KeyError: if it has none.
    """
    return TypeAdapter(dict[str, Endpoints]).validate_python(_data()["oauth"])[provider]


def signs_in_at(url: str, account_url: str) -> bool:
    """Whether the sign-in of an account at `account_url` may be sent to `url`: the same origin, or a host of the
    same provider, where that is known to share out calendars over several.

    Raises:
        SourceProblem: if one may go to neither.
    """
    there, here = origin(url), origin(account_url)
    if there == here:
        return True
    shared = [one.hosts for one in providers() if one.hosts and f".{here[1]}".endswith(f".{one.hosts}")]
    return any(f".{there[1]}".endswith(f".{hosts}") for hosts in shared) and there[::2] == ("https", 443)
