"""A note: what one artifact, or one section of a long document, says, as typed facts and one line."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Word = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Figure = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Phrase = Annotated[str, StringConstraints(min_length=1, max_length=140)]


class Commitment(BaseModel):
    """Who owes what to whom by when; "" where the text does not say."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    who: Annotated[str, StringConstraints(max_length=60)]
    what: Annotated[str, StringConstraints(min_length=1, max_length=140)]
    to: Annotated[str, StringConstraints(max_length=60)]
    by: Annotated[str, StringConstraints(max_length=60)]


class Note(BaseModel):
    """The typed facts of one text, in English. Every list is bounded, so that decoding ends.

    `thread` is for a mail that comes after others of its thread: how things stand there after it. All other facts
    are those of the text itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    people: Annotated[list[Word], Field(max_length=8)]
    things: Annotated[list[Word], Field(max_length=10)]
    commitments: Annotated[list[Commitment], Field(max_length=5)]
    dates: Annotated[list[Phrase], Field(max_length=12)]
    amounts: Annotated[list[Figure], Field(max_length=12)]
    states: Annotated[list[Phrase], Field(max_length=5)]
    rules: Annotated[list[Phrase], Field(max_length=5)]
    absences: Annotated[list[Phrase], Field(max_length=4)]
    thread: Annotated[list[Phrase], Field(max_length=6)] = Field(default_factory=list)
    line: Annotated[str, StringConstraints(min_length=1, max_length=360)]
