"""The part of a run in which a model is asked: stories are selected, asked in waves of rounds, and proved."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from inference.again import prove_again
from inference.computed import Computed, keep
from inference.journal import Journal
from inference.models.contract import Message
from inference.options import Options
from inference.prompts import UNGUIDED, Guide, constant_part, fitting_guides, plan
from inference.proof import Grounds, prove
from inference.rounds import Found, Named, Setting, ask_agents, ask_rounds
from inference.weights import by_weight, template_weights
from templates import Template, load_cases
from workspace import Artifact, Evidence, Finding, Profile, Run, UserError

if TYPE_CHECKING:
    from inference.embedding import Embedder
    from inference.models.contract import LanguageModel
    from inference.observations import Observation
    from inference.stories import View
    from workspace.store import Store

Progress = Callable[[str, int, int], None]

WAVE = 16
"""How many views go through their rounds together. Their stories should stay in the cache of a server between
two rounds (16 of 4,000 tokens do, on a small GPU), and what a wave found is stored and told to the next."""


class Sight(Protocol):
    """What a run looks at; see `inference.discovery`."""

    @property
    def now(self) -> datetime: ...

    @property
    def recent(self) -> dict[int, Artifact]: ...

    @property
    def observations(self) -> list[Observation]: ...


class DoesNotFit(UserError):
    """Everything was to be shown at once, and is more than the model has room for."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What the asking of a run needs. `pool` are all templates."""

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
        sight: Sight,
        seeds: Sequence[int],
        embedder: Embedder,
        index_folder: Path,
        nonce: str,
        run: Run,
    ) -> None:
        """Select, ask and prove, close the views that had nothing more to say, and add what was computed."""
        with timed(run, "select"):
            views, setting = self._select(sight, seeds, embedder, index_folder, nonce, run)
        if self.options.method.proof:
            with timed(run, "prove"):
                prove_again(self.store, self.grounds, setting, run)
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
            with timed(run, "ask"):
                named, done = self._ask(wave, artifacts, found, setting, run)
            with timed(run, "prove"):
                self._prove(named, artifacts, setting, run)
            closed = [_key(view, self.model) for view in done]
            # At once, so that a large run that is broken off has not asked in vain.
            self.store.runs.close_views(closed, run.id)
            open_views -= len(closed)
        with timed(run, "prove"):
            self.computed.keep_rest(setting, run, proved=self.options.method.proof)
        if open_views:
            used_up = len(run.rounds) >= self.options.rounds
            run.ended = "round limit reached" if used_up else "some views were not answered"
        if waiting > 0:
            run.ended = f"{run.ended}; {waiting} more wait for the next run"

    def _ask(
        self,
        wave: Sequence[View],
        artifacts: dict[int, Artifact],
        found: list[Found],
        setting: Setting,
        run: Run,
    ) -> tuple[list[Named], list[View]]:
        agents = self.options.method.agents
        if agents:
            return ask_agents(wave, artifacts, found, agents, setting, run), list(wave)
        return ask_rounds(wave, artifacts, found, self.options.rounds, setting, run)

    def _prove(self, named: Sequence[Named], artifacts: dict[int, Artifact], setting: Setting, run: Run) -> None:
        rounds = {item.candidate.problem: item.round for item in reversed(named)}

        def stored(finding: Finding) -> bool:
            kept = self.computed.keep_beside(finding, setting=setting, run=run)
            if kept:
                run.found[finding.about] = rounds.get(finding.description, 0)
            return kept

        if self.options.method.proof:
            prove(named, artifacts, self.store, self.grounds, setting, run, stored)
            return
        for item in named:
            finding = _at_its_word(item, artifacts)
            count = run.rounds[item.round - 1]
            if finding.about not in run.found and keep(self.store, finding, run):
                count.new += 1
                run.found[finding.about] = item.round
            else:
                count.known += 1

    def _select(
        self,
        sight: Sight,
        seeds: Sequence[int],
        embedder: Embedder,
        index_folder: Path,
        nonce: str,
        run: Run,
    ) -> tuple[list[View], Setting]:
        from inference.index import VectorIndex
        from inference.stories import select

        model, profile, now, method = self.model, self.profile, sight.now, self.options.method
        frame = model.count((Message("user", ""),))

        def count(text: str) -> int:
            return model.count((Message("user", text),)) - frame

        guides = guides_of(self.options, self.pool)
        fixed = count(constant_part(profile, (), now, nonce)) + 2 * frame
        budget = plan(
            model.context,
            fixed,
            guides,
            count,
            story=self.options.view_tokens,
            most=self.options.new_per_round,
            whole=method.whole,
        )
        views = select(
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
        ).views
        if method.whole and len(views) > 1:
            raise DoesNotFit(
                f"The workspace does not fit the {budget.story:,} tokens that this model has room for. Choose a"
                " model with a larger context, or have the workspace cut (tide eval --fit)."
            )
        # What this run itself closed before it was killed it goes through again, with the replies that are kept.
        closed = self.store.runs.is_closed
        weights = template_weights(self.grounds.known)
        views = [
            replace(view, templates=by_weight(view.templates, weights))
            for view in views
            if not closed(_key(view, model), but_by=run.id)
        ]
        # Space that no story needs holds further templates.
        spare = max(0, budget.story - max((count(view.text) for view in views), default=0))
        chosen = fitting_guides(guides, self._wanted(views), budget.templates + spare, count)
        setting = Setting(
            model=model,
            journal=Journal(model, self.store, run.id),
            profile=profile,
            budget=budget,
            constant=constant_part(profile, chosen, now, nonce),
            nonce=nonce,
            templates=tuple(guide.id for guide in chosen) or (UNGUIDED,),
            on_progress=self.on_progress,
            as_published=method.as_published,
        )
        return views, setting

    def _wanted(self, views: Sequence[View]) -> list[str]:
        """The ids of the guides that fit these views, those first that fit the most of them."""
        fits = Counter(name for view in views for name in view.templates)
        wanted = sorted(fits, key=lambda name: (-fits[name], name))
        if self.options.method.guides != "cases":
            return wanted
        cases = {template.id: template.cases for template in self.pool}
        return [case for name in wanted for case in cases[name]]


def guides_of(options: Options, pool: tuple[Template, ...]) -> tuple[Guide, ...]:
    """What a run may show of classes of trouble; `pool` are all templates."""
    match options.method.guides:
        case "templates":
            return pool
        case "cases":
            return load_cases()
        case "none":
            return ()


@contextmanager
def timed(run: Run, step: str) -> Iterator[None]:
    """Add the seconds of a step to the record of the run."""
    started = time.monotonic()
    yield
    run.seconds[step] = run.seconds.get(step, 0.0) + time.monotonic() - started


def _at_its_word(item: Named, artifacts: dict[int, Artifact]) -> Finding:
    """A candidate as a finding that nothing has confirmed; titles stand in for quotes."""
    said = item.candidate
    evidence = tuple(
        Evidence(
            artifact=row,
            quote=artifacts[row].title,
            where="title",
            title=artifacts[row].title,
            origin=artifacts[row].origin,
        )
        for row in said.artifacts
    )
    return Finding(
        template=said.template,
        description=said.problem,
        why=said.why,
        evidence=evidence,
        action=said.action,
        confidence=0.5,
    )


def _key(view: View, model: LanguageModel) -> str:
    """A view is closed for the model that had nothing more to say: a better one may."""
    return f"{view.digest} {model.name}"
