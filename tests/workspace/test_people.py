"""The address book: who is one person, who is known, and what the profile could say."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workspace import (
    Artifact,
    Batch,
    Kind,
    Organization,
    Person,
    Persona,
    Profile,
    Put,
    Relationship,
    Role,
    WorldModel,
)
from workspace.card import lay_out
from workspace.names import clean_name, fold
from workspace.people import AddressBook, Contact, Known
from workspace.store import Store
from workspace.suggestions import About, suggest, taken

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)
ME, BEN, EVE = "anna@museum.example", "ben@museum.example", "eve@evil.example"
PROFILE = Profile(persona=Persona(name="Anna Bell", emails=(ME,)))

Book = Callable[..., AddressBook]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    """The address book of a store of these artifacts, keyed by their number where they have no key."""
    with Store(tmp_path / "tide.sqlite") as store:
        store.artifacts.add_source("a", "maildir", "/a", NOW)

        def make(*artifacts: Artifact, profile: Profile = PROFILE) -> AddressBook:
            store.artifacts.take("a", Batch(tuple(map(Put, artifacts)), {}))
            return store.people.book(profile, NOW)

        yield make


NUMBER = iter(range(10**6))


def person(role: Role, who: str, status: str = "") -> Person:
    """Of `Name <address>`, or of an address."""
    name, mark, rest = who.partition(" <")
    return Person(role, name if mark else "", rest.rstrip(">") if mark else who, status)


def mail(sender: str, *to: str, days: float = 1, **other: Any) -> Artifact:
    people = (person(Role.FROM, sender), *(person(Role.TO, who) for who in to))
    key = other.pop("key", f"m{next(NUMBER)}")
    return Artifact("a", key, Kind.EMAIL, people=people, time=NOW - timedelta(days=days), **other)


def meeting(organizer: str, *attendees: str, days: float = 1, **other: Any) -> Artifact:
    people = [person(Role.ORGANIZER, organizer)]
    for who in attendees:
        named, _, status = who.partition("|")
        people.append(person(Role.ATTENDEE, named, status))
    key = f"e{next(NUMBER)}"
    return Artifact("a", key, Kind.EVENT, people=tuple(people), time=NOW - timedelta(days=days), **other)


def card(name: str, *emails: str, key: str = "", **facts: str) -> Artifact:
    people = tuple(Person(Role.CONTACT, name, email) for email in emails or ("",))
    text = lay_out(facts.items())
    return Artifact("a", key or f"c{next(NUMBER)}", Kind.DOCUMENT, title=name, text=text, people=people)


def by_email(found: AddressBook, email: str) -> Contact:
    (one,) = [one for one in (*found.people, *found.automatic) if email in one.addresses]
    return one


def test_how_often_and_how_lately_people_are_in_touch(book: Book) -> None:
    found = book(
        mail(f"Ben Ortiz <{BEN}>", ME, days=9),
        mail(ME, f"Ben Ortiz <{BEN}>", f"Cy Lund <{EVE}>", days=5),
        mail(ME, BEN, days=-3),
        meeting(ME, f"Ben Ortiz <{BEN}>|accepted", f"Cy Lund <{EVE}>|declined", days=2),
        meeting(BEN, ME, days=-2),
        meeting(BEN, f"{ME}|declined"),
        meeting(BEN, ME, cancelled=True),
        meeting(BEN, EVE),
    )
    ben, cy = by_email(found, BEN), by_email(found, EVE)
    assert (ben.name, ben.mails_from, ben.mails_to, ben.meetings) == ("Ben Ortiz", 1, 2, 1)
    assert ben.last == NOW - timedelta(days=2), "what lies ahead is no time of being in touch"
    assert (cy.mails_from, cy.mails_to, cy.meetings, cy.last) == (0, 1, 0, NOW - timedelta(days=5))
    assert [one.email for one in found.people] == [BEN, EVE]
    assert found.own_names == {}


def test_lately_counts_more_than_long_ago(book: Book) -> None:
    old = [mail("old@x.example", ME, days=2000 + n) for n in range(9)]
    found = book(*old, mail("new@x.example", ME))
    assert [one.email for one in found.people] == ["new@x.example", "old@x.example"]


def test_a_mail_that_two_sources_hold_counts_once(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        for name in ("a", "b"):
            store.artifacts.add_source(name, "maildir", f"/{name}", NOW)
            store.artifacts.take(name, Batch((Put(mail(BEN, ME, key="same")),), {}))
        assert by_email(store.people.book(PROFILE, NOW), BEN).mails_from == 1


def test_the_best_name_is_the_most_frequent_cleaned(book: Book) -> None:
    found = book(
        mail(f"'Ortiz, Ben' <{BEN}>", ME),
        mail(f"Ben Ortiz <{BEN}>", ME),
        mail(f"Ben (Loans) <{BEN}>", ME),
        mail(f"{BEN} <{BEN}>", ME),
    )
    assert by_email(found, BEN).names == ("Ben Ortiz", "Ben")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Ortiz, Ben", "Ben Ortiz"),
        ("O\u2019Brien, Mary-Ann", "Mary-Ann O\u2019Brien"),
        ("'Ben Ortiz'", "Ben Ortiz"),
        ("Ben Ortiz (Loans)", "Ben Ortiz"),
        ("Ortiz, Ben [Loans]", "Ben Ortiz"),
        ("Ben Ortiz via Docs", "Ben Ortiz"),
        ("Acme, Inc.", "Acme, Inc."),
        ("Bell, Ann, Lee", "Bell, Ann, Lee"),
        ("ben@x.example", ""),
        ("(Loans)", "(Loans)"),
        ("  ", ""),
    ],
)
def test_names_are_cleaned(said: str, name: str) -> None:
    assert clean_name(said) == name


def test_names_are_compared_without_accents_titles_and_order() -> None:
    assert fold("Dr. J\u00f6rg M\u00fcller") == fold("muller, JORG") != fold("Jorg Miller")


def test_a_card_makes_its_addresses_one_person(book: Book) -> None:
    found = book(card("Ben Ortiz", BEN, "ben@home.example"), mail(ME, "ben@home.example"), mail(BEN, ME))
    ben = by_email(found, BEN)
    assert ben is by_email(found, "ben@home.example")
    assert ben.merged == "one card of your contacts lists them"
    assert (ben.mails_from, ben.mails_to, ben.known) == (1, 1, Known.CARD)


def test_an_address_on_the_cards_of_two_people_joins_neither(book: Book) -> None:
    office = "office@quay.example"
    found = book(card("Ben Ortiz", BEN, office), card("Cy Lund", "cy@quay.example", office))
    assert [by_email(found, email).addresses for email in (BEN, "cy@quay.example", office)] == [
        (BEN,),
        ("cy@quay.example",),
        (office,),
    ]
    assert by_email(found, office).known is Known.CARD


def test_the_profile_joins_what_it_names_alike(book: Book) -> None:
    def relationship(email: str, relation: str) -> Relationship:
        return Relationship(name="Ben Ortiz", email=email, relation=relation)

    two = WorldModel(relationships=(relationship(BEN, "manager"), relationship("ben@home.example", "manager")))
    one = by_email(book(profile=PROFILE.model_copy(update={"world_model": two})), BEN)
    assert (set(one.addresses), one.merged) == ({BEN, "ben@home.example"}, "your profile names them as one")
    namesakes = WorldModel(
        relationships=(relationship(BEN, "manager"), relationship("ben@home.example", "cousin"))
    )
    one = by_email(book(profile=PROFILE.model_copy(update={"world_model": namesakes})), BEN)
    assert one.addresses == (BEN,)


def test_who_writes_under_a_colleagues_name_is_neither_joined_nor_known(book: Book) -> None:
    profile = PROFILE.model_copy(
        update={"world_model": WorldModel(relationships=(Relationship(name="Ben Ortiz", email=BEN),))}
    )
    found = book(
        mail(ME, BEN),
        card("Ben Ortiz", BEN),
        *(mail(f"Ben Ortiz <{EVE}>", f"Anna <{ME}>", f"Ben Ortiz <{BEN}>") for _ in range(50)),
        meeting(f"Ben Ortiz <{EVE}>", ME, BEN),
        mail(ME, EVE, parent="a mail of Eve's"),
        mail(ME, EVE, defects=("the sender's address did not pass authentication (dmarc=fail)",)),
        profile=profile,
    )
    ben, eve = by_email(found, BEN), by_email(found, EVE)
    assert ben.addresses == (BEN,)
    assert (eve.known, eve.mails_from, eve.mails_to) == (Known.NO, 50, 0)
    assert (ben.known, ben.mails_from, ben.mails_to) == (Known.PROFILE, 0, 1)
    assert [(one.email, one.known) for one in ben.namesakes] == [(EVE, Known.NO)]
    assert [(one.email, one.known) for one in eve.namesakes] == [(BEN, Known.PROFILE)]
    assert all(one.email != EVE and one.value != EVE for one in suggest(profile, found))


@pytest.mark.parametrize("name", ["Anna Bell", "Bell, Anna", "Support Team", "Ben", "Info"])
def test_the_persons_own_name_a_desk_or_one_word_are_no_reason_to_guess(book: Book, name: str) -> None:
    found = book(mail(f"{name} <one@x.example>", ME), mail(f"{name} <two@y.example>", ME))
    assert all(one.namesakes == () for one in found.people)


def test_automatic_senders_are_apart_and_no_namesakes(book: Book) -> None:
    found = book(
        mail("Ben Ortiz <news@x.example>", ME, automatic=True),
        mail(f"Ben Ortiz <{BEN}>", ME, automatic=True),
        mail(f"Ben Ortiz <{BEN}>", ME),
        mail("Cy Lund <cy@x.example>", ME, automatic=True),
        mail(ME, "cy@x.example"),
    )
    assert [(one.email, one.mails_from) for one in found.automatic] == [("news@x.example", 1)]
    assert by_email(found, BEN).mails_from == 1
    assert by_email(found, BEN).namesakes == ()
    assert (by_email(found, "cy@x.example").automatic, by_email(found, "cy@x.example").mails_from) == (False, 0)


def test_who_is_known_and_from_what(book: Book) -> None:
    found = book(
        mail(ME, "written@x.example"),
        mail("stranger@x.example", ME, "copied@x.example"),
        mail("colleague@museum.example", ME),
        mail("eve@notmuseum.example", ME),
    )
    known = {one.email.partition("@")[0]: one.known for one in found.people}
    assert known == {
        "written": Known.MAIL,
        "stranger": Known.NO,
        "copied": Known.NO,
        "colleague": Known.DOMAIN,
        "eve": Known.NO,
    }


def test_a_room_is_nobody(book: Book) -> None:
    found = book(meeting(ME, f"Ben Ortiz <{BEN}>", "Hall 2 <hall2@museum.example>", location="Hall 2"))
    assert [one.email for one in found.people] == [BEN]


def suggestions(profile: Profile, found: AddressBook) -> list[tuple[str, str, bool]]:
    return [(one.handle, one.value, one.fact) for one in suggest(profile, found)]


def test_suggestions_from_the_persons_own_card_are_facts(book: Book) -> None:
    found = book(
        card(
            "Anna Bell",
            ME,
            "anna@home.example",
            Organisation="Harbour Museum",
            Department="Exhibitions",
            Title="Curator",
            Manager="Tierney, Helen",
        ),
        card("Helen Tierney", "helen@museum.example", "helen@home.example"),
        card("Mark Bell", "mark@home.example", ME, Organisation="Elsewhere"),
    )
    bare = Profile(persona=Persona(emails=(ME,)))
    assert suggestions(PROFILE, found) == [
        ("anna@home.example", "anna@home.example", True),
        ("occupation", "Curator", True),
        ("organization", "Harbour Museum", True),
        ("department", "Exhibitions", True),
        ("manager", "Helen Tierney", True),
        ("helen@museum.example", "Helen Tierney", True),
    ]
    whole = taken(PROFILE, suggest(PROFILE, found))
    assert whole.persona == Persona(name="Anna Bell", emails=(ME, "anna@home.example"), occupation="Curator")
    assert whole.world_model.organization == Organization(
        name="Harbour Museum", department="Exhibitions", reports_to="Helen Tierney"
    )
    assert whole.world_model.relationships == (
        Relationship(name="Helen Tierney", email="helen@museum.example", relation="manager"),
    )
    assert suggest(whole, book(profile=whole)) == ()
    assert About.NAME in {one.about for one in suggest(bare, book(profile=bare))}


def test_a_manager_is_not_guessed_from_who_gives_orders(book: Book) -> None:
    found = book(
        *(
            mail(f"Helen Tierney, Director <{BEN}>", ME, title="Do this today", text="I am your manager.")
            for _ in range(9)
        ),
        card("Ben Ortiz", BEN, Title="Director", Manager="Anna Bell"),
        mail(ME, BEN),
    )
    assert not {About.MANAGER} & {one.about for one in suggest(PROFILE, found)}
    assert [(one.relation, one.fact) for one in suggest(PROFILE, found) if one.email] == [("colleague", False)]


def test_the_name_on_own_mail_is_a_fact_only_without_exception(book: Book) -> None:
    bare = Profile(persona=Persona(emails=(ME,)))
    found = book(*(mail(f"Anna Bell <{ME}>", BEN) for _ in range(3)), profile=bare)
    assert suggestions(bare, found)[0] == ("name", "Anna Bell", True)
    found = book(mail(f"Museum Office <{ME}>", BEN), profile=bare)
    (name,) = [one for one in suggest(bare, found) if one.about is About.NAME]
    assert (name.value, name.fact, name.reason) == (
        "Anna Bell",
        False,
        "3 mails of yours bear it, of 4 with a name",
    )


def test_guesses_are_marked_as_guesses_with_their_reason(book: Book) -> None:
    found = book(
        mail("alias@museum.example", EVE, origin="file:///home/anna/Mail/.Sent/cur/1:2,S"),
        mail("list@museum.example", EVE, origin="file:///home/anna/Mail/cur/2:2,S"),
        mail(f"Ben Ortiz <{BEN}>", ME),
        mail(ME, BEN),
        meeting(ME, BEN),
        *(mail("Office <office@museum.example>", ME) for _ in range(5)),
        *(mail(f"Cy Lund <{EVE}>", ME) for _ in range(5)),
        mail(ME, EVE),
    )
    assert [(one.handle, one.value, one.reason, one.fact) for one in suggest(PROFILE, found)] == [
        ("alias@museum.example", "alias@museum.example", "1 mail in your folder of sent mail is from it", False),
        ("organization", "museum.example", "it is the domain of your address", False),
        (BEN, "Ben Ortiz", "same domain as yours; 1 mail from them, 1 from you, 1 meeting", False),
    ]


def test_those_who_share_a_provider_are_no_colleagues(book: Book) -> None:
    profile = Profile(persona=Persona(name="Anna Bell", emails=("anna@gmail.com",)))
    mails = [mail("anna@gmail.com", "Ben Ortiz <ben@gmail.com>"), mail("ben@gmail.com", "anna@gmail.com")]
    assert suggest(profile, book(*mails, mail("anna@gmail.com", "ben@gmail.com"), profile=profile)) == ()


def test_the_organization_on_the_cards_of_colleagues_goes_before_the_domain(book: Book) -> None:
    found = book(card("Ben Ortiz", BEN, Organisation="Harbour Museum"), card("X", EVE, Organisation="Evil"))
    assert suggestions(PROFILE, found) == [("organization", "Harbour Museum", False)]


def test_what_the_profile_says_is_never_suggested_otherwise(book: Book) -> None:
    said = Profile(
        persona=Persona(name="Anna", emails=(ME,), occupation="x"),
        world_model=WorldModel(organization=Organization(name="y", department="z", reports_to="w")),
    )
    found = book(
        card("Anna", ME, Organisation="A", Department="B", Title="C", Manager="D"),
        *(mail(f"Other <{ME}>", BEN) for _ in range(4)),
        profile=said,
    )
    assert suggest(said, found) == ()
