"""The people around the person, found by the names that titles and sentences call them by."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from inference.observations.words import plain, word_set
from inference.observations.world import World
from workspace import Trust


@dataclass(frozen=True, slots=True)
class Somebody:
    """Somebody else with all the addresses that are theirs."""

    name: str
    emails: frozenset[str]


class Acquaintances:
    """Whom the person deals with: who takes part in their events or writes as somebody known, whom they wrote to
    or the profile names."""

    def __init__(self, world: World) -> None:
        writers = {mail.sender.email for mail in world.mails if mail.trust is Trust.KNOWN and mail.sender}
        near = (world.dealt_with | world.events_with.keys() | writers) - world.own
        pairs = {(person.email, person.name) for artifact in world.artifacts for person in artifact.people}
        pairs |= {(known.email, known.name) for known in world.profile.world_model.relationships}
        found: dict[str, set[str]] = defaultdict(set)
        shown: dict[str, str] = {}
        for email, name in sorted(pairs):
            key = " ".join(_parts(name))
            if email in near and key and "@" not in name:
                found[key].add(email)
                shown.setdefault(key, name)
        people = {key: Somebody(shown[key], frozenset(emails)) for key, emails in found.items()}
        self._by_email = {email: one for one in people.values() for email in sorted(one.emails)}
        self._full = people
        called: dict[str, set[str]] = defaultdict(set)
        for key in people:
            for part in key.split():
                called[part].add(key)
        own = world.own_names
        self._by_part = {
            part: people[next(iter(keys))]
            for part, keys in called.items()
            if len(keys) == 1 and part not in own and part not in _WORDS and len(part) > 1
        }

    def at(self, email: str) -> Somebody:
        """Who has an address."""
        return self._by_email.get(email) or Somebody(email, frozenset({email}))

    def named(self, text: str) -> list[Somebody]:
        """Those whom a text names, each once, in its order. A first or last name counts where one alone has it."""
        return list(dict.fromkeys(who for _, who in self.named_at(text)))

    def named_at(self, text: str) -> Iterator[tuple[int, Somebody]]:
        """The same, each time they are named, with where the name begins in the text."""
        tokens = list(_TOKEN.finditer(text))
        number = 0
        while number < len(tokens):
            token = tokens[number]
            if token.group()[0].islower():
                number += 1
                continue
            step = 2
            pair = " ".join(plain(one.group()) for one in tokens[number : number + 2])
            who = self._full.get(pair)
            if who is None:
                step = 1
                who = self._by_part.get(plain(token.group()))
            if who is not None:
                yield token.start(), who
            number += step


def _parts(name: str) -> list[str]:
    """The words of a name, the first name first."""
    last, comma, first = name.partition(",")
    return _TOKEN.findall(plain(f"{first} {last}" if comma else name))


_TOKEN = re.compile(r"[^\W\d_]+")
# Names that sentences begin with as words.
_WORDS = word_set(
    """
    will may mark art grace faith hope april june august rose summer bill sue pat rob drew chase page price
    long young king day day friday monday sunday may best dear major church park hall west north south east
    de la van von der den del di el al team office info service support gmbh ltd inc events
    """
)
