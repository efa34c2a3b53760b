"""What a view shows of an artifact: one block, the same bytes for the same content.

    [a17] email 2026-03-12 Thu 09:10 Anna Bell -> you | Crates | Anna asks for the key by 2026-03-16 Mon. | ...

The head is what the program knows. What follows is the note, or where there is none the artifact's own words,
which are then foreign text. The last mail of a thread also shows how things stand there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from inference.foreign import unlabelled, visible
from inference.orders import WITHHELD, gives_orders
from inference.reading.card import Paragraph, card_of, laid_out, shortened
from workspace import Artifact, Kind, Person, Profile, Role

if TYPE_CHECKING:
    from workspace.store import Series, Store

STAND_IN = 700
"""Characters of its own text that an artifact without a note shows."""

FULL_TEXT = 6000
"""Characters that an artifact shows where whole texts are asked for."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of one artifact: `head`, what the program knows, and `body`, what it says, "" for nothing.

    `card` is what the body is made of where that is a note: the facts of each section.
    """

    head: str
    body: str
    card: tuple[Paragraph, ...] = ()

    def text(self, more: str = "") -> str:
        """The whole, with `more` at the end of the head."""
        return f"{self.head} | {more}{self.body}" if more else self.head + self.body

    def shorter(self, share: float) -> Shown:
        """About this share of the text at the most, and always less than before.

        Of a card, facts go before lines, those that say least first, and the lines of the poorest sections before
        those of sections that say who owes what by when. Of anything else the end goes, and the head last.
        """
        length = len(self.head) + len(self.body)
        kept = max(1, min(length - 4, int(length * share)))
        if self.card:
            body, card = shortened(self.card, kept - len(self.head))
            if body and len(body) < len(self.body):
                return Shown(self.head, body, card)
        if kept > len(self.head):
            return Shown(self.head, self.body[: kept - len(self.head)].rstrip() + " \u2026")
        return Shown(self.head[:kept].rstrip() + " \u2026", "")


def show(store: Store, ids: Sequence[int], profile: Profile, *, full_text: bool = False) -> dict[int, Shown]:
    """What is shown of each of these artifacts; those that are gone are left out.

    With `full_text` it is the artifact's own text, up to `FULL_TEXT` characters, in indented lines.
    """
    artifacts = store.artifacts.get(ids)
    series = store.ties.series([i for i, artifact in artifacts.items() if artifact.series])
    notes = {} if full_text else store.readings.notes(list(artifacts))
    of_threads = [row for row, readings in notes.items() if any(reading.note.thread for reading in readings)]
    last = {row for row, later in store.ties.later_in_thread(of_threads).items() if not later}
    found: dict[int, Shown] = {}
    for artifact_id in ids:
        artifact = artifacts.get(artifact_id)
        if artifact is None:
            continue
        head = f"[{artifact.label}] {header(artifact, profile, series.get(artifact_id))}"
        card: tuple[Paragraph, ...] = ()
        if gives_orders(artifact):
            withheld = replace(artifact, title=WITHHELD, location="")
            head, body = f"[{artifact.label}] {header(withheld, profile)}", ""
        elif full_text:
            body = "".join(f"\n  {line}" for line in _lines(_own_words(artifact)))
        else:
            card = card_of(notes.get(artifact_id, []), thread=artifact_id in last)
            said = laid_out(card) if card else _beginning(_own_words(artifact), STAND_IN)
            body = f" | {said}" if said else ""
        found[artifact_id] = Shown(head, body, card)
    return found


def header(artifact: Artifact, profile: Profile, series: Series | None = None) -> str:
    """Kind, time, people, state and title in one line; the person is `you`."""
    parts = [f"{artifact.kind} {_when(artifact, profile)}".strip()]
    if artifact.kind is Kind.EMAIL:
        parts[0] += f" {_correspondents(artifact, profile)}"
    elif artifact.kind is Kind.EVENT:
        parts += _taking_part(artifact, profile)
        parts += [f"at {artifact.location}"] if artifact.location else []
        parts += [f"repeats {artifact.recurrence}"] if artifact.recurrence else []
        if series is not None:
            first, last = (artifact.local(one, profile.zone).date() for one in (series.first, series.last))
            parts.append(f"one of {series.count} from {first} to {last}")
        parts += ["cancelled"] if artifact.cancelled else []
        parts += ["shown as free"] if not (artifact.busy or artifact.all_day) else []
    if artifact.status:
        parts[0] += f" {artifact.status}"
    if artifact.automatic and artifact.kind is Kind.EMAIL:
        parts[0] += " (automatic)"
    parts.append(artifact.title or "without a title")
    return unlabelled(" | ".join(" ".join(visible(part).split())[:_HEAD] for part in parts))


def passes_on(artifact: Artifact) -> bool:
    """Whether a mail was written to pass on the words of others, by its title or for want of its own."""
    return bool(artifact.quoted.strip()) and (not artifact.text.strip() or bool(_FORWARD.match(artifact.title)))


def _own_words(artifact: Artifact) -> str:
    if not passes_on(artifact):
        return artifact.text
    return f"{artifact.text.strip()}\n(passes on)\n{artifact.quoted.strip()}".strip()


def _when(artifact: Artifact, profile: Profile) -> str:
    if artifact.kind is Kind.TASK:
        return f"due {_moment(artifact.due, artifact, profile)}" if artifact.due else ""
    said = _moment(artifact.time, artifact, profile) if artifact.time else "undated"
    if artifact.kind is not Kind.EVENT or artifact.time is None or artifact.end is None:
        return said
    start, end = (artifact.local(moment, profile.zone) for moment in (artifact.time, artifact.end))
    if artifact.all_day:
        last = artifact.end - timedelta(seconds=1)
        return said if last.date() <= start.date() else f"{said} to {_moment(last, artifact, profile)}"
    return (
        f"{said}-{end:%H:%M}"
        if start.date() == end.date()
        else f"{said} to {_moment(artifact.end, artifact, profile)}"
    )


def _moment(moment: datetime, artifact: Artifact, profile: Profile) -> str:
    local = artifact.local(moment, profile.zone)
    day = f"{local:%Y-%m-%d} {_WEEKDAYS[local.weekday()]}"
    return day if artifact.all_day or artifact.kind is Kind.DOCUMENT else f"{day} {local:%H:%M}"


def _correspondents(artifact: Artifact, profile: Profile) -> str:
    sender = artifact.sender
    said = f"{_name(sender, profile) if sender else 'unknown'} -> "
    said += _names([p for p in artifact.people if p.role is Role.TO], profile) or "nobody named"
    copied = _names([p for p in artifact.people if p.role is Role.CC], profile)
    return f"{said}, cc {copied}" if copied else said


def _taking_part(artifact: Artifact, profile: Profile) -> list[str]:
    organizer = artifact.sender
    said = [f"by {_name(organizer, profile)}"] if organizer else []
    attendees = [p for p in artifact.people if p.role is Role.ATTENDEE]
    for status in sorted({person.status for person in attendees}):
        names = _names([person for person in attendees if person.status == status], profile)
        said.append(f"{status or 'invited'}: {names}")
    return said


def _names(people: Sequence[Person], profile: Profile) -> str:
    names = [_name(person, profile) for person in people]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _name(person: Person, profile: Profile) -> str:
    if person.email and person.email in profile.persona.emails:
        return "you"
    return (person.name or person.email)[:60]


def _beginning(text: str, limit: int) -> str:
    clean = " ".join(unlabelled(visible(text[: 4 * limit])).split())
    return clean if len(clean) <= limit else clean[:limit].rsplit(" ", 1)[0] + " …"


def _lines(text: str) -> list[str]:
    clean = unlabelled(visible(text[: 2 * FULL_TEXT])).strip()
    cut = clean[:FULL_TEXT] + " …" if len(clean) > FULL_TEXT else clean
    return [line.strip() for line in cut.splitlines() if line.strip()]


_FORWARD = re.compile(r"(?:\[[^\]]*\]\s*)?(?:fwd?|wg|tr|rv)\s*:", re.IGNORECASE)
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEAD = 240
_NAMED = 8
