"""What an account signs in with: the secret of the keyring or of a command, and the token that OAuth gives."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time

from workspace import Account, SecretCommandFailed, SecretStore, SignInFailed

COMMAND_SECONDS = 60.0
"""How long a command may take that prints a secret: it may have to ask the person."""

_MOST_BYTES = 64 * 1024


class Credentials:
    """The secret of a source, asked for when it is wanted."""

    def __init__(self, source: str, account: Account, secrets: SecretStore) -> None:
        self._source = source
        self._account = account
        self._secrets = secrets
        self._renewing = threading.Lock()

    def secret(self) -> str:
        """The password, token or secret address: what the account's command prints, else what the keyring holds.

        Raises:
            SignInFailed: if there is none.
            SecretUnavailable: if the keyring cannot be asked, or the command fails.
        """
        if self._account.secret_command:
            return printed(self._account.secret_command, self._source)
        kept = self._secrets.get(self._source)
        if not kept:
            raise SignInFailed(
                f"Nothing is known to sign in to {self._source} with. Run: tide sign-in {self._source}"
            )
        return kept

    def token(self, *, renew: bool = False) -> str:
        """The OAuth access token, valid for some minutes more: the command's, else that of the provider, renewed
        when it is about to end, or with `renew`, since the server did not take the last one.

        Raises:
            SignInFailed: if there is none, or it is not renewed since the person or the provider withdrew it.
            SecretUnavailable: if the keyring cannot be asked, or the command fails.
            ServerAway, CertificateRefused: if the provider cannot be reached.
        """
        if self._account.secret_command:
            return printed(self._account.secret_command, self._source)
        from connectors.accounts.oauth import access_token

        with self._renewing:
            return access_token(self._source, self._account, self._secrets, renew=renew)


def printed(command: str, source: str) -> str:
    """The first line that a shell command prints; as the person writes it, with pipes and variables.

    What it prints is never told further, on whichever channel: it may be a secret.

    Raises:
        SecretCommandFailed: if the command fails, prints nothing, too much or no text, or takes too long. The
            agent that it asks may be locked; no server was asked, so that it may be tried again.
    """
    output, code = _run(command, source)
    if code:
        raise _failed(source, f"ended with code {code}" if code > 0 else f"was ended by signal {-code}")
    try:
        line = output.partition(b"\n")[0].decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        raise _failed(source, "prints what is no text") from error
    if not line:
        raise _failed(source, "prints an empty line, or nothing")
    return line


def _run(command: str, source: str) -> tuple[bytes, int]:
    """What a command prints, and the code with which it ends. In a session of its own, so that all of it ends."""
    output = bytearray()
    until = time.monotonic() + COMMAND_SECONDS
    with (
        subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        selector.register(process.stdout, selectors.EVENT_READ)
        try:
            while True:
                left = until - time.monotonic()
                if left <= 0:
                    raise _failed(source, f"took longer than {COMMAND_SECONDS:.0f} seconds")
                # An agent that it leaves behind may hold the pipe open.
                over = process.poll() is not None
                if selector.select(0 if over else min(left, 0.1)):
                    chunk = os.read(process.stdout.fileno(), _MOST_BYTES)
                    output += chunk
                    if len(output) > _MOST_BYTES:
                        raise _failed(source, "prints far more than a secret")
                    if not chunk:
                        return bytes(output), process.wait(timeout=max(left, 0.1))
                elif over:
                    return bytes(output), process.wait()
        except subprocess.TimeoutExpired:
            # That error quotes the command, which may hold a secret.
            raise _failed(source, f"took longer than {COMMAND_SECONDS:.0f} seconds") from None
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _failed(source: str, what: str) -> SecretCommandFailed:
    return SecretCommandFailed(
        f"The secret_command of {source} {what}. Run it in a terminal to see why; it stands in accounts.toml."
    )
