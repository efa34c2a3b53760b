"""The calls of discovery: to find problems in a story, to prove one at the originals, to know one again.

The part of a message that stays is always a prefix of the message of the next round, byte for byte.
"""

import json
from collections.abc import Sequence

from inference.candidate import Candidate
from inference.foreign import clean, closing, fence, opening
from inference.models.contract import Message

MAX_FOUND = 320
MAX_KNOWN = 500


def story_part(text: str, nonce: str) -> str:
    """The beginning of an ask: the story, the same in every round."""
    return f"# Story\n\n{fence(text, nonce)}\n\n"


def found_line(template: str, problem: str, artifacts: Sequence[int], nonce: str) -> str:
    """What the model is told of a problem that was found before, in this run or on an earlier day."""
    return f"- [{template}] {_labels(artifacts)}: {_cut(clean(problem, nonce), MAX_FOUND)}"


def ask_messages(
    constant: str,
    story: str,
    found: Sequence[str],
    most: int,
    templates: Sequence[str],
    nonce: str,
    *,
    found_first: bool = False,
    agent: str = "",
) -> tuple[Message, ...]:
    """One ask: `story` from `story_part`, `found` lines in the order in which they were found.

    `most` is how many problems may be named, `templates` the ids of those that fit the story, best first.
    `found_first` puts what was found before the story; `agent` tells one who looks beside others which one it is.
    """
    named = ", ".join(f"[{template}]" for template in templates)
    fitting = f" Look first at {named}, then at all others." if templates else ""
    new = "at most one problem" if most == 1 else f"at most {most} problems"
    told = f"# Found so far\n\n{opening(nonce)}\n" + "".join(f"{line}\n" for line in found)
    told += f"{closing(nonce)}\n\n"
    ask = (
        f"# Task FIND\n\n{agent}"
        f"Name {new} of this story, different from everything found so far.{fitting}"
        " If there is none, answer with an empty list of problems."
    )
    said = told + story if found_first else story + told
    return Message("system", constant), Message("user", said + ask)


def prove_messages(constant: str, candidate: Candidate, originals: str, nonce: str) -> tuple[Message, ...]:
    """The proof of one candidate; `originals` are the cited artifacts and others of the matter, rendered."""
    claim = "\n".join(
        (
            f"template: {candidate.template}",
            f"artifacts: {_labels(candidate.artifacts)}",
            f"problem: {candidate.problem}",
            f"why: {candidate.why}",
            f"action: {candidate.action.function_name} "
            + json.dumps(candidate.action.parameters, ensure_ascii=False, sort_keys=True),
        )
    )
    said = (
        f"# Originals\n\n{fence(originals, nonce)}\n\n# Claim\n\n{fence(claim, nonce)}\n\n"
        "# Task PROVE\n\nDoes the claim stand, is it still open, and is it this person's to act on?"
    )
    return Message("system", constant), Message("user", said)


def known_line(label: str, template: str, problem: str, action: str, nonce: str) -> str:
    """A finding, as it is shown where findings are compared."""
    # The action comes whole: it is short, and tells findings apart.
    doing = _cut(clean(f"Action: {action}", nonce), MAX_KNOWN // 2)
    said = _cut(clean(problem, nonce), MAX_KNOWN - len(doing))
    return f"- {label} [{template}] {said} {doing}"


def same_messages(constant: str, known: Sequence[str], new: str, nonce: str) -> tuple[Message, ...]:
    """Whether a new finding repeats one of those known; all are lines from `known_line`."""
    lines = "\n".join(known)
    said = f"# Known findings\n\n{fence(lines, nonce)}\n\n# New finding\n\n{fence(new, nonce)}\n\n{_SAME}"
    return Message("system", constant), Message("user", said)


_SAME = """\
# Task SAME

Does the new finding only repeat a known one? It does if both come from the same trouble, so that a person who \
has settled the known one would have nothing left to do about the new one, however differently it is told: from \
another side, with other artifacts, under another template, or with another action. Two different troubles of one \
project, document or person are not the same. Answer in JSON:
{"reason": what they have in common or what sets them apart,
 "same_as": the label of the known finding, or "none"}"""


def _cut(text: str, most: int) -> str:
    """The text in one line of at most `most` characters; where it is cut, after a word, an ellipsis says so."""
    said = " ".join(text.split())
    if len(said) <= most:
        return said
    end = said.rfind(" ", 0, most)
    # A script without spaces, or one long word, is cut anywhere.
    return f"{said[: end if end > most // 2 else most - 1]}\u2026"


def _labels(artifacts: Sequence[int]) -> str:
    return ", ".join(f"a{artifact}" for artifact in artifacts)
