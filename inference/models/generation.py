"""The life of one request, whatever model answers it: count, complete, validate, repair once, reply.

The functions here do no input or output. A model drives `answering` with its own way to complete a prompt, so
the server adapters (asyncio) and the in-process model (plain calls) share one implementation of the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from inference.models.certainty import Token, certainty_of, decisions
from inference.models.contract import Finish, Message, PromptTooLong, Reply, Request

Wire = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model gave for one prompt. `finish` is the server's own word, which may be an unexpected one;
    `tokens` are those of the answer where the engine was asked and told how likely they were, else none."""

    text: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    finish: str
    tokens: tuple[Token, ...] = ()


Answering = Generator[tuple[Message, ...], Completion, Reply]


def wire(messages: Sequence[Message]) -> Wire:
    """The messages as chat templates take them, with what would do harm in their content made plain text.

    A chat template is filled in as text: content that spells `<|im_end|>` would end its turn and could open
    one in another role. A space after the bracket undoes it; we never write such tokens ourselves. Lone
    surrogates, which broken mail can bring and tokenizers refuse, become question marks.
    """
    return [{"role": message.role, "content": _plain(message.content)} for message in messages]


@lru_cache(maxsize=256)
def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema that constrains the output: closed objects, every property required, no defaults.

    Outlines checks and writes it. Optional properties are required because strict modes of servers ask for
    that, and because a model that may leave things out does so at random.
    """
    from outlines.types import JsonSchema

    checked: dict[str, Any] = json.loads(JsonSchema(schema, ensure_ascii=False).schema)
    closed: dict[str, Any] = _closed(checked)
    return closed


def lengths(requests: Sequence[Request], count: Callable[[Sequence[Message]], int], context: int) -> list[int]:
    """The prompt tokens of each request.

    Raises PromptTooLong for the first that does not fit the context together with its answer.
    """
    counted = []
    for index, request in enumerate(requests):
        tokens = count(request.messages)
        if tokens + request.max_tokens > context:
            raise PromptTooLong(index, request.purpose, tokens, request.max_tokens, context)
        counted.append(tokens)
    return counted


def answering(
    request: Request,
    least: Callable[[Sequence[Message]], int],
    count: Callable[[Sequence[Message]], int],
    context: int,
) -> Answering:
    """Yields each prompt to be completed, takes its completion, returns the reply: at most two tries.

    `least(messages)` is the number of prompt tokens that the server must report if it read all of them.
    """
    messages = request.messages
    completion = yield messages
    reply = _judged(request, completion, least(messages))
    if reply.value is not None or not reply.text.strip() or completion.finish not in _FINISHES or was_cut(reply):
        return reply
    again = (
        *messages,
        Message("assistant", reply.text),
        Message("user", f"That answer is not valid: {reply.problem}. Answer again, with valid JSON only."),
    )
    if count(again) + request.max_tokens > context:
        return reply
    completion = yield again
    second = _judged(request, completion, least(again))
    return replace(
        second,
        prompt_tokens=reply.prompt_tokens + second.prompt_tokens,
        cached_tokens=reply.cached_tokens + second.cached_tokens,
        output_tokens=reply.output_tokens + second.output_tokens,
        repaired=reply.text,
    )


def was_cut(reply: Reply) -> bool:
    """Whether the server answered to less than it was sent."""
    return reply.problem.startswith(_CUT)


_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length"}
_NOT_SENT = ("default", "title", "properties")
_CUT = "prompt was cut by the server"
_CONTROL = re.compile(r"(<)(\||/?(?:s|bos|eos|start_of_turn|end_of_turn)>)|(?<=\[)()(?=/?INST\])")


def _plain(text: str) -> str:
    return _CONTROL.sub(r"\1 \2", text.encode("utf-8", "replace").decode("utf-8"))


def _judged(request: Request, completion: Completion, least: int) -> Reply:
    """Validate one completion; never raises."""
    value, problem = None, ""
    if completion.prompt_tokens < least:
        problem = f"{_CUT}: it read {completion.prompt_tokens} of at least {least} tokens"
    elif completion.finish not in _FINISHES:
        problem = f"the server ended the answer for another reason: {completion.finish}"
    else:
        try:
            value = request.schema.model_validate_json(_json_part(completion.text))
        except ValidationError as error:
            problem = _one_line(error)
            if completion.finish == "length":
                problem = f"it was cut off after {completion.output_tokens} tokens; {problem}"
    return Reply(
        value=value,
        text=completion.text,
        prompt_tokens=completion.prompt_tokens,
        cached_tokens=completion.cached_tokens,
        output_tokens=completion.output_tokens,
        finish=_FINISHES.get(completion.finish, "stop"),
        problem=problem,
        certainty=None if value is None else certainty_of(completion.tokens, decisions(request)),
    )


def _json_part(text: str) -> str:
    """The outermost object: a server that ignores the schema may wrap it in a fence or in prose."""
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _one_line(error: ValidationError) -> str:
    faults = [
        f"{'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return " ".join("; ".join(faults[:3]).split())[:300]


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items() if key not in _NOT_SENT}
    if isinstance(node.get("properties"), dict):
        # A property may itself be called "title" or "default": its name is no keyword.
        closed["properties"] = {name: _closed(value) for name, value in node["properties"].items()}
        closed["required"] = list(closed["properties"])
        closed["additionalProperties"] = False
    return closed
