"""One person, Anna Berger in Berlin, on Wednesday 18 March 2026 at ten, and a maker of what her days hold."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from inference.checks import addresses, check
from inference.observations import Observation, observe
from templates import load_templates
from workspace import (
    Artifact,
    Finding,
    Kind,
    Note,
    Person,
    Persona,
    Profile,
    Relationship,
    Role,
    Trust,
    WorldModel,
)

BERLIN = ZoneInfo("Europe/Berlin")
ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"
TEMPLATES = frozenset(template.id for template in load_templates())
NAMES = {ANNA: "Anna Berger", BEN: "Ben Okafor", CARLA: "Carla Ruiz", DAN: "Dan Novak"}


class Maker:
    """Makes artifacts with rising ids; times are written as local text."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 18, 10, tzinfo=BERLIN)
        self.profile = Profile(
            timezone="Europe/Berlin",
            persona=Persona(name="Anna Berger", emails=(ANNA,)),
            world_model=WorldModel(
                relationships=tuple(Relationship(name=NAMES[email], email=email) for email in (BEN, CARLA))
            ),
        )
        self._id = 0

    def at(self, text: str, zone: ZoneInfo = BERLIN) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=zone)

    def event(
        self,
        title: str,
        start: str,
        end: str = "",
        *,
        organizer: str = "",
        attendees: dict[str, str] | None = None,
        zone: ZoneInfo = BERLIN,
        **more: object,
    ) -> Artifact:
        people = [person(Role.ORGANIZER, organizer)] if organizer else []
        people += [person(Role.ATTENDEE, email, status) for email, status in (attendees or {}).items()]
        begin = self.at(start, zone)
        until = self.at(end, zone) if end else begin + timedelta(hours=1)
        return self._make(Kind.EVENT, title=title, time=begin, end=until, people=tuple(people), **more)

    def mail(
        self,
        text: str,
        sent: str = "2026-03-11 09:00",
        *,
        sender: str = BEN,
        to: Sequence[str] = (ANNA,),
        cc: Sequence[str] = (),
        title: str = "Figures for the tender",
        **more: object,
    ) -> Artifact:
        people = [person(Role.FROM, sender)]
        people += [person(Role.TO, email) for email in to] + [person(Role.CC, email) for email in cc]
        trust = {ANNA: Trust.SELF, BEN: Trust.KNOWN, CARLA: Trust.KNOWN}.get(sender, Trust.UNKNOWN)
        more.setdefault("trust", trust)
        return self._make(Kind.EMAIL, title=title, text=text, time=self.at(sent), people=tuple(people), **more)

    def task(self, title: str, due: str, **more: object) -> Artifact:
        more.setdefault("status", "open")
        return self._make(Kind.TASK, title=title, due=self.at(due), **more)

    def document(self, title: str, text: str, modified: str = "2026-03-02 09:00", **more: object) -> Artifact:
        return self._make(Kind.DOCUMENT, title=title, text=text, time=self.at(modified), **more)

    def attach(self, mail: Artifact, title: str, text: str = "Some text that says nothing.") -> Artifact:
        """A document that a mail carries."""
        return self._make(Kind.DOCUMENT, title=title, text=text, time=mail.time, parent=mail.key)

    def see(
        self, *artifacts: Artifact, kind: str = "", notes: Mapping[int, Sequence[Note]] | None = None
    ) -> list[Observation]:
        """What is observed; all of it can become a finding."""
        found = observe(artifacts, self.profile, self.now, notes=notes or {})
        known = addresses(artifacts, self.profile)
        rows = {artifact.id: artifact for artifact in artifacts}
        for item in found:
            finding = Finding(
                template=item.template,
                description=item.sentence,
                why=item.why,
                evidence=item.evidence,
                action=item.action,
                confidence=0.5,
                deadline=item.deadline,
            )
            assert check(finding, rows, self.profile, self.now, known, (), TEMPLATES) is None
        return [observation for observation in found if kind in ("", observation.kind)]

    def sure(self, *artifacts: Artifact) -> list[str]:
        """The kinds of the certain observations."""
        return [observation.kind for observation in self.see(*artifacts) if observation.certain]

    def _make(self, kind: Kind, **fields: object) -> Artifact:
        self._id += 1
        fields.setdefault("source", "test")
        fields.setdefault("key", f"k{self._id}")
        return Artifact(kind=kind, id=self._id, **fields)  # type: ignore[arg-type]


def note(line: str = "A line.", **facts: object) -> Note:
    empty: dict[str, object] = {"people": [], "things": [], "commitments": [], "dates": [], "amounts": []}
    return Note(**{**empty, "states": [], "rules": [], "absences": [], **facts, "line": line})  # type: ignore[arg-type]


def person(role: Role, email: str, status: str = "") -> Person:
    return Person(role, NAMES.get(email, ""), email, status)


@pytest.fixture
def noted() -> Callable[..., Note]:
    """Makes a note of which only the facts that are given are filled in."""
    return note


@pytest.fixture
def make() -> Maker:
    return Maker()
