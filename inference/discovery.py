"""Discovery: from what the store holds to findings, and the record of how they were come by.

The strategy `observed` takes the computed observations that are certain. The strategy `tide` asks a language model
in rounds, proves each candidate at the originals, and adds those of the certain observations that nothing found
tells. A run that was killed and is started again with unchanged inputs goes on where it was and ends with the same
findings.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from inference.asking import Asking, timed
from inference.computed import Computed, keep, told_on_another_day
from inference.days import settle
from inference.observations import Observation, observe
from inference.observed import findings_from
from inference.options import Options
from inference.proof import Grounds
from templates import Template, load_templates, render
from workspace import Artifact, Call, Note, Profile, Run, UserError

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.models.contract import LanguageModel
    from workspace.store import Store

__all__ = ["Options", "cached_share", "discover", "has_work"]

Progress = Callable[[str, int, int], None]
"""Told the step (observe, select, ask, prove), how much of it is done, and out of how much."""

WINDOW = timedelta(days=365)
"""How far back an artifact still matters; what lies before is neither observed nor asked about."""


def discover(
    store: Store,
    profile: Profile,
    now: datetime,
    options: Options,
    *,
    model: LanguageModel | None = None,
    embedder: Embedder | None = None,
    index_folder: Path | None = None,
    templates: Sequence[Template] | None = None,
    on_progress: Progress = lambda step, done, total: None,
) -> Run:
    """Look once, store what is found, and return the record of the run, which is stored too.

    `now` is aware. The strategy `tide` needs `model`, `embedder` and `index_folder`; `observed` needs none.
    `templates` are those to go by; None for those that come with Tide. Findings are stored as they pass the
    checks; computed ones when the model has nothing more to say, or cannot be reached. A run of the same inputs
    that was not finished is taken up again, with the `now` of its start.

    Raises:
        UserError: if the model cannot be reached, or its context is too small to hold a story.
        Cancelled: raised by `on_progress`; the run can be taken up again.
    """
    begun = time.monotonic()
    pool = load_templates() if templates is None else tuple(templates)
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
    with timed(run, "observe"):
        on_progress("observe", 0, 1)
        sight = _Sight.of(store, profile, started, options)
        addresses = store.artifacts.addresses() | profile.known | set(profile.persona.emails)
        ids = frozenset(template.id for template in pool)
        settle(store, sight.observations, profile, started, addresses, ids, run)
        # What this run stored before it was killed is not known to it yet, so that it goes the same way again.
        known = [finding for finding in store.findings.all() if finding.run != run.id]
        told = [one for one in sight.observations if one.template in ids]
        found, dropped = findings_from(told, sight.recent, profile, started, addresses, known, ids)
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
        asking = Asking(store, profile, options, model, pool, grounds, computed, on_progress)
        try:
            asking.go(sight, seeds, embedder, index_folder, options.method.nonce or opened.nonce, run)
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
        if not options.method.observations:
            return cls(now, recent, notes, [])
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
        if options.seed_days:
            since = self.now - timedelta(days=options.seed_days)
            found = [row for row in found if (self.recent[row].time or self.now) >= since]
        return list(dict.fromkeys(found))


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


def _identity(observation: Observation) -> tuple[str, frozenset[int]]:
    """What an observation is about; its sentence counts days, and so changes daily."""
    return observation.kind, frozenset(item.artifact for item in observation.evidence)


def _share(calls: Sequence[Call]) -> float | None:
    prompt = sum(call.prompt_tokens for call in calls)
    return sum(call.cached_tokens for call in calls) / prompt if prompt else None
