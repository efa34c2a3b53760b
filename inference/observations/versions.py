"""Two versions of one document that differ in a number, of which the older one is still at work."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from inference.observations.dates import named_days
from inference.observations.figures import Row, rows, values_in
from inference.observations.observation import Observation
from inference.observations.statements import Statement, statements, tells_of_change, written_on
from inference.observations.words import one_of, plain, stems
from inference.observations.working import say_day
from inference.observations.world import RECENT, World, called, cite, document_name
from workspace import Action, Artifact, Evidence, Person, Role

_SHARED = 2
_ALIKE = 0.5
_MANY = 12
_FEW = 5


@dataclass(frozen=True, slots=True)
class _Version:
    """A document as one of several versions. `number` is that of its name, `day` the date there, None where it has
    none."""

    document: Artifact
    number: float | None
    day: date | None
    rows: dict[str, Row]

    @property
    def name(self) -> str:
        return document_name(self.document)


@dataclass(frozen=True, slots=True)
class _Difference:
    """What two versions say otherwise: the rows of both where both have it, else the row that was added."""

    older: Row | None
    newer: Row

    def __str__(self) -> str:
        label = self.newer.label
        if self.older is None:
            return f'the newer one adds "{label}" with {self.newer.figure}'
        return f'"{label}" is {self.older.figure} in the older and {self.newer.figure} in the newer one'


def versions_differ(world: World) -> Iterator[Observation]:
    """Documents of which a newer version changes a number, and whose older one was used after that was there.

    Or the older one was sent to somebody who did not get the newer. Never certain.
    """
    for family in _families(world):
        *olders, newest = family
        if newest.document.time is None or newest.document.time < world.now - RECENT:
            continue
        for older in reversed(olders):
            differences = _differences(older, newest)
            if not differences:
                continue
            found = _used_later(older, newest, differences, world) or _not_sent_on(
                older, newest, differences, world
            )
            if found is not None:
                yield found
                break


def _families(world: World) -> Iterator[list[_Version]]:
    """The documents of one name but for the marks of a version, in their order."""
    families: dict[str, list[_Version]] = defaultdict(list)
    for document in world.documents:
        name = document_name(document)
        base = plain(name.rpartition(".")[0] or name)
        bare = " ".join(re.findall(r"[^\W_]+", _MARK.sub(" ", base)))
        if stems(bare):
            families[bare].append(_version(document, base, world))
    for versions in families.values():
        if 1 < len(versions) <= _MANY:
            numbered = all(version.number is not None for version in versions)
            yield sorted(
                versions, key=lambda one: ((one.number or 0.0) if numbered else 0.0, _time(one), one.document.id)
            )


def _version(document: Artifact, base: str, world: World) -> _Version:
    number = next(map(_ordinal, sorted(marks(base))), None)
    days = named_days(base.replace("_", " "), written_on(document, world))
    day = days[0].day if len(days) == 1 else None
    return _Version(document, number, day, rows(document.text))


def _differences(older: _Version, newer: _Version) -> list[_Difference]:
    """What changed, if the two are one table for the most part or the newer says that it takes the other's place;
    two weeks of one report are not."""
    both = [key for key in newer.rows if key in older.rows]
    changed = [key for key in both if older.rows[key].value != newer.rows[key].value]
    replaces = any(REPLACES.search(plain(line)) for line in newer.document.text[:1000].splitlines())
    if len(both) < _SHARED or not (replaces or len(both) - len(changed) >= _ALIKE * len(both)):
        return []
    found = [_Difference(older.rows[key], newer.rows[key]) for key in changed]
    added = [_Difference(None, row) for key, row in newer.rows.items() if key not in older.rows]
    return found + (added if len(both) > _SHARED else [])


def _used_later(
    older: _Version, newest: _Version, differences: list[_Difference], world: World
) -> Observation | None:
    """A text that came after the newer version and names the older one, or a number that it has alone."""
    since = newest.document.time
    name = newest.name.rpartition(".")[0] or newest.name
    texts = [*world.mentions(_bare(name)), *world.documents_on(_bare(name))]
    later = [text for text in texts if text.time and since and text.time > since and not text.automatic]
    for text in sorted(later, key=lambda text: (text.time or world.now, text.id), reverse=True):
        if document_name(text) in (older.name, newest.name):
            continue
        for statement in statements(text, world):
            if _speaks_of(older, newest, statement, world) or _has_old_figure(statement, differences):
                evidence = cite(text, world.zone, statement.text)
                if evidence is None or evidence.where != "text":
                    continue
                used = f"{called(text)} of {say_day(written_on(text, world))} still goes by the older one."
                return _observe(older, newest, differences, used, evidence, text, world)
    return None


def _speaks_of(older: _Version, newest: _Version, statement: Statement, world: World) -> bool:
    """Whether a statement names the older version by its mark, and not only to say that it is out of use."""
    said = plain(statement.text)
    if tells_of_change(said) or REPLACES.search(said) or not stems(said) & stems(_bare(older.name)):
        return False
    if older.number is not None and older.number != newest.number:
        return any(_ordinal(mark) == older.number for mark in marks(said))
    return older.day is not None and any(named.day == older.day for named in statement.days)


def _has_old_figure(statement: Statement, differences: list[_Difference]) -> bool:
    """Whether a statement has the older number of a row, with a word of its label, and not the newer number."""
    values = values_in(statement.text)
    return any(
        item.older is not None
        and item.older.value in values
        and item.newer.value not in values
        and abs(item.older.value) >= 10
        and stems(item.newer.label) & stems(statement.text)
        for item in differences
    ) and not tells_of_change(statement.text)


def _not_sent_on(
    older: _Version, newest: _Version, differences: list[_Difference], world: World
) -> Observation | None:
    """The last mail of the person's to somebody outside that carried the older version and no newer one since."""
    informed = {person.email for mail in _carriers(newest, world) for person in mail.people}
    for mail in reversed(_carriers(older, world)):
        if not world.sent_by_owner(mail) or mail.time is None or mail.time < world.now - RECENT:
            continue
        asked = [person for person in mail.people if person.role is Role.TO and person.email]
        left = [
            person for person in asked if person.email not in informed and not _was_told(person, newest, world)
        ]
        left = [person for person in left if not world.is_own(person)]
        if not left or len(left) > _FEW:
            continue
        evidence = cite(mail, world.zone)
        if evidence is None:
            continue
        names = ", ".join(world.name_of(person) for person in left)
        used = (
            f"The older one went to {names} on {say_day(written_on(mail, world))}, the newer one not, as far as "
        )
        return _observe(older, newest, differences, f"{used}can be seen.", evidence, mail, world, left)
    return None


