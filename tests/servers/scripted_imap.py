"""An IMAP server that answers as it is told to: right by default, and as wrong as a test wants it.

It takes any name and password, in plain text, on loopback. What it says to a command can be changed by rules, in
which the tag of the command stands as TAG.
"""

import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

CAPABILITY = b"IMAP4rev1 AUTH=PLAIN SASL-IR IDLE"
GREETING = b"* OK ready\r\n"

Said = bytes | Iterable[bytes]
Rule = Callable[[bytes], Said]
"""From what would be said to what is said instead; pieces are sent as long as somebody takes them."""


class ScriptedImap:
    """The server, running between `with` and its end.

    `folders` hold mails by UID; they may be changed at any time. `validity` is the UIDVALIDITY of all. `listed`
    are more lines of LIST. `sent` is how many bytes were sent, `commands` all that was asked, without its tags.
    """

    def __init__(self, folders: Mapping[bytes, Mapping[int, bytes]], *, capability: bytes = CAPABILITY) -> None:
        self.folders = {name: dict(mails) for name, mails in folders.items()}
        self.capability = capability
        self.validity = 7
        self.sent = 0
        self.connections = 0
        self.commands: list[bytes] = []
        self._rules: list[tuple[re.Pattern[bytes], Rule, list[int]]] = []
        self._sessions: list[tuple[socket.socket, threading.Thread]] = []

    def __enter__(self) -> "ScriptedImap":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="scripted imap")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for connection, thread in self._sessions:
            with suppress(OSError):  # it may be over already
                connection.shutdown(socket.SHUT_RDWR)
            thread.join()
            connection.close()

    def rule(self, pattern: bytes, rule: Rule | bytes, *, times: int = 1_000_000) -> None:
        """Change what is said to commands that match (from their beginning; GREETING greets), so many times."""
        change = rule if callable(rule) else (lambda _, said=rule: said)
        self._rules.append((re.compile(pattern), change, [times]))

    def heal(self) -> None:
        """Answer right again."""
        self._rules.clear()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), name="scripted session")
            self._sessions.append((connection, thread))
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        folder = b""
        try:
            with connection.makefile("rb") as lines:
                self._say(connection, b"GREETING", GREETING, b"")
                for line in lines:
                    tag, _, command = line.strip().partition(b" ")
                    self.commands.append(command)
                    name = command.split()[0].upper() if command.strip() else b""
                    if name == b"AUTHENTICATE" and len(command.split()) < 3:
                        connection.sendall(b"+ \r\n")
                        lines.readline()
                    if name == b"IDLE":
                        connection.sendall(b"+ idling\r\n")
                        lines.readline()
                    if name == b"EXAMINE":
                        folder = _unquoted(command.split(b" ", 1)[1])
                    answer = b"".join(self._answer(name, command, folder))
                    self._say(connection, command, answer, tag)
                    if name == b"LOGOUT":
                        break
        except OSError:
            pass  # the client is gone
        finally:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _say(self, connection: socket.socket, command: bytes, answer: bytes, tag: bytes) -> None:
        said: Said = answer
        for pattern, rule, left in self._rules:
            if left[0] and pattern.match(command):
                left[0] -= 1
                said = rule(answer)
                break
        for piece in [said] if isinstance(said, bytes) else said:
            piece = piece.replace(b"TAG", tag)
            if piece == HANG_UP:
                raise ConnectionAbortedError
            connection.sendall(piece)
            self.sent += len(piece)

    def _answer(self, name: bytes, command: bytes, folder: bytes) -> Iterator[bytes]:
        mails = self.folders.get(folder, {})
        if name == b"CAPABILITY":
            yield b"* CAPABILITY " + self.capability + b"\r\n"
        elif name == b"LIST":
            for one in self.folders:
                yield (
                    b'* LIST (\\HasNoChildren) "/" "'
                    + one.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
                    + b'"\r\n'
                )
        elif name == b"STATUS":
            asked = _unquoted(command.split(b" ", 1)[1].rpartition(b" (")[0])
            if asked not in self.folders:
                yield b"TAG NO no such folder\r\n"
                return
            held = self.folders[asked]
            numbers = b"UIDVALIDITY %d UIDNEXT %d MESSAGES %d" % (
                self.validity,
                max(held, default=0) + 1,
                len(held),
            )
            yield b'* STATUS "' + asked + b'" (' + numbers + b")\r\n"
        elif name == b"EXAMINE":
            if folder not in self.folders:
                yield b"TAG NO no such folder\r\n"
                return
            yield b"* %d EXISTS\r\n* OK [UIDVALIDITY %d] of old\r\n" % (len(mails), self.validity)
            yield b"* OK [UIDNEXT %d] next\r\n" % (max(mails, default=0) + 1)
        elif command.upper().startswith(b"UID SEARCH"):
            wanted = (
                [] if b"DRAFT" in command else _wanted(command, mails) if b" UID " in command else sorted(mails)
            )
            yield b"* SEARCH" + b"".join(b" %d" % uid for uid in wanted) + b"\r\n"
        elif command.upper().startswith(b"UID FETCH"):
            for uid in _wanted(command, mails):
                yield _fetched(sorted(mails).index(uid) + 1, uid, mails[uid], command)
        elif name == b"LOGOUT":
            yield b"* BYE\r\n"
        yield b"TAG OK done\r\n"


HANG_UP = b"(the server hangs up)"
"""What a rule says to end the connection."""


def _unquoted(text: bytes) -> bytes:
    return re.sub(rb"\\(.)", rb"\1", text.strip().removeprefix(b'"').removesuffix(b'"'))


def _wanted(command: bytes, mails: Mapping[int, bytes]) -> list[int]:
    """The UIDs of the set in a command that are there."""
    found = re.search(rb"(?:UID FETCH|.* UID) ([\d:,*]+)", command)
    wanted = set()
    for piece in found[1].split(b",") if found else ():
        first, _, last = piece.replace(b"*", b"%d" % max(mails, default=1)).partition(b":")
        low, high = sorted((int(first), int(last or first)))
        wanted |= {uid for uid in mails if low <= uid <= high}
    return sorted(wanted)


def _fetched(number: int, uid: int, mail: bytes, command: bytes) -> bytes:
    parts = [b"UID %d" % uid]
    if b"RFC822.SIZE" in command:
        parts.append(b"RFC822.SIZE %d" % len(mail))
    if b"BODYSTRUCTURE" in command:
        parts.append(b'BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" %d %d)' % (len(mail), mail.count(b"\n")))
    head, _, body = mail.partition(b"\r\n\r\n")
    sections = {b"": mail, b"HEADER": head + b"\r\n\r\n", b"1": body, b"1.MIME": b"\r\n"}
    for section, start, length in re.findall(rb"BODY\.PEEK\[([^\]]*)\](?:<(\d+)\.(\d+)>)?", command):
        text = sections.get(section.upper(), b"")
        origin = b""
        if length:
            text, origin = text[int(start) : int(start) + int(length)], b"<" + start + b">"
        parts.append(b"BODY[" + section + b"]" + origin + b" {%d}\r\n" % len(text) + text)
    return b"* %d FETCH (" % number + b" ".join(parts) + b")\r\n"
