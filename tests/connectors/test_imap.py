"""Mail at an IMAP server: which folders and which of their mails are read, in which order, and how they arrive."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors import follow
from connectors.mail import imap, imap_answers, imap_fetch, workers
from connectors.mail.imap_folders import Folder, chosen
from connectors.mail.imap_session import Session
from connectors.mail.workers import Piece, read_pieces
from tests.connectors.imap_world import mailbox
from tests.servers.dovecot import PLAINEST, USER, WITHOUT_QRESYNC, Dovecot
from tests.servers.scripted_imap import ScriptedImap
from workspace import Account, QuotaReached, ServerAway, SignInFailed, SourceProblem

MakeMail = Callable[..., bytes]
OLD = datetime(2019, 5, 2, tzinfo=UTC)
YOUNG = datetime(2026, 2, 2, tzinfo=UTC)


@pytest.fixture
def dovecot() -> Iterator[Dovecot]:
    with Dovecot() as running:
        yield running


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All commands after the sign-in, as they are sent."""
    commands: list[bytes] = []
    ask = Session.ask

    def noted(self: Session, command: bytes, **limits: Any) -> Any:
        commands.append(command)
        return ask(self, command, **limits)

    monkeypatch.setattr(Session, "ask", noted)
    return commands


def scripted(server: ScriptedImap, **other: Any) -> Account:
    values: dict[str, Any] = {"months": 0, "secret_command": "printf anything"} | other
    return Account(address=USER, host="localhost", port=server.port, security="none", **values)


def subjects(kept: Any) -> list[str]:
    return sorted(artifact.title for artifact in kept.artifacts.values())


class TestFolders:
    def folders(self, *described: str) -> list[str]:
        made = []
        for line in described:
            name, *marks = line.split(" \\")
            made.append(Folder(name.encode(), "/", frozenset(f"\\{mark}".upper().encode() for mark in marks)))
        return [folder.name for folder in chosen(made, ())]

    def test_marked_ones(self) -> None:
        found = self.folders(
            "INBOX",
            "Post/Out \\Sent",
            "Old \\Archive",
            "Old/2019",
            "Old/Spam \\Junk",
            "Old/Spam/x",
            "Drafts \\Drafts",
        )
        assert found == ["INBOX", "Post/Out", "Old", "Old/2019"]

    def test_by_their_names_where_none_is_marked(self) -> None:
        found = self.folders(
            "INBOX", "Gesendet", "Archiv", "Archiv/2019", "Papierkorb", "Spam", "Projects", "Entwürfe"
        )
        assert found == ["INBOX", "Gesendet", "Archiv", "Archiv/2019"]

    def test_a_server_that_keeps_everything_below_the_inbox(self) -> None:
        found = self.folders(
            "INBOX", "INBOX/Sent", "INBOX/Trash", "INBOX/Projects", "INBOX/Junk \\Junk", "INBOX/Drafts"
        )
        assert found == ["INBOX", "INBOX/Sent", "INBOX/Projects"]

    def test_one_that_holds_everything_is_enough(self) -> None:
        found = self.folders(
            "INBOX",
            "[Gmail] \\Noselect",
            "[Gmail]/All Mail \\All",
            "[Gmail]/Sent Mail \\Sent",
            "[Gmail]/Spam \\Junk",
        )
        assert found == ["[Gmail]/All Mail"]

    def test_drafts_in_one_that_holds_everything_are_left_out(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {}, b"All": {uid: make_mail(uid) for uid in (1, 2, 3)}}) as server:
            server.rule(b"LIST", b'* LIST (\\All) "/" "All"\r\nTAG OK done\r\n')
            server.rule(rb"UID SEARCH DRAFT", b"* SEARCH 2\r\nTAG OK done\r\n")
            kept.take(mailbox(scripted(server, months=12)).sync({}))
            assert subjects(kept) == ["Subject 1", "Subject 3"]
            assert list(mailbox(scripted(server, months=12)).sync(kept.cursor)) == []

    def test_those_that_the_person_names(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)])
        dovecot.fill("Öl & Gas/2026", [make_mail(2)])
        account = dovecot.account(folders=("Öl & Gas/2026",))
        assert mailbox(account).check() == "IMAP mailbox with 1 message in 1 folder: Öl & Gas/2026"
        kept.take(mailbox(account).sync({}))
        (artifact,) = kept.artifacts.values()
        assert artifact.title == "Subject 2"
        assert "/%C3%96l%20%26%20Gas/2026;UIDVALIDITY=" in artifact.origin
        assert artifact.origin.endswith("/;UID=1")

    def test_a_name_that_is_not_there_names_those_that_are(self, dovecot: Dovecot) -> None:
        with pytest.raises(SourceProblem, match=r"no folder 'Inbax' .* Archive, "):
            mailbox(dovecot.account(folders=("INBOX", "Inbax"))).check()

    def test_one_that_was_removed(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)])
        dovecot.fill("Archive/Old", [make_mail(2)])
        kept.take(mailbox(dovecot.account()).sync({}))
        dovecot.session().delete_folder("Archive/Old")
        kept.take(mailbox(dovecot.account()).sync(kept.cursor))
        assert subjects(kept) == ["Subject 1"]
        assert not any("Old" in name for name in kept.cursor)

    def test_one_that_is_not_listed_but_there_keeps_its_mail(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}, b"Sent": {1: make_mail(2)}}) as server:
            kept.take(mailbox(scripted(server)).sync({}))
            server.rule(b"LIST", b'* LIST () "/" "INBOX"\r\nTAG OK done\r\n')
            kept.take(mailbox(scripted(server)).sync(kept.cursor))
            assert subjects(kept) == ["Subject 1", "Subject 2"]

    def test_one_that_can_not_be_opened_keeps_its_mail(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}, b"Sent": {1: make_mail(2)}}) as server:
            kept.take(mailbox(scripted(server)).sync({}))
            server.folders[b"INBOX"][3] = make_mail(3)
            server.rule(b'(STATUS|EXAMINE) "Sent"', b"TAG NO not now\r\n")
            kept.take(mailbox(scripted(server)).sync(kept.cursor))
            assert subjects(kept) == ["Subject 1", "Subject 2", "Subject 3"]
            server.heal()
            assert list(mailbox(scripted(server)).sync(kept.cursor)) == []


