"""Every artifact is read once in its life, by itself, by a model that can do nothing but fill in a form.

A mail of a thread is read after the one before it, with what that one's card tells of the thread in place of the
older words that it quotes. So its own card tells how things stand there, and a mail costs the same however long
its thread is.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from inference.orders import gives_orders
from inference.reading.card import thread_so_far
from inference.reading.prompt import MAX_OUTPUT, PROMPT_VERSION, requests
from inference.reading.sections import SECTION, Section
from workspace import Artifact, Note, Profile

if TYPE_CHECKING:
    from inference.models.contract import LanguageModel, Request
    from workspace.store import Store

Progress = Callable[[str, int, int], None]
"""Told the step, how much of it is done, and out of how much."""

BATCH = 32
"""Artifacts that are asked together and committed together; what a kill loses at most."""

CHAIN = 16
"""The last mails of a thread, which are read one after another. Those before them, of a thread that is longer, are
read by themselves with what they quote, as nobody would wait for hundreds to be read in turn."""


def read_artifacts(
    store: Store,
    model: LanguageModel,
    profile: Profile,
    now: datetime,
    on_progress: Progress = lambda step, done, total: None,
) -> int:
    """Read every artifact that has no note of its present content, what is nearest to `now` first.

    What comes before a mail in its thread is read before it. Returns how many artifacts got notes. An artifact
    that says nothing beside its title, that is a card of the address book, that repeats the text of an earlier
    occurrence of its series or of the event that it invites to, that gives orders to its reader, or whose reply is
    unfit after the repair try, gets no note and is not asked again until its content or the prompt changes; its
    own text stands in. A model that is not `capable` reads nothing.

    Raises:
        UserError: if the model cannot be reached. What was read before is kept.
    """
    if not model.capable:
        return 0
    nonce = secrets.token_hex(8)
    unread = store.readings.unread(PROMPT_VERSION, now)
    before = _before(store, unread)
    read = done = 0
    for batch in _batches(unread, before):
        on_progress("read", done, len(unread))
        read += _read_batch(store, model, profile, nonce, batch, before)
        done += len(batch)
    on_progress("read", len(unread), len(unread))
    return read


def _before(store: Store, unread: Sequence[int]) -> dict[int, int]:
    """The mail before each, for the last mails of each thread."""
    later = store.ties.later_in_thread(unread)
    return store.readings.before_in_thread([row for row in unread if later.get(row, CHAIN) < CHAIN])


def _batches(unread: Sequence[int], before: Mapping[int, int]) -> Iterator[list[int]]:
    """The artifacts in this order, but each mail in a later batch than the one before it in its thread."""
    waiting = set(unread)
    left: dict[int, None] = {}
    for row in unread:
        # A thread is as near to now as its nearest mail.
        earlier = [row]
        while (other := before.get(earlier[-1])) in waiting and other not in left and other is not None:
            earlier.append(other)
        left.update(dict.fromkeys(reversed(earlier)))
    while left:
        batch: list[int] = []
        for row in left:
            if before.get(row) not in left:
                batch.append(row)
            if len(batch) == BATCH:
                break
        for row in batch:
            del left[row]
        yield batch


def _read_batch(
    store: Store, model: LanguageModel, profile: Profile, nonce: str, ids: Sequence[int], before: Mapping[int, int]
) -> int:
    artifacts = store.artifacts.get(ids)
    earlier = store.readings.notes([before[row] for row in ids if row in before])
    asked: list[Request] = []
    spans: list[tuple[Artifact, list[Section], int]] = []
    for artifact in (artifacts[row] for row in ids if row in artifacts):
        so_far = thread_so_far([reading.note for reading in earlier.get(before.get(artifact.id, 0), [])])
        built = [] if _says_nothing_more(store, artifact) else _fitting(model, artifact, profile, nonce, so_far)
        spans.append((artifact, [section for section, _ in built], len(asked)))
        asked += [request for _, request in built]
    replies = model.generate(asked) if asked else []
    read = 0
    for artifact, sections, begin in spans:
        values = [reply.value for reply in replies[begin : begin + len(sections)]]
        notes = [
            (number, section, value)
            for number, (section, value) in enumerate(zip(sections, values, strict=True))
            if isinstance(value, Note)
        ]
        _keep(store, model.name, artifact, notes)
        read += bool(notes)
    return read


def _fitting(
    model: LanguageModel, artifact: Artifact, profile: Profile, nonce: str, so_far: str
) -> list[tuple[Section, Request]]:
    """The requests for an artifact, in sections short enough for the model; none where no section is."""
    section = SECTION
    while section >= _SHORTEST_SECTION:
        built = requests(artifact, profile, nonce, section, so_far)
        if all(model.count(request.messages) + MAX_OUTPUT <= model.context for _, request in built):
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


def _keep(store: Store, model: str, artifact: Artifact, notes: Sequence[tuple[int, Section, Note]]) -> None:
    from workspace.store import Reading

    if not notes:
        store.readings.leave_unread(artifact.id, PROMPT_VERSION, artifact.digest)
        return
    store.readings.put_notes(
        artifact.id,
        [
            Reading(artifact.id, number, model, PROMPT_VERSION, artifact.digest, note, section.heading)
            for number, section, note in notes
        ],
    )


_SHORTEST_SECTION = 500
