"""The address book: who is who, how often and how lately the person is in touch with them, and who is known.

It is made on demand from what artifacts name: senders and recipients of mail, people of meetings, cards, and the
relationships of the profile. What is told by the person (profile, cards, their own mail) counts as fact; what
others write counts as what it is: an enemy can write under anybody's name, so that a name alone never makes two
addresses one person, nor anybody known.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from workspace import card as cards
from workspace.artifact import Kind, Role
from workspace.names import clean_name, fold, is_role
from workspace.profile import Profile

Named = Sequence[str]
"""Somebody named by an artifact: role, name, address in lower case, and the answer of an attendee."""


class Seen(NamedTuple):
    """What the address book reads of one artifact. `time` is in seconds since 1970 UTC; `text` that of a card."""

    kind: str
    people: Sequence[Named]
    time: int | None = None
    automatic: bool = False
    cancelled: bool = False
    location: str = ""
    sent: bool = False
    """Whether it lies in a folder of sent mail."""
    key: str = ""
    title: str = ""
    text: str = ""


class Known(StrEnum):
    """How the person knows somebody: from their profile, their cards, their own mail, or by their own domain."""

    PROFILE = "profile"
    CARD = "contacts"
    MAIL = "your mail"
    DOMAIN = "domain"
    NO = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the person's address book. `managers` are names, addresses or keys of other cards."""

    key: str
    name: str
    emails: tuple[str, ...]
    organisation: str = ""
    department: str = ""
    occupation: str = ""
    managers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Namesake:
    """Another contact who bears the same full name: perhaps the same person, perhaps one who pretends to be."""

    email: str
    known: Known


@dataclass(frozen=True, slots=True)
class Contact:
    """One person, by all the addresses that the person's own word gives them.

    `addresses` has the most used first; `merged` says why there are several, "" where there is one. `names` are
    all that were seen, the best one is `name` ("" if there is none). `mails_from` counts what they wrote
    themselves, and all mail of an `automatic` sender; `meetings` those of the past that neither side declined.
    `last` is when they were last in touch.
    """

    name: str
    addresses: tuple[str, ...]
    names: tuple[str, ...] = ()
    merged: str = ""
    known: Known = Known.NO
    automatic: bool = False
    mails_from: int = 0
    mails_to: int = 0
    meetings: int = 0
    last: datetime | None = None
    namesakes: tuple[Namesake, ...] = ()

    @property
    def email(self) -> str:
        return self.addresses[0]


@dataclass(frozen=True, slots=True)
class AddressBook:
    """All contacts but the person themselves, those most in touch first.

    `automatic` are the senders of newsletters and notices. `own_names` are the names on the person's own mail,
    `own_card` is their card; `sent_from` counts mail in folders of sent mail from addresses that the profile does
    not name.
    """

    people: tuple[Contact, ...]
    automatic: tuple[Contact, ...]
    cards: tuple[Card, ...]
    own_names: Counter[str]
    own_card: Card | None
    sent_from: Counter[str]

    @classmethod
    def of(cls, seen: Iterable[Seen], profile: Profile, now: datetime) -> "AddressBook":
        """The address book of the person of this profile at `now` (aware)."""
        sight = _Sight(frozenset(profile.persona.emails), int(now.timestamp()))
        for one in seen:
            sight.add(one)
        return sight.book(profile)


@dataclass(slots=True)
class _Tally:
    """What is counted of one address."""

    names: Counter[str] = field(default_factory=Counter)
    on_card: bool = False
    card_name: str = ""
    profile_name: str = ""
    written: int = 0  # by a person
    automatic: int = 0  # by a program
    mails_to: int = 0
    meetings: int = 0
    last: int = 0


