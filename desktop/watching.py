"""Keeping the local copy in step while `tide watch` runs.

At each source a thread waits for the bell: a mail server that speaks of a new mail (IDLE), the file system of a
changed file. The syncing is done by one thread, source by source, and the right to work is held only that long,
so that a run of Tide beside it has its turn. Every source is also synced every quarter of an hour, and at once
after the machine was asleep, since a bell may not ring.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol

from connectors.accounts.network import Backoff
from desktop.moments import present
from desktop.pipeline import Synced, at_work, connector, left_alone, looking, stoppable, sync_sources
from desktop.progress import Mode
from workspace import (
    Account,
    Accounts,
    Connector,
    Profile,
    ServerAway,
    Settings,
    SignInFailed,
    UserError,
    WorkerBusy,
)
from workspace.store import Source

POLL_SECONDS = 900.0
"""Every source is synced after this long at the latest."""
LOOK_SECONDS = 5.0
"""How often is looked for sources that were added, forgotten or signed in to, edited accounts, and sleep."""
SETTLE_SECONDS = 1.0
"""From the bell to the sync: what comes in a burst is brought in once, and the bell is listened to before it."""
CALM_SECONDS = 60.0
"""A source that rings for nothing is looked at so often at most; a connection that held so long was a good one."""
BUSY_SECONDS = 3.0
"""From one try to the next to become the worker."""
JUMP_SECONDS = 30.0
"""So much more on the clock than the machine was awake: it slept, or its clock was set."""
GOODBYE_SECONDS = 1.0
"""How long the end waits for those who listen; what they hold is of no use to anybody."""


class Listener(Protocol):
    """Who is told how the watching goes."""

    def synced(self, item: Synced, *, news: bool) -> None:
        """A source was synced; `news` if something came in, or it is well or in trouble otherwise than before."""
        ...

    def say(self, line: str) -> None: ...


def watch(mode: Mode, listener: Listener) -> None:
    """Sync all sources, and then whenever one of them changes, until KeyboardInterrupt (SIGTERM becomes one).

    Raises:
        UserError: at the start, if settings, profile or store cannot be read, or there is no source. What comes
            later is told to the listener.
    """
    with looking() as work:
        count = len(work.store.artifacts.sources())
    if not count:
        raise UserError("There are no sources yet. Add one, for example: tide add imap you@example.org")
    listener.say(f"Watching {count} {'source' if count == 1 else 'sources'}. Ctrl-C ends it.")
    with stoppable(), Watching(mode, listener).listening() as watching:
        while True:
            watching.look()
            watching.sync_due()
            watching.listen()


class _Bell:
    """A thread that waits until a source changes and says so to `rings`; then it is silent until `listen_again`.

    After an error it has ended. The connector is also that of the syncs, so that it knows what came in between.
    """

    def __init__(self, source: str, opened: Connector, rings: SimpleQueue[_Ring]) -> None:
        self.since = time.monotonic()
        self.connector = opened
        self._source, self._rings = source, rings
        self._stop, self._again = Event(), Event()
        self._thread = Thread(target=self._wait, name=f"wait {source}", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while not self._stop.is_set():
            try:
                changed = self.connector.wait(self._stop, POLL_SECONDS)
            except (UserError, OSError):
                # The sync that follows finds out what it is.
                self._rings.put(_Ring(self._source, self, broken=True))
                return
            if changed:
                self._again.clear()
                self._rings.put(_Ring(self._source, self))
                self._again.wait()

    def listen_again(self) -> None:
        self._again.set()

    def stop(self) -> None:
        self._stop.set()
        self._again.set()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)


@dataclass(frozen=True, slots=True)
class _Ring:
    """A source has changed, or its bell is broken."""

    source: str
    bell: _Bell
    broken: bool = False


@dataclass
class _Watched:
    """A source that is watched. Moments are those of the monotonic clock.

    It is to be synced when it is `due`, never while it is to be signed in to. `settle` is how long after a ring.
    """

    source: Source
    account: Account | None
    due: float
    bell: _Bell | None = None
    rang: bool = False
    settle: float = SETTLE_SECONDS
    last: float = -math.inf
    problem: str = ""
    backoff: Backoff = field(default_factory=lambda: Backoff(first=4.0, most=POLL_SECONDS))

    @property
    def left_alone(self) -> bool:
        return self.source.state == SignInFailed.state

    def hang_up(self) -> None:
        if self.bell is not None:
            self.bell.stop()
            self.bell = None

    def ring(self, now: float) -> None:
        """What changed is brought in soon; of a source that rang for nothing lately, not as soon."""
        calm = now - self.last > CALM_SECONDS
        self.due = min(self.due, now + (SETTLE_SECONDS if calm else self.settle))
        self.rang = True

    def trouble(self, now: float, state: str) -> None:
        """Try again after a while: soon where the server was away, else with the next poll or never."""
        if self.bell is not None and now - self.bell.since > CALM_SECONDS:
            self.backoff.reset()
        self.hang_up()
        self.due = now + (self.backoff.next() if state == ServerAway.state else POLL_SECONDS)

    def well(self, now: float, item: Synced) -> None:
        if self.bell is not None and now - self.bell.since > CALM_SECONDS:
            self.backoff.reset()
        if self.rang:
            fruitless = not (item.changed or item.gone)
            self.settle = min(self.settle * 2, CALM_SECONDS) if fruitless else SETTLE_SECONDS
        self.due, self.last, self.rang = now + POLL_SECONDS, now, False


class Watching:
    """All sources that are watched, by name."""

    def __init__(self, mode: Mode, listener: Listener) -> None:
        self._mode = mode
        self._listener = listener
        self._watched: dict[str, _Watched] = {}
        self._rings: SimpleQueue[_Ring] = SimpleQueue()
        self._clock, self._awake = time.time(), time.monotonic()
        self._not_before = -math.inf  # another worker is under way
        self._looked = -math.inf
        self._told = ""
        self._person: tuple[Settings, Profile] | None = None

    @contextmanager
    def listening(self) -> Iterator[Watching]:
        """Listen, and let nobody listen any more at the end."""
        try:
            yield self
        finally:
            bells = [one.bell for one in self._watched.values() if one.bell is not None]
            for bell in bells:
                bell.stop()
            end = time.monotonic() + GOODBYE_SECONDS
            for bell in bells:
                bell.join(max(0.0, end - time.monotonic()))

    def look(self) -> None:
        """Notice sleep, and sources and accounts that were added, changed, signed in to or removed."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        if self._slept():
            for one in self._watched.values():
                one.hang_up()  # its connection may be dead without knowing
                one.due = min(one.due, now)
        try:
            with looking() as work:
                sources = work.store.artifacts.sources()
                accounts = Accounts.load(work.folders.accounts)
                person = work.settings, work.profile
        except UserError as error:
            self._say_once(str(error))
            return
        if person != self._person:
            for one in self._watched.values():
                one.hang_up()  # its connector was told of another person
                one.due = min(one.due, now)
            self._person = person
        for name in self._watched.keys() - {source.name for source in sources}:
            self._watched.pop(name).hang_up()
        for source in sources:
            account = accounts.get(source.name)
            if source.name not in self._watched and source.state == SignInFailed.state:
                self._listener.say(f"{source.name}: {left_alone(source.name)}")
            one = self._watched.setdefault(source.name, _Watched(source, account, now))
            signed_in = one.left_alone and source.state != SignInFailed.state
            if account != one.account or signed_in:
                one.hang_up()
                one.due = now
            one.source, one.account = source, account
            if one.left_alone:
                one.hang_up()

    def sync_due(self) -> None:
        """Sync the sources whose time has come, those that were in trouble last."""
        now = time.monotonic()
        if now < self._not_before:
            return
        due = [one for one in self._watched.values() if one.due <= now and not one.left_alone]
        for one in sorted(due, key=lambda one: bool(one.source.state)):
            try:
                item = self._sync(one)
            except UserError as error:
                busy = isinstance(error, WorkerBusy)
                self._say_once("Another Tide is at work; waiting until it is done." if busy else str(error))
                self._not_before = time.monotonic() + BUSY_SECONDS
                return
            self._told = ""
            if item is None:
                self._watched.pop(one.source.name).hang_up()
            else:
                self._settle(one, item)

    def listen(self) -> None:
        """Wait until a bell rings, or something is to be done."""
        now = time.monotonic()
        moments = [one.due for one in self._watched.values() if not one.left_alone]
        until = min(max(min(moments, default=math.inf), self._not_before), self._looked + LOOK_SECONDS)
        try:
            ring = self._rings.get(timeout=max(0.0, until - now))
        except Empty:
            return
        one = self._watched.get(ring.source)
        if one is None or one.bell is not ring.bell:
            return  # it hung on a source, or an account, that is another now
        if ring.broken:
            one.trouble(time.monotonic(), ServerAway.state)
        else:
            one.ring(time.monotonic())

    def _sync(self, one: _Watched) -> Synced | None:
        """Sync a source; None if it was removed meanwhile."""
        name = one.source.name
        with at_work(self._mode) as work:
            source = next((found for found in work.store.artifacts.sources() if found.name == name), None)
            if source is None:
                return None
            if one.bell is None:
                # Before the sync, so that nothing comes in between.
                with suppress(UserError):  # which the sync meets too
                    zone = work.profile.zone
                    opened = connector(work, name, source.kind, source.location, lambda: present(zone))
                    one.bell = _Bell(name, opened, self._rings)
            ready = {name: one.bell.connector} if one.bell is not None else {}
            (item,) = sync_sources(work, [source], opened=ready)
        if one.bell is not None:
            one.bell.listen_again()
        return item

    def _settle(self, one: _Watched, item: Synced) -> None:
        now = time.monotonic()
        news = bool(item.changed or item.gone or item.problem != one.problem)
        one.problem = item.problem
        one.source = replace(one.source, problem=item.problem, state=item.state)
        if item.problem:
            one.trouble(now, item.state)
        else:
            one.well(now, item)
        self._listener.synced(item, news=news)

    def _slept(self) -> bool:
        """Whether the machine slept, or its clock was set, since this was asked last."""
        clock, awake = time.time(), time.monotonic()
        jump = (clock - self._clock) - (awake - self._awake)
        self._clock, self._awake = clock, awake
        return abs(jump) > JUMP_SECONDS

    def _say_once(self, line: str) -> None:
        if line != self._told:
            self._told = line
            self._listener.say(line)
