"""Rounds: every open view is asked again for what is new, until it has nothing more to say.

new(t) = model(story, templates, found so far), found(t) = found(t-1) + new(t)   (TIDE, arXiv 2606.04743)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inference.candidate import Candidate, Choices, ask_type, candidates
from inference.checks import SAME_MATTER
from inference.models.contract import LanguageModel, Message, Reply, Request
from inference.prompts import Budget, ask_messages, found_line, story_part
from workspace import Artifact, Call, Dropped, Finding, Profile, RoundCount, Run

if TYPE_CHECKING:
    from inference.journal import Journal
    from inference.stories import View

Progress = Callable[[str, int, int], None]

MAX_FITTING = 5
"""How many templates an ask names as fitting; naming all would name none."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same in every call of a run. `templates` are the ids that the constant part shows,
    `as_published` is that of `inference.options.Method`."""

    model: LanguageModel
    journal: Journal
    profile: Profile
    budget: Budget
    constant: str
    nonce: str
    templates: tuple[str, ...]
    on_progress: Progress
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A candidate, the view in which it was seen, and the round in which it was named."""

    candidate: Candidate
    view: View
    round: int


@dataclass(frozen=True, slots=True)
class Found:
    """What was found before: enough of a finding or a candidate to say it and to know it again."""

    template: str
    artifacts: frozenset[int]
    problem: str

    @classmethod
    def of(cls, what: Finding | Candidate) -> Found:
        problem = what.description if isinstance(what, Finding) else what.problem
        return cls(what.template, frozenset(what.artifacts), problem)

    def is_again(self, other: Found) -> bool:
        """Whether both are about one matter: the same artifacts, or one template and mostly the same ones."""
        shared = len(self.artifacts & other.artifacts) / len(self.artifacts | other.artifacts)
        return shared == 1 or (self.template == other.template and shared >= SAME_MATTER)


def ask_rounds(
    views: Sequence[View],
    artifacts: Mapping[int, Artifact],
    found: list[Found],
    rounds: int,
    setting: Setting,
    run: Run,
) -> tuple[list[Named], list[View]]:
    """Ask the views in at most `rounds` rounds; return what they named and the views that had nothing more.

    `artifacts` holds those of the views. `found` is what is known before, oldest first; what is named is added
    to it. Counts and calls are added to `run`.
    """
    asked = [_Asked.of(view, artifacts, found, setting) for view in views]
    named: list[Named] = []
    for number in range(1, rounds + 1):
        still_open = [state for state in asked if state.open]
        if not still_open:
            break
        started = time.monotonic()
        count = _count_of(run, number)
        requests = [(number, state.request(setting)) for state in still_open]
        replies = _replies(requests, setting, run)
        told = tuple(found)
        for state, reply in zip(still_open, replies, strict=True):
            # As published, whatever is named counts as new, and only an empty answer is an end.
            heard: Sequence[Found] = () if setting.as_published else told
            known: Sequence[Found] = () if setting.as_published else found
            for item in _new(state, reply, number, heard, known, run):
                named.append(item)
                found.append(Found.of(item.candidate))
        # After the round, so that all views of a round are told the same, whatever the order of replies.
        for state in asked:
            state.open &= state.tell(found, setting)
        count.seconds += time.monotonic() - started
    return named, [state.view for state in asked if state.exhausted]


def ask_agents(
    views: Sequence[View],
    artifacts: Mapping[int, Artifact],
    found: list[Found],
    agents: int,
    setting: Setting,
    run: Run,
) -> list[Named]:
    """Ask so many agents for each view, none of which knows what another names; return what any of them named.

    What one names again is counted as known. The number of an agent stands in place of a round.
    """
    asked = [_Asked.of(view, artifacts, found, setting) for view in views]
    started = time.monotonic()
    states = [(number, state) for number in range(1, agents + 1) for state in asked if state.open]
    agent = "You are number {} of {} who look at this independently of each other. "
    requests = [(number, state.request(setting, agent.format(number, agents))) for number, state in states]
    replies = _replies(requests, setting, run)
    named: list[Named] = []
    told = tuple(found)
    for (number, state), reply in zip(states, replies, strict=True):
        for item in _new(state, reply, number, told, found, run):
            named.append(item)
            found.append(Found.of(item.candidate))
    if states:
        _count_of(run, agents).seconds += time.monotonic() - started
    return named


