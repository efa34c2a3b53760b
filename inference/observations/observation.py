"""The observation: one fact computed from the structure of artifacts, with what it rests on."""

from dataclasses import dataclass
from datetime import datetime

from workspace import Action, Evidence


@dataclass(frozen=True, slots=True)
class Observation:
    """A fact that no model was needed for.

    `kind` is overlap, everyone-declined, waits-for-you, waits-for-others, past-due, due-in-absence,
    invitation-unanswered, date-disagrees, renewal-near, promise-without-trace, attachment-missing,
    versions-differ, replaced-in-use, needed-missing, organizer-gone, asked-in-vain, too-far-apart,
    zone-disagrees, on-a-holiday, waits-crossed, left-to-each-other or overdue-from-others. `sentence` is plain
    English with names and local times and can be read by itself.
    `evidence` names every artifact that the fact rests on. `certain` says that it may become a finding
    without anybody reading further; then `template`, `why` and `action` are those of the finding. `deadline`
    is the moment after which acting is too late, where there is one. `weight` (0 to 1) says how pressing it is.
    """

    kind: str
    sentence: str
    evidence: tuple[Evidence, ...]
    certain: bool
    template: str
    why: str
    action: Action
    deadline: datetime | None
    weight: float
