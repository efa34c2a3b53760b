"""A language model to which somebody listens: for a trace, or to count what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from inference.models.contract import LanguageModel, Message, OnReply, Reply, Request


class Overheard:
    """A language model of which `heard` gets every request with its reply, in the order of completion."""

    def __init__(self, model: LanguageModel, heard: Callable[[Request, Reply], None]) -> None:
        self._model = model
        self._heard = heard

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def context(self) -> int:
        return self._model.context

    @property
    def capable(self) -> bool:
        return self._model.capable

    def count(self, messages: Sequence[Message]) -> int:
        return self._model.count(messages)

    def generate(self, requests: Sequence[Request], on_reply: OnReply | None = None) -> list[Reply]:
        def heard(index: int, reply: Reply) -> None:
            self._heard(requests[index], reply)
            if on_reply is not None:
                on_reply(index, reply)

        return self._model.generate(requests, heard)

    def close(self) -> None:
        self._model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
