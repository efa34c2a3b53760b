"""A card: the facts of an artifact's notes in one line, and less of them where there is no room for all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inference.foreign import unlabelled, visible
from workspace import Note

if TYPE_CHECKING:
    from workspace.store import Reading

SO_FAR = 1500
"""Characters of what is known of a thread that the reading of its next mail is shown."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What is shown of one section: its heading, its line, and groups of those facts that the line leaves out."""

    heading: str
    line: str
    facts: tuple[tuple[str, str], ...]

    def text(self) -> str:
        return " | ".join(
            (f"{self.heading}: {self.line}" if self.heading else self.line, *dict(self.facts).values())
        )

    def weight(self) -> int:
        """How much of what it says can be owed, due or broken."""
        return sum(_binds(name) for name, _ in self.facts)


def card_of(readings: Sequence[Reading], *, thread: bool) -> tuple[Paragraph, ...]:
    """The sections of an artifact's card; with `thread`, also how things stand in its thread."""
    return tuple(_section(reading.note, reading.heading, thread=thread) for reading in readings)


def laid_out(card: Iterable[Paragraph]) -> str:
    return " | ".join(section.text() for section in card)


def shortened(card: Sequence[Paragraph], length: int) -> tuple[str, tuple[Paragraph, ...]]:
    """The card as a body of at most `length` characters and what it is made of then; "" where no line fits.

    First go the facts that bind nobody, then the sections that have no others, then the other facts, and last the
    sections that had fewest; it is told how many sections are gone.
    """
    cutting = _Cutting(list(card), length)
    loose = [name for name in reversed(_ORDER) if not _binds(name)]
    cutting.drop_facts(loose)
    cutting.drop_sections(at for at in reversed(range(len(card))) if not card[at].weight())
    cutting.drop_facts(name for name in reversed(_ORDER) if _binds(name))
    cutting.drop_sections(sorted(range(len(card)), key=lambda at: (card[at].weight(), -at)))
    return (cutting.body(), tuple(cutting.left())) if cutting.fits() else ("", ())


@dataclass(slots=True)
class _Cutting:
    """A card that is being shortened: its sections, None for one that is gone."""

    sections: list[Paragraph | None]
    length: int

    def left(self) -> list[Paragraph]:
        return [section for section in self.sections if section is not None]

    def body(self) -> str:
        gone = self.sections.count(None)
        return f" | {laid_out(self.left())}" + (f" | and {gone} more parts" if gone else "")

    def fits(self) -> bool:
        return len(self.body()) <= self.length

    def drop_facts(self, names: Iterable[str]) -> None:
        """Take out groups of facts in turn, each from the last section to the first, until the rest fits."""
        for name in names:
            for at in reversed(range(len(self.sections))):
                section = self.sections[at]
                if section is None or name not in dict(section.facts):
                    continue
                if self.fits():
                    return
                self.sections[at] = replace(section, facts=tuple(one for one in section.facts if one[0] != name))

    def drop_sections(self, places: Iterable[int]) -> None:
        """Take out sections in turn, but never the last that is left, until the rest fits."""
        for at in places:
            if self.fits() or len(self.left()) == 1:
                return
            self.sections[at] = None


def thread_so_far(notes: Sequence[Note]) -> str:
    """How things stand in a thread after the mail of these notes, for the reading of the next; "" of none."""
    said: dict[str, None] = {}
    for note in notes:
        said |= dict.fromkeys(
            (" ".join(note.line.split()), *_owed(note), *note.states, *note.rules, *note.absences)
        )
        said |= dict.fromkeys(note.thread)
    lines, room = list[str](), SO_FAR
    for fact in said:
        line = f"- {' '.join(visible(fact).split())}"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return unlabelled("\n".join(lines))


def _section(note: Note, heading: str, *, thread: bool) -> Paragraph:
    groups = (
        ("owes", _owed(note)),
        ("dates", note.dates),
        ("amounts", note.amounts),
        ("state", note.states),
        ("rule", note.rules),
        ("away", note.absences),
        ("things", note.things),
    )
    told = _words(note.line) | {"to", "when"}
    facts = []
    for name, said in groups:
        new = []
        for fact in said:
            words = _words(fact)
            if not words <= told:
                new.append(" ".join(fact.split()))
                told |= words
        if new:
            facts.append((name, _clean(f"{name}: {'; '.join(new)}")))
    # How things stand is told whole: who reads it must not have to put it together.
    if thread and note.thread:
        facts.append((_THREAD, _clean(f"{_THREAD}: {'; '.join(' '.join(fact.split()) for fact in note.thread)}")))
    return Paragraph(_clean(heading), _clean(" ".join(note.line.split())), tuple(facts))


def _owed(note: Note) -> list[str]:
    return [_commitment(*map(str.strip, (one.who, one.what, one.to, one.by))) for one in note.commitments]


def _commitment(who: str, what: str, to: str, by: str) -> str:
    """A form that reads well in any wording: `by` may be a day, "within ten days" or "before collection"."""
    names = f"{who} to {to}" if who and to and who != to else who
    more = ([f"for {to}"] if to and not who else []) + ([f"when: {by}"] if by else [])
    return (f"{names}: " if names else "") + what + (f" ({'; '.join(more)})" if more else "")


def _clean(text: str) -> str:
    return unlabelled(visible(text))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _binds(name: str) -> bool:
    """Whether facts of this group can be owed, due or broken."""
    return name not in ("amounts", "things")


# The groups of facts by how much they say, the most first.
_THREAD = "thread now"
_ORDER = ("owes", "dates", _THREAD, "away", "rule", "state", "amounts", "things")
