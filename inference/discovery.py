"""Discovery: from what the store holds to findings, and the record of how they were come by.

The strategy `observed` takes the computed observations that are certain. The strategy `tide` asks a language model
in rounds, proves each candidate at the originals, and adds those of the certain observations that nothing found
tells. A run that was killed and is started
again with unchanged inputs goes on where it was and ends with the same findings.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from inference.computed import Computed, keep, told_on_another_day
from inference.days import settle
from inference.journal import Journal
from inference.models.contract import Message
from inference.observations import Observation, observe
from inference.observed import findings_from
from inference.prompts import constant_part, fitting_templates, plan
from inference.proof import Grounds, prove
from inference.rounds import Found, Setting, ask_rounds
from templates import Template, load_templates, render
from workspace import Artifact, Call, Note, Profile, Run, UserError

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.models.contract import LanguageModel
    from inference.stories import View
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step (observe, select, ask, prove), how much of it is done, and out of how much."""

WINDOW = timedelta(days=365)
"""How far back an artifact still matters; what lies before is neither observed nor asked about."""

WAVE = 16
"""How many views go through their rounds together. Their stories should stay in the cache of a server between
two rounds (16 of 4,000 tokens do, on a small GPU), and what a wave found is stored and told to the next."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the person may choose about a run.

    `rounds` is the largest number of rounds, `new_per_round` how many new problems one call may name,
    `view_tokens` the budget of one story, `views` how many of the views a run asks at the most, the best first (0:
    all; the others wait for the next run), `full_text` whether stories are made of texts instead of notes,
    `answer_days` after how many working days an unanswered question is told.
    """

    strategy: Literal["observed", "tide"]
    rounds: int = 10
    new_per_round: int = 1
    view_tokens: int = 3500
    views: int = 0
    full_text: bool = False
    answer_days: int = 3


def discover(
    store: Store,
    profile: Profile,
    now: datetime,
    options: Options,
    *,
    model: LanguageModel | None = None,
    embedder: Embedder | None = None,
    index_folder: Path | None = None,
    on_progress: Progress = lambda step, done, total: None,
) -> Run:
    """Look once, store what is found, and return the record of the run, which is stored too.

    `now` is aware. The strategy `tide` needs `model`, `embedder` and `index_folder`; `observed` needs none.
    Findings are stored as they pass the checks; computed ones when the model has nothing more to say, or cannot be
    reached. A run of the same inputs that was not finished is taken up
    again, with the `now` of its start.

    Raises:
        UserError: if the model cannot be reached, or its context is too small to hold a story.
        Cancelled: raised by `on_progress`; the run can be taken up again.
    """
    begun = time.monotonic()
    pool = load_templates()
    tide = options.strategy == "tide"
    name = model.name if tide and model is not None else ""
    opened = store.runs.begin(_setup(store, profile, now, options, model if tide else None, pool), now)
    started = opened.started.astimezone(profile.zone)
    run = Run(
        id=opened.id,
        strategy=options.strategy,
        model=name,
        started=started,
        ended="observed",
        revision=store.artifacts.revision(),
    )
    with _timed(run, "observe"):
        on_progress("observe", 0, 1)
        sight = _Sight.of(store, profile, started, options)
        addresses = store.artifacts.addresses() | profile.known | set(profile.persona.emails)
        ids = frozenset(template.id for template in pool)
        settle(store, sight.observations, profile, started, addresses, ids, run)
        # What this run stored before it was killed is not known to it yet, so that it goes the same way again.
        known = [finding for finding in store.findings.all() if finding.run != run.id]
        found, dropped = findings_from(sight.observations, sight.recent, profile, started, addresses, known, ids)
        found = [finding for finding in found if not told_on_another_day(store, finding, run)]
        # What was found on an earlier day is computed again every day, which is nothing to tell.
        run.dropped = [item.model_copy(update={"round": 0}) for item in dropped if item.check != "known"]
        on_progress("observe", 1, 1)
    seeds = sight.seeds(store, profile, options, name) if tide else []
    if tide and (model is None or embedder is None or index_folder is None):
        raise ValueError("the strategy tide needs a model, an embedder and a folder for the index")
    if seeds and model is not None and embedder is not None and index_folder is not None:
        grounds = Grounds(started, addresses, known)
        computed = Computed.of(found, sight.recent, ids, store, profile, grounds, run)
        asking = _Asking(store, profile, options, model, pool, grounds, computed, on_progress)
        try:
            asking.go(sight, seeds, embedder, index_folder, opened.nonce, run)
        except UserError:
            computed.keep_early(run)
            raise
    else:
        run.ended = "nothing changed" if tide else run.ended
        for finding in found:
            keep(store, finding, run)
    run.finished = now + timedelta(seconds=time.monotonic() - begun)
    store.runs.finish(run, (), run.finished)
    return run


