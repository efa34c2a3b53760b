"""Artifacts for the tests of selection: a few made by hand, and the sample workspace as the connectors give it."""

from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from pathlib import Path

from inference.embedding import SentenceEmbedder
from inference.index import VectorIndex, index_artifacts
from workspace import Artifact, Batch, Kind, Note, Person, Persona, Profile, Put, Role
from workspace.file import FileDocument, FileEmail, FileEvent, read_workspace
from workspace.store import Reading, Store

NOW = datetime(2026, 5, 18, 8, 0, tzinfo=UTC)
PROFILE = Profile(timezone="Europe/Dublin", persona=Persona(name="Nora Keane", emails=("nora@harbour.example",)))
NORA = Person(Role.TO, "Nora Keane", "nora@harbour.example")


def mail(key, text, title="", days=0, sender="Jonas Feld", **other):
    """A mail to Nora, `days` after now (before, where negative)."""
    people = (Person(Role.FROM, sender, f"{sender.split()[0].lower()}@north.example"), NORA)
    values = {"people": people, "time": NOW + timedelta(days=days), **other}
    return Artifact("mail", key, Kind.EMAIL, title or f"About {key}", text, **values)


def event(key, title, days=0, hours=1, **other):
    start = NOW + timedelta(days=days)
    return Artifact("mail", key, Kind.EVENT, title, time=start, end=start + timedelta(hours=hours), **other)


def note(line, **facts):
    empty = {"people": [], "things": [], "commitments": [], "dates": [], "amounts": []}
    return Note(**{**empty, "states": [], "rules": [], "absences": [], **facts, "line": line})


def open_store(path, artifacts=()):
    """A store that holds these artifacts."""
    store = Store(path)
    store.artifacts.add_source("mail", "maildir", "/mail", NOW)
    add(store, *artifacts)
    return store


def add(store, *artifacts):
    store.artifacts.take("mail", Batch(tuple(Put(artifact) for artifact in artifacts), {}))


def ids_of(store):
    """Key -> id."""
    return {artifact.key: artifact.id for artifact in store.artifacts.all()}


def put_note(store, artifact, *notes, version=1):
    digest = store.artifacts.get([artifact])[artifact].digest
    readings = [Reading(artifact, number, "m", version, digest, one) for number, one in enumerate(notes)]
    store.readings.put_notes(artifact, readings)


def open_index(store, embedder, folder):
    """The index of a store, everything embedded."""
    index_artifacts(store, embedder, zone=PROFILE.zone)
    return VectorIndex.open(store, embedder.name, embedder.dimensions, folder)


class Sample:
    """The sample workspace in a store, indexed: with its notes or from raw text."""

    def __init__(self, folder: Path, embedder: SentenceEmbedder, *, notes: bool) -> None:
        self.file = read_workspace(Path(__file__).parents[2] / "workspace" / "sample.json")
        address = parseaddr(self.file.persona.email)[1]
        persona = Persona(name=self.file.persona.name, emails=(address,))
        self.profile = Profile(timezone=self.file.timezone, persona=persona)
        self.now = self.file.now.replace(tzinfo=self.file.zone)
        self.store = open_store(folder / "tide.sqlite", self._artifacts())
        self.ids = ids_of(self.store)
        if notes:
            for key, line in self.file.notes.items():
                put_note(self.store, self.ids[key], note(line))
        self.index = open_index(self.store, embedder, folder)
        self.problems = {p.id: {self.ids[key] for key in p.evidence} for p in self.file.problems}

    def _artifacts(self):
        mails = [item for item in self.file.artifacts if isinstance(item, FileEmail)]
        parents = {document: item.id for item in mails for document in item.attachments}
        return [self._artifact(item, parents) for item in self.file.artifacts]

    def _artifact(self, item, parents):
        zone = self.file.zone

        def person(role, mailbox, status=""):
            name, address = parseaddr(mailbox)
            return Person(role, name, address.lower(), status)

        if isinstance(item, FileEmail):
            people = (
                person(Role.FROM, item.sender),
                *(person(Role.TO, one) for one in item.to),
                *(person(Role.CC, one) for one in item.cc),
            )
            text = "\n".join(line for line in item.body.splitlines() if not line.startswith(">"))
            sent = item.sent.replace(tzinfo=zone)
            return Artifact(
                "mail", item.id, Kind.EMAIL, item.subject, text, people=people, time=sent, thread=item.thread
            )
        if isinstance(item, FileEvent):
            held = UTC if item.all_day else zone
            people = (
                person(Role.ORGANIZER, item.organizer),
                *(person(Role.ATTENDEE, one.email, one.status) for one in item.attendees),
            )
            return Artifact(
                "mail", item.id, Kind.EVENT, item.title, item.description, people=people,
                time=item.start.replace(tzinfo=held), end=item.end.replace(tzinfo=held), all_day=item.all_day,
                busy=item.busy, cancelled=item.cancelled, location=item.location,
                recurrence=item.recurrence or "",
            )  # fmt: skip
        if isinstance(item, FileDocument):
            modified, parent = item.modified.replace(tzinfo=zone), parents.get(item.id, "")
            return Artifact("mail", item.id, Kind.DOCUMENT, item.path, item.text, time=modified, parent=parent)
        due = item.due.replace(tzinfo=zone) if item.due else None
        return Artifact("mail", item.id, Kind.TASK, item.title, item.notes, due=due, status=item.status)


def count(text):
    """Tokens, near enough for tests: four letters each."""
    return -(-len(text) // 4)


_TALK = ("rehearsal", "harvest", "football", "picnic", "repair", "lecture", "concert", "sailing", "gardening")
FILLER = [
    mail(f"f{n}", f"The {word} went well, {word} again next year.", sender=f"P{n} Q{n}", days=-n)
    for n, word in enumerate((*_TALK, "baking", "painting", "swimming"))
]