@dataclass(slots=True)
class _Sight:
    own: frozenset[str]
    now: int
    tallies: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))
    own_names: Counter[str] = field(default_factory=Counter)
    sent_from: Counter[str] = field(default_factory=Counter)
    cards: list[Card] = field(default_factory=list)

    def add(self, one: Seen) -> None:
        if one.kind == Kind.EMAIL:
            self._add_mail(one)
        elif one.kind == Kind.EVENT:
            self._add_event(one)
        elif any(role == Role.CONTACT for role, *_ in one.people):
            self.cards.append(_card(one))

    def _add_mail(self, one: Seen) -> None:
        sender = next((email for role, _, email, _ in one.people if role == Role.FROM), "")
        own = sender in self.own
        when = one.time if one.time is not None and one.time <= self.now else 0
        if one.sent and sender and not own:
            self.sent_from[sender] += 1
        reached = set()
        for role, name, email, _ in one.people:
            if not email:
                continue
            if email in self.own:
                if role == Role.FROM and name:
                    self.own_names[name] += 1
                continue
            tally = self.tallies[email]
            if name:
                tally.names[name] += 1
            if role == Role.FROM and one.automatic:
                tally.automatic += 1
            elif role == Role.FROM:
                tally.written += 1
                tally.last = max(tally.last, when)
            elif own:
                reached.add(email)
        for email in reached:
            tally = self.tallies[email]
            tally.mails_to += 1
            tally.last = max(tally.last, when)

    def _add_event(self, one: Seen) -> None:
        mine = [status for _, _, email, status in one.people if email in self.own]
        together = mine and "declined" not in mine and not one.cancelled
        past = one.time is not None and one.time <= self.now
        met = set()
        for _, name, email, status in one.people:
            if not email or email in self.own or (name and name == one.location):  # a room is invited as well
                continue
            if name:
                self.tallies[email].names[name] += 1
            if together and past and status != "declined":
                met.add(email)
        for email in met:
            tally = self.tallies[email]
            tally.meetings += 1
            tally.last = max(tally.last, one.time or 0)

    def book(self, profile: Profile) -> AddressBook:
        own_card = next((one for one in self.cards if _is_own(one, self.own, profile.persona.name)), None)
        others = [one for one in self.cards if one is not own_card]
        groups = _Groups()
        for relationship in profile.world_model.relationships:
            if relationship.email and relationship.email not in self.own:
                self.tallies[relationship.email].profile_name = clean_name(relationship.name)
        for emails in _told_together(profile):
            groups.join([email for email in emails if email not in self.own], "your profile names them as one")
        shared = _shared(others)
        for one in others:
            emails = [email for email in one.emails if email not in self.own]
            for email in emails:
                tally = self.tallies[email]
                tally.on_card, tally.card_name = True, tally.card_name or one.name
            together = [email for email in emails if email not in shared]
            groups.join(together, "one card of your contacts lists them" if len(together) > 1 else "")
        contacts = [
            self._contact(emails, reason, profile)
            for emails, reason in groups.of(email for email in self.tallies if email not in self.own)
        ]
        contacts.sort(key=lambda one: (-_in_touch(one, self.now), one.email))
        names = Counter[str]()
        for name, count in self.own_names.items():
            if clean_name(name):
                names[clean_name(name)] += count
        own_names = frozenset(map(fold, [*names, profile.persona.name, own_card.name if own_card else ""]))
        people = _with_namesakes([one for one in contacts if not one.automatic], own_names)
        automatic = tuple(one for one in contacts if one.automatic)
        return AddressBook(people, automatic, tuple(self.cards), names, own_card, self.sent_from)

    def _contact(self, emails: Sequence[str], reason: str, profile: Profile) -> Contact:
        tallies = {email: self.tallies[email] for email in emails}
        ordered = sorted(tallies, key=lambda email: (-_used(tallies[email]), email))
        names = Counter[str]()
        for tally in tallies.values():
            for name, count in tally.names.items():
                if cleaned := clean_name(name):
                    names[cleaned] += count
        told = [one.profile_name for one in tallies.values()] + [one.card_name for one in tallies.values()]
        seen = sorted(names, key=lambda name: (-names[name], -len(name), name))
        best = next(filter(None, [*told, *seen]), "")
        known = _known(tallies, profile)
        written, automatic = (
            sum(getattr(one, what) for one in tallies.values()) for what in ("written", "automatic")
        )
        meetings = sum(one.meetings for one in tallies.values())
        mails_to = sum(one.mails_to for one in tallies.values())
        by_program = automatic > 0 and not (
            written or meetings or mails_to or known in (Known.PROFILE, Known.CARD)
        )
        last = max(one.last for one in tallies.values())
        return Contact(
            name=best,
            addresses=tuple(ordered),
            names=tuple(dict.fromkeys(filter(None, [best, *seen]))),
            merged=reason if len(ordered) > 1 else "",
            known=known,
            automatic=by_program,
            mails_from=automatic if by_program else written,
            mails_to=mails_to,
            meetings=meetings,
            last=datetime.fromtimestamp(last, UTC) if last else None,
        )


