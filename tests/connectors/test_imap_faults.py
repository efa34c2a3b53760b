"""What goes wrong between a mailbox and its server: nothing is lost, nothing is brought in twice, nothing that the
server still has is gone, nothing there changes, and the person reads one line."""

import copy
import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from connectors import follow
from connectors.mail import imap, imap_listing, imap_sign_in
from tests.connectors.imap_world import NOW, mailbox
from tests.servers.dovecot import PASSWORD, PLAINEST, USER, WITHOUT_CONDSTORE, Dovecot
from tests.servers.proxy import Proxy
from tests.servers.scripted_imap import HANG_UP, ScriptedImap
from workspace import Account, CertificateRefused, ServerAway, SignInFailed, SourceEmpty, SourceProblem, UserError
from workspace.store import Store

_LEAVE = 150  # bytes that the server says in answer to LOGOUT, some more: nobody waits for them

NewKept = Callable[[], Any]
MakeMail = Callable[..., bytes]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 3)


@pytest.fixture
def dovecot(make_mail: MakeMail) -> Iterator[Dovecot]:
    """A server with mail in the inbox and in two other folders that are read, and one that is not."""
    with Dovecot() as server:
        fill(server, make_mail)
        yield server


def fill(server: Dovecot, make_mail: MakeMail) -> None:
    server.fill("INBOX", [make_mail(number) for number in range(6)])
    server.fill("Sent", [make_mail(number) for number in (6, 7)], flags="S")
    server.fill("Archive", [make_mail(8, "Ä " * 300)], flags="FS")
    server.fill("Trash", [make_mail(9)])


def change(server: Dovecot, make_mail: MakeMail) -> None:
    """What may have happened between two syncs: mail came, went, and was moved, copied and read."""
    server.fill("INBOX", [make_mail(number) for number in (20, 21)])
    server.expunge("INBOX", [1])
    server.move("INBOX", [2, 3], "Archive")
    server.copy("INBOX", [4], "Sent")
    server.flag("INBOX", [5, 6], "\\Seen")


def through(proxy: Proxy, server: Dovecot, security: str = "none") -> Account:
    return server.account(security, port=proxy.port)


def synced(kept: Any, account: Account, most: int = 50) -> int:
    """Sync until it goes well; how often it took."""
    for turn in range(1, most + 1):
        try:
            kept.take(mailbox(account).sync(kept.cursor))
        except ServerAway as problem:
            assert_one_line(problem)
        else:
            return turn
    raise AssertionError(f"not done after {most} syncs")


def assert_one_line(problem: UserError) -> None:
    assert str(problem)
    assert "\n" not in str(problem)
    assert str(problem).isprintable()
    assert PASSWORD not in str(problem)