@dataclass(slots=True)
class _Asked:
    """A view while it is asked: what it was told so far, and whether it is asked again."""

    view: View
    choices: Choices
    story: str
    ids: frozenset[int]
    lines: list[str] = field(default_factory=list)
    heard: int = 0
    open: bool = True
    exhausted: bool = False

    @classmethod
    def of(cls, view: View, artifacts: Mapping[int, Artifact], found: Sequence[Found], setting: Setting) -> _Asked:
        shown = [artifacts[row] for row in view.artifacts if row in artifacts]
        choices = Choices.of(shown, setting.profile, setting.templates)
        state = cls(view, choices, "", frozenset(artifact.id for artifact in shown))
        state.heard = len(found)
        state.lines = _newest(state._touching(found), setting)
        state.story = story_part(_fitted(state, setting), setting.nonce)
        state.open = bool(shown)
        return state

    def tell(self, found: Sequence[Found], setting: Setting) -> bool:
        """Append what was found since and touches the view; False where that no longer fits."""
        lines = self._touching(found[self.heard :])
        self.heard = len(found)
        self.lines += [_line(item, setting) for item in lines]
        budget = setting.budget
        return setting.model.count(self.messages(setting)) + budget.ask_answer <= setting.model.context

    def messages(self, setting: Setting, agent: str = "") -> tuple[Message, ...]:
        fitting = [name for name in self.view.templates if name in setting.templates][:MAX_FITTING]
        return ask_messages(
            setting.constant,
            self.story,
            self.lines,
            setting.budget.most,
            fitting,
            setting.nonce,
            found_first=setting.as_published,
            agent=agent,
        )

    def request(self, setting: Setting, agent: str = "") -> Request:
        budget = setting.budget
        schema = ask_type(self.choices, budget.bounds, budget.most)
        return Request(self.messages(setting, agent), schema, budget.ask_answer, "ask")

    def _touching(self, found: Iterable[Found]) -> list[Found]:
        return [item for item in found if item.artifacts & self.ids]


def _replies(numbered: Sequence[tuple[int, Request]], setting: Setting, run: Run) -> list[Reply]:
    """The requests, each with its round, as one batch. The first call of a run goes alone, so that the others find
    its prefix cached."""
    requests = [request for _, request in numbered]
    done = 0

    def heard(index: int, reply: Reply) -> None:
        nonlocal done
        done += 1
        setting.on_progress("ask", done, len(requests))

    first = 0 if run.calls else 1
    replies = setting.journal.generate(requests[:first], heard) if first else []
    replies += setting.journal.generate(requests[first:], heard)
    for (number, _), reply in zip(numbered, replies, strict=True):
        count = _count_of(run, number)
        count.asked += 1
        run.calls.append(called("ask", number, reply))
        count.prompt_tokens += reply.prompt_tokens
        count.cached_tokens += reply.cached_tokens
        count.output_tokens += reply.output_tokens
    return replies


def _new(
    state: _Asked, reply: Reply, number: int, told: Sequence[Found], found: Sequence[Found], run: Run
) -> Iterator[Named]:
    """The candidates of a reply that are not in `found`; the others are counted.

    The view stays open where it named something that it had not been `told`, even if another view was quicker.
    """
    count = _count_of(run, number)
    state.open = False
    if reply.value is None:
        count.candidates += 1
        drop(run, number, "", "", "invalid", reply.problem)
        return
    for candidate in candidates(reply.value, state.choices):
        count.candidates += 1
        what = Found.of(candidate)
        state.open |= not any(what.is_again(other) for other in told)
        if any(what.is_again(other) for other in found):
            count.known += 1
        else:
            yield Named(candidate, state.view, number)
    state.exhausted = not state.open


def called(purpose: str, number: int, reply: Reply) -> Call:
    """The record of a call in round `number`, 0 outside rounds."""
    return Call(
        purpose=purpose,
        round=number,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        output_tokens=reply.output_tokens,
    )


def drop(run: Run, number: int, template: str, description: str, check: str, detail: str) -> None:
    """Count and record a candidate of round `number` that is not shown."""
    dropped = _count_of(run, number).dropped
    dropped[check] = dropped.get(check, 0) + 1
    run.dropped.append(
        Dropped(round=number, template=template, description=description, check=check, detail=detail)
    )


def _count_of(run: Run, number: int) -> RoundCount:
    while len(run.rounds) < number:
        run.rounds.append(RoundCount(round=len(run.rounds) + 1))
    return run.rounds[number - 1]


def _line(found: Found, setting: Setting) -> str:
    return found_line(found.template, found.problem, sorted(found.artifacts), setting.nonce)


def _newest(found: Sequence[Found], setting: Setting) -> list[str]:
    """The lines for the newest of what was found before the run, in half the space; the rest is for this run."""
    lines: list[str] = []
    room = setting.budget.found // 2
    for item in reversed(found):
        line = _line(item, setting)
        room -= setting.model.count((Message("user", f"{line}\n"),))
        if room < 0:
            break
        lines.append(line)
    return lines[::-1]


def _fitted(state: _Asked, setting: Setting) -> str:
    """The text of the view; its end is cut where it is longer than was planned, which a view should not be."""
    text = state.view.text
    limit = setting.model.context - setting.budget.ask_answer - setting.budget.found // 2
    while text:
        state.story = story_part(text, setting.nonce)
        tokens = setting.model.count(state.messages(setting))
        if tokens <= limit:
            break
        text = text[: int(len(text) * 0.95 * max(0.5, 1 - (tokens - limit) / tokens))]
    return text