class _Groups:
    """Addresses that belong to one person, joined pair by pair, and why."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._reason: dict[str, str] = {}

    def join(self, emails: Sequence[str], reason: str) -> None:
        for email in emails[1:]:
            first, second = self._root(emails[0]), self._root(email)
            if first != second:
                self._parent[second] = first
        if len(emails) > 1:
            self._reason.setdefault(self._root(emails[0]), reason)

    def of(self, emails: Iterable[str]) -> Iterable[tuple[list[str], str]]:
        """The groups of these addresses, each with the reason of its first joining."""
        found: dict[str, list[str]] = {}
        for email in emails:
            found.setdefault(self._root(email), []).append(email)
        return ((group, self._reason.get(root, "")) for root, group in found.items())

    def _root(self, email: str) -> str:
        while (parent := self._parent.get(email)) is not None:
            email = parent
        return email


def _card(one: Seen) -> Card:
    said = cards.facts(one.text)
    return Card(
        key=one.key,
        name=clean_name(one.title),
        emails=tuple(dict.fromkeys(email for role, _, email, _ in one.people if role == Role.CONTACT and email)),
        organisation=cards.fact(said, cards.ORGANISATION),
        department=cards.fact(said, cards.DEPARTMENT),
        occupation=cards.fact(said, cards.TITLE),
        managers=tuple(value for label, value in said if label == cards.MANAGER),
    )


def _is_own(one: Card, own: frozenset[str], name: str) -> bool:
    """The person's own card has an address of theirs, and their name: a spouse's may have the family's address."""
    return bool(own.intersection(one.emails)) and (not name or not one.name or fold(one.name) == fold(name))


def _told_together(profile: Profile) -> list[list[str]]:
    """Addresses that the profile gives to one name in one relation; a name alone two people may share."""
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for one in profile.world_model.relationships:
        if one.email and one.name.strip():
            found[fold(one.name), one.relation.strip().lower()].append(one.email)
    return [emails for emails in found.values() if len(emails) > 1]


def _shared(found: Iterable[Card]) -> frozenset[str]:
    """Addresses on the cards of several people, as that of an office or a family: they make nobody one."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for one in found:
        for email in one.emails:
            names[email].add(fold(one.name))
    return frozenset(email for email, bearers in names.items() if len(bearers) > 1)


def _known(tallies: dict[str, _Tally], profile: Profile) -> Known:
    domains = profile.domains
    if any(email in profile.known for email in tallies):
        return Known.PROFILE
    if any(one.on_card for one in tallies.values()):
        return Known.CARD
    if any(one.mails_to for one in tallies.values()):
        return Known.MAIL
    return Known.DOMAIN if any(email.rpartition("@")[2] in domains for email in tallies) else Known.NO


def _with_namesakes(people: Sequence[Contact], own_names: frozenset[str]) -> tuple[Contact, ...]:
    bearers: defaultdict[str, list[Contact]] = defaultdict(list)
    for one in people:
        name = fold(one.name)
        if " " in name and name not in own_names and not is_role(name):
            bearers[name].append(one)
    found = []
    for one in people:
        others = [other for other in bearers.get(fold(one.name), ()) if other is not one]
        namesakes = tuple(Namesake(other.email, other.known) for other in others)
        found.append(replace(one, namesakes=namesakes) if namesakes else one)
    return tuple(found)


def _used(tally: _Tally) -> int:
    return tally.written + tally.mails_to + tally.meetings


def _in_touch(one: Contact, now: int) -> float:
    """How much in touch: what the person wrote, and meetings, weigh double, and all of it halves in a year."""
    years = (now - one.last.timestamp()) / (365 * 86_400) if one.last else 0.0
    return (2 * one.mails_to + 2 * one.meetings + one.mails_from) * math.pow(0.5, years)