def _carriers(version: _Version, world: World) -> list[Artifact]:
    return world.carriers.get((version.name, version.document.text), [])


def _was_told(person: Person, newest: _Version, world: World) -> bool:
    """Whether a mail of the person's to somebody speaks of the document after its newer version was there."""
    since, wanted = newest.document.time, stems(_bare(newest.name))
    return any(
        mail.time is not None and since is not None and mail.time > since and len(wanted & stems(mail.text)) >= 2
        for mail in world.own_mails_to.get(person.email, ())
    )


def _observe(
    older: _Version,
    newest: _Version,
    differences: list[_Difference],
    used: str,
    evidence: Evidence,
    text: Artifact,
    world: World,
    recipients: Sequence[Person] = (),
) -> Observation | None:
    first = differences[0]
    there = cite(newest.document, world.zone, first.newer.line)
    before = cite(older.document, world.zone, first.older.line if first.older is not None else "")
    if there is None or before is None:
        return None
    more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
    return Observation(
        kind="versions-differ",
        sentence=(
            f"{called(older.document)} and its newer version {called(newest.document)} differ: {first}{more}. "
            f"{used}"
        ),
        evidence=(there, before, evidence),
        certain=False,
        template="superseded-version-in-use",
        why="Whoever goes by the older version reckons with a number that no longer holds.",
        action=_action(newest, text, recipients, world),
        deadline=None,
        weight=0.55,
    )


def _action(newest: _Version, text: Artifact, recipients: Sequence[Person], world: World) -> Action:
    if not recipients and text.sender is not None and text.sender.email and not world.is_own(text.sender):
        recipients = [text.sender]
    if recipients:
        return Action(
            function_name="share_document",
            parameters={
                "document": newest.document.label,
                "recipients": [str(person) for person in recipients],
                "note": "This is the version that holds now; please use it in place of the earlier one.",
            },
        )
    return Action(
        function_name="create_task",
        parameters={
            "title": f"Bring up to date what rests on an older version of {newest.name[:80]}",
            "due": world.today.isoformat(),
            "notes": f"{called(text)} goes by the older one.",
        },
    )


def marks(words: str) -> frozenset[str]:
    """The numbers and letters of versions that a text in plain form names: `=2`, `=c`."""
    return frozenset(f"={match['n']}" for match in _NUMBERED.finditer(words))


def _time(version: _Version) -> float:
    return version.document.time.timestamp() if version.document.time is not None else 0.0


def _ordinal(mark: str) -> float:
    """The place of a version in the order of versions: its number, or that of its letter."""
    name = mark[1:]
    return float(ord(name) - ord("a") + 1) if name.isalpha() else float(name)


def _bare(name: str) -> str:
    """A name without its ending and the marks of a version."""
    base = plain(name)
    return " ".join(re.findall(r"[^\W_]+", _MARK.sub(" ", base.rpartition(".")[0] or base)))


_MONTH = r"(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|ene|abr|ago|fev|avr|aou|janv|juil)[a-z]*"
# Words in a name that mark a version; a year or a month alone marks another document.
_MARK = re.compile(
    r"(?<![^\W_])(?:v(?:er(?:sion)?)?[ ._-]?\d+(?:\.\d+)*|rev(?:ision)?[ ._-]?(?:\d+|[a-h])|r\d+"
    r"|draft(?:[ ._-]?\d+)?"
    r"|entwurf(?:[ ._-]?\d+)?|fassung[ ._-]?\d+|brouillon|borrador|final|neu|new|alt|old|copy|kopie|copie|copia"
    r"|signed|updated|korrigiert|corrected|nueva?|nouveau|초안|최종|수정(?:본|안)?"
    r"|20\d\d[-_.]?[01]\d[-_.]?[0-3]\d|[0-3]?\d[._ -](?:[01]?\d[._-]20\d\d|" + _MONTH + r"(?:[ _.-]20\d\d)?))"
    r"(?![^\W_])|\(\d+\)"
)
_NUMBERED = re.compile(
    r"(?<![^\W_])(?:(?:v|ver|version|draft|entwurf|fassung|r)[ ._-]?(?=\d)|rev(?:ision)?[ ._-]?)"
    r"(?P<n>\d+(?:\.\d+)?|[a-h])(?![\w])"
)
REPLACES = one_of(
    r"""
    (?:replaces|supersedes|in place of|instead of|no longer valid|out of date|obsolete|void)\b
    ersetzt|anstelle|ungultig|veraltet|remplace|annule|caduc|sustituye|reemplaza|anula|obsolet
    .*(?:대체|폐기|무효)
    """
)
