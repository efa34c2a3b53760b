"""The steps of Tide's work, one after the other: sync, read, index, discover.

Each is a function of an open `Work` that tells its reporter how far it is. All of them can be stopped at any
moment and started again; they go on where they were.
"""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from desktop.moments import present
from desktop.progress import Mode, Reporter, reporter
from workspace import (
    Accounts,
    Connector,
    Folders,
    Keyring,
    Profile,
    Put,
    Run,
    SecretStore,
    Settings,
    SignInFailed,
    SourceEmpty,
    SourceProblem,
    UserError,
)
from workspace.store import Source, Store, worker_lock

if TYPE_CHECKING:
    from connectors.surroundings import Surroundings
    from inference.discovery import Options
    from inference.embedding import Embedder
    from inference.models import LanguageModel
    from templates import Pool, Template

Ask = Callable[[str], bool]
"""Puts a question to the person; false where there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the steps work on. `seconds` is what each took so far."""

    folders: Folders
    settings: Settings
    profile: Profile
    store: Store
    now: datetime
    told: Reporter
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Take the time of a step."""
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.monotonic() - start, 3)


@dataclass(frozen=True, slots=True)
class Synced:
    """How the sync of one source went: artifacts new or changed, gone, and held now.

    `problem` and `state` are "" if it went well, else the line for the person and the state of the source.
    """

    source: str
    kind: str
    changed: int
    gone: int
    held: int
    problem: str = ""
    state: str = ""


@contextmanager
def at_work(mode: Mode) -> Iterator[Work]:
    """Open everything, as the one worker. SIGTERM and SIGHUP stop the work as Ctrl-C does.

    Raises:
        WorkerBusy: if another worker is under way.
        UserError: if settings, profile or store cannot be read.
    """
    folders = Folders.find()
    settings, profile = Settings.load(folders.settings), Profile.load(folders.profile)
    now = present(profile.zone)
    with stoppable(), worker_lock(folders.store), Store(folders.store) as store, reporter(mode) as told:
        yield Work(folders, settings, profile, store, now, told)


@contextmanager
def looking() -> Iterator[Work]:
    """Open everything to look at it, or to note what the person decided; a worker may be under way."""
    folders = Folders.find()
    settings, profile = Settings.load(folders.settings), Profile.load(folders.profile)
    with Store(folders.store) as store:
        yield Work(folders, settings, profile, store, present(profile.zone), reporter(Mode.NONE))


def sync(
    work: Work, only: str = "", *, allow_empty: bool = False, ask: Ask = lambda question: False
) -> list[Synced]:
    """Bring the sources, or only the one of this name, into the store. A source that fails does not stop the rest.

    Raises:
        UserError: if there is no source, or none of this name.
    """
    sources = [source for source in work.store.artifacts.sources() if only in ("", source.name)]
    if not sources and only:
        raise UserError(f"There is no source called {only!r}. `tide sources` lists them.")
    if not sources:
        raise UserError("There are no sources yet. Add one, for example: tide add imap you@example.org")
    return sync_sources(work, sources, allow_empty=allow_empty, ask=ask)


def sync_sources(
    work: Work,
    sources: Sequence[Source],
    *,
    opened: Mapping[str, Connector] | None = None,
    allow_empty: bool = False,
    ask: Ask = lambda question: False,
) -> list[Synced]:
    """Bring these sources into the store; returns how it went in their order. `opened` are connectors by source.

    Those that were in trouble come last, so that the others need not wait for a server that does not answer.
    """
    ready = opened or {}
    with work.step("sync"):
        done = {
            source.name: _sync_source(work, source, ready.get(source.name), allow_empty, ask)
            for source in sorted(sources, key=lambda source: bool(source.state))
        }
        work.store.artifacts.trust_correspondents(work.profile.persona.emails, work.profile.domains)
    return [done[source.name] for source in sources]


def read(work: Work, model: LanguageModel) -> int:
    """Have the model read what it has not read yet; returns how many artifacts that were."""
    from inference.reading import read_artifacts

    with work.step("read"):
        return read_artifacts(work.store, model, work.profile, work.now, work.told.progress)


def index(work: Work, embedder: Embedder) -> int:
    """Embed what is new or changed; returns how many artifacts that were."""
    from inference.index import index_artifacts

    with work.step("index"):
        return index_artifacts(work.store, embedder, work.told.progress, zone=work.profile.zone)


def has_work(work: Work, options: Options, model: str, *, reads: bool) -> bool:
    """Whether the model of this name would have anything to read (where it `reads`) or to look for."""
    from inference.discovery import has_work as would_ask
    from inference.reading import PROMPT_VERSION

    unread = reads and bool(work.store.readings.unread(PROMPT_VERSION, work.now))
    return unread or would_ask(work.store, work.profile, work.now, options, model)


def pool_of(work: Work) -> Pool:
    """The templates on offer, and which of them are off."""
    from templates import load_pool

    return load_pool(work.folders.templates, frozenset(work.settings.disabled_templates))


def discover(
    work: Work,
    options: Options,
    model: LanguageModel | None,
    embedder: Embedder | None,
    templates: Sequence[Template] | None = None,
) -> Run:
    """Look for findings by these templates, or by all that are on.

    Returns the record of the run, which then holds the seconds of the earlier steps too.
    """
    from inference.discovery import discover as look

    if templates is None:
        pool = pool_of(work)
        templates = pool.enabled
        for fault in pool.faults:
            work.told.say(f"Left out: {fault}")

    with work.step("discover"):
        run = look(
            work.store,
            work.profile,
            work.now,
            options,
            model=model,
            embedder=embedder,
            index_folder=work.folders.index,
            templates=templates,
            on_progress=work.told.progress,
        )
    before = {name: took for name, took in work.seconds.items() if name != "discover"}
    whole = run.model_copy(update={"seconds": {**before, **run.seconds}})
    if whole.id and whole.finished is not None:
        work.store.runs.finish(whole, (), whole.finished)
    return whole


def connector(
    work: Work, name: str, kind: str, location: str, now: Callable[[], datetime] | None = None
) -> Connector:
    """The connector of a source. `now` is its clock where it is to outlast the work.

    Raises:
        UserError: if there is no such kind, or it needs an account and accounts.toml has none, or is wrong.
    """
    from connectors import REMOTE, open_connector

    account = Accounts.load(work.folders.accounts).get(name) if kind in REMOTE else None
    return open_connector(kind, name, location, surroundings(work, now=now), account)


def surroundings(
    work: Work, secrets: SecretStore | None = None, now: Callable[[], datetime] | None = None
) -> Surroundings:
    """What the connectors are told of the person; their secrets are in the keyring, if not in `secrets`."""
    from connectors.surroundings import Surroundings

    return Surroundings(
        own=frozenset(work.profile.persona.emails),
        known=work.profile.known,
        zone=work.profile.zone,
        now=now or (lambda: work.now),
        past_days=work.settings.past_days,
        future_days=work.settings.future_days,
        secrets=secrets or Keyring(),
    )


def left_alone(name: str) -> str:
    """What is said of a source that is not tried until the person signs in again."""
    return f"Left alone until you sign in again: tide sign-in {shlex.quote(name)}"


def _sync_source(work: Work, source: Source, ready: Connector | None, allow_empty: bool, ask: Ask) -> Synced:
    store = work.store.artifacts
    if source.state == SignInFailed.state:
        # Asking again and again with what was refused is how an account gets locked.
        held = store.count_source(source.name)
        return Synced(source.name, source.kind, 0, 0, held, left_alone(source.name), source.state)
    changed = gone = 0
    problem = state = ""
    try:
        opened = ready or connector(work, source.name, source.kind, source.location)
        try:
            for puts, removals in _take(work, source, opened, allow_empty):
                changed, gone = changed + puts, gone + removals
        except SourceEmpty:
            work.told.pause()
            held = store.count_source(source.name)
            if not ask(f"{source.name}: {source.location} is suddenly empty. Remove its {held:,} artifacts here?"):
                raise
            for puts, removals in _take(work, source, opened, True):
                changed, gone = changed + puts, gone + removals
        store.mark_source(source.name, now=work.now)
    except SourceEmpty as error:
        told = f"{source.location} is suddenly empty. Nothing was removed."
        again = f"tide sync {shlex.quote(source.name)} --allow-empty"
        problem, state = f"{told} If it is meant to be empty, run: {again}", error.state
    except SignInFailed as error:
        problem, state = str(error), error.state
        if "tide sign-in" not in problem:
            problem += f" Then sign in again: tide sign-in {shlex.quote(source.name)}"
    except UserError as error:
        problem, state = str(error), getattr(error, "state", SourceProblem.state)
    except OSError as error:
        again = f"tide sync {shlex.quote(source.name)}"
        problem = f"{source.location}: {error.strerror or error}. Make it readable, then run: {again}"
        state = SourceProblem.state
    if problem:
        store.mark_source(source.name, problem=problem, state=state)
    return Synced(source.name, source.kind, changed, gone, store.count_source(source.name), problem, state)


def _take(work: Work, source: Source, opened: Connector, allow_empty: bool) -> Iterator[tuple[int, int]]:
    step = f"sync {source.name}"
    work.told.progress(step, 0, 0)
    for batch in opened.sync(work.store.artifacts.cursor(source.name), allow_empty=allow_empty):
        work.store.artifacts.take(source.name, batch)
        work.told.progress(step, batch.done, batch.total)
        puts = sum(isinstance(change, Put) for change in batch.changes)
        yield puts, len(batch.changes) - puts


@contextmanager
def stoppable() -> Iterator[None]:
    """A model server that Tide started must be stopped however we are asked to end."""
    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, how in before.items():
            signal.signal(number, how)
