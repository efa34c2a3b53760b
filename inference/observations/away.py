"""Other people who are away or have left, as their calendars, their mails and the machines that answer for them
say."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from inference.observations import away_phrases as phrases
from inference.observations.absences import says_absence, whole_days
from inference.observations.acquaintances import Acquaintances, Somebody
from inference.observations.dates import named_days
from inference.observations.requests import by_machine, sentences
from inference.observations.statements import cite_words, iso_days, written_on
from inference.observations.words import plain
from inference.observations.working import say_day
from inference.observations.world import RECENT, World, called, cite
from workspace import Artifact, Evidence

_READ = 4000
_FIRST = 12
# A mail system gives up after some days.
_RETURNED = timedelta(days=6)
_EARLY = timedelta(days=3)
_LONGEST = timedelta(days=200)


@dataclass(frozen=True, slots=True)
class Away:
    """Local days from `first` up to and with `last` on which somebody cannot be reached; `last` is None for one
    who has left for good. `sure` where an entry of theirs or a machine that answers for them says so."""

    who: Somebody
    first: date
    last: date | None
    text: Artifact
    evidence: Evidence
    sure: bool

    def on(self, day: date) -> bool:
        return self.first <= day and (self.last is None or day <= self.last)

    @property
    def said(self) -> str:
        """What is known, as the end of a sentence."""
        if self.last is None:
            return f"{self.who.name} cannot be reached any more, as {called(self.text)} says"
        if self.first == self.last:
            return f"{self.who.name} is away on {say_day(self.first)}, as {called(self.text)} says"
        return (
            f"{self.who.name} is away from {say_day(self.first)} to {say_day(self.last)}, as "
            f"{called(self.text)} says"
        )


def others_away(world: World, people: Acquaintances) -> Mapping[str, list[Away]]:
    """The absences of others that are not over, by address; the surest first."""
    found: dict[str, list[Away]] = defaultdict(list)
    for one in (*_entries(world, people), *_mails(world, people)):
        if one.last is None or one.last >= world.today:
            for email in one.who.emails:
                found[email].append(one)
    for absences in found.values():
        absences.sort(key=lambda one: (not one.sure, one.first, one.text.id))
    return found


def away_on(day: date, who: Somebody, away: Mapping[str, list[Away]]) -> Away | None:
    """The absence of somebody that holds a day."""
    return next((one for email in sorted(who.emails) for one in away.get(email, ()) if one.on(day)), None)


def _entries(world: World, people: Acquaintances) -> Iterator[Away]:
    """Whole days in the calendars that are somebody's absence: it names them, or nobody and is theirs."""
    for event in world.events:
        days = whole_days(event, world)
        if days is None or days[1] < world.today or not says_absence(event.title):
            continue
        named = people.named(event.title)
        host = event.sender
        if not named and host is not None and host.email and not world.is_own(host):
            # "Annual leave" is that of whoever keeps the entry; "Team on leave" may be anybody's.
            bare = phrases.BARE.fullmatch(" ".join(re.findall(r"[^\W\d_]+", plain(event.title))))
            named = [people.at(host.email)] if bare else []
        evidence = cite(event, world.zone)
        if len(named) == 1 and evidence is not None:
            own = host is not None and host.email in named[0].emails
            mine = host is None or world.is_own(host)
            yield Away(named[0], *days, event, evidence, own or mine)


def _mails(world: World, people: Acquaintances) -> Iterator[Away]:
    for mail in world.mails:
        sender = mail.sender
        if sender is None or mail.time is None or not world.now - RECENT <= mail.time <= world.now:
            continue
        if world.is_own(sender):
            continue
        local = sender.email.partition("@")[0]
        said = mail.text[:_READ].lower()
        if local in phrases.POSTMEN:
            yield from _returned(mail, world, people)
        elif mail.automatic or by_machine(mail.title):
            yield from _answered(mail, people.at(sender.email), world)
        elif any(word in said for word in phrases.AWAY_WORDS):
            yield from _told(mail, people.at(sender.email), world, people)
        yield from _noted(mail, world, people)


