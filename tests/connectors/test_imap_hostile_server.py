"""A server that answers wrong, in every way that comes to mind.

Whatever it says, a sync ends well or with one line for the person, having read a bounded number of bytes over a
bounded number of connections; nothing that was there before is gone; and once the server is itself again, the next
sync comes to what an undisturbed one comes to.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from connectors import follow
from connectors.mail import imap_sign_in
from tests.connectors.imap_world import mailbox
from tests.servers.dovecot import PASSWORD, USER
from tests.servers.scripted_imap import HANG_UP, Rule, ScriptedImap
from workspace import Account, QuotaReached, ServerAway, SignInFailed, SourceEmpty, SourceProblem

NewKept = Callable[[], Any]
MakeMail = Callable[..., bytes]

LARGE = 5  # the number of a mail that is read part by part
_MOST_BYTES = 1024 * 1024 * 1024  # six times 64 MB, and the same once more
_MOST_CONNECTIONS = 30


def forever(*pieces: bytes) -> Rule:
    """Say these, and the last of them again and again."""
    return lambda _: itertools.chain(pieces, itertools.repeat(pieces[-1]))


def replaced(pattern: bytes, by: bytes, count: int = 0) -> Rule:
    return lambda said: re.sub(pattern, by, said, count=count, flags=re.DOTALL)  # type: ignore[arg-type]


def before(text: bytes) -> Rule:
    """Say something unasked for, then the answer."""
    return lambda said: text + said  # type: ignore[operator]


def cut(size: int, end: bytes = HANG_UP) -> Rule:
    return lambda said: [said[:size], end]  # type: ignore[index]


CHATTER = b"".join(
    b"* " + line + b"\r\n"
    for line in (
        b"3 EXPUNGE",
        b"9 EXISTS",
        b"2 FETCH (FLAGS (\\Seen))",
        b"OK [ALERT] hear!",
        b"FLAGS ()",
        b"0 RECENT",
    )
)
MEGABYTE = b"x" * (1 << 20)
NONSENSE = bytes(range(256)).replace(b"\n", b"").replace(b"\r", b"") + b"\r\n"
BODY = rb"UID FETCH .*BODY\.PEEK\[\]"
ANYTHING = {
    "NO": b"TAG NO not today\r\n",
    "BAD": b"TAG BAD what?\r\n",
    "BYE": b"* BYE enough\r\n",
    "BYE and hangs up": lambda _: [b"* BYE enough\r\n", HANG_UP],
    "hangs up": lambda _: [HANG_UP],
    "only OK": b"TAG OK done\r\n",
    "OK of another tag": b"Z99 OK done\r\nTAG OK done\r\n",
    "nonsense": NONSENSE,
    "nonsense, then the answer": before(b"* " + NONSENSE),
    "an empty line": before(b"\r\n"),
    "chatter": before(CHATTER),
    "a line without end": forever(b"* ", MEGABYTE),
    "lines without end": forever(b"* OK still here\r\n* OK " + b"x" * 50_000 + b"\r\n"),
    "numbers without end": forever(b"* SEARCH", b" 77777" * 50_000),
    "an absurd literal": forever(b"* 1 FETCH (UID 1 BODY[] {4294967295}\r\n", MEGABYTE),
    "an absurd literal of another kind": forever(b'* LIST () "/" {99999999999999999999}\r\n', MEGABYTE),
    "brackets without end": b"* LIST " + b"(" * 100_000 + b"\r\nTAG OK done\r\n",
    "quotation without end": b'* LIST () "/" "' + b"\\" * 100_001 + b"\r\nTAG OK done\r\n",
    "cut in the middle": lambda said: [said[: len(said) // 2], HANG_UP],
}
COMMANDS = (b"CAPABILITY", b"LIST", b"STATUS", b"EXAMINE", b"UID SEARCH", b"UID FETCH", BODY)
FAULTS: dict[str, tuple[bytes, Rule | bytes]] = {
    f"{command.decode()}: {name}": (command, rule) for command in COMMANDS for name, rule in ANYTHING.items()
} | {
    "greets with BYE": (b"GREETING", b"* BYE overloaded\r\n"),
    "greets with BAD": (b"GREETING", b"* BAD\r\n"),
    "greets as a web server": (b"GREETING", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "greets with nonsense": (b"GREETING", NONSENSE),
    "greets without end": (b"GREETING", forever(MEGABYTE)),
    "greets and hangs up": (b"GREETING", lambda said: [said, HANG_UP]),
    "hangs up at once": (b"GREETING", lambda _: [HANG_UP]),
    "can nothing": (b"CAPABILITY", b"* CAPABILITY\r\nTAG OK done\r\n"),
    "LIST: no names": (b"LIST", b'* LIST () "/" NIL\r\n* LIST ()\r\n* LIST () NIL ""\r\nTAG OK\r\n'),
    "LIST: folders without mail": (b"LIST", replaced(rb"HasNoChildren", b"Noselect")),
    "LIST: one folder less": (b"LIST", replaced(rb'\* LIST [^\n]*Sent"\r\n', b"")),
    "STATUS: of another": (b"STATUS", b'* STATUS "Else" (MESSAGES 0 UIDNEXT 1 UIDVALIDITY 3)\r\nTAG OK\r\n'),
    "STATUS: absurd numbers": (b"STATUS", replaced(rb"(MESSAGES|UIDNEXT) \d+", rb"\1 99999999999999999999999")),
    "STATUS: no numbers": (b"STATUS", replaced(rb"(MESSAGES|UIDNEXT) \d+", rb"\1 (many)")),
    "EXAMINE: no EXISTS": (b"EXAMINE", replaced(rb"\* \d+ EXISTS\r\n", b"")),
    "EXAMINE: nothing exists": (b"EXAMINE", replaced(rb"\d+ EXISTS", b"0 EXISTS")),
    "EXAMINE: too much exists": (b"EXAMINE", replaced(rb"\d+ EXISTS", b"4294967295 EXISTS")),
    "EXAMINE: no UIDVALIDITY": (b"EXAMINE", replaced(rb"\* OK \[UIDVALIDITY[^\n]*\n", b"")),
    "EXAMINE: UIDVALIDITY 0": (b"EXAMINE", replaced(rb"UIDVALIDITY \d+", b"UIDVALIDITY 0")),
    "EXAMINE: UIDNEXT of 2^32": (b"EXAMINE", replaced(rb"UIDNEXT \d+", b"UIDNEXT 4294967296")),
    "SEARCH: UIDs are missing": (b"UID SEARCH", replaced(rb"SEARCH( \d+)( \d+)", rb"SEARCH\1")),
    "SEARCH: no UIDs": (b"UID SEARCH", replaced(rb"\* SEARCH[ \d]*", b"* SEARCH")),
    "SEARCH: UIDs of nobody": (b"UID SEARCH ALL", replaced(rb"\* SEARCH", b"* SEARCH 4294967295 77 4294967294")),
    "SEARCH: no numbers": (b"UID SEARCH", replaced(rb"\* SEARCH", b"* SEARCH 0 -5 x (1) 99999999999999999999999")),
    "SEARCH: UIDs twice": (b"UID SEARCH", lambda said: said.replace(b"SEARCH", b"SEARCH 1 1 1")),
    "FETCH: no UID": (b"UID FETCH", replaced(rb"\(UID \d+ ", b"(")),
    "FETCH: UID of another": (b"UID FETCH", replaced(rb"UID \d+", b"UID 4294967295")),
    "FETCH: UID 0": (b"UID FETCH", replaced(rb"UID \d+", b"UID 0")),
    "FETCH: no sizes": (rb"UID FETCH .*SIZE", replaced(rb" RFC822.SIZE \d+", b"")),
    "FETCH: sizes of 0": (rb"UID FETCH .*SIZE", replaced(rb"SIZE \d+", b"SIZE 0")),
    "FETCH: absurd sizes": (rb"UID FETCH .*SIZE", replaced(rb"SIZE \d+", b"SIZE 99999999999999999999")),
    "FETCH: odd sizes": (rb"UID FETCH .*SIZE", replaced(rb"SIZE \d+", b'SIZE "-1"')),
    "FETCH: body is NIL": (BODY, replaced(rb"BODY\[\] \{\d+\}.*\)\r\nTAG", b"BODY[] NIL)\r\nTAG")),
    "FETCH: body is a list": (BODY, replaced(rb"BODY\[\] \{\d+\}.*\)\r\nTAG", b"BODY[] (a (b)))\r\nTAG")),
    "FETCH: all at once refused": (rb"UID FETCH \d+[,:].*BODY\.PEEK\[\]", b"TAG NO too many\r\n"),
    "FETCH: one mail refused": (rb"UID FETCH 3 .*BODY\.PEEK\[\]", b"TAG NO [UNAVAILABLE] disk\r\n"),
    "FETCH: mails that are gone": (BODY, lambda said: CHATTER + b"TAG OK done\r\n"),
    "FETCH: cut in a mail": (BODY, cut(200)),
    "FETCH: cut in every mail but for a few bytes": (BODY, cut(60)),
    "FETCH: NO after the mails": (BODY, replaced(b"TAG OK", b"TAG NO [SERVERBUG] broken")),
    "FETCH: mails twice": (BODY, lambda said: said.replace(b"TAG OK done\r\n", b"") + said),
    "FETCH: no structure": (rb".*BODYSTRUCTURE", replaced(rb"STRUCTURE \(.*?\)", b"STRUCTURE NIL")),
    "FETCH: structure of nonsense": (rb".*BODYSTRUCTURE", replaced(rb"STRUCTURE \(", b"STRUCTURE ((((NIL 7)")),
    "FETCH: structure too deep": (rb".*BODYSTRUCTURE", replaced(rb"STRUCTURE \(", b"STRUCTURE " + b"(" * 5000)),
    "FETCH: structure refused": (rb".*BODYSTRUCTURE", b"TAG BAD no\r\n"),
    "FETCH: parts refused": (rb"UID FETCH \d+ .*PEEK\[1", b"TAG NO no\r\n"),
    "FETCH: parts are NIL": (rb"UID FETCH \d+ .*PEEK\[1", replaced(rb"\{\d+\}\r\n.*\)\r\nTAG", b"NIL)\r\nTAG")),
    "LOGOUT: endless": (b"LOGOUT", forever(MEGABYTE)),
}  # fmt: skip


ODD = {"FETCH: UID of another": {"m7@example.com"}}
"""What a server may well hide: a mail that it gives out as another one."""


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 2)
    monkeypatch.setattr(imap_sign_in, "SECONDS", 1.0)


@pytest.fixture
def server(make_mail: MakeMail) -> Iterator[ScriptedImap]:
    inbox = {number: crlf(make_mail(number)) for number in (1, 2, 3, 4)}
    sent = {number: crlf(make_mail(10 + number)) for number in (1, 2)}
    with ScriptedImap({b"INBOX": inbox, b"Sent": sent}) as running:
        yield running


def crlf(mail: bytes) -> bytes:
    return mail.replace(b"\n", b"\r\n")


def account(server: ScriptedImap) -> Account:
    values: dict[str, Any] = {"host": "localhost", "port": server.port, "security": "none", "months": 0}
    return Account(address=USER, secret_command=f"printf {PASSWORD}", largest_mb=0, **values)


def arrive(server: ScriptedImap, make_mail: MakeMail) -> None:
    server.folders[b"INBOX"] |= {
        LARGE: crlf(make_mail(LARGE, "Many words here. " * 8000)),
        6: crlf(make_mail(6)),
        4294967295: crlf(make_mail(7)),
    }


@pytest.mark.timeout(120)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault(fault: str, server: ScriptedImap, new_kept: NewKept, make_mail: MakeMail) -> None:
    kept, whole = new_kept(), new_kept()
    kept.take(mailbox(account(server)).sync(kept.cursor))
    assert len(kept.artifacts) == 6
    arrive(server, make_mail)
    whole.take(mailbox(account(server)).sync(whole.cursor))
    assert len(whole.artifacts) == 9

    server.rule(*FAULTS[fault])
    server.sent = server.connections = 0
    for _ in range(2):
        try:
            kept.take(mailbox(account(server)).sync(kept.cursor))
        except SourceProblem as problem:
            assert_one_line(problem)
        assert lost(kept) == []
    assert server.sent < _MOST_BYTES
    assert server.connections < _MOST_CONNECTIONS

    server.heal()
    kept.take(mailbox(account(server)).sync(kept.cursor))
    assert set(kept.artifacts) == set(whole.artifacts) - ODD.get(fault, set())
    for key, artifact in kept.artifacts.items():
        assert artifact.digest == whole.artifacts[key].digest or artifact.defects
    assert lost(kept) == []
    assert list(mailbox(account(server)).sync(kept.cursor)) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    {
        b"TAG NO [AUTHENTICATIONFAILED] no\r\n": SignInFailed,
        b"TAG NO\r\n": SignInFailed,
        b"TAG NO I do not know '" + PASSWORD.encode() + b"'\r\n": SignInFailed,
        b"TAG BAD what?\r\n": SignInFailed,
        b"TAG NO \x1b[31m\xff\x00\xe2\x80\xae" + b"no " * 9000 + b"\r\n": SignInFailed,
        b"TAG NO [UNAVAILABLE] not now\r\n": ServerAway,
        b"TAG NO Too many simultaneous connections\r\n": QuotaReached,
        b"* BYE enough\r\n": ServerAway,
        b"\xff\xfe\r\n": SourceProblem,
        b"+ more?\r\n": SourceProblem,
    }.items(),
)
def test_a_refused_sign_in(said: bytes, problem: type[SourceProblem], server: ScriptedImap) -> None:
    server.rule(b"AUTHENTICATE", lambda _: [said, HANG_UP])
    with pytest.raises(problem) as caught:
        list(mailbox(account(server)).sync({}))
    assert_one_line(caught.value)
    assert sum(command.startswith(b"AUTHENTICATE") for command in server.commands) == 1


def test_a_server_that_wants_to_be_asked_less_often(server: ScriptedImap, kept: Any) -> None:
    server.rule(b"UID FETCH", b"* BYE Account exceeded command or bandwidth limits.\r\n")
    with pytest.raises(QuotaReached, match="less often"):
        kept.take(mailbox(account(server)).sync({}))
    assert server.connections == 1


@pytest.mark.parametrize(
    "name",
    [b"\xff\xfe", b"&AGE", b"&-&-", b"&2AAAAA-", b"&&&", b'quo"te', b"back\\slash", b"per%cent", b"Entw&APw-rf"],
)
def test_odd_names_of_folders(name: bytes, server: ScriptedImap, kept: Any, make_mail: MakeMail) -> None:
    server.folders[b"INBOX/" + name] = {1: crlf(make_mail(20)), 9: crlf(make_mail(21))}
    kept.take(mailbox(account(server)).sync({}))
    assert len(kept.artifacts) == 8
    for artifact in kept.artifacts.values():
        artifact.origin.encode("ascii")
    for item, state in kept.cursor.items():
        (item + state).encode("ascii")
    assert mailbox(account(server)).check().isprintable()
    del server.folders[b"INBOX/" + name][9]
    kept.take(mailbox(account(server)).sync(kept.cursor))
    assert kept.gone == ["m21@example.com"]


def test_a_mailbox_that_is_suddenly_empty(server: ScriptedImap, kept: Any) -> None:
    kept.take(mailbox(account(server)).sync({}))
    server.folders = {b"INBOX": {}, b"Sent": {}}
    with pytest.raises(SourceEmpty):
        kept.take(mailbox(account(server)).sync(kept.cursor))
    assert len(kept.artifacts) == 6


def test_a_folder_that_is_gone_and_one_that_is_only_not_told(server: ScriptedImap, kept: Any) -> None:
    kept.take(mailbox(account(server)).sync({}))
    server.rule(b"LIST", replaced(rb'\* LIST [^\n]*Sent"\r\n', b""))
    server.rule(b"(STATUS|EXAMINE).*Sent", b"TAG NO [SERVERBUG] internal error\r\n")
    kept.take(mailbox(account(server)).sync(kept.cursor))
    assert kept.gone == []
    server.heal()
    del server.folders[b"Sent"]
    kept.take(mailbox(account(server)).sync(kept.cursor))
    assert sorted(kept.gone) == ["m11@example.com", "m12@example.com"]


def lost(kept: Any) -> list[str]:
    """The mails that are gone; not what stood in for those that could not be read."""
    return [key for key in kept.gone if not key.startswith("unread:")]


def assert_one_line(problem: SourceProblem) -> None:
    assert "\n" not in str(problem)
    assert str(problem).isprintable()
    assert len(str(problem)) < 1000
    assert PASSWORD not in str(problem)
