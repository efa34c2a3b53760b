"""Where secrets are: passwords, tokens, and addresses that are as good as a password.

They live in the keyring of the system, never in a file of Tide's, a log or an export.
"""

from typing import Protocol

from workspace.errors import KeyringLocked

SERVICE = "tide"


class SecretStore(Protocol):
    """Secrets by name. The name of a source's secret is the source's name.

    Every method raises KeyringLocked if the place where secrets are is locked, or there is none.
    """

    def get(self, name: str) -> str | None: ...

    def put(self, name: str, secret: str) -> None: ...

    def remove(self, name: str) -> None:
        """Forget a secret; nothing happens where there is none of that name."""
        ...


class Keyring:
    """The keyring of the system: GNOME Keyring, KWallet, whatever the `keyring` library finds."""

    def get(self, name: str) -> str | None:
        import keyring
        from keyring.errors import KeyringError

        try:
            return keyring.get_password(SERVICE, name)
        except KeyringError as error:
            raise _locked(error) from error

    def put(self, name: str, secret: str) -> None:
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.set_password(SERVICE, name, secret)
        except KeyringError as error:
            raise _locked(error) from error

    def remove(self, name: str) -> None:
        import keyring
        from keyring.errors import KeyringError, PasswordDeleteError

        try:
            keyring.delete_password(SERVICE, name)
        except PasswordDeleteError:
            return
        except KeyringError as error:
            raise _locked(error) from error


def _locked(error: Exception) -> KeyringLocked:
    return KeyringLocked(
        "The keyring of this machine is locked, or there is none. Unlock it, or keep the secret where a command"
        f" can print it (--secret-command). [{type(error).__name__}]"
    )
