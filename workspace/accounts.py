"""The accounts at servers: `accounts.toml`, one table a source. No secret is in it."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator

from workspace.folders import write_private
from workspace.profile import read_toml


class Account(BaseModel):
    """How a source signs in at its server, and what is wanted from it. The person may edit all of it.

    `address` is the person's at that server, `user` the name to sign in with, where that is another. An `imap`
    account has `host` and `port`; `security` is `none` on this machine alone. Others have `url`: where a CalDAV
    server begins; "" where the whole address is the secret, as of a published calendar.

    The secret (password, token, secret address) is in the keyring, or is what `secret_command` prints. With
    `sign_in` oauth it is a token: with a `provider` and a `client_id` Tide fetches it in the browser and
    renews it, otherwise `secret_command` prints one that is valid. `certificate` is a file (PEM) with the
    authority, or the server's own certificate, that is trusted beside the system's.

    `folders` of mail, () for inbox, sent and archive as the server names them. Mail of the last `months` comes
    first, older mail in later runs; 0 brings everything at once. Attachments above `largest_mb` stay there.
    `calendars` are the names or addresses of those wanted, () for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
    address: str = ""
    user: str = ""
    host: str = ""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    security: Literal["tls", "starttls", "none"] = "tls"
    url: str = ""
    sign_in: Literal["none", "password", "oauth"] = "password"
    secret_command: str = Field(default="", repr=False)
    provider: Literal["", "google", "microsoft"] = ""
    client_id: str = ""
    certificate: str = ""
    folders: tuple[str, ...] = ()
    months: Annotated[int, Field(ge=0, le=1200)] = 12
    largest_mb: Annotated[int, Field(ge=0, le=1000)] = 10
    calendars: tuple[str, ...] = ()

    @property
    def login(self) -> str:
        """The name to sign in with."""
        return self.user or self.address

    @model_validator(mode="after")
    def _encrypted(self) -> "Account":
        if self.security == "none" and self.host and not on_this_machine(self.host):
            raise ValueError(f"security 'none' would send the password to {self.host} for all to read")
        return self

    @field_validator("url")
    @classmethod
    def _safe(cls, url: str) -> str:
        if not url:
            return url
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.port == 0:
            raise ValueError("it has to be an address that begins with https://")
        if parts.username is not None:
            raise ValueError("no name or password belongs in an address; write `user`, and run `tide sign-in`")
        if parts.scheme == "http" and not on_this_machine(parts.hostname):
            raise ValueError(f"http:// would send all to {parts.hostname} for everybody to read; use https://")
        return url


class Accounts(RootModel[dict[str, Account]]):
    """All accounts, by the name of their source."""

    root: dict[str, Account] = Field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "Accounts":
        """Read the accounts; a missing file has none.

        Raises:
            UserError: if the file is not TOML or holds a wrong key or value.
        """
        return read_toml(cls, path) if path.exists() else cls()

    def get(self, name: str) -> Account | None:
        return self.root.get(name)

    def changed(self, changes: Mapping[str, Account | None]) -> "Accounts":
        """The accounts with these put in, or taken out where None."""
        both = {**self.root, **changes}
        return Accounts({name: account for name, account in both.items() if account is not None})

    def save(self, path: Path) -> None:
        write_private(path, tomli_w.dumps(self.model_dump(mode="json", exclude_defaults=True)))


def on_this_machine(host: str) -> bool:
    """Whether a host is this machine by its name or address alone."""
    if host.lower() in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
