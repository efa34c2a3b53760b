"""A connection to an IMAP server: encrypted, signed in, and read within bounds (RFC 3501).

IMAPClient connects, encrypts and signs in. What is asked after that goes through `Session.ask`, because imaplib
reads whatever a server announces and IMAPClient takes a step of Python for every byte of an answer. Nothing that
could change a mailbox is ever sent: folders are opened with EXAMINE, bodies fetched with BODY.PEEK.
"""

import imaplib
import io
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import TypeVar

from imapclient import IMAPClient
from imapclient.exceptions import CapabilityError, IMAPClientError

from connectors.accounts.credentials import Credentials
from connectors.accounts.network import SECONDS, Backoff, problem_of, reaching, tls_context
from connectors.mail.imap_answers import (
    STATES,
    Answer,
    Ranges,
    answer,
    code,
    codes,
    literal,
    merged,
    passing,
    ranges,
    shown,
)
from workspace import Account, QuotaReached, ServerAway, SignInFailed, SourceProblem

_LINE = 4 * 1024 * 1024  # bytes: half a million UIDs
_ANSWER = 2 * 1024 * 1024
UIDS_ANSWER = 8 * 1024 * 1024
"""How many bytes an answer may have that lists UIDs."""

_SLOWEST = 1_000  # bytes a second, after two minutes: one that drips holds nobody up for ever
_PATIENCE = 120.0
_IDLE = 25 * 60.0  # RFC 2177: a server may end what has been idle for 29 minutes
_ATTEMPTS = 6

Result = TypeVar("Result")


class Broken(ServerAway):
    """The connection ended, or server and client no longer understand each other: another one may do better."""


class Refused(SourceProblem):
    """The server said NO or BAD to what was asked. The connection is as good as before."""

    def __init__(self, host: str, said: str) -> None:
        super().__init__(f"{host} refuses what it was asked ({shown(said)}).")
        self.code = code(said)
        self.said = shown(said)


class _Wire(imaplib.IMAP4):
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

    def _create_IMAP4(self) -> _Wire:
        return _Wire(self.host, self.port, self.ssl_context if self.ssl else None)


