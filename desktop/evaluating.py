"""Workspace files in stores, for the evaluation: written out as real files and read by the connectors."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parseaddr
from pathlib import Path, PurePosixPath

from connectors import open_connector
from connectors.export import export_files, message_id
from connectors.surroundings import Surroundings
from inference.evaluation.opened import Opened
from inference.reading import PROMPT_VERSION
from workspace import Artifact, Batch, Kind, Note, Profile, Put, Settings, write_private
from workspace.file import FileDocument, FileEmail, WorkspaceFile
from workspace.store import Reading, Store

SOURCES = (
    ("mail", "maildir", "mail"),
    ("calendar", "calendar", "calendar/calendar.ics"),
    ("documents", "folder", "documents"),
)
"""Name and kind of each source, and where in an export its files are."""


@contextmanager
def opened(file: WorkspaceFile, home: Path, *, seed: int, notes: bool) -> Iterator[Opened]:
    """The workspace in a store below `home`, its artifacts in an order that only `seed` decides.

    With `notes`, the lines that the file brings stand in for what a model would have noted. What an earlier call
    with the same arguments left in `home` is taken up as it is, so that a run that was stopped goes on there; what
    another call left is replaced.

    Raises:
        UserError: if the files or the store cannot be written or read.
    """
    profile = profile_of(file)
    now = file.now.replace(tzinfo=file.zone)
    decides = json.dumps([file.model_dump(mode="json"), seed, notes, PROMPT_VERSION], sort_keys=True)
    digest = hashlib.sha256(decides.encode()).hexdigest()
    done = home / "opened"
    if not done.is_file() or done.read_text() != digest:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        done.unlink(missing_ok=True)
        for left in home.glob(f"{STORE}*"):
            left.unlink()
        export_files(file, home / "files")
        with Store(home / STORE) as store:
            _fill(store, file, home / "files", profile, seed)
            if notes:
                _note(store, file)
        write_private(done, digest)
    with Store(home / STORE) as store:
        yield Opened(file, store, profile, now, _rows(store, file))


def profile_of(file: WorkspaceFile) -> Profile:
    """The profile of the person whose workspace a file holds."""
    persona = file.persona.model_dump()
    persona["emails"] = [parseaddr(persona.pop("email"))[1]]
    world = file.world_model.model_dump()
    for person in world["relationships"]:
        person["email"] = parseaddr(person["email"])[1]
    return Profile.model_validate({"timezone": file.timezone, "persona": persona, "world_model": world})


STORE = "tide.sqlite"


def _fill(store: Store, file: WorkspaceFile, folder: Path, profile: Profile, seed: int) -> None:
    """Bring all sources in. The order in which they are stored gives the labels, and must tell nothing."""
    settings = Settings()
    now = file.now.replace(tzinfo=file.zone)
    surroundings = Surroundings(
        own=frozenset(profile.persona.emails),
        known=profile.known,
        zone=profile.zone,
        now=lambda: now,
        past_days=settings.past_days,
        future_days=settings.future_days,
    )
    puts: list[tuple[str, Put]] = []
    for name, kind, place in SOURCES:
        location = str(folder / place)
        store.artifacts.add_source(name, kind, location, now)
        for batch in open_connector(kind, name, location, surroundings).sync({}, allow_empty=True):
            puts += [(name, change) for change in batch.changes if isinstance(change, Put)]
    puts.sort(key=lambda put: (put[0], put[1].artifact.key))
    random.Random(seed).shuffle(puts)
    for name, put in puts:
        store.artifacts.take(name, Batch((put,), {}))
    store.artifacts.trust_correspondents(profile.persona.emails, profile.domains)


def _note(store: Store, file: WorkspaceFile) -> None:
    rows = _rows(store, file)
    nothing: dict[str, list[str]] = {name: [] for name in Note.model_fields if name != "line"}
    for name, line in file.notes.items():
        note = Note.model_validate({**nothing, "line": line})
        for row, artifact in store.artifacts.get(rows[name]).items():
            store.readings.put_notes(row, [Reading(row, 0, "file", PROMPT_VERSION, artifact.digest, note)])


def _rows(store: Store, file: WorkspaceFile) -> dict[str, tuple[int, ...]]:
    """The rows by the artifact of the file. Mail, events and tasks are known by their key, documents by path, and
    attachments by the mail that they hang on."""
    by_key = {message_id(file, item.id): item.id for item in file.artifacts}
    by_path = {item.path: item.id for item in file.artifacts if isinstance(item, FileDocument)}
    names = {name: PurePosixPath(path).name for path, name in by_path.items()}
    attached = {
        (message_id(file, item.id), names[name]): name
        for item in file.artifacts
        if isinstance(item, FileEmail)
        for name in item.attachments
    }

    def name_of(artifact: Artifact) -> str | None:
        if artifact.parent:
            return attached.get((artifact.parent, artifact.title))
        if artifact.kind is Kind.DOCUMENT:
            return by_path.get(artifact.key)
        return by_key.get(artifact.series or artifact.key)

    rows: dict[str, list[int]] = defaultdict(list)
    for artifact in store.artifacts.all():
        name = name_of(artifact)
        if name is not None:
            rows[name].append(artifact.id)
    return {item.id: tuple(rows[item.id]) for item in file.artifacts}
