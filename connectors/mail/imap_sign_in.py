"""The way to an IMAP server: a connection that is encrypted before anything is said, and signed in once.

IMAPClient connects, encrypts and signs in, over a wire of ours that bounds what is read of a server: imaplib takes
whatever one announces.
"""

import imaplib
import io
import re
import socket
import ssl
import time

from imapclient import IMAPClient
from imapclient.exceptions import CapabilityError, IMAPClientError

from connectors.accounts.credentials import Credentials
from connectors.accounts.network import SECONDS, reaching, tls_context
from connectors.mail.imap_answers import passing, shown
from workspace import Account, ServerAway, SignInFailed, SourceProblem

_LINE = 4 * 1024 * 1024  # bytes: half a million UIDs
_SLOWEST = 1_000  # bytes a second, after two minutes: one that drips holds nobody up for ever
_BARE = re.compile(r" (?:NO|BAD)\W*$")  # an answer without a reason
_PATIENCE = 120.0


class Wire(imaplib.IMAP4):
    """The bytes to and fro. Reads no more than was allowed by `begin`, no line without end, from no server that
    drips."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None) -> None:
        self._context = context
        self._buffer = bytearray()
        self.begin(_LINE)
        super().__init__(host, port)

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:
        self.host, self.port = host, port
        self.file = io.BytesIO()  # imaplib and IMAPClient expect one
        plain = socket.create_connection((host, port), SECONDS)
        try:
            plain.settimeout(SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # imaplib sends a line in two pieces
            self.sock = self._context.wrap_socket(plain, server_hostname=host) if self._context else plain
        except BaseException:
            plain.close()
            raise

    def begin(self, most: int) -> None:
        """Allow so many bytes from now on."""
        self._left = most
        self._got = 0
        self._waited = 0.0

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise self.abort("more than was asked for")
        found = bytearray(self._buffer[:size])
        del self._buffer[:size]
        while len(found) < size:
            found += self._receive(min(size - len(found), 1 << 20))
        self._left -= size
        return bytes(found)

    def readline(self) -> bytes:
        looked = 0
        while (end := self._buffer.find(b"\n", looked)) < 0:
            looked = len(self._buffer)
            if looked > min(_LINE, self._left):
                raise self.abort("a line without end")
            self._buffer += self._receive(1 << 18)
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        self._left -= len(line)
        return line

    def waiting(self) -> bool:
        """Whether bytes are there that were not yet read."""
        return bool(self._buffer) or (isinstance(self.sock, ssl.SSLSocket) and self.sock.pending() > 0)

    def forget(self) -> bool:
        """Drop what came before the encryption began; whether there was anything."""
        there = bool(self._buffer)
        self._buffer.clear()
        self.untagged_responses.clear()
        return there

    def shutdown(self) -> None:
        self.file.close()
        self.sock.close()

    def _receive(self, most: int) -> bytes:
        begun = time.monotonic()
        data = self.sock.recv(most)
        self._waited += time.monotonic() - begun
        self._got += len(data)
        if not data:
            raise ConnectionResetError("end of the connection")
        if self._waited > _PATIENCE + self._got / _SLOWEST:
            raise TimeoutError("too slow")
        return data


class _Client(IMAPClient):  # type: ignore[misc]  # IMAPClient tells no types
    """IMAPClient over a wire of ours."""

    def _create_IMAP4(self) -> Wire:
        return Wire(self.host, self.port, self.ssl_context if self.ssl else None)


def quoted(text: bytes) -> bytes:
    """A string of a command."""
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def connected(source: str, account: Account, credentials: Credentials) -> Wire:
    """The wire of a connection that is encrypted and signed in."""
    wire, refusal = _signed_in(account, credentials, renew=False)
    if wire is None and account.sign_in == "oauth":
        wire, refusal = _signed_in(account, credentials, renew=True)
    if wire is None:
        raise SignInFailed(
            f"{account.host} does not let {account.login!r} in: {shown(refusal).rstrip('.') or 'no reason given'}."
            f" Sign in anew: tide sign-in {source}"
        )
    return wire


def _signed_in(account: Account, credentials: Credentials, *, renew: bool) -> tuple[Wire | None, str]:
    """The wire, or None and what the server says to refuse the name or the secret."""
    host, tls = account.host, account.security == "tls"
    context = None if account.security == "none" else tls_context(account)
    try:
        with reaching(host):
            client = _Client(
                host, account.port or (993 if tls else 143), ssl=tls, ssl_context=context,
                timeout=SECONDS,
            )  # fmt: skip
    except (IMAPClientError, ValueError) as error:
        said = _said(error)
        raise passing(said, host, sign_in=True) or ServerAway(
            f"{host} does not greet as an IMAP server does ({shown(said)}). Check host and port in accounts.toml."
        ) from error
    wire: Wire = client._imap
    wire.debug = 0  # IMAPClient has imaplib write down all that is said
    try:
        with reaching(host):
            if account.security == "starttls":
                _encrypt(client, wire, context)
            refusal = _sign_in(client, account, credentials, renew=renew)
    except BaseException:
        wire.shutdown()
        raise
    if refusal is None:
        return wire, ""
    wire.shutdown()
    problem = passing(refusal, host, sign_in=True)
    if problem is not None:
        raise problem
    return None, refusal


def _encrypt(client: _Client, wire: Wire, context: ssl.SSLContext | None) -> None:
    try:
        client.starttls(context)
    except ssl.SSLError:
        raise  # a certificate that is refused is a ValueError too
    except (CapabilityError, IMAPClientError, ValueError) as error:
        raise SourceProblem(
            f"{client.host} does not encrypt at this port (STARTTLS), so nothing was sent."
            " Set security = 'tls' and the port for it in accounts.toml."
        ) from error
    if wire.forget():
        raise SourceProblem(
            f"Somebody speaks in the name of {client.host} before the encryption. Nothing was sent."
        )


def _sign_in(client: _Client, account: Account, credentials: Credentials, *, renew: bool) -> str | None:
    """Sign in; None, or what the server says to refuse it."""
    if client._imap.state == "AUTH":
        return None
    if account.sign_in == "none":
        return "it wants a name and a secret, and sign_in is 'none'"
    try:
        offered = {capability.decode("ascii", "replace") for capability in client.capabilities()}
    except (IMAPClientError, ValueError) as error:
        raise ServerAway(f"{client.host} does not say what it can. It is tried again later.") from error
    oauth = account.sign_in == "oauth"
    secret = credentials.token(renew=renew) if oauth else credentials.secret()
    try:
        if oauth:
            _with_token(client, account.login, secret, offered)
        elif "AUTH=PLAIN" in offered:
            client.plain_login(account.login, secret)
        elif "LOGINDISABLED" in offered:
            raise SourceProblem(
                f"{client.host} takes no password at this port. Set security = 'tls', or sign_in = 'oauth', in"
                " accounts.toml."
            )
        else:
            _with_login(client, account.login, secret)
    except (IMAPClientError, ValueError) as error:
        said = _said(error)
        # IMAPClient calls a connection that ends meanwhile a refusal too; imaplib knows no NO without a text.
        ended = isinstance(error, imaplib.IMAP4.abort) or isinstance(
            error.__context__, imaplib.IMAP4.abort | OSError
        )
        if ended and not _BARE.search(said):
            away = ServerAway(f"{client.host} broke the sign-in off. It is tried again later.")
            raise passing(said, client.host, sign_in=True) or away from error
        return said if secret not in said else ""
    return None


def _with_token(client: _Client, user: str, token: str, offered: set[str]) -> None:
    """XOAUTH2 of Google and Microsoft, or OAUTHBEARER (RFC 7628). A server that refuses the token tells the reason
    first, and wants an empty answer."""
    if "AUTH=XOAUTH2" not in offered and "AUTH=OAUTHBEARER" in offered:
        name = user.replace("=", "=3D").replace(",", "=2C")
        first, then, mechanism = f"n,a={name},\1auth=Bearer {token}\1\1", "\1", "OAUTHBEARER"
    else:
        first, then, mechanism = f"user={user}\1auth=Bearer {token}\1\1", "", "XOAUTH2"
    answers = iter((first, then))
    client.sasl_login(mechanism, lambda challenge: next(answers, None))


def _with_login(client: _Client, user: str, password: str) -> None:
    if any(letter in user + password for letter in "\r\n\0"):
        raise ValueError("a line end in the name or the password")
    client.login(quoted(user.encode("ascii")).decode(), password)


def _said(error: Exception) -> str:
    """The text of an error of imaplib, which writes bytes as Python does."""
    said = error.args[0] if error.args else ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    if isinstance(error, UnicodeError):
        return "letters beyond ASCII"
    return text.removeprefix("b'").removesuffix("'")
