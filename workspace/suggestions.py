"""What the profile could say, by the address book: each with its reason, and told apart as fact or guess.

A fact is what the person said elsewhere: on their own card, or as the name on every mail of theirs. All else is a
guess. Neither is used anywhere until the person takes it over.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from workspace.names import fold, is_role
from workspace.people import AddressBook, Card, Contact
from workspace.profile import Profile, Relationship

MOST_COLLEAGUES = 12
LEAST_MAILS = 3
"""So many mails of the person's own tell how they call themselves, and so many dealings make a colleague."""


class About(StrEnum):
    """What a suggestion is about; the value is how the person calls it."""

    NAME = "name"
    ADDRESS = "address"
    OCCUPATION = "occupation"
    ORGANIZATION = "organization"
    DEPARTMENT = "department"
    MANAGER = "manager"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing that the profile could say. A PERSON has `email` and `relation` beside the name in `value`."""

    about: About
    value: str
    reason: str
    fact: bool
    email: str = ""
    relation: str = ""

    @property
    def handle(self) -> str:
        """By what the person names it: an address where it is about one, else what it is about."""
        if self.about is About.ADDRESS:
            return self.value
        return self.email or self.about.value


def suggest(profile: Profile, book: AddressBook) -> tuple[Suggestion, ...]:
    """What the profile does not say yet, facts first; nothing that would change what it says."""
    found = [*_persona(profile, book), *_organization(profile, book), *_people(profile, book)]
    return tuple(sorted(found, key=lambda one: not one.fact))


def taken(profile: Profile, suggestions: Iterable[Suggestion]) -> Profile:
    """The profile with these suggestions taken over."""
    persona, world = profile.persona, profile.world_model
    organization = world.organization
    for one in suggestions:
        if one.about is About.NAME:
            persona = persona.model_copy(update={"name": one.value})
        elif one.about is About.OCCUPATION:
            persona = persona.model_copy(update={"occupation": one.value})
        elif one.about is About.ADDRESS:
            persona = persona.model_copy(update={"emails": (*persona.emails, one.value)})
        elif one.about is About.PERSON:
            person = Relationship(name=one.value, email=one.email, relation=one.relation)
            world = world.model_copy(update={"relationships": (*world.relationships, person)})
        else:
            key = {About.ORGANIZATION: "name", About.DEPARTMENT: "department"}.get(one.about, "reports_to")
            organization = organization.model_copy(update={key: one.value})
    world = world.model_copy(update={"organization": organization})
    return profile.model_copy(update={"persona": persona, "world_model": world})


def _persona(profile: Profile, book: AddressBook) -> Iterator[Suggestion]:
    card = book.own_card
    if not profile.persona.name:
        yield from _name(book)
    for email in card.emails if card else ():
        if email not in profile.persona.emails:
            yield Suggestion(About.ADDRESS, email, "your own card lists it", True)
    for email, count in book.sent_from.most_common(5):
        if email not in profile.persona.emails and not (card and email in card.emails):
            reason = f"{_mails(count)} in your folder of sent mail {'is' if count == 1 else 'are'} from it"
            yield Suggestion(About.ADDRESS, email, reason, False)
    if card and card.occupation and not profile.persona.occupation:
        yield Suggestion(About.OCCUPATION, card.occupation, "your own card says so", True)


def _name(book: AddressBook) -> Iterator[Suggestion]:
    if book.own_card and book.own_card.name:
        yield Suggestion(About.NAME, book.own_card.name, "your own card says so", True)
    elif book.own_names:
        (name, count), total = book.own_names.most_common(1)[0], book.own_names.total()
        certain = count == total >= LEAST_MAILS
        reason = f"{_mails(count)} of yours bear{'s' if count == 1 else ''} it"
        yield Suggestion(About.NAME, name, reason if certain else f"{reason}, of {total} with a name", certain)


def _organization(profile: Profile, book: AddressBook) -> Iterator[Suggestion]:
    said, card = profile.world_model.organization, book.own_card
    if not said.name:
        if card and card.organisation:
            yield Suggestion(About.ORGANIZATION, card.organisation, "your own card says so", True)
        else:
            yield from _organization_of_colleagues(profile, book)
    if card and card.department and not said.department:
        yield Suggestion(About.DEPARTMENT, card.department, "your own card says so", True)


def _organization_of_colleagues(profile: Profile, book: AddressBook) -> Iterator[Suggestion]:
    named = Counter(
        (card.organisation, domain)
        for card in book.cards
        for domain in {email.rpartition("@")[2] for email in card.emails} & profile.domains
        if card.organisation
    )
    if named:
        (name, domain), count = min(named.items(), key=lambda item: (-item[1], item[0]))
        cards = "a card" if count == 1 else f"{count} cards"
        yield Suggestion(About.ORGANIZATION, name, f"{cards} with your domain, {domain}, name it", False)
    elif profile.domains:
        domain = min(profile.domains)
        yield Suggestion(About.ORGANIZATION, domain, "it is the domain of your address", False)


def _people(profile: Profile, book: AddressBook) -> Iterator[Suggestion]:
    known = profile.known | set(profile.persona.emails)
    managers = list(_managers(profile, book))
    yield from managers
    taken = known | {one.email for one in managers}
    colleagues = [
        one for one in book.people if _is_colleague(one, profile) and not taken.intersection(one.addresses)
    ]
    for one in colleagues[:MOST_COLLEAGUES]:
        email = next(email for email in one.addresses if email.rpartition("@")[2] in profile.domains)
        reason = f"same domain as yours; {_dealings(one)}"
        yield Suggestion(About.PERSON, one.name, reason, False, email, "colleague")


def _managers(profile: Profile, book: AddressBook) -> Iterator[Suggestion]:
    """Whom the person's own card names as manager. It is never guessed: who sends orders need not give them."""
    card = book.own_card
    if card is None or not card.managers:
        return
    said = card.managers[0]
    other = _card_of(said, book)
    name, email = (other.name, next(iter(other.emails), "")) if other else (said, "")
    if not profile.world_model.organization.reports_to:
        yield Suggestion(About.MANAGER, name, "your own card names them as your manager", True)
    if email and email not in profile.known:
        reason = "your own card names them as your manager, and their card has the address"
        yield Suggestion(About.PERSON, name, reason, True, email, "manager")


def _card_of(said: str, book: AddressBook) -> Card | None:
    """The one card that a name, an address or a key means."""
    found = [
        card
        for card in book.cards
        if card is not book.own_card
        and (said == card.key or said.lower() in card.emails or (fold(said) and fold(said) == fold(card.name)))
    ]
    return found[0] if len(found) == 1 else None


def _is_colleague(one: Contact, profile: Profile) -> bool:
    at_home = any(email.rpartition("@")[2] in profile.domains for email in one.addresses)
    both_ways = bool((one.mails_to or one.meetings) and (one.mails_from or one.meetings))
    enough = one.mails_from + one.mails_to + one.meetings >= LEAST_MAILS
    return at_home and both_ways and enough and bool(one.name) and not is_role(one.name)


def _dealings(one: Contact) -> str:
    met = "1 meeting" if one.meetings == 1 else f"{one.meetings} meetings"
    parts = [f"{_mails(one.mails_from)} from them", f"{one.mails_to} from you", met]
    return ", ".join(part for part in parts if not part.startswith("0 "))


def _mails(count: int) -> str:
    return "1 mail" if count == 1 else f"{count:,} mails"