@pytest.mark.parametrize("times", [1, 2])
def test_a_mail_that_moves_while_folders_are_looked_at_is_not_gone(
    times: int, dovecot: Dovecot, make_mail: MakeMail, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.take(mailbox(dovecot.account("none")).sync({}))
    dovecot.fill("INBOX", [make_mail(20)])
    dovecot.fill("Archive", [make_mail(21)])
    moves = [("Archive", "INBOX"), ("INBOX", "Archive")][:times]

    def looked(session: Any, folder: Any, *rest: Any) -> Any:
        if moves and folder.name == moves[0][0]:
            here, there = moves.pop(0)
            (uid,) = [uid for uid, name in dovecot.message_ids(here).items() if name == "m8@example.com"]
            dovecot.move(here, [uid], there)
        return imap_listing.wanted(session, folder, *rest)

    monkeypatch.setattr(imap, "wanted", looked)
    kept.take(mailbox(dovecot.account("none")).sync(kept.cursor))
    assert moves == []
    assert kept.gone == []
    kept.take(mailbox(dovecot.account("none")).sync(kept.cursor))
    assert kept.gone == []
    assert "m8@example.com" in kept.artifacts


class TestConnectionsThatBreak:
    @pytest.mark.parametrize("capability", ["", PLAINEST], ids=["all", "plainest"])
    def test_anywhere_in_a_session(self, capability: str, new_kept: NewKept, make_mail: MakeMail) -> None:
        """The first sync, and the one after it, are cut after every n-th byte, with the n so that all kinds of
        places are met."""
        with Dovecot(capability=capability) as server:
            fill(server, make_mail)
            first = new_kept()
            with Proxy(server.port) as proxy:
                synced(first, through(proxy, server))
                length = proxy.received
            assert_all_cut(new_kept(), first, server, places(length, 29))
            change(server, make_mail)
            then = copy.deepcopy(first)
            with Proxy(server.port) as proxy:
                synced(then, through(proxy, server))
                length = proxy.received
            assert then.gone == ["m0@example.com"]
            assert_all_cut(first, then, server, places(length, 29))

    def test_again_and_again(self, dovecot: Dovecot, new_kept: NewKept, make_mail: MakeMail) -> None:
        """Every connection is cut after so few bytes that it brings a few mails at most."""
        dovecot.fill("INBOX", (make_mail(number, "Words. " * 200) for number in range(40, 60)))
        whole = new_kept()
        with Proxy(dovecot.port) as proxy:
            synced(whole, through(proxy, dovecot))
        for limit in (8000, 9500, 20_000):
            kept = new_kept()
            with Proxy(dovecot.port, repeat(limit)) as proxy:
                synced(kept, through(proxy, dovecot))
                assert proxy.connections > 1
            assert kept.said() == whole.said()
            assert kept.cursor == whole.cursor

    @pytest.mark.parametrize("security", ["tls", "starttls"])
    def test_encrypted_ones_too(self, dovecot: Dovecot, new_kept: NewKept, security: str) -> None:
        port = dovecot.tls_port if security == "tls" else dovecot.port
        whole = new_kept()
        with Proxy(port) as proxy:
            synced(whole, through(proxy, dovecot, security))
            length = proxy.received
        assert_all_cut(new_kept(), whole, dovecot, places(length, 7), security)

    def test_silence(self, dovecot: Dovecot, new_kept: NewKept, monkeypatch: pytest.MonkeyPatch) -> None:
        whole, kept = new_kept(), new_kept()
        synced(whole, dovecot.account("none"))
        for limit in (10, 500, 1100):
            with monkeypatch.context() as patch, Proxy(dovecot.port, repeat(limit), stall=True) as proxy:
                patch.setattr(imap_sign_in, "SECONDS", 0.2)
                with pytest.raises(ServerAway, match="does not answer"):
                    kept.take(mailbox(through(proxy, dovecot)).sync(kept.cursor))
                assert proxy.connections <= 10
        synced(kept, dovecot.account("none"))
        assert kept.said() == whole.said()

    def test_a_server_that_is_away(self, dovecot: Dovecot, kept: Any) -> None:
        synced(kept, dovecot.account())
        before = kept.said()
        dovecot.stop()
        with pytest.raises(ServerAway, match="localhost") as caught:
            kept.take(mailbox(dovecot.account()).sync(kept.cursor))
        assert_one_line(caught.value)
        with pytest.raises(ServerAway):
            mailbox(dovecot.account()).check()
        with pytest.raises(ServerAway):
            mailbox(dovecot.account()).wait(Event(), 60)
        assert dovecot.start()
        assert list(mailbox(dovecot.account()).sync(kept.cursor)) == []
        assert kept.said() == before


def places(length: int, count: int) -> range:
    """So many places of a session in which the server says so much, its leave-taking left out."""
    return range(1, length - _LEAVE, (length - _LEAVE) // count)


def assert_all_cut(before: Any, after: Any, server: Dovecot, places: range, security: str = "none") -> None:
    """Cut a sync from `before` at each of these places, and see that it comes to `after` nevertheless."""
    port = server.tls_port if security == "tls" else server.port
    for place in places:
        kept = copy.deepcopy(before)
        with Proxy(port, [place]) as proxy:
            synced(kept, through(proxy, server, security), most=2)
            assert proxy.connections > 1
        assert kept.said() == after.said(), place
        assert kept.cursor == after.cursor, place
        assert kept.gone == after.gone, place


class TestNothingChangesAtTheServer:
    @pytest.mark.parametrize("capability", ["", WITHOUT_CONDSTORE, PLAINEST])
    def test_whatever_is_done(self, capability: str, kept: Any, make_mail: MakeMail) -> None:
        with Dovecot(capability=capability) as server:
            fill(server, make_mail)
            server.fill("INBOX", [make_mail(30, "Large " * 20_000)])
            before = server.snapshot()
            account = server.account(largest_mb=0, months=1)
            mailbox(account).check()
            for _ in range(3):
                kept.take(mailbox(account).sync(kept.cursor))
            mailbox(account).wait(Event(), 0.1)
            assert len(kept.artifacts) == 10
            assert server.snapshot() == before


class TestSignIn:
    def test_a_wrong_password_is_tried_once(self, dovecot: Dovecot) -> None:
        for security, times in (("tls", 1), ("starttls", 2), ("none", 3)):
            with Proxy(dovecot.tls_port if security == "tls" else dovecot.port) as proxy:
                account = dovecot.account(security, port=proxy.port, secret_command="printf wrong-horse")
                with pytest.raises(SignInFailed, match="tide sign-in test") as caught:
                    list(mailbox(account).sync({}))
                assert proxy.connections == 1
            assert_one_line(caught.value)
            assert "wrong-horse" not in str(caught.value)
            assert dovecot.refused(times) == times
        assert dovecot.signed_in() == 0

    def test_a_name_that_nobody_has(self, dovecot: Dovecot) -> None:
        with pytest.raises(SignInFailed, match=r"nobody@example\.org"):
            list(mailbox(dovecot.account(address="nobody@example.org")).sync({}))
        assert dovecot.refused(1) == 1

    def test_a_token(self, make_mail: MakeMail, kept: Any) -> None:
        with Dovecot(oauth=True) as server:
            fill(server, make_mail)
            good, over = server.token(), server.token(seconds=-60)
            kept.take(mailbox(server.account(sign_in="oauth", secret_command=f"printf {good}")).sync({}))
            assert len(kept.artifacts) == 9
            with pytest.raises(SignInFailed) as caught:
                list(mailbox(server.account(sign_in="oauth", secret_command=f"printf {over}")).sync({}))
            assert_one_line(caught.value)
            assert over not in str(caught.value)


class TestCertificates:
    @pytest.mark.parametrize("security", ["tls", "starttls"])
    def test_of_an_unknown_authority(self, dovecot: Dovecot, security: str) -> None:
        port = dovecot.tls_port if security == "tls" else dovecot.port
        with Proxy(port) as proxy:
            account = dovecot.account(security, port=proxy.port, certificate="")
            with pytest.raises(CertificateRefused, match="authority that this machine does not know") as caught:
                list(mailbox(account).sync({}))
            assert_one_line(caught.value)
            assert proxy.connections == 1
            assert_no_secret(proxy)
        assert (dovecot.signed_in(), dovecot.refused()) == (0, 0)

    @pytest.mark.parametrize("security", ["tls", "starttls"])
    def test_of_another_host(self, security: str) -> None:
        with Dovecot(names=("mail.example.net",)) as server:
            port = server.tls_port if security == "tls" else server.port
            with Proxy(port) as proxy:
                with pytest.raises(CertificateRefused, match="another host"):
                    list(mailbox(server.account(security, port=proxy.port)).sync({}))
                assert_no_secret(proxy)
            assert (server.signed_in(), server.refused()) == (0, 0)

    def test_a_server_that_does_not_encrypt(self, make_mail: MakeMail) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}}) as server:
            with pytest.raises(SourceProblem, match="does not encrypt"):
                list(mailbox(scripted(server, "starttls")).sync({}))
            with pytest.raises(ServerAway, match="speaks no TLS"):
                list(mailbox(scripted(server, "tls")).sync({}))
            assert not any(b"AUTH" in command or b"LOGIN" in command for command in server.commands)

    def test_somebody_who_speaks_before_the_encryption(self, dovecot: Dovecot) -> None:
        with Proxy(dovecot.port, slipped_in=(b"Begin TLS", b"* PREAUTH come in\r\n")) as proxy:
            with pytest.raises(SourceProblem, match="before the encryption") as caught:
                list(mailbox(dovecot.account("starttls", port=proxy.port)).sync({}))
            assert_one_line(caught.value)
        assert dovecot.signed_in() == 0

    def test_a_server_that_says_it_encrypts_and_does_not(self, make_mail: MakeMail) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}}, capability=b"IMAP4rev1 STARTTLS AUTH=PLAIN") as server:
            server.rule(b"STARTTLS", b"TAG NO\r\n")
            with pytest.raises(SourceProblem, match="does not encrypt"):
                list(mailbox(scripted(server, "starttls")).sync({}))
            server.heal()
            server.rule(b"STARTTLS", lambda _: [b"TAG OK begin\r\n", HANG_UP])
            with pytest.raises(ServerAway) as caught:
                list(mailbox(scripted(server, "starttls")).sync({}))
            assert_one_line(caught.value)
            assert not any(b"AUTH" in command or b"LOGIN" in command for command in server.commands)


