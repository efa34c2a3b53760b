"""A session at an IMAP server: commands, and answers read within bounds (RFC 3501).

What is asked once the connection is signed in goes through `Session.ask`: imaplib keeps an answer whole, and
IMAPClient takes a step of Python for every byte of it. Nothing that could change a mailbox is ever sent: folders
are opened with EXAMINE, bodies fetched with BODY.PEEK.
"""

import imaplib
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import TypeVar

from connectors.accounts.credentials import Credentials
from connectors.accounts.network import Backoff, problem_of
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
from connectors.mail.imap_sign_in import connected, quoted
from workspace import Account, QuotaReached, ServerAway, SourceProblem

_ANSWER = 2 * 1024 * 1024
UIDS_ANSWER = 8 * 1024 * 1024
"""How many bytes an answer may have that lists UIDs."""

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


class Session:
    """A connection that is signed in. `exists` is how many messages the folder has that is selected, as far as
    the server has told by now.

    Raises:
        SignInFailed: if the server refuses the name or the secret.
        SourceProblem: of any kind, if it comes to no connection.
    """

    def __init__(self, source: str, account: Account, credentials: Credentials) -> None:
        self.host = account.host
        self.exists = 0
        self.selected = b""
        self.validity = 0
        self._tag = 0
        self._resyncs: bool | None = None
        self._wire = connected(source, account, credentials)
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