class Session:
    """A connection that is signed in. `exists` is how many messages the folder has that is selected, as far as
    the server has told by now.

    Raises:
        SignInFailed: if the server refuses the name or the secret.
        CertificateRefused, ServerAway, QuotaReached, KeyringLocked, SourceProblem: if it comes to no connection.
    """

    def __init__(self, source: str, account: Account, credentials: Credentials) -> None:
        self.host = account.host
        self.exists = 0
        self.selected = b""
        self.validity = 0
        self._tag = 0
        self._resyncs: bool | None = None
        self._wire = _connected(source, account, credentials)
        try:
            self.capabilities = frozenset(
                token.upper()
                for one in self.answers(b"CAPABILITY")
                if one.kind == b"CAPABILITY"
                for token in one.tokens
                if isinstance(token, bytes)
            )
        except BaseException:
            self._wire.shutdown()
            raise

    def close(self) -> None:
        """Take leave, without waiting for the answer."""
        with suppress(OSError):
            self._wire.send(b"T0 LOGOUT\r\n")
        self._wire.shutdown()

    def answers(self, command: bytes, *, most: int = _ANSWER) -> list[Answer]:
        return list(self.ask(command, most=most))

    def ask(self, command: bytes, *, most: int = _ANSWER) -> Iterator[Answer]:
        """Send a command and yield what is answered, at most so many bytes. Who does not take all of it can't use
        the connection any more.

        Raises:
            Refused: if the server says NO or BAD.
            Broken: if the connection ends, or what comes is no answer.
            ServerAway, QuotaReached: if the server says that it can't serve now.
        """
        self._tag += 1
        tag = b"T%d" % self._tag
        over = False
        try:
            with self._understanding():
                self._wire.begin(most)
                self._wire.send(tag + b" " + command + b"\r\n")
            while True:
                with self._understanding():
                    line = self._line()
                    one = self._answer(line) if line.startswith(b"* ") else None
                if one is not None:
                    yield one
                elif line.startswith(tag + b" "):
                    over = True
                    self._judge(line[len(tag) + 1 :])
                    return
                elif line.strip() and not line.startswith(b"+"):
                    raise Broken(f"{self.host} gives answers that are none. It is tried again later.")
        finally:
            if not over:
                self._wire.shutdown()

    def examine(
        self, folder: bytes, known: tuple[int, int] | None = None, count: int = 0
    ) -> tuple[dict[str, int], Ranges | None]:
        """Select a folder, read-only: its UIDVALIDITY, UIDNEXT, HIGHESTMODSEQ and EXISTS, and the UIDs that
        vanished since a (UIDVALIDITY, HIGHESTMODSEQ) when there were `count`, None where the server does not tell
        (RFC 7162)."""
        command = b"EXAMINE " + quoted(folder)
        command += b" (QRESYNC (%d %d))" % known if known else b""
        self.exists, self.selected = 0, b""
        states: list[Answer] = []
        vanished: list[tuple[int, int]] = []
        # With QRESYNC there is a line for every message whose flags changed.
        for one in self.ask(command, most=UIDS_ANSWER + 300 * count):
            if one.kind == b"VANISHED" and one.tokens:
                vanished += ranges(one.tokens[-1])
            elif one.kind == b"OK" and len(states) < 1000:
                states.append(one)
        found = {**codes(states), "EXISTS": self.exists}
        self.selected, self.validity = folder, found.get("UIDVALIDITY", 0)
        told = known is not None and found.get("UIDVALIDITY") == known[0]
        return found, merged(vanished) if told else None

    def quick_resync(self) -> bool:
        """Have the server tell what vanished when a folder is opened, if it can; whether it does."""
        if self._resyncs is None:
            self._resyncs = False
            if {b"ENABLE", b"QRESYNC"} <= self.capabilities and not self.selected:
                try:
                    said = self.answers(b"ENABLE QRESYNC")
                    self._resyncs = any(one.kind == b"ENABLED" and b"QRESYNC" in one.tokens for one in said)
                except Refused:
                    self._resyncs = False
        return self._resyncs

    def idle(self, stop: Event, until: float, changed: Callable[[Answer], bool]) -> bool:
        """Wait in IDLE (RFC 2177) until an answer counts as a change; false when the time is over or on `stop`."""
        while not stop.is_set() and time.monotonic() < until:
            again = min(until, time.monotonic() + _IDLE)
            self._tag += 1
            tag = b"T%d " % self._tag
            with self._understanding():
                self._wire.begin(_ANSWER)
                self._wire.send(tag + b"IDLE\r\n")
                found = False
                while not (found or stop.is_set()) and time.monotonic() < again:
                    if not self._ready(min(0.5, max(again - time.monotonic(), 0))):
                        continue
                    line = self._line()
                    if line.startswith(tag):
                        self._judge(line[len(tag) :])
                        raise Broken(f"{self.host} ended the waiting.")
                    found = line.startswith(b"* ") and changed(self._answer(line))
                if found:
                    return True  # the connection is not used again
                self._wire.send(b"DONE\r\n")
                while not (line := self._line()).startswith(tag):
                    found = found or (line.startswith(b"* ") and changed(self._answer(line)))
                self._judge(line[len(tag) :])
                if found:
                    return True
        return False

    def _ready(self, seconds: float) -> bool:
        if self._wire.waiting():
            return True
        poll = select.poll()
        poll.register(self._wire.sock, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _line(self) -> bytes:
        return self._wire.readline().removesuffix(b"\n").removesuffix(b"\r")

    def _answer(self, line: bytes) -> Answer:
        parts = [line[2:]]
        if line[2:].partition(b" ")[0].upper() not in STATES:
            while (size := literal(parts[-1])) is not None:
                parts += [self._wire.read(size), self._line()]
        one = answer(parts)
        if one.kind == b"EXISTS":
            self.exists = one.number
        elif one.kind == b"EXPUNGE":
            self.exists -= 1
        elif one.kind == b"VANISHED" and len(one.tokens) == 1:  # with (EARLIER) they are not counted any more
            self.exists -= sum(last - first + 1 for first, last in ranges(one.tokens[0]))
        elif one.kind == b"BYE":
            said = one.said.decode("utf-8", "replace")
            problem = passing(said, self.host)
            if isinstance(problem, QuotaReached):
                raise problem
            raise Broken(f"{self.host} broke the connection off ({shown(said)}).")
        return one

    def _judge(self, said: bytes) -> None:
        state, _, rest = said.partition(b" ")
        if state.upper() != b"OK":
            text = rest.decode("utf-8", "replace")
            raise passing(text, self.host) or Refused(self.host, text)

    @contextmanager
    def _understanding(self) -> Iterator[None]:
        try:
            yield
        except (OSError, imaplib.IMAP4.error) as error:
            problem = problem_of(error, self.host)
            raise Broken(str(problem or f"{self.host} sends what was not asked for.")) from error
        except ValueError as error:
            raise Broken(f"{self.host} gives answers that are none. It is tried again later.") from error


class Server:
    """The connection of a sync: opened when it is first wanted, and taken up again where it breaks.

    After a few attempts that brought nothing on the server counts as away.
    """

    def __init__(
        self, source: str, account: Account, credentials: Credentials, sleep: Callable[[float], None]
    ) -> None:
        self._source = source
        self._account = account
        self._credentials = credentials
        self._sleep = sleep
        self._session: Session | None = None
        self._opened = False
        self._failed = 0
        self._backoff = Backoff()

    @property
    def session(self) -> Session:
        """The session under way, or a new one.

        Raises:
            Broken: if the server that was there before can't be reached now.
            SourceProblem: if it can't be reached, or does not let us in.
        """
        if self._session is None:
            try:
                self._session = Session(self._source, self._account, self._credentials)
            except QuotaReached:
                raise
            except ServerAway as error:
                if self._opened:
                    raise Broken(str(error)) from error
                raise
            self._opened = True
        return self._session

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def persistently(self, step: Callable[[Session], Result]) -> Result:
        """Do a step that can be repeated, on another connection where one breaks."""
        while True:
            try:
                result = step(self.session)
            except Broken as error:
                self.broke(error)
            else:
                self.went_on()
                return result

    def broke(self, error: Broken) -> None:
        """Wait a while after the connection broke.

        Raises:
            ServerAway: if nothing came of it for too often.
        """
        self.close()
        self._failed += 1
        if self._failed >= _ATTEMPTS:
            raise ServerAway(str(error)) from error
        self._sleep(self._backoff.next())

    def went_on(self) -> None:
        """Note that the server gave something that was wanted."""
        self._failed = 0
        self._backoff.reset()


def quoted(text: bytes) -> bytes:
    """A string of a command."""
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _connected(source: str, account: Account, credentials: Credentials) -> _Wire:
    """The wire of a connection that is encrypted and signed in."""
    wire, refusal = _signed_in(account, credentials, renew=False)
    if wire is None and account.sign_in == "oauth":
        wire, refusal = _signed_in(account, credentials, renew=True)
    if wire is None:
        raise SignInFailed(
            f"{account.host} does not let {account.login!r} in: {shown(refusal) or 'no reason given'}."
            f" Sign in anew: tide sign-in {source}"
        )
    return wire


def _signed_in(account: Account, credentials: Credentials, *, renew: bool) -> tuple[_Wire | None, str]:
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
    wire: _Wire = client._imap
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


def _encrypt(client: _Client, wire: _Wire, context: ssl.SSLContext | None) -> None:
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
    except imaplib.IMAP4.abort as error:
        said = _said(error)
        raise passing(said, client.host, sign_in=True) or ServerAway(
            f"{client.host} broke the sign-in off."
        ) from error
    except (IMAPClientError, ValueError) as error:
        said = _said(error)
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
