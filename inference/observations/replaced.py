"""A text that rests on what an earlier text says it has replaced: "replaces revision C of 3 July"."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from inference.observations.observation import Observation
from inference.observations.statements import Statement, at, is_open_ended, statements, tells_of_change, written_on
from inference.observations.versions import REPLACES, marks
from inference.observations.words import plain, stems
from inference.observations.working import say_day
from inference.observations.world import RECENT, World, called, cite
from workspace import Action, Artifact

_HEAD = 600
_SHARED = 2
_SHARED_BY_ALL = 3
_MOST = 40


@dataclass(frozen=True, slots=True)
class _Replacement:
    """The statement that something is replaced, the days and the marks of version of what it was, and the words of
    the matter."""

    statement: Statement
    days: frozenset[date]
    marks: frozenset[str]
    matter: frozenset[str]


def replaced_in_use(world: World) -> Iterator[Observation]:
    """Later texts that name the day or the version of what was replaced.

    One of each replacement, the last. Never certain.
    """
    texts = [text for text in (*world.mails, *world.documents) if _counts(text, world)]
    for replacement in _replacements(texts, world)[:_MOST]:
        source = replacement.statement.artifact
        later = [text for text in texts if at(text) and at(source) and _is_after(text, source)]
        for text in sorted(later, key=lambda one: (one.time or world.now, one.id), reverse=True):
            found = _resting(text, replacement, world)
            observation = _observe(replacement, found, world) if found is not None else None
            if observation is not None:
                yield observation
                break


def _counts(text: Artifact, world: World) -> bool:
    return not text.automatic and text.time is not None and world.now - RECENT <= text.time <= world.now


def _is_after(text: Artifact, source: Artifact) -> bool:
    return text.time is not None and source.time is not None and text.time > source.time and text.id != source.id


def _replacements(texts: list[Artifact], world: World) -> list[_Replacement]:
    found = []
    for text in texts:
        if not any(word in text.text.lower() for word in _REPLACING_WORDS):
            continue
        written = written_on(text, world)
        for statement in statements(text, world)[1:]:
            said = plain(statement.text)
            match = REPLACES.search(said)
            if match is None or is_open_ended(statement.text):
                continue
            # What stands behind the word is what was replaced; what stands before it may be the new one.
            behind = said[match.start() :]
            days = frozenset(named.day for named in statement.days if named.exact and named.day < written)
            new = marks(said[: match.start()]) | marks(plain(text.title))
            old = marks(behind) - new
            if days or old:
                found.append(_Replacement(statement, days, old, _matter(text)))
    return found


def _matter(text: Artifact) -> frozenset[str]:
    return stems(f"{text.title}\n{text.text[:_HEAD]}") - _COMMON


def _resting(text: Artifact, replacement: _Replacement, world: World) -> Statement | None:
    """The statement with which a later text rests on what was replaced, if it has any."""
    if not any(str(day.day) in text.text for day in replacement.days) and not any(
        mark[1:] in text.text.lower() for mark in replacement.marks
    ):
        return None
    on_it = len(replacement.matter & _matter(text)) >= _SHARED_BY_ALL
    for statement in statements(text, world)[1:]:
        said = plain(statement.text)
        if REPLACES.search(said) or tells_of_change(statement.text) or is_open_ended(statement.text):
            continue
        named = {one.day for one in statement.days if one.exact}
        shared = len(replacement.matter & stems(f"{statement.text}\n{text.title}"))
        # Many things have a version 2; on a day of some time ago hardly two of one matter happened.
        if (on_it and shared and replacement.days & named) or (
            shared >= _SHARED and replacement.marks & marks(said)
        ):
            return statement
    return None


def _observe(replacement: _Replacement, found: Statement, world: World) -> Observation | None:
    source, text = replacement.statement.artifact, found.artifact
    new = cite(source, world.zone, replacement.statement.text)
    old = cite(text, world.zone, found.text)
    if new is None or old is None or "text" not in (old.where, new.where):
        return None
    task = Action(
        function_name="create_task",
        parameters={
            "title": f"Have {called(text)[:80]} follow {called(source)[:50]}",
            "due": world.today.isoformat(),
            "notes": f"It rests on what was replaced on {say_day(written_on(source, world))}.",
        },
    )
    return Observation(
        kind="replaced-in-use",
        sentence=(
            f'{called(source)} of {say_day(written_on(source, world))} says: "{replacement.statement.text}" '
            f'{called(text)} of {say_day(written_on(text, world))} goes by what was replaced: "{found.text}"'
        ),
        evidence=(new, old),
        certain=False,
        template="superseded-version-in-use",
        why="What was changed in between gets lost.",
        action=task,
        deadline=None,
        weight=0.5,
    )


_REPLACING_WORDS = (
    *("replace", "supersede", "in place of", "instead of", "obsolete", "ersetzt", "anstelle", "ungültig"),
    *("remplace", "annule", "sustituye", "reemplaza", "anula", "대체", "폐기"),
)
_COMMON = stems(
    "version revision draft replaces replaced drawing plan document list file letter Fassung Entwurf Plan Liste "
    "2024 2025 2026 2027"
)