class TestOrder:
    def test_the_newest_first_in_turn_from_all_folders(
        self, dovecot: Dovecot, make_mail: MakeMail, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(imap, "_IN_TURN", 2)
        dovecot.fill("INBOX", [make_mail(number) for number in range(1, 6)])
        dovecot.fill("Sent", [make_mail(number) for number in range(11, 14)])
        batches = list(mailbox(dovecot.account()).sync({}))
        order = [int(change.artifact.title.removeprefix("Subject ")) for one in batches for change in one.changes]
        assert [{5, 4}, {13, 12}, {3, 2}, {11}, {1}] == [
            set(order[a:b]) for a, b in ((0, 2), (2, 4), (4, 6), (6, 7), (7, 8))
        ]


class TestWindow:
    def test_older_mail_comes_in_later_syncs(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        for number, year in enumerate((2026, 2025, 2024)):
            dovecot.fill("INBOX", [make_mail(number)], received=datetime(year, 2, 1, tzinfo=UTC))
        found = []
        for _ in range(4):
            kept.take(mailbox(dovecot.account()).sync(kept.cursor))
            found.append(len(kept.artifacts))
        assert found == [1, 2, 3, 3]
        assert list(mailbox(dovecot.account()).sync(kept.cursor)) == []

    def test_nothing_older_comes_before_all_of_the_window_is_there(
        self, dovecot: Dovecot, make_mail: MakeMail, kept: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 1)
        dovecot.fill("INBOX", [make_mail(0)], received=datetime(2024, 12, 1, tzinfo=UTC))
        dovecot.fill("INBOX", [make_mail(number) for number in range(1, 4)], received=YOUNG)
        for _ in range(3):
            kept.take(mailbox(dovecot.account()).sync(kept.cursor), 1)
        assert subjects(kept) == ["Subject 1", "Subject 2", "Subject 3"]

    def test_what_arrives_is_always_wanted(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)], received=OLD)
        dovecot.fill("INBOX", [make_mail(2)], received=YOUNG)
        kept.take(mailbox(dovecot.account()).sync({}))
        assert subjects(kept) == ["Subject 2"]
        dovecot.fill("INBOX", [make_mail(3)], received=OLD)
        kept.take(mailbox(dovecot.account()).sync(kept.cursor))
        assert subjects(kept) == ["Subject 2", "Subject 3"]

    def test_no_months_mean_all_mail(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)], received=OLD)
        dovecot.fill("INBOX", [make_mail(2)], received=YOUNG)
        kept.take(mailbox(dovecot.account(months=0)).sync({}))
        assert subjects(kept) == ["Subject 1", "Subject 2"]