def assert_no_secret(proxy: Proxy) -> None:
    assert PASSWORD.encode() not in proxy.sent
    assert b"AUTHENTICATE" not in proxy.sent
    assert b"LOGIN" not in proxy.sent


def scripted(server: ScriptedImap, security: str = "none", **other: Any) -> Account:
    values = {"address": USER, "host": "localhost", "port": server.port, "secret_command": f"printf {PASSWORD}"}
    return Account(**values, security=security, **other)


class TestSuddenlyEmpty:
    @pytest.mark.parametrize("capability", ["", PLAINEST], ids=["all", "plainest"])
    def test_a_mailbox(self, capability: str, kept: Any, make_mail: MakeMail) -> None:
        with Dovecot(capability=capability) as server:
            fill(server, make_mail)
            synced(kept, server.account())
            before = kept.said()
            for folder in ("INBOX", "Sent", "Archive"):
                server.empty(folder)
            with pytest.raises(SourceEmpty, match="suddenly empty") as caught:
                kept.take(mailbox(server.account()).sync(kept.cursor))
            assert_one_line(caught.value)
            assert kept.said() == before
            kept.take(mailbox(server.account()).sync(kept.cursor, allow_empty=True))
            assert kept.artifacts == {}

    def test_a_mailbox_whose_uids_begin_anew(self, dovecot: Dovecot, kept: Any) -> None:
        """As after a server was restored: mails are known again, and what is no more is gone."""
        synced(kept, dovecot.account())
        before = kept.said()
        dovecot.expunge("INBOX", [6])
        for folder in ("INBOX", "Sent", "Archive"):
            dovecot.change_uidvalidity(folder)
        synced(kept, dovecot.account())
        assert kept.said() == {key: digest for key, digest in before.items() if key != "m5@example.com"}
        assert kept.gone == ["m5@example.com"]
        assert list(mailbox(dovecot.account()).sync(kept.cursor)) == []


class TestFullDisk:
    def test_loses_nothing_once_there_is_room(
        self, dovecot: Dovecot, kept: Any, make_mail: MakeMail, small_disk: Path
    ) -> None:
        dovecot.fill("INBOX", (make_mail(number, f"Word {number} " * 800) for number in range(100, 200)))
        synced(kept, dovecot.account())
        with Store(small_disk / "store.db") as store:
            store.artifacts.add_source("test", "imap", "", NOW)
            with pytest.raises(UserError, match="Free some disk space") as caught:
                take(store, dovecot)
            assert_one_line(caught.value)
            some = {one.key for one in store.artifacts.all()}
            assert 0 < len(some) < len(kept.artifacts)
        subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
        with Store(small_disk / "store.db") as store:
            assert store.problems() == []
            take(store, dovecot)
            assert {one.key: one.digest for one in store.artifacts.all()} == kept.said()
            assert store.artifacts.cursor("test") == kept.cursor


def take(store: Store, server: Dovecot) -> None:
    for batch in mailbox(server.account()).sync(store.artifacts.cursor("test")):
        store.artifacts.take("test", batch)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    if os.getuid():
        pytest.skip("only root may mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted: {mounted.stderr.strip()}")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)
