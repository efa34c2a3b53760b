"""What all kinds of observation look things up in: the artifacts by kind, by thread, by person and by word."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from inference.checks import MAX_QUOTE, MIN_WORDS, quote_fault
from inference.observations.joined import each_once
from inference.observations.public_holidays import PublicHolidays, public_holidays
from inference.observations.words import plain, stems, subject
from workspace import Artifact, Evidence, Kind, Note, Person, Profile, Role, Trust

RECENT = timedelta(days=60)
KEPT = timedelta(days=5 * 366)
"""How long a document counts that was not changed since: contracts run for years."""
_MENTION = 0.6
_MENTIONS = 24
_READ = 5000
_OLDEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """The artifacts as one person sees them at one moment, and their notes by id; every lookup is built at most
    once."""

    artifacts: tuple[Artifact, ...]
    profile: Profile
    now: datetime
    answer_days: int
    notes: Mapping[int, Sequence[Note]]

    @classmethod
    def of(
        cls,
        artifacts: Iterable[Artifact],
        profile: Profile,
        now: datetime,
        answer_days: int,
        notes: Mapping[int, Sequence[Note]],
    ) -> "World":
        ordered = sorted(artifacts, key=lambda artifact: (artifact.id, artifact.source, artifact.key))
        return cls(tuple(ordered), profile, now, answer_days, notes)

    @cached_property
    def zone(self) -> ZoneInfo:
        return self.profile.zone

    @cached_property
    def today(self) -> date:
        return self.local(self.now).date()

    @property
    def holidays(self) -> PublicHolidays:
        return public_holidays(self.profile.timezone)

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone)

    def day(self, moment: datetime, *, all_day: bool) -> datetime:
        """A start or end in local time; that of an all-day entry is a date of no zone, here its midnight."""
        return moment.replace(hour=0, minute=0, tzinfo=self.zone) if all_day else self.local(moment)

    def starts(self, event: Artifact) -> datetime:
        """When an event begins, in local time."""
        return self.day(event.time or _OLDEST, all_day=event.all_day)

    @cached_property
    def mails(self) -> tuple[Artifact, ...]:
        """All mails that have a time, oldest first."""
        found = [artifact for artifact in self.artifacts if artifact.kind is Kind.EMAIL and artifact.time]
        return tuple(sorted(found, key=_when))

    @cached_property
    def events(self) -> tuple[Artifact, ...]:
        """All events that have a start, each once, the earliest first."""
        found = [artifact for artifact in each_once(self.artifacts, self.is_own) if artifact.time]
        return tuple(sorted(found, key=_when))

    @cached_property
    def tasks(self) -> tuple[Artifact, ...]:
        return tuple(artifact for artifact in self.artifacts if artifact.kind is Kind.TASK)

    @cached_property
    def documents(self) -> tuple[Artifact, ...]:
        """The documents that still count, attached ones too, the oldest first; a copy in another place is one."""
        found = [artifact for artifact in self.artifacts if artifact.kind is Kind.DOCUMENT and artifact.time]
        found = [one for one in found if self.now - KEPT <= _when(one) <= self.now and not one.is_card]
        first: dict[tuple[str, str], Artifact] = {}
        for one in sorted(found, key=_when):
            first.setdefault((document_name(one), one.text), one)
        return tuple(first.values())

    @cached_property
    def attached(self) -> dict[tuple[str, str], list[Artifact]]:
        """What each mail carries, by its source and key."""
        found: dict[tuple[str, str], list[Artifact]] = defaultdict(list)
        for artifact in self.artifacts:
            if artifact.parent:
                found[artifact.source, artifact.parent].append(artifact)
        return found

    @cached_property
    def carriers(self) -> dict[tuple[str, str], list[Artifact]]:
        """The mails that carry a document, by its name and text, oldest first."""
        found: dict[tuple[str, str], list[Artifact]] = defaultdict(list)
        for mail in self.mails:
            for part in self.attached.get((mail.source, mail.key), ()):
                found[document_name(part), part.text].append(mail)
        return found

    @cached_property
    def own(self) -> frozenset[str]:
        """The person's addresses: those of the profile, and those that mail of their own was sent from."""
        sent = {mail.sender.email for mail in self.mails if mail.trust is Trust.SELF and mail.sender}
        return frozenset({*self.profile.persona.emails, *sent} - {""})

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The words of the person's name, in plain form."""
        return frozenset(plain(self.profile.persona.name).replace(",", " ").split())

    def is_own(self, person: Person) -> bool:
        if person.email:
            return person.email in self.own
        return bool(person.name) and plain(person.name) == plain(self.profile.persona.name)

    def sent_by_owner(self, mail: Artifact) -> bool:
        return mail.sender is not None and self.is_own(mail.sender)

    @cached_property
    def dealt_with(self) -> frozenset[str]:
        """Addresses of the people whom the profile names or the person has written to."""
        written = {
            person.email
            for mail in self.mails
            if self.sent_by_owner(mail)
            for person in mail.people
            if person.role in (Role.TO, Role.CC)
        }
        return frozenset((written | self.profile.known) - self.own - {""})

    @cached_property
    def first_names(self) -> frozenset[str]:
        """First and last names of other people, in plain form, as titles and greetings use them."""
        people = {person.name for artifact in self.artifacts for person in artifact.people}
        people |= {person.name for person in self.profile.world_model.relationships}
        parts = {part for name in people for part in plain(name).replace(",", " ").split()}
        return frozenset(part for part in parts if len(part) > 1 and part.isalpha()) - self.own_names

    @cached_property
    def _names(self) -> dict[str, str]:
        people = [person for artifact in self.artifacts for person in artifact.people]
        found = {person.email: person.name for person in reversed(people) if person.name}
        return found | {known.email: known.name for known in self.profile.world_model.relationships}

    def name_of(self, person: Person) -> str:
        """The name of somebody as it is known anywhere, else the address."""
        return person.name or self._names.get(person.email, person.email)

    @cached_property
    def threads(self) -> dict[str, list[Artifact]]:
        """The mails of each thread, oldest first; a mail without a thread is one by itself."""
        found: dict[str, list[Artifact]] = defaultdict(list)
        for mail in self.mails:
            found[mail.thread or f"\x00{mail.source}\x00{mail.key}"].append(mail)
        return found

    @cached_property
    def mails_from(self) -> dict[str, list[Artifact]]:
        """The mails of each sender, oldest first."""
        found: dict[str, list[Artifact]] = defaultdict(list)
        for mail in self.mails:
            if mail.sender is not None and mail.sender.email:
                found[mail.sender.email].append(mail)
        return found

    @cached_property
    def own_mails_to(self) -> dict[str, list[Artifact]]:
        """The person's own mails to each address, oldest first."""
        found: dict[str, list[Artifact]] = defaultdict(list)
        for mail in self.mails:
            if self.sent_by_owner(mail):
                for email in {p.email for p in mail.people if p.role in (Role.TO, Role.CC) and p.email}:
                    found[email].append(mail)
        return found

    @cached_property
    def events_with(self) -> dict[str, list[Artifact]]:
        """The events that are not cancelled, by the address of everybody who takes part."""
        found: dict[str, list[Artifact]] = defaultdict(list)
        for event in self.events:
            if not event.cancelled:
                for email in {person.email for person in event.people if person.email}:
                    found[email].append(event)
        return found

    @cached_property
    def _recent_mails(self) -> list[Artifact]:
        return [mail for mail in self.mails if self.now - RECENT <= _when(mail) <= self.now]

    def mentions(self, title: str) -> list[Artifact]:
        """The mails of the last 60 days that hold most words of a title: those with the most of them, and of
        these the latest, but at most 24, so that a title of everyday words costs no more than any other."""
        return self._mentioning_mails.of(title)

    def documents_on(self, title: str) -> list[Artifact]:
        """The documents that hold most words of a title, as `mentions` has the mails."""
        return self._mentioning_documents.of(title)

    @cached_property
    def _mentioning_mails(self) -> "_Mentions":
        return _Mentions(self._recent_mails)

    @cached_property
    def _mentioning_documents(self) -> "_Mentions":
        return _Mentions(self.documents)