class TestChanges:
    @pytest.mark.parametrize("capability", ["", WITHOUT_QRESYNC, PLAINEST])
    def test_mail_that_came_and_went(
        self, capability: str, make_mail: MakeMail, kept: Any, said: list[bytes]
    ) -> None:
        with Dovecot(capability=capability) as dovecot:
            dovecot.fill("INBOX", [make_mail(number) for number in range(5)])
            kept.take(mailbox(dovecot.account()).sync({}))
            dovecot.expunge("INBOX", [2, 4])
            dovecot.fill("INBOX", [make_mail(7)])
            said.clear()
            kept.take(mailbox(dovecot.account()).sync(kept.cursor))
            assert subjects(kept) == ["Subject 0", "Subject 2", "Subject 4", "Subject 7"]
            assert kept.gone == ["m1@example.com", "m3@example.com"]
            asked_for_all = any(command.endswith(b" ALL") for command in said)
            assert asked_for_all == bool(capability)
            assert any(b"QRESYNC (" in command for command in said) == (not capability)

    def test_a_look_at_what_did_not_change_opens_no_folder(
        self, dovecot: Dovecot, make_mail: MakeMail, kept: Any, said: list[bytes]
    ) -> None:
        dovecot.fill("INBOX", [make_mail(1), make_mail(2)])
        kept.take(mailbox(dovecot.account()).sync({}))
        dovecot.flag("INBOX", [1], "\\Seen")
        said.clear()
        assert list(mailbox(dovecot.account()).sync(kept.cursor)) == []
        assert {command.split()[0] for command in said} == {b"CAPABILITY", b"STATUS", b"LIST"}

    def test_uids_that_begin_anew_keep_their_mail(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)], received=OLD)
        dovecot.fill("INBOX", [make_mail(number) for number in range(2, 5)], received=YOUNG)
        kept.take(mailbox(dovecot.account(months=0)).sync({}))
        before = kept.said()
        dovecot.change_uidvalidity("INBOX")
        batches = list(mailbox(dovecot.account()).sync(kept.cursor))
        kept.take(batches)
        assert kept.said() == before
        assert kept.gone == []
        assert list(mailbox(dovecot.account()).sync(kept.cursor)) == []

    def test_a_list_that_contradicts_the_count_removes_nothing(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {uid: make_mail(uid) for uid in (1, 2, 3)}}) as server:
            kept.take(mailbox(scripted(server)).sync({}))
            server.folders[b"INBOX"][4] = make_mail(4)
            server.rule(b"UID SEARCH ALL", b"* SEARCH 3 4\r\nTAG OK done\r\n")
            kept.take(mailbox(scripted(server)).sync(kept.cursor))
            assert len(kept.artifacts) == 4
            server.heal()
            del server.folders[b"INBOX"][1]
            kept.take(mailbox(scripted(server)).sync(kept.cursor))
            assert kept.gone == ["m1@example.com"]


def large_mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann <ann@example.com>", USER, "Plans"
    message["Date"], message["Message-ID"] = "Mon, 16 Mar 2026 08:00:00 +0100", "<large@example.com>"
    message.set_content("The plans are attached.")
    message.add_alternative("<p>The plans are attached.</p>", subtype="html")
    message.add_attachment(b"\x00\xff" * 700_000, maintype="application", subtype="zip", filename="plans.zip")
    message.add_attachment("A note of three lines.", filename="note.txt")
    return message.as_bytes()