def _returned(mail: Artifact, world: World, people: Acquaintances) -> Iterator[Away]:
    """Whose address does not exist any more, as the mail system says of a mail of the person's."""
    if mail.time is None or not phrases.UNKNOWN_ADDRESS.search(plain(mail.text[:_READ])):
        return
    for email in sorted(set(_ADDRESS.findall(mail.text[:_READ].lower()))):
        written = [one.time for one in world.own_mails_to.get(email, ()) if one.time]
        sentence = next((one for one in sentences(mail.text) if email in one.lower()), "")
        evidence = cite(mail, world.zone, sentence)
        if evidence is None or not any(timedelta(0) <= mail.time - sent <= _RETURNED for sent in written):
            continue
        if not _wrote_since(email, mail, world):
            # Anybody can write what looks like it.
            sender = mail.sender.email if mail.sender is not None else ""
            domains = {one.partition("@")[2] for one in (email, *world.own)}
            who = Somebody(people.at(email).name, frozenset({email}))
            yield Away(who, written_on(mail, world), None, mail, evidence, sender.partition("@")[2] in domains)


def _answered(mail: Artifact, who: Somebody, world: World) -> Iterator[Away]:
    """What a machine answers for somebody: they are away now, and until when; or they have left."""
    written = written_on(mail, world)
    until: tuple[date, date, str] | None = None
    for sentence in sentences(mail.text)[:_FIRST]:
        words = plain(sentence)
        if phrases.LEFT.search(words) and not phrases.RETURNS.search(words):
            evidence = cite(mail, world.zone, sentence)
            if evidence is not None and not any(_wrote_since(email, mail, world) for email in who.emails):
                yield Away(who, written, None, mail, evidence, True)
            return
        last = _last_day(sentence, words, written)
        if last is not None and (until is None or phrases.RETURNS.search(words)):
            # Who answers by machine is away already, or from the next days on.
            first = next((one.day for one in named_days(sentence, written)[:-1]), written)
            until = first if written < first <= written + _EARLY else written, last, sentence
    if until is not None and until[0] <= until[1] <= written + _LONGEST:
        evidence = cite(mail, world.zone, until[2])
        if evidence is not None:
            yield Away(who, until[0], until[1], mail, evidence, True)


def _last_day(sentence: str, words: str, written: date) -> date | None:
    """The last whole day of an absence that a sentence gives the end of. "Until Tuesday" may be with it or not,
    so it is the day before; "from Monday to Tuesday" is with it."""
    named = named_days(sentence, written)
    if not named or not (phrases.AWAY.search(words) or phrases.RETURNS.search(words)):
        return None
    day = named[-1].day
    if phrases.RETURNS.search(words) or named[-1].limit:
        return day - timedelta(days=1)
    return day if len({one.day for one in named}) > 1 else None


def _told(mail: Artifact, who: Somebody, world: World, people: Acquaintances) -> Iterator[Away]:
    """Absences and departures that somebody tells of themselves, or of a colleague."""
    written = written_on(mail, world)
    for sentence in sentences(mail.text[:_READ]):
        words = plain(sentence)
        if "?" in words or phrases.UNSURE.search(words):
            continue
        days = sorted({one.day for one in named_days(sentence, written) if one.exact})
        evidence = cite(mail, world.zone, sentence)
        if evidence is None or evidence.where != "text":
            continue
        if phrases.LEAVES.search(words):
            named = people.named(sentence)
            whom = who if phrases.SELF.search(words) and not named else named[0] if len(named) == 1 else None
            if whom is not None and len(days) == 1:
                yield Away(whom, days[0] + timedelta(days=1), None, mail, evidence, False)
        elif phrases.I_AM_AWAY.search(words) and 1 <= len(days) <= 2 + bool(phrases.RETURNS.search(words)):
            last = _last_day(sentence, words, written) or days[-1]
            if days[0] <= last <= days[0] + _LONGEST:
                yield Away(who, days[0], last, mail, evidence, False)


def _noted(mail: Artifact, world: World, people: Acquaintances) -> Iterator[Away]:
    """Absences that notes name, with the name of one person and one or two days."""
    for phrase in (phrase for note in world.notes.get(mail.id, ()) for phrase in note.absences):
        days, named = iso_days(phrase), people.named(phrase)
        if not 1 <= len(days) <= 2 or len(named) != 1 or set(plain(phrase).split()) & world.own_names:
            continue
        evidence = cite_words(mail, world, day=days[0], words=phrase)
        if evidence is not None:
            yield Away(named[0], days[0], days[-1], mail, evidence, False)


def _wrote_since(email: str, mail: Artifact, world: World) -> bool:
    later = world.mails_from.get(email, [])
    return any(one.time and mail.time and one.time > mail.time and not one.automatic for one in later[-5:])


_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