def has_work(store: Store, profile: Profile, now: datetime, options: Options, model: str) -> bool:
    """Whether a run of the strategy `tide` would have anything to ask the model of this name.

    A caller can spare itself starting the model where it would not.
    """
    return bool(_Sight.of(store, profile, now, options).seeds(store, profile, options, model))


def cached_share(run: Run) -> tuple[float | None, float | None]:
    """The share of prompt tokens, 0 to 1, that came from the prefix cache.

    First over all calls of the run but its first, then over the asks of second and later rounds; None where
    there were no such calls.
    """
    later = [call for call in run.calls if call.purpose == "ask" and call.round >= 2]
    return _share(run.calls[1:]), _share(later)


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a run looks at: the artifacts that still matter and their notes, by id, and what follows from them."""

    now: datetime
    recent: dict[int, Artifact]
    notes: dict[int, list[Note]]
    observations: list[Observation]

    @classmethod
    def of(cls, store: Store, profile: Profile, now: datetime, options: Options) -> _Sight:
        recent = _once_each(store.artifacts.all(since=now - WINDOW))
        readings = store.readings.notes(list(recent))
        notes = {row: [reading.note for reading in found] for row, found in readings.items()}
        return cls(now, recent, notes, observe(list(recent.values()), profile, now, options.answer_days, notes))

    def seeds(self, store: Store, profile: Profile, options: Options, model: str) -> list[int]:
        """Ids of what this model was not asked about yet: what is new or changed since its last run, and what
        an observation rests on that could not be made at the time of that run."""
        last = store.runs.last(strategy="tide", model=model)
        changed = store.artifacts.changed_since(0 if last is None else last.revision)
        # A card of the address book tells who is who, which is no problem by itself.
        found = [row for row in changed if row in self.recent and not self.recent[row].is_card]
        if last is not None:
            before = observe(list(self.recent.values()), profile, last.started, options.answer_days, self.notes)
            told = {_identity(observation) for observation in before}
            for observation in self.observations:
                if _identity(observation) not in told:
                    found += [item.artifact for item in observation.evidence]
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Asking:
    """The part of a run in which a model is asked."""

    store: Store
    profile: Profile
    options: Options
    model: LanguageModel
    pool: tuple[Template, ...]
    grounds: Grounds
    computed: Computed
    on_progress: Progress

    def go(
        self,
        sight: _Sight,
        seeds: Sequence[int],
        embedder: Embedder,
        index_folder: Path,
        nonce: str,
        run: Run,
    ) -> None:
        """Select, ask and prove, close the views that had nothing more to say, and add what was computed."""
        with _timed(run, "select"):
            views, setting = self._select(sight, seeds, embedder, index_folder, nonce, run)
        waiting = len(views) - self.options.views if self.options.views else 0
        if waiting > 0:
            views = views[: self.options.views]
            # The next run begins where this one did; what is closed by then is passed over.
            last = self.store.runs.last(strategy="tide", model=self.model.name)
            run.revision = 0 if last is None else last.revision
        run.views = len(views)
        run.ended = "all views closed"
        found = [Found.of(finding) for finding in self.grounds.known]
        open_views = len(views)
        for start in range(0, len(views), WAVE):
            wave = views[start : start + WAVE]
            artifacts = self.store.artifacts.get(sorted({row for view in wave for row in view.artifacts}))
            with _timed(run, "ask"):
                named, done = ask_rounds(wave, artifacts, found, self.options.rounds, setting, run)
            with _timed(run, "prove"):
                stored = partial(self.computed.keep_beside, setting=setting, run=run)
                prove(named, artifacts, self.store, self.grounds, setting, run, stored)
            closed = [_key(view, self.model) for view in done]
            # At once, so that a large run that is broken off has not asked in vain.
            self.store.runs.close_views(closed, run.id)
            open_views -= len(closed)
        with _timed(run, "prove"):
            self.computed.keep_rest(setting, run)
        if open_views:
            used_up = len(run.rounds) >= self.options.rounds
            run.ended = "round limit reached" if used_up else "some views were not answered"
        if waiting > 0:
            run.ended = f"{run.ended}; {waiting} more wait for the next run"

    def _select(
        self,
        sight: _Sight,
        seeds: Sequence[int],
        embedder: Embedder,
        index_folder: Path,
        nonce: str,
        run: Run,
    ) -> tuple[list[View], Setting]:
        from inference.index import VectorIndex
        from inference.stories import build_views

        model, profile, now = self.model, self.profile, sight.now
        frame = model.count((Message("user", ""),))

        def count(text: str) -> int:
            return model.count((Message("user", text),)) - frame

        fixed = count(constant_part(profile, (), now, nonce)) + 2 * frame
        budget = plan(
            model.context,
            fixed,
            self.pool,
            count,
            story=self.options.view_tokens,
            most=self.options.new_per_round,
        )
        views = build_views(
            self.store,
            VectorIndex.open(self.store, embedder.name, embedder.dimensions, index_folder),
            embedder,
            sight.observations,
            self.pool,
            profile,
            now,
            seeds=seeds,
            window=list(sight.recent),
            view_tokens=budget.story,
            count=count,
            full_text=self.options.full_text,
            on_progress=self.on_progress,
        )
        # What this run itself closed before it was killed it goes through again, with the replies that are kept.
        closed = self.store.runs.is_closed
        views = [view for view in views if not closed(_key(view, model), but_by=run.id)]
        fits = Counter(name for view in views for name in view.templates)
        wanted = sorted(fits, key=lambda name: (-fits[name], name))
        # Space that no story needs holds further templates.
        spare = max(0, budget.story - max((count(view.text) for view in views), default=0))
        chosen = fitting_templates(self.pool, wanted, budget.templates + spare, count)
        setting = Setting(
            model=model,
            journal=Journal(model, self.store, run.id),
            profile=profile,
            budget=budget,
            constant=constant_part(profile, chosen, now, nonce),
            nonce=nonce,
            templates=tuple(template.id for template in chosen),
            on_progress=self.on_progress,
        )
        return views, setting


def _once_each(artifacts: Iterable[Artifact]) -> dict[int, Artifact]:
    """The artifacts (lowest id first) by id, without copies: mail that two sources hold is one matter."""
    kept: dict[int, Artifact] = {}
    firsts: dict[tuple[str, str], Artifact] = {}
    for artifact in artifacts:
        first = firsts.setdefault((artifact.kind, artifact.key), artifact)
        if first is artifact or first.source == artifact.source or first.digest != artifact.digest:
            kept[artifact.id] = artifact
    return kept


def _setup(
    store: Store,
    profile: Profile,
    now: datetime,
    options: Options,
    model: LanguageModel | None,
    pool: Sequence[Template],
) -> str:
    """Digest of all that decides what a run does; a run of the same set-up can be taken up again."""
    decides = (
        store.artifacts.revision(),
        store.artifacts.counts(),
        None if model is None else (model.name, model.context),
        asdict(options),
        profile.model_dump(mode="json"),
        [render(template) for template in pool],
        now.astimezone(profile.zone).date().isoformat(),
    )
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def _key(view: View, model: LanguageModel) -> str:
    """A view is closed for the model that had nothing more to say: a better one may."""
    return f"{view.digest} {model.name}"


def _identity(observation: Observation) -> tuple[str, frozenset[int]]:
    """What an observation is about; its sentence counts days, and so changes daily."""
    return observation.kind, frozenset(item.artifact for item in observation.evidence)


def _share(calls: Sequence[Call]) -> float | None:
    prompt = sum(call.prompt_tokens for call in calls)
    return sum(call.cached_tokens for call in calls) / prompt if prompt else None


@contextmanager
def _timed(run: Run, step: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    run.seconds[step] = run.seconds.get(step, 0.0) + time.monotonic() - started
