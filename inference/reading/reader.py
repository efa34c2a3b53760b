"""Every artifact is read once in its life, by itself, by a model that can do nothing but fill in a form."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from inference.orders import gives_orders
from inference.reading.prompt import MAX_OUTPUT, PROMPT_VERSION, SECTION, requests
from workspace import Artifact, Note, Profile

if TYPE_CHECKING:
    from inference.models.contract import LanguageModel, Request
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""

BATCH = 32
"""Artifacts that are asked together and committed together; what a kill loses at most."""


def read_artifacts(
    store: Store,
    model: LanguageModel,
    profile: Profile,
    now: datetime,
    on_progress: Progress = lambda step, done, total: None,
) -> int:
    """Read every artifact that has no note of its present content, what is nearest to `now` first.

    Returns how many artifacts got notes. An artifact that says nothing beside its title, that is a card of the
    address book, that repeats the text of an earlier occurrence of its series or of the event that it invites to,
    that gives orders to its reader, or whose reply is unfit after the repair try, gets no note and is not asked
    again until its content or the prompt changes; its own text stands in. A model that is not `capable` reads
    nothing.

    Raises:
        UserError: if the model cannot be reached. What was read before is kept.
    """
    if not model.capable:
        return 0
    nonce = secrets.token_hex(8)
    unread = store.readings.unread(PROMPT_VERSION, now)
    read = 0
    for start in range(0, len(unread), BATCH):
        on_progress("read", start, len(unread))
        read += _read_batch(store, model, profile, nonce, unread[start : start + BATCH])
    on_progress("read", len(unread), len(unread))
    return read


def _read_batch(store: Store, model: LanguageModel, profile: Profile, nonce: str, ids: list[int]) -> int:
    artifacts = list(store.artifacts.get(ids).values())
    artifacts.sort(key=lambda artifact: ids.index(artifact.id))
    asked: list[Request] = []
    spans: list[tuple[Artifact, int, int]] = []
    for artifact in artifacts:
        built = [] if _says_nothing_more(store, artifact) else _fitting(model, artifact, profile, nonce)
        spans.append((artifact, len(asked), len(asked) + len(built)))
        asked += built
    replies = model.generate(asked) if asked else []
    read = 0
    for artifact, begin, end in spans:
        notes = [reply.value for reply in replies[begin:end] if isinstance(reply.value, Note)]
        _keep(store, model.name, artifact, notes)
        read += bool(notes)
    return read


def _fitting(model: LanguageModel, artifact: Artifact, profile: Profile, nonce: str) -> list[Request]:
    """The requests for an artifact, in sections short enough for the model; none where no section is."""
    section = SECTION
    while section >= _SHORTEST_SECTION:
        built = requests(artifact, profile, nonce, section)
        if all(model.count(request.messages) + MAX_OUTPUT <= model.context for request in built):
            return built
        section //= 2
    return []


def _says_nothing_more(store: Store, artifact: Artifact) -> bool:
    # A card of the address book is laid out as facts already.
    if artifact.is_card or not (artifact.text.strip() or artifact.quoted.strip()):
        return True
    if gives_orders(artifact):
        return True
    if artifact.is_invitation:
        same = store.artifacts.get(store.ties.occurrences(artifact.id)).values()
        others = (one for one in same if one.id < artifact.id or not one.is_invitation)
        return any(one.text == artifact.text for one in others)
    if not artifact.series:
        return False
    series = store.ties.series([artifact.id]).get(artifact.id)
    if series is None or series.lead == artifact.id:
        return False
    return store.artifacts.get([series.lead])[series.lead].text == artifact.text


def _keep(store: Store, model: str, artifact: Artifact, notes: list[Note]) -> None:
    from workspace.store import Reading

    if not notes:
        store.readings.leave_unread(artifact.id, PROMPT_VERSION, artifact.digest)
        return
    store.readings.put_notes(
        artifact.id,
        [
            Reading(artifact.id, number, model, PROMPT_VERSION, artifact.digest, note)
            for number, note in enumerate(notes)
        ],
    )


_SHORTEST_SECTION = 500
