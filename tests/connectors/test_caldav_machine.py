"""Calendars that people and programs change at will, while syncs of them are cut off, killed and disturbed."""

import itertools
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from connectors import follow
from connectors.calendars import caldav, entry
from tests.connectors.caldav_world import NOW, ReadHere, calendars
from tests.servers.proxy import Proxy
from tests.servers.radicale_server import Radicale
from workspace import Gone, ServerAway
from workspace.store import Store

EXAMPLES = 12
STEPS = 25
NAMES = ("aside", "home", "work")
names = st.sampled_from(NAMES)
places = st.integers(0, 1000)

Make = Callable[..., bytes]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "Reader", ReadHere)
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 2)
    monkeypatch.setattr(caldav, "_AT_ONCE", 3)


def test_store_and_calendars_agree(
    radicale: Radicale, tmp_path: Path, make_event: Callable[..., str], make_calendar: Make
) -> None:
    class Machine(Calendars):
        def __init__(self) -> None:
            super().__init__(radicale, tmp_path, lambda number, title: make_calendar(make_event(number, title)))

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


class Calendars(RuleBasedStateMachine):
    """The calendars of somebody, and the store that follows them. An event has its number in its key and says in
    its title where it is and how often it was changed."""

    def __init__(self, radicale: Radicale, folder: Path, make: Make) -> None:
        super().__init__()
        self.user = radicale.user()
        self.make = make
        self.numbers = itertools.count(1)
        self.changes = itertools.count(1)
        self.now = NOW
        self.store = Store(Path(tempfile.mkdtemp(dir=folder)) / "store.db")
        self.store.artifacts.add_source("test", "caldav", "", NOW)
        self.ids: dict[str, int] = {}

    def teardown(self) -> None:
        try:
            self.take(self.user.url, away=False)
            assert {one.key: one.title for one in self.store.artifacts.all()} == self.held()
            again = calendars(self.user.account(), self.now).sync(self.store.artifacts.cursor("test"))
            assert list(again) == []
        finally:
            self.store.close()

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.user.calendar(name)
        self.create("work", 5)

    @rule(name=names, count=st.integers(1, 4))
    def create(self, name: str, count: int) -> None:
        for number in itertools.islice(self.numbers, count):
            self.write(self.user.home / name / f"{number}.ics")

    @rule(name=names, place=places)
    def invite(self, name: str, place: int) -> None:
        """The same event in another calendar too."""
        if path := self.some(place):
            self.write(self.user.home / name / path.name)

    @rule(place=places)
    def change(self, place: int) -> None:
        if path := self.some(place):
            self.write(path)

    @rule(name=names, place=places)
    def move(self, name: str, place: int) -> None:
        path = self.some(place)
        if path and (self.user.home / name).is_dir():
            path.rename(self.user.home / name / path.name)

    @rule(place=places)
    def delete(self, place: int) -> None:
        if path := self.some(place):
            path.unlink()

    @rule(name=names)
    def remove_or_bring_back(self, name: str) -> None:
        """A whole calendar."""
        if (self.user.home / name).is_dir():
            shutil.rmtree(self.user.home / name)
        else:
            self.user.calendar(name)

    @rule()
    def lose_tokens(self) -> None:
        self.user.lose_tokens()

    @rule()
    def another_day(self) -> None:
        self.now += timedelta(days=1)

    @rule()
    def sync(self) -> None:
        self.take(self.user.url)

    @rule(most=st.integers(0, 4))
    def sync_killed(self, most: int) -> None:
        """The worker ends after so many batches."""
        self.take(self.user.url, most)

    @rule(whole=st.integers(0, 6), after=st.integers(1, 4_000))
    def sync_cut(self, whole: int, after: int) -> None:
        """The connections after the first few end after so many bytes."""
        with Proxy(self.user.server.port, [None] * whole + [after] * 3) as proxy:
            self.take(f"https://localhost:{proxy.port}/{self.user.name}/")

    @rule(after=st.integers(0, 2), name=names, place=places)
    def sync_disturbed(self, after: int, name: str, place: int) -> None:
        """Events come, move and go while they are read."""

        def disturb() -> None:
            self.move(name, place)
            self.create(name, 1)
            self.delete(place + 1)

        self.take(self.user.url, disturb=disturb, after=after)

    def take(
        self,
        url: str,
        most: int = 1000,
        *,
        disturb: Callable[[], None] | None = None,
        after: int = 0,
        away: bool = True,
    ) -> None:
        """Sync into the store, at most so many batches; look after each whether anything is gone that is there.

        The server may be `away`.
        """
        throughout = set(self.held())
        connector = calendars(self.user.account(url), self.now)
        with closing(connector.sync(self.store.artifacts.cursor("test"), allow_empty=True)) as batches:
            try:
                for number, batch in enumerate(itertools.islice(batches, most)):
                    self.store.artifacts.take("test", batch)
                    gone = {change.key for change in batch.changes if isinstance(change, Gone)}
                    assert not gone & throughout & set(self.held())
                    if disturb and number == after:
                        disturb()
                        throughout &= set(self.held())
            except ServerAway:
                assert away
        now = {one.key: one.id for one in self.store.artifacts.all()}
        assert all(now[key] == self.ids[key] for key in now.keys() & self.ids.keys())
        self.ids = now

    def held(self) -> dict[str, str]:
        """Key -> title of the events at the server; of one in several calendars that of the first."""
        found: dict[str, str] = {}
        for path in sorted(self.user.home.glob("*/*.ics"), reverse=True):
            found[f"e{path.stem}"] = self.title(path)
        return found

    def title(self, path: Path) -> str:
        (line,) = (line for line in path.read_text().splitlines() if line.startswith("SUMMARY:"))
        return line.removeprefix("SUMMARY:")

    def some(self, place: int) -> Path | None:
        paths = sorted(self.user.home.glob("*/*.ics"))
        return paths[place % len(paths)] if paths else None

    def write(self, path: Path) -> None:
        """An event as it was never before."""
        if path.parent.is_dir():
            path.write_bytes(self.make(int(path.stem), f"Version {next(self.changes)}"))