class TestLargeMails:
    def test_large_attachments_stay_at_the_server(self, dovecot: Dovecot, kept: Any, said: list[bytes]) -> None:
        dovecot.fill("INBOX", [large_mail()])
        kept.take(mailbox(dovecot.account(largest_mb=1)).sync({}))
        mail = kept.artifacts["large@example.com"]
        assert mail.text == "The plans are attached."
        assert mail.defects == ()
        plans, note = kept.artifacts["large@example.com#2"], kept.artifacts["large@example.com#3"]
        assert plans.title == "plans.zip"
        assert plans.defects
        assert note.text == "A note of three lines."
        assert not any(b"BODY.PEEK[]" in command or b"BODY.PEEK[2]" in command for command in said)

    def test_in_parts_or_whole_they_say_the_same(self, dovecot: Dovecot, new_kept: Any) -> None:
        message = EmailMessage()
        message["From"], message["Subject"], message["Message-ID"] = (
            "ann@example.com",
            "Many",
            "<parts@example.com>",
        )
        message.set_content("Text. " * 20_000)
        message.add_attachment("Attached. " * 3_000, filename="a.txt")
        message.add_attachment(EmailMessage())
        dovecot.fill("INBOX", [message.as_bytes()])
        whole, parts = new_kept(), new_kept()
        whole.take(mailbox(dovecot.account()).sync({}))
        parts.take(mailbox(dovecot.account(largest_mb=0)).sync({}))
        assert len(whole.artifacts) == 3
        assert whole.said()["parts@example.com"] == parts.said()["parts@example.com"]
        assert set(whole.artifacts) == set(parts.artifacts)

    def test_a_text_without_end_is_read_in_part(self, dovecot: Dovecot, kept: Any, make_mail: MakeMail) -> None:
        dovecot.fill("INBOX", [make_mail(1, "Words without end.\n" * 400_000)])
        kept.take(mailbox(dovecot.account(largest_mb=1)).sync({}))
        (mail,) = kept.artifacts.values()
        assert mail.text.startswith("Words without end.")
        assert mail.defects

    def test_one_whose_structure_is_nonsense_is_read_from_its_beginning(self, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {1: large_mail().replace(b"\n", b"\r\n")}}) as server:
            server.rule(rb".*BODYSTRUCTURE", b"* 1 FETCH (UID 1 BODYSTRUCTURE (NIL 7))\r\nTAG OK done\r\n")
            kept.take(mailbox(scripted(server, largest_mb=1)).sync({}))
        mail = kept.artifacts["large@example.com"]
        assert mail.text == "The plans are attached."
        assert "only the first 1.0 MB of 1.8 MB read" in mail.defects


class TestMailsThatCanNotBeHad:
    def test_are_kept_with_a_defect_until_they_can(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {uid: make_mail(uid) for uid in range(1, 10)}}) as server:
            server.rule(rb"UID FETCH [\d,:]*\b[1-4]\b.*BODY", b"TAG NO [SERVERBUG] Internal error\r\n")
            server.rule(rb"UID FETCH (1|2|4) .*BODY", lambda answer: answer)
            server._rules.reverse()
            kept.take(mailbox(scripted(server)).sync({}))
            assert subjects(kept) == ["3", *(f"Subject {uid}" for uid in (1, 2, 4, 5, 6, 7, 8, 9))]
            (odd,) = [one for one in kept.artifacts.values() if one.title == "3"]
            assert odd.defects == ("the server refuses to give it ([SERVERBUG] Internal error)",)
            assert list(mailbox(scripted(server)).sync(kept.cursor)) == []
            server.heal()
            kept.take(mailbox(scripted(server)).sync(kept.cursor))
            assert subjects(kept) == [f"Subject {uid}" for uid in range(1, 10)]

    def test_one_that_breaks_every_connection_does_not_stop_the_others(
        self, make_mail: MakeMail, kept: Any
    ) -> None:
        with ScriptedImap({b"INBOX": {uid: make_mail(uid) for uid in range(1, 10)}}) as server:

            def broken(answer: bytes) -> list[bytes]:
                return [answer.partition(b"(UID 4 BODY")[0], b"(the server hangs up)"]

            server.rule(
                rb"UID FETCH .*BODY", lambda answer: broken(answer) if b"(UID 4 BODY" in answer else answer
            )
            kept.take(mailbox(scripted(server)).sync({}))
        assert subjects(kept) == ["4", *(f"Subject {uid}" for uid in (1, 2, 3, 5, 6, 7, 8, 9))]

    def test_a_server_that_gives_none_is_at_fault_itself(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {uid: make_mail(uid) for uid in range(1, 40)}}) as server:
            server.rule(rb"UID FETCH .*BODY", b"TAG NO not today\r\n")
            with pytest.raises(SourceProblem, match="gives no mail of INBOX"):
                kept.take(mailbox(scripted(server)).sync({}))
        assert kept.artifacts == {}

    def test_a_server_that_wants_to_be_left_alone_is(self, make_mail: MakeMail, kept: Any) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}}) as server:
            server.rule(rb"UID FETCH .*BODY", b"TAG NO [THROTTLED] slow down\r\n")
            with pytest.raises(QuotaReached, match="slow down"):
                kept.take(mailbox(scripted(server)).sync({}))
            assert sum(b"BODY.PEEK" in command for command in server.commands) == 1


