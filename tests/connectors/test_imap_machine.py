"""A mailbox that people and programs change at will, while syncs of it are cut off, killed and disturbed."""

import itertools
import random
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from connectors import follow
from tests.connectors.imap_world import NOW, mailbox
from tests.servers.dovecot import WITHOUT_CONDSTORE, Dovecot
from tests.servers.proxy import Proxy
from workspace import Account, Gone, ServerAway
from workspace.store import Store

MakeMail = Callable[..., bytes]

EXAMPLES = 40
STEPS = 30
READ = ("INBOX", "Sent", "Archive")
FOLDERS = (*READ, "Trash")
folders = st.sampled_from(FOLDERS)
places = st.integers(0, 1000)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 2)


@pytest.mark.parametrize("capability", ["", WITHOUT_CONDSTORE], ids=["quick resync", "set difference"])
def test_store_and_mailbox_agree(capability: str, tmp_path: Path, make_mail: MakeMail) -> None:
    with Dovecot(capability=capability) as server:

        class Machine(Mailbox):
            def __init__(self) -> None:
                super().__init__(server, tmp_path, make_mail)

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )


class Mailbox(RuleBasedStateMachine):
    """A mailbox, and the store that follows it. Mails are known by the number in their subject; every
    third has no Message-ID."""

    def __init__(self, server: Dovecot, folder: Path, make_mail: MakeMail) -> None:
        super().__init__()
        server.clear()
        self.server = server
        self.make_mail = make_mail
        self.numbers = itertools.count(1)
        self.store = Store(Path(tempfile.mkdtemp(dir=folder)) / "store.db")
        self.store.artifacts.add_source("test", "imap", "", NOW)
        self.ids: dict[int, int] = {}

    def teardown(self) -> None:
        try:
            self.take(self.account())
            assert self.stored() == self.held()
            assert list(mailbox(self.account()).sync(self.store.artifacts.cursor("test"))) == []
        finally:
            self.store.close()

    @initialize()
    def begin(self) -> None:
        self.arrive("INBOX", 6)
        self.arrive("Archive", 2)

    @rule(folder=folders, count=st.integers(1, 4))
    def arrive(self, folder: str, count: int) -> None:
        self.deliver(folder, *itertools.islice(self.numbers, count))

    @rule(folder=folders, place=places)
    def arrive_again(self, folder: str, place: int) -> None:
        """As mail to a list does."""
        known = sorted(self.held())
        if known:
            self.deliver(folder, known[place % len(known)])

    @rule(folder=folders, place=places, count=st.integers(1, 3))
    def expunge(self, folder: str, place: int, count: int) -> None:
        if uids := self.some(folder, place, count):
            self.server.expunge(folder, uids)

    @rule(folder=folders, place=places, count=st.integers(1, 3), to=folders)
    def move(self, folder: str, place: int, count: int, to: str) -> None:
        uids = self.some(folder, place, count)
        if uids and folder != to:
            self.server.move(folder, uids, to)

    @rule(folder=folders, place=places, count=st.integers(1, 3), to=folders)
    def copy(self, folder: str, place: int, count: int, to: str) -> None:
        if uids := self.some(folder, place, count):
            self.server.copy(folder, uids, to)

    @rule(folder=folders, place=places, flag=st.sampled_from(["\\Seen", "\\Flagged", "\\Deleted", "$Later"]))
    def flag(self, folder: str, place: int, flag: str) -> None:
        if uids := self.some(folder, place, 2):
            self.server.flag(folder, uids, flag)

    @rule(folder=folders)
    def restore(self, folder: str) -> None:
        self.server.change_uidvalidity(folder)

    @rule()
    def sync(self) -> None:
        self.take(self.account())

    @rule(most=st.integers(0, 3))
    def sync_killed(self, most: int) -> None:
        """The worker ends after so many batches."""
        self.take(self.account(), most)

    @rule(limits=st.lists(st.integers(1, 6000), min_size=1, max_size=3))
    def sync_cut(self, limits: list[int]) -> None:
        """The connection ends after so many bytes, and so do the next ones."""
        with Proxy(self.server.port, limits) as proxy:
            self.take(self.account(port=proxy.port))

    @rule(after=st.integers(0, 2), folder=folders, place=places, to=folders)
    def sync_disturbed(self, after: int, folder: str, place: int, to: str) -> None:
        """Mail comes, moves and goes while it is read."""

        def disturb() -> None:
            self.move(folder, place, 2, to)
            self.arrive(to, 1)
            self.expunge(to, place, 1)

        self.take(self.account(), disturb=disturb, after=after)

    def account(self, **other: Any) -> Account:
        return self.server.account("none", months=0, **other)

    def take(
        self, account: Account, most: int = 1000, *, disturb: Callable[[], None] | None = None, after: int = 0
    ) -> None:
        """Sync into the store, at most so many batches; look after each whether anything is gone that is there."""
        throughout = self.held()
        with closing(mailbox(account).sync(self.store.artifacts.cursor("test"), allow_empty=True)) as batches:
            try:
                for number, batch in enumerate(itertools.islice(batches, most)):
                    if any(isinstance(change, Gone) for change in batch.changes):
                        before = self.stored()
                        self.store.artifacts.take("test", batch)
                        assert before - self.stored() <= before - (throughout & self.held())
                    else:
                        self.store.artifacts.take("test", batch)
                    if disturb and number == after:
                        disturb()
                        throughout &= self.held()
            except ServerAway:
                pass
        self.assert_same_ids()

    def assert_same_ids(self) -> None:
        """A mail that stays at the server keeps its artifact, wherever it is moved."""
        now = {int(one.title.split()[1]): one.id for one in self.store.artifacts.all()}
        assert len(now) == self.store.artifacts.count_source("test")
        assert all(now[number] == self.ids[number] for number in now.keys() & self.ids.keys())
        self.ids = now

    def stored(self) -> set[int]:
        return {int(one.title.split()[1]) for one in self.store.artifacts.all()}

    def held(self) -> set[int]:
        """The mails that the server has in the folders that are read."""
        return {number for folder in READ for number in self.there(folder).values()}

    def there(self, folder: str) -> dict[int, int]:
        """UID -> number of the mails in a folder."""
        session = self.server.session()
        session.select_folder(folder, readonly=True)
        found = session.fetch("1:*", ["ENVELOPE"]) if session.search() else {}
        session.unselect_folder()
        return {uid: int(got[b"ENVELOPE"].subject.split()[1]) for uid, got in found.items()}

    def some(self, folder: str, place: int, count: int) -> list[int]:
        """A few UIDs of a folder."""
        uids = sorted(self.there(folder))
        return random.Random(place).sample(uids, min(count, len(uids)))

    def deliver(self, folder: str, *numbers: int) -> None:
        mails = (
            self.make_mail(number, Message_ID="") if number % 3 == 0 else self.make_mail(number)
            for number in numbers
        )
        self.server.fill(folder, mails)
