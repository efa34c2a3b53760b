"""Maildir, mbox and the processes that read many mails: what is their own beyond the contract."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors.follow import Read
from connectors.mail import workers
from connectors.mail.folders import decode_name, is_read
from connectors.mail.maildir import Maildir
from connectors.mail.mbox import Mbox
from connectors.mail.mbox_message import spans
from connectors.mail.message import Mailbox
from connectors.mail.workers import Piece, read_pieces
from connectors.surroundings import Surroundings

Mails = Callable[..., bytes]
NOBODY: frozenset[str] = frozenset()
AROUND = Surroundings(NOBODY, NOBODY, ZoneInfo("UTC"), lambda: datetime.now(UTC), 30, 30)


def maildir(path: Path) -> Maildir:
    return Maildir("test", path, AROUND)


def mbox(path: Path) -> Mbox:
    return Mbox("test", path, AROUND)


def put(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


class TestMaildir:
    def test_a_flag_is_no_change(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        path = put(tmp_path / "new", "1700000001.a.host", make_mail(1))
        kept.take(maildir(tmp_path).sync({}))
        (tmp_path / "cur").mkdir()
        path.rename(tmp_path / "cur" / "1700000001.a.host:2,S")
        assert list(maildir(tmp_path).sync(kept.cursor)) == []

    def test_the_newest_come_first(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        for number in (2, 3, 1):
            put(tmp_path / "cur", f"170000000{number}.a.host:2,", make_mail(number))
        kept.take(maildir(tmp_path).sync({}))
        assert [one.title for one in kept.artifacts.values()] == ["Subject 3", "Subject 2", "Subject 1"]

    def test_the_same_mail_in_two_folders_is_gone_with_the_last(
        self, tmp_path: Path, kept: Any, make_mail: Mails
    ) -> None:
        inbox = put(tmp_path / "cur", "1700000001.a.host:2,", make_mail(1))
        sent = put(tmp_path / ".Sent" / "cur", "1700000002.b.host:2,S", make_mail(1))
        kept.take(maildir(tmp_path).sync({}))
        assert len(kept.artifacts) == 1
        inbox.unlink()
        kept.take(maildir(tmp_path).sync(kept.cursor))
        assert kept.gone == []
        sent.unlink()
        kept.take(maildir(tmp_path).sync(kept.cursor, allow_empty=True))
        assert kept.gone == ["m1@example.com"]

    @pytest.mark.parametrize("folder", [".Archive.2025", "Archive/2025", "INBOX", ".Work.Project"])
    def test_folders_beside_and_inside_are_read(
        self, tmp_path: Path, kept: Any, make_mail: Mails, folder: str
    ) -> None:
        put(tmp_path / folder / "cur", "1700000001.a.host:2,", make_mail(1))
        kept.take(maildir(tmp_path).sync({}))
        assert set(kept.artifacts) == {"m1@example.com"}

    @pytest.mark.parametrize(
        "folder",
        [
            ".Trash",
            "Junk",
            ".Spam",
            ".INBOX.Drafts",
            "[Gmail]/Trash",
            ".Entw&APw-rfe",
            ".Trash.Old",
            "Deleted Items",
        ],
    )
    def test_folders_of_no_interest_are_left_out(
        self, tmp_path: Path, kept: Any, make_mail: Mails, folder: str
    ) -> None:
        put(tmp_path / "cur", "1700000001.a.host:2,", make_mail(1))
        put(tmp_path / folder / "cur", "1700000002.a.host:2,", make_mail(2))
        put(tmp_path / "tmp", "1700000003.a.host", make_mail(3))
        kept.take(maildir(tmp_path).sync({}))
        assert set(kept.artifacts) == {"m1@example.com"}

    def test_a_folder_that_can_not_be_looked_into_loses_nothing(
        self, tmp_path: Path, kept: Any, make_mail: Mails, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path / "cur", "1700000001.a.host:2,", make_mail(1))
        put(tmp_path / ".Archive" / "cur", "1700000002.a.host:2,", make_mail(2))
        kept.take(maildir(tmp_path).sync({}))
        scandir = os.scandir

        def refuse(path: str) -> Any:
            if ".Archive" in os.fspath(path):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        assert list(maildir(tmp_path).sync(kept.cursor)) == []


class TestMbox:
    def test_lines_that_begin_with_from_are_text(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        data = make_mail(1, "First\n\n>From here on.\n\nFrom now on nothing.\n")
        (tmp_path / "m").write_bytes(b"From a@b.c Mon Mar 16 08:00:00 2026\n" + data + b"\n")
        kept.take(mbox(tmp_path / "m").sync({}))
        (one,) = kept.artifacts.values()
        assert one.text == "First\n\nFrom here on.\n\nFrom now on nothing."

    def test_only_what_was_appended_is_scanned(
        self, tmp_path: Path, kept: Any, make_mail: Mails, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "m"
        line = b"From - Mon Mar 16 08:00:00 2026\n"
        path.write_bytes(line + make_mail(1) + b"\n" + line + make_mail(2) + b"\n")
        before = path.stat().st_size
        kept.take(mbox(path).sync({}))
        with path.open("ab") as file:
            file.write(line + make_mail(3) + b"\n")
        starts = []
        monkeypatch.setattr(
            "connectors.mail.mbox.spans", lambda file, start=0: starts.append(start) or spans(file, start)
        )
        kept.take(mbox(path).sync(kept.cursor))
        assert starts == [before]
        assert len(kept.artifacts) == 3
        assert kept.gone == []

    def test_flags_written_in_place_are_no_change(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        path = tmp_path / "m"
        line = b"From - Mon Mar 16 08:00:00 2026\nX-Mozilla-Status: 0000\n"
        path.write_bytes(line + make_mail(1) + b"\n")
        kept.take(mbox(path).sync({}))
        path.write_bytes(path.read_bytes().replace(b"0000", b"0001", 1))
        os.utime(path, (1, 1))
        assert all(batch.changes == () for batch in mbox(path).sync(kept.cursor))

    def test_the_same_message_twice_is_one_artifact(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        path = tmp_path / "m"
        one = b"From - Mon Mar 16 08:00:00 2026\n" + make_mail(1) + b"\n"
        path.write_bytes(one + one)
        kept.take(mbox(path).sync({}))
        assert len(kept.artifacts) == 1
        path.write_bytes(one)
        kept.take(mbox(path).sync(kept.cursor))
        assert kept.gone == []

    def test_a_folder_as_thunderbird_keeps_it(self, tmp_path: Path, kept: Any, make_mail: Mails) -> None:
        line = b"From - Mon Mar 16 08:00:00 2026\n"
        put(tmp_path, "Inbox", line + make_mail(1) + b"\n")
        put(tmp_path, "Inbox.msf", b"// index")
        put(tmp_path, "Trash", line + make_mail(2) + b"\n")
        put(tmp_path / "Archive.sbd", "2025", line + make_mail(3) + b"\n")
        kept.take(mbox(tmp_path).sync({}))
        assert set(kept.artifacts) == {"m1@example.com", "m3@example.com"}


class TestWorkers:
    def pieces(self, folder: Path, make_mail: Mails, count: int) -> list[Piece]:
        paths = [put(folder, f"{number}.eml", make_mail(number)) for number in range(count)]
        return [Piece(path.name, str(path), path.as_uri()) for path in paths]

    def test_many_processes_read_what_one_reads(
        self, tmp_path: Path, make_mail: Mails, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pieces = self.pieces(tmp_path, make_mail, 150)
        alone = list(read_pieces(pieces, len(pieces), Mailbox("test")))
        monkeypatch.setattr(workers, "FEW", 10)
        assert list(read_pieces(pieces, len(pieces), Mailbox("test"))) == alone
        assert len(alone) == 150

    def test_a_mail_that_brings_its_process_down_is_a_defect(
        self, tmp_path: Path, make_mail: Mails, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pieces = self.pieces(tmp_path, make_mail, 10)
        os.mkfifo(tmp_path / "pipe")
        # Read as an mbox, a pipe that nobody writes to keeps its process waiting until it is ended.
        fatal = Piece("fatal", str(tmp_path / "pipe"), "file:///fatal", size=10, digest="x")
        monkeypatch.setattr(workers, "FEW", 1)
        monkeypatch.setattr(workers, "_SECONDS", 1.0)
        monkeypatch.setattr(workers, "_SECONDS_ALONE", 10.0)
        reads = list(read_pieces([*pieces, fatal], 11, Mailbox("test")))
        assert [read.item for read in reads if read.artifacts[0].defects == ()] == [one.item for one in pieces]
        assert reads[-1].artifacts[0].defects == ("not read within 10 seconds",)

    def test_stopping_early_ends_the_processes(
        self, tmp_path: Path, make_mail: Mails, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pieces = self.pieces(tmp_path, make_mail, 400)
        reads = read_pieces(pieces, len(pieces), Mailbox("test"))
        first = next(reads)
        assert isinstance(first, Read)
        reads.close()  # type: ignore[attr-defined]
        assert first.item == "0.eml"


def test_folder_names_are_decoded() -> None:
    assert decode_name("Entw&APw-rfe") == "Entwürfe"
    assert decode_name("A&-B &no code-") == "A&B &no code-"
    assert is_read("Project.Trashcan")
    assert not is_read("INBOX.Trash")