class TestWaiting:
    def wait(
        self, connector: Any, stop: threading.Event, seconds: float = 30.0
    ) -> tuple[threading.Thread, list[bool]]:
        ended: list[bool] = []
        thread = threading.Thread(target=lambda: ended.append(connector.wait(stop, seconds)))
        thread.start()
        return thread, ended

    def test_mail_that_arrives_ends_it(self, dovecot: Dovecot, make_mail: MakeMail, kept: Any) -> None:
        dovecot.fill("INBOX", [make_mail(1)])
        connector = mailbox(dovecot.account())
        kept.take(connector.sync({}))
        stop = threading.Event()
        thread, ended = self.wait(connector, stop)
        dovecot.session().append("INBOX", make_mail(2))
        thread.join(20)
        stop.set()
        thread.join()
        assert ended == [True]

    def test_mail_that_came_before_it_ends_it_at_once(
        self, dovecot: Dovecot, make_mail: MakeMail, kept: Any
    ) -> None:
        connector = mailbox(dovecot.account())
        kept.take(connector.sync({}))
        dovecot.fill("INBOX", [make_mail(2)])
        assert connector.wait(threading.Event(), 30.0)

    @pytest.mark.parametrize("capability", ["", PLAINEST])
    def test_the_person_ends_it(self, capability: str) -> None:
        with Dovecot(capability=capability) as dovecot:
            stop = threading.Event()
            thread, ended = self.wait(mailbox(dovecot.account()), stop, 600.0)
            stop.set()
            thread.join(20)
            assert ended == [False]

    def test_the_time_is_over(self, dovecot: Dovecot) -> None:
        assert not mailbox(dovecot.account()).wait(threading.Event(), 0.2)

    def test_a_server_without_idle_is_looked_at(
        self, make_mail: MakeMail, kept: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(imap, "_POLL", 0.05)
        with Dovecot(capability=PLAINEST) as dovecot:
            connector = mailbox(dovecot.account())
            kept.take(connector.sync({}))
            stop = threading.Event()
            thread, ended = self.wait(connector, stop)
            dovecot.session().append("INBOX", make_mail(2))
            thread.join(20)
            stop.set()
            thread.join()
            assert ended == [True]


class TestSignIn:
    def test_a_token_that_is_refused_is_renewed_once(self, tmp_path: Path) -> None:
        with Dovecot(oauth=True) as dovecot:
            (tmp_path / "1").write_text(dovecot.token(seconds=-60))
            (tmp_path / "2").write_text(dovecot.token())
            asked = tmp_path / "asked"
            command = f"echo >> {asked}; cat {tmp_path}/$(wc -l < {asked})"
            account = dovecot.account(sign_in="oauth", secret_command=command)
            assert "messages" in mailbox(account).check()
            assert asked.read_text() == "\n\n"

    def test_a_token_that_stays_refused(self, tmp_path: Path) -> None:
        with Dovecot(oauth=True) as dovecot:
            asked = tmp_path / "asked"
            command = f"echo >> {asked}; echo {dovecot.token(seconds=-60)}"
            with pytest.raises(SignInFailed, match="tide sign-in test"):
                mailbox(dovecot.account(sign_in="oauth", secret_command=command)).check()
            assert asked.read_text() == "\n\n"

    def test_a_server_that_takes_no_password_is_sent_none(self) -> None:
        with ScriptedImap({b"INBOX": {}}, capability=b"IMAP4rev1 LOGINDISABLED") as server:
            with pytest.raises(SourceProblem, match="takes no password"):
                mailbox(scripted(server)).check()
            assert server.commands == [b"CAPABILITY"]

    def test_by_login_where_there_is_nothing_else(self, make_mail: MakeMail) -> None:
        with ScriptedImap({b"INBOX": {1: make_mail(1)}}, capability=b"IMAP4rev1") as server:
            account = scripted(server, user='a "b"', secret_command="printf 'c\"d'")
            assert "1 message in" in mailbox(account).check()
            assert b'LOGIN "a \\"b\\"" "c\\"d"' in server.commands

    @pytest.mark.parametrize(
        ("refusal", "error"),
        [
            (b"NO [AUTHENTICATIONFAILED] Invalid credentials", SignInFailed),
            (b"NO Application-specific password required", SignInFailed),
            (b"NO [UNAVAILABLE] Temporary authentication failure", ServerAway),
            (b"NO [INUSE] locked", ServerAway),
            (b"NO [LIMIT] Rate limit hit", QuotaReached),
            (b"NO Account exceeded command or bandwidth limits", QuotaReached),
            (b"NO Maximum number of connections from user+IP exceeded", QuotaReached),
        ],
    )
    def test_what_a_refusal_means(self, refusal: bytes, error: type[SourceProblem]) -> None:
        with ScriptedImap({b"INBOX": {}}) as server:
            server.rule(b"AUTHENTICATE", b"TAG " + refusal + b"\r\n")
            with pytest.raises(SourceProblem) as raised:
                mailbox(scripted(server)).check()
            assert type(raised.value) is error
            assert sum(command.startswith(b"AUTHENTICATE") for command in server.commands) == 1


class TestAnswers:
    @given(st.lists(st.binary(max_size=60), min_size=1, max_size=4))
    def test_whatever_comes_is_taken_apart(self, lines: list[bytes]) -> None:
        parts = [line + (b"{3}" if place < len(lines) - 1 else b"") for place, line in enumerate(lines)]
        one = imap_answers.answer([piece for part in parts for piece in (part, b"abc")][:-1])
        assert one.number >= 0

    def test_strings_lists_and_literals(self) -> None:
        found = imap_answers.answer([b'7 FETCH (UID 3 A (NIL "a\\"b" ()) BODY[] {2}', b")(", b" X y)"])
        assert (found.kind, found.number) == (b"FETCH", 7)
        assert found.tokens == [[b"UID", b"3", b"A", [None, b'a"b', []], b"BODY[]", b")(", b"X", b"y"]]

    @given(st.sets(st.integers(1, 60)))
    def test_sets_of_uids_come_back(self, uids: set[int]) -> None:
        assert imap_answers.numbers(imap_answers.ranges(imap_answers.compressed(uids))) == uids


class TestPieces:
    @pytest.mark.parametrize("few", [300, 1])
    def test_what_came_before_an_error_is_read(
        self, few: int, make_mail: MakeMail, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from connectors.mail.message import Mailbox

        monkeypatch.setattr(workers, "FEW", few)

        def pieces() -> Iterator[Piece]:
            for number in range(70):
                yield Piece(str(number), "", "imap://x", data=make_mail(number))
            raise ServerAway("it is away")

        read: list[str] = []
        with pytest.raises(ServerAway):
            read.extend(one.artifacts[0].key for one in read_pieces(pieces(), 200, Mailbox("test")))
        assert read == [f"m{number}@example.com" for number in range(70)]


def test_many_mails_are_read_by_many_processes(
    dovecot: Dovecot, make_mail: MakeMail, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FEW", 20)
    monkeypatch.setattr(imap_fetch, "_BYTES_PER_BATCH", 2_000)
    dovecot.fill("INBOX", [make_mail(number) for number in range(100)])
    kept.take(mailbox(dovecot.account()).sync({}))
    assert len(kept.artifacts) == 100
