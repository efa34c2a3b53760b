"""Originals: artifacts as a proof shows them, in full, or where they are too long, the passages that matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from inference.foreign import unlabelled
from workspace import Artifact, Kind, Profile

Count = Callable[[str], int]

FOR_OTHERS = 0.3
"""The share of the space that other artifacts get, where there are any."""
LEAST = 60
"""Tokens below which showing another artifact says nothing."""
PIECE = 400
"""Characters of the longest passage that is taken or left as a whole."""
MAX_FACT = 200
"""Characters of a line of the heading."""
MAX_PEOPLE = 30
TOKENS_A_PERSON = 40


def rendered(
    cited: Sequence[Artifact],
    others: Sequence[Artifact],
    claim: str,
    profile: Profile,
    tokens: int,
    count: Count,
) -> tuple[str, list[Artifact]]:
    """The cited artifacts and as many of the others as fit, in at most `tokens`, and which ones they are.

    Of a text that is too long, its beginning and the passages that share words with the `claim` are shown.
    """
    blocks: list[str] = []
    shown: list[Artifact] = []
    left = tokens
    reserved = int(tokens * FOR_OTHERS) if others else 0
    for group, reserve in ((cited, reserved), (others, 0)):
        for index, artifact in enumerate(group):
            allowed = (left - reserve) // (len(group) - index)
            if group is others and allowed < LEAST:
                continue
            mark = "cited" if group is cited else "same matter, not cited"
            block = _block(artifact, mark, claim, profile, allowed, count)
            size = count(block)
            if size > allowed:
                continue
            blocks.append(block)
            shown.append(artifact)
            left -= size
    return "\n\n".join(blocks), shown


def _block(artifact: Artifact, mark: str, claim: str, profile: Profile, tokens: int, count: Count) -> str:
    people = min(MAX_PEOPLE, max(1, tokens // TOKENS_A_PERSON))
    heading = "\n".join((f"[{artifact.label}] {artifact.kind}, {mark}", *_facts(artifact, profile, people)))
    left = tokens - count(heading)
    parts = [heading]
    for name, text in (("text", artifact.text), ("quoted", artifact.quoted)):
        if text.strip():
            passage = _passages(unlabelled(text), claim, left - count(f"{name}:\n"), count)
            if passage:
                parts.append(f"{name}:\n{passage}")
                left -= count(parts[-1])
    return "\n".join(parts)


def _facts(artifact: Artifact, profile: Profile, people: int) -> list[str]:
    """The heading, a line for each fact, in the words in which a fact is quoted."""

    def local(moment: datetime) -> str:
        form = "%Y-%m-%d" if artifact.all_day else "%Y-%m-%dT%H:%M"
        return artifact.local(moment, profile.zone).strftime(form)

    named = {Kind.EMAIL: "sent", Kind.EVENT: "start", Kind.TASK: "start"}.get(artifact.kind, "modified")
    facts = [("title", artifact.title)] if artifact.title else []
    for person in artifact.people[:people]:
        answer = f": {person.status}" if person.status else ""
        facts.append((person.role.value, f"{person}{answer}"))
    moments = ((named, artifact.time), ("end", artifact.end), ("due", artifact.due))
    facts += [(name, local(moment)) for name, moment in moments if moment is not None]
    words = (("status", artifact.status), ("location", artifact.location), ("recurrence", artifact.recurrence))
    facts += [(name, value) for name, value in words if value]
    if artifact.cancelled:
        facts.append(("cancelled", "yes"))
    return [f"{name}: {unlabelled(' '.join(value.split()))[:MAX_FACT]}" for name, value in facts]


def _passages(text: str, claim: str, tokens: int, count: Count) -> str:
    """The text, or as much of what matters as fits; "" where nothing does."""
    total = count(text)
    if total <= tokens:
        return text
    pieces = _pieces(text)
    frequency = Counter(word for piece in pieces for word in _words(piece))
    wanted = _words(claim)
    # A word that stands in few passages tells more; the beginning says what the text is.
    weight = {
        index: sum(1 / frequency[word] for word in _words(piece) & wanted) + (1 if index == 0 else 0)
        for index, piece in enumerate(pieces)
    }
    best = sorted(weight, key=lambda index: (-weight[index], index))
    room = int(len(text) * max(tokens, 0) / total)
    while room > 0:
        chosen, used = [], 0
        for index in best:
            if used + len(pieces[index]) <= room:
                chosen.append(index)
                used += len(pieces[index]) + len(CUT)
        passage = _joined(pieces, sorted(chosen))
        if count(passage) <= tokens:
            return passage
        room = int(room * 0.85)
    return ""


CUT = "\n[...]\n"
_WORD = re.compile(r"\w{3,}")


def _pieces(text: str) -> list[str]:
    """The text in pieces of at most `PIECE` characters, cut between lines, else between words."""
    pieces = []
    for line in text.splitlines(keepends=True):
        while len(line) > PIECE:
            at = line.rfind(" ", 1, PIECE) + 1 or PIECE
            pieces.append(line[:at])
            line = line[at:]
        if pieces and len(pieces[-1]) + len(line) <= PIECE:
            pieces[-1] += line
        else:
            pieces.append(line)
    return pieces


def _joined(pieces: Sequence[str], chosen: Sequence[int]) -> str:
    said = ""
    for before, index in zip((-1, *chosen), chosen, strict=False):
        said += (CUT if index > before + 1 else "") + pieces[index]
    return said


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
