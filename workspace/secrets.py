"""Where secrets are: passwords, tokens, and addresses that are as good as a password.

They live in the keyring of the system, never in a file of Tide's, a log or an export.
"""

import configparser
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from workspace.errors import KeyringLocked

SERVICE = "tide"
WAIT_SECONDS = 120.0
"""How long a keyring may take: it may ask the person to unlock it, and nobody may be there."""

Value = TypeVar("Value")


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

        return _answered(lambda: keyring.get_password(SERVICE, name))

    def put(self, name: str, secret: str) -> None:
        import keyring
        from keyring.backends.null import Keyring as Disabled

        def put() -> None:
            if isinstance(keyring.get_keyring(), Disabled):
                raise KeyringLocked(f"The keyring is switched off, so that nothing is kept in it. {_INSTEAD}")
            keyring.set_password(SERVICE, name, secret)

        _answered(put)

    def remove(self, name: str) -> None:
        import keyring
        from keyring.errors import PasswordDeleteError

        def remove() -> None:
            with suppress(PasswordDeleteError):
                keyring.delete_password(SERVICE, name)

        _answered(remove)


_INSTEAD = "Or keep the secret where a command can print it (`secret_command` in accounts.toml)."


def _load() -> None:
    """Raises: KeyringLocked if the keyring that is chosen for the `keyring` library cannot be loaded."""
    import keyring

    try:
        keyring.get_keyring()
    except (ImportError, AttributeError, ValueError, RuntimeError, configparser.Error) as error:
        # The library loads what is named as it stands: no module, no class, or one that does not work here.
        raise KeyringLocked(
            "The keyring that PYTHON_KEYRING_BACKEND or keyringrc.cfg names cannot be loaded"
            f" ({' '.join(str(error).split())}). Correct that, or take it out. {_INSTEAD}"
        ) from error


def _answered(ask: Callable[[], Value]) -> Value:
    """What the keyring answers. It is a program of its own, asked by libraries that wait for it without end, so it
    is asked in a thread, which is left behind if need be.

    Raises:
        KeyringLocked: whatever goes wrong on the way there.
    """
    answers: list[Value] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            _load()
            answers.append(ask())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(WAIT_SECONDS)
    if errors:
        _raise(errors[0])
    if not answers:
        raise KeyringLocked(f"The keyring does not answer: it may wait for you to unlock it. {_INSTEAD}")
    return answers[0]


def _raise(error: Exception) -> None:
    """Raises: KeyringLocked for an error of the way to the keyring, else the error."""
    from jeepney.wrappers import DBusErrorResponse  # type: ignore[import-untyped]
    from keyring.errors import InitError, KeyringError, NoKeyringError
    from secretstorage.exceptions import SecretServiceNotAvailableException, SecretStorageException

    if isinstance(error, NoKeyringError | InitError | SecretServiceNotAvailableException | OSError):
        raise KeyringLocked(
            "No keyring answers in this session. Start one (GNOME Keyring, KWallet, KeePassXC) and sign in to your"
            f" desktop. {_INSTEAD}"
        ) from error
    if isinstance(error, KeyringError | SecretStorageException | DBusErrorResponse):
        raise KeyringLocked(
            f"The keyring is locked. Unlock it, as when you sign in to your desktop. {_INSTEAD}"
        ) from error
    raise error
