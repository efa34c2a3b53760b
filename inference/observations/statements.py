"""What a text states, sentence by sentence and row by row, with the days that each names."""

import re
from dataclasses import dataclass
from datetime import date, datetime

from inference.observations.dates import NamedDay, named_days
from inference.observations.requests import sentences
from inference.observations.words import one_of, plain, stems, subject
from inference.observations.world import World, cite
from workspace import Artifact, Evidence, Kind

_READ = 20_000
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, a row or the title of an artifact, in one line, with its days in the order of the words."""

    artifact: Artifact
    text: str
    days: tuple[NamedDay, ...]

    @property
    def day(self) -> NamedDay | None:
        """The day where exactly one is named."""
        return self.days[0] if len({named.day for named in self.days}) == 1 else None


def written_on(artifact: Artifact, world: World) -> date:
    """The local day on which a text was written, the last in which it was changed; today where that is unknown."""
    if artifact.time is None or artifact.kind is Kind.EVENT:
        return world.today
    return artifact.local(artifact.time, world.zone).date()


def statements(artifact: Artifact, world: World) -> tuple[Statement, ...]:
    """The title and all that the writer says themselves: no quoted words, no signature."""
    written = written_on(artifact, world)
    return tuple(Statement(artifact, said, tuple(named_days(said, written))) for said in lines(artifact))


def lines(artifact: Artifact) -> tuple[str, ...]:
    """The title, the sentences and the rows of an artifact, each in one line."""
    found = [subject(artifact.title)]
    running: list[str] = []
    for line in artifact.text[:_READ].splitlines():
        if not _is_row(line, artifact.kind):
            running.append(line)
            continue
        found += sentences("\n".join(running)) if running else ()
        found += sentences(line)
        running = []
    found += sentences("\n".join(running)) if running else ()
    return tuple(said for said in found if 0 < len(said) <= _LONGEST)


def is_open_ended(said: str) -> bool:
    """Whether a sentence asks, proposes, sets a condition or denies instead of stating."""
    return "?" in said or bool(_HEDGED.search(plain(said)))


def tells_of_change(said: str) -> bool:
    """Whether a sentence tells that something was moved, called off or was to be otherwise."""
    return bool(_CHANGED.search(plain(said)))


def cite_words(artifact: Artifact, world: World, *, day: date | None = None, words: str = "") -> Evidence | None:
    """Evidence for what was noted of an artifact: the sentence of its text that names the day, else the one that
    shares most words with the note, else what `cite` finds."""
    best, most = "", 1
    wanted = stems(words)
    for statement in statements(artifact, world)[1:]:
        shared = len(wanted & stems(statement.text))
        if day is not None and any(named.day == day for named in statement.days):
            shared += 100
        if shared > most:
            best, most = statement.text, shared
    return cite(artifact, world.zone, best)


def iso_days(fact: str) -> list[date]:
    """The days that a fact of a note names, each once and in their order."""
    found = {named.day for named in named_days(" ".join(_ISO_DAY.findall(fact)), date.min)}
    return sorted(found)


def at(artifact: Artifact) -> datetime | None:
    """When a text was written, None for what has no such time: an entry begins at its time."""
    return artifact.time if artifact.kind in (Kind.EMAIL, Kind.DOCUMENT) else None


def _is_row(line: str, kind: Kind) -> bool:
    """Whether a line stands by itself: a row of a table, "Arrival: ...", any line of a document."""
    if kind is Kind.DOCUMENT or " | " in line:
        return True
    label, colon, rest = line.strip().partition(": ")
    return bool(colon and rest) and len(label) <= 30 and len(label.split()) <= 4


_ISO_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_HEDGED = one_of(
    r"""
    (?:if|unless|in case|should (?:we|you|it|the)|would|could|might|perhaps|maybe|possibly|provisional\w*)\b
    (?:tentative\w*|propos\w+|suggest\w*|(?:how|what) about|ideally|option|not|isn't|won't|can't|or|either)\b
    (?:earliest|pencil\w*|hope to|plan b|assum\w+|depend\w*|expected|roughly|approximately|around|week of)\b
    (?:wenn|falls|sofern|sollte|vielleicht|eventuell|evtl|konnte|wurde|vorschlag\w*|oder|entweder|nicht|kein\w*)\b
    (?:voraussichtlich|ca|etwa|fruhestens|woche (?:vom|ab))\b
    (?:peut-etre|pourrai\w+|serai[ts]|propos\w+|sinon|eventuellement|pas|environ|au plus tot|semaine du)\b
    (?:si (?:vous|tu|nous|le|la|les|on)|s'il)\b
    (?:quizas?|tal vez|podria\w*|seria|propon\w+|propuest\w+|si (?:el|la|no|se|te|me)|no|semana del|aproximad\w+)\b
    만약|혹시|제안|또는|아마|(?:\S+ )*\S*(?:으면|다면|라면|경우)|않|예상|정도
    """
)
_CHANGED = one_of(
    r"""
    (?:instead|mov(?:e|ed|es|ing)|postpon\w+|resched\w+|original\w*|previous\w*|was to|had been|no longer)\b
    (?:cancel\w*|old|earlier|replac\w+|rather than|brought forward|push\w*|shift\w*|chang\w+|so far|until now)\b
    (?:statt|verschob\w*|verschieb\w*|verleg\w*|ursprunglich\w*|bisher\w*|abgesagt|entfallt|geandert|alte[nr]?)\b
    (?:au lieu|report\w+|decal\w+|deplac\w+|initial\w*|annul\w+|ancien\w*|chang\w+)\b
    (?:en (?:lugar|vez)|aplaz\w+|pospu\w+|cambi\w+|anul\w+|cancel\w+|antes era|anterior\w*)\b
    대신|변경|연기|취소|옮|원래|기존
    """
)
