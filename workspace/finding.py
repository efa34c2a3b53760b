"""What discovery brings: findings with evidence and action, and the record of the run that made them.

Records that a newer version wrote may hold fields that this one does not know; they are passed over.
"""

import hashlib
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from workspace.action import Action


class State(StrEnum):
    """What the person, or time, made of a finding."""

    NEW = "new"
    SEEN = "seen"
    SNOOZED = "snoozed"
    DISMISSED = "dismissed"
    DONE = "done"
    LAPSED = "lapsed"


class Stakes(StrEnum):
    """What is lost if nobody acts. Low: a nuisance, easily made up for. Medium: work is late or wrong, or somebody
    waits. High: money, a right, health, a position or trust, or what cannot be made good."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Evidence(BaseModel):
    """One artifact that shows the problem, and its words, which stand there letter by letter.

    `where` says in which part of the artifact the words stand: title, text, quoted, or a fact of its
    structure such as `start`. The title and origin are kept so that a finding can still be read when its
    artifact is gone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    artifact: int
    quote: str
    where: str = "text"
    title: str = ""
    origin: str = ""


class Finding(BaseModel):
    """A problem nobody has named: what is wrong, why it is one, what shows it, and one action.

    `about` is its identity: the template and the artifacts, not the wording, which changes from run to run.
    `deadline` is the moment after which acting is too late, where one is known. `observed` is the kind of
    observation that it was computed from, "" for what a model found. `revision` is that of the artifacts against
    which it was last held, `updated` the moment at which it was last told anew from changed evidence, or lapsed.
    `stakes` are what the model judged them to be when it proved the finding; those of a computed one are medium.
    `kept` says that the person took it up again after it had lapsed, so that it does not lapse by itself any more.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: int = 0
    template: str
    description: str
    why: str
    evidence: tuple[Evidence, ...] = Field(min_length=1)
    action: Action
    confidence: float = Field(ge=0.0, le=1.0)
    deadline: datetime | None = None
    state: State = State.NEW
    reason: str = ""
    snoozed_until: datetime | None = None
    run: int = 0
    created: datetime | None = None
    observed: str = ""
    stakes: Stakes = Stakes.MEDIUM
    revision: int = 0
    updated: datetime | None = None
    kept: bool = False

    @property
    def artifacts(self) -> frozenset[int]:
        return frozenset(item.artifact for item in self.evidence)

    @property
    def about(self) -> str:
        """Digest of template and artifacts, 16 hexadecimal digits."""
        said = f"{self.template}|{','.join(map(str, sorted(self.artifacts)))}"
        return hashlib.sha256(said.encode()).hexdigest()[:16]


class RoundCount(BaseModel):
    """What one round did: `dropped` counts rejected candidates by the check that they failed."""

    model_config = ConfigDict(extra="ignore")
    round: int
    asked: int = 0
    candidates: int = 0
    new: int = 0
    known: int = 0
    dropped: dict[str, int] = Field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class Call(BaseModel):
    """One call of a model: its purpose, the round (0 outside rounds) and its tokens."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    purpose: str
    round: int = 0
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int


class Dropped(BaseModel):
    """A candidate that was not shown, and the check that it failed."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    round: int
    template: str
    description: str
    check: str
    detail: str


class ProofCount(BaseModel):
    """What the proof made of the candidates of a run: how many became findings, and how many failed which check.

    The checks `stands`, `open` and `person` are the model's verdict at the originals; the others are made by
    program.
    """

    model_config = ConfigDict(extra="ignore")
    candidates: int = 0
    kept: int = 0
    dropped: dict[str, int] = Field(default_factory=dict)

    @property
    def dropped_share(self) -> float | None:
        """The share of the candidates, 0 to 1, that did not become findings; None where there were none."""
        return sum(self.dropped.values()) / self.candidates if self.candidates else None


class Run(BaseModel):
    """The record of one discovery; everything the window plots and the digest says of it comes from here.

    `revision` is that of the artifacts that it looked at. `seconds` are by step: observe, select, ask, prove.
    `updated` and `lapsed` are the ids of earlier findings that were told anew, and that no longer hold. `found` is
    the round in which the model named each of the findings that it brought, by what they are `about`. `proof`
    counts what became of all that it named.
    """

    model_config = ConfigDict(extra="ignore")
    id: int = 0
    strategy: str
    model: str
    started: datetime
    finished: datetime | None = None
    ended: str = ""
    revision: int = 0
    views: int = 0
    rounds: list[RoundCount] = Field(default_factory=list)
    calls: list[Call] = Field(default_factory=list)
    dropped: list[Dropped] = Field(default_factory=list)
    updated: list[int] = Field(default_factory=list)
    lapsed: list[int] = Field(default_factory=list)
    proof: ProofCount = Field(default_factory=ProofCount)
    found: dict[str, int] = Field(default_factory=dict)
    seconds: dict[str, float] = Field(default_factory=dict)
