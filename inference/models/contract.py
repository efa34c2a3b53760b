"""What a language model is to the rest of Tide: typed requests in, counted and validated replies out.

Three implementations stand behind this contract: a vLLM server that Tide starts (`vllm_server`), any
OpenAI-compatible server (`openai_server`) and transformers in this process (`local`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

if TYPE_CHECKING:
    from types import TracebackType

    from pydantic import BaseModel

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One question, and the type that its answer must have.

    `max_tokens` bounds the answer. `purpose` ("read", "ask", "prove", ...) names the request in traces and
    counts and is not sent to the model.
    """

    messages: tuple[Message, ...]
    schema: type[BaseModel]
    max_tokens: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `value` is an instance of the request's schema, or None, and then `problem` says why.

    `text` and `finish` are those of the last try; the tokens are the sum over both tries where the first had
    to be repaired, and `repaired` is then the text of the first. `cached_tokens` is the part of
    `prompt_tokens` that was not computed again. `certainty` is the probability, 0 to 1, of the answer's decisions
    together: of the values of its fields that are true or false (see `models.certainty`). It is there for requests
    of the purpose "prove" where the engine tells how likely its tokens were, and None elsewhere.
    """

    value: BaseModel | None
    text: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    finish: Finish
    problem: str
    repaired: str = ""
    certainty: float | None = None


OnReply = Callable[[int, Reply], None]


class LanguageModel(Protocol):
    """A model that answers typed requests; a context manager whose end is `close`.

    `name` is the model's id as runs and notes record it; `context` the tokens that prompt and output may take
    together; `capable` says whether what it writes may be shown to a person or kept as notes.
    """

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> int: ...

    @property
    def capable(self) -> bool: ...

    def count(self, messages: Sequence[Message]) -> int:
        """The tokens of these messages with the model's chat template around them, up to where it answers."""
        ...

    def generate(self, requests: Sequence[Request], on_reply: OnReply | None = None) -> list[Reply]:
        """Answer all requests; replies come back in their order, and to `on_reply` as each is complete.

        `on_reply(index, reply)` is called in the caller's thread. An exception that it raises (`Cancelled`,
        or KeyboardInterrupt at any moment) stops the requests still under way and passes through.

        Raises PromptTooLong before anything is sent; workspace.UserError where the model can't be reached.
        """
        ...

    def close(self) -> None:
        """Give back what the model holds (process, memory, connections). May be called twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None: ...


class Cancelled(Exception):
    """Raised from `on_reply` by a caller who wants no more replies."""


class PromptTooLong(Exception):
    """A request that does not fit the model's context was about to be sent: a bug in whoever built it."""

    def __init__(self, index: int, purpose: str, prompt: int, output: int, context: int) -> None:
        self.index, self.prompt, self.output, self.context = index, prompt, output, context
        super().__init__(
            f"request {index} ({purpose}): {prompt} prompt tokens and up to {output} output tokens "
            f"exceed the context of {context} tokens"
        )