class _Mentions:
    """Which of some texts hold most words of a title."""

    def __init__(self, texts: Sequence[Artifact]) -> None:
        self._texts = texts
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for stem in stems(f"{text.title}\n{text.text[:_READ]}"):
                self._by_stem[stem].append(number)
        self._found: dict[str, list[Artifact]] = {}

    def of(self, title: str) -> list[Artifact]:
        if title not in self._found:
            self._found[title] = self._find(stems(subject(title)))
        return self._found[title]

    def _find(self, wanted: frozenset[str]) -> list[Artifact]:
        hits: Counter[int] = Counter()
        for stem in wanted:
            hits.update(self._by_stem.get(stem, ()))
        found = [number for number, count in hits.items() if count >= _MENTION * len(wanted)]
        best = sorted(found, key=lambda number: (hits[number], number), reverse=True)[:_MENTIONS]
        return [self._texts[number] for number in best]


def cite(artifact: Artifact, zone: ZoneInfo, quote: str = "", where: str = "text") -> Evidence | None:
    """Evidence whose words stand in the artifact: the quote, else the title, else the time; None if none do."""
    tries = [(quote, where)] if quote else []
    tries += [(artifact.title, "title"), (_beginning(artifact.title), "title")]
    tries += [(_beginning(artifact.text), "text")]
    for moment, name in ((artifact.time, "start"), (artifact.due, "due")):
        if moment is not None:
            tries.append((artifact.local(moment, zone).strftime("%Y-%m-%dT%H:%M"), name))
    for words, place in tries:
        evidence = Evidence(
            artifact=artifact.id, quote=words, where=place, title=artifact.title, origin=artifact.origin
        )
        if not quote_fault(evidence, artifact, zone):
            return evidence
    return None


def cite_all(artifacts: Sequence[Artifact], zone: ZoneInfo) -> tuple[Evidence, ...] | None:
    """Evidence from each of the artifacts, None where one of them has no words to cite."""
    found = [cite(artifact, zone) for artifact in artifacts]
    return tuple(item for item in found if item is not None) if all(found) else None


def document_name(document: Artifact) -> str:
    """The name of a file without the folders that it lies in."""
    return document.title.rpartition("/")[2]


def called(artifact: Artifact) -> str:
    """The title as sentences name it."""
    title = " ".join(artifact.title.split())
    return f'"{title[:80]}"' if title else "an entry without a title"


def _beginning(text: str) -> str:
    words = text.split()[: 4 * MIN_WORDS]
    return " ".join(words) if sum(map(len, words)) + len(words) < MAX_QUOTE else " ".join(words[:MIN_WORDS])


def _when(artifact: Artifact) -> datetime:
    return artifact.time or _OLDEST
