"""A language model whose replies are kept in the store until the run has finished.

A run that was killed makes the same requests when it is taken up again. Those that were answered get the reply
that they got, so that the run goes the same way, and only the rest is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from inference.models.contract import LanguageModel, OnReply, Reply, Request

if TYPE_CHECKING:
    from pydantic import BaseModel

    from workspace.store import Store


class Journal:
    """Asks `model` for what the run of this id has not asked yet. A request made twice is answered once."""

    def __init__(self, model: LanguageModel, store: Store, run: int) -> None:
        self._model = model
        self._store = store
        self._run = run

    def generate(self, requests: Sequence[Request], on_reply: OnReply | None = None) -> list[Reply]:
        """Answer all requests in their order, as `LanguageModel.generate` does.

        A reply is in the store before `on_reply` hears of it.
        """
        digests = [self._digest(request) for request in requests]
        replies: dict[str, Reply] = {}
        missing: dict[str, Request] = {}
        for digest, request in zip(digests, requests, strict=True):
            kept = self._store.runs.reply(digest)
            if kept is None:
                missing[digest] = request
            else:
                replies[digest] = _read(kept, request)
        order = list(missing)

        def keep(index: int, reply: Reply) -> None:
            self._store.runs.keep_reply(self._run, order[index], _written(reply))
            if on_reply is not None:
                on_reply(digests.index(order[index]), reply)

        if missing:
            replies.update(zip(order, self._model.generate(list(missing.values()), keep), strict=True))
        return [replies[digest] for digest in digests]

    def _digest(self, request: Request) -> str:
        said = (
            self._run,
            self._model.name,
            [(message.role, message.content) for message in request.messages],
            _described(request.schema),
            request.max_tokens,
            request.purpose,
        )
        # Ensuring ASCII keeps lone surrogates, which broken mail can bring, encodable.
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=512)
def _described(schema: type[BaseModel]) -> dict[str, Any]:
    return schema.model_json_schema()


def _written(reply: Reply) -> str:
    value = None if reply.value is None else reply.value.model_dump(mode="json")
    return json.dumps({**asdict(reply), "value": value})


def _read(kept: str, request: Request) -> Reply:
    fields = json.loads(kept)
    if fields["value"] is not None:
        fields["value"] = request.schema.model_validate(fields["value"])
    return Reply(**fields)
