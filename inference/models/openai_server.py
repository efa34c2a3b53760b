"""Any OpenAI-compatible server that the person runs or rents: vLLM, llama.cpp, Ollama, LM Studio and the like.

Outlines makes the schema; the request itself is made here, since Outlines' server models return the text alone,
and we need the token counts, the finish reason and fields of our own. Requests run side by side on one event
loop, because cancelling a task closes its connection, at which the server stops computing.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from inference.models.certainty import ALTERNATIVES, Token, decisions
from inference.models.contract import Message, OnReply, Reply, Request
from inference.models.generation import Completion, answering, lengths, strict_schema, was_cut, wire
from inference.models.http_answer import Answer, ask, ask_async
from workspace import UserError

CONNECT_SECONDS = 10.0
TRIES = 5
FIRST_WAIT_SECONDS = 0.5


class OpenAIServer:
    """A model behind `base_url` (ending in /v1 as a rule).

    `model` may be empty where the server has one model only. `context` is needed where the server does not say
    it. `key` is sent as bearer token. `sampling` holds fields of the request (temperature, top_p, ...), `extra`
    further fields of both the request and the count. `slack` is by how many tokens the server's count of a
    prompt may stay below ours before the prompt counts as cut: servers disagree about the template's framing.

    Raises UserError: the address is not safe or not reachable, or model or context can't be found out.
    """

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        key: str | None = None,
        context: int | None = None,
        side_by_side: int = 8,
        sampling: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        slack: int = 32,
        name: str = "",
        capable: bool = True,
    ) -> None:
        self._base = checked_url(base_url)
        self._root = self._base.removesuffix("/v1")
        self._side_by_side = side_by_side
        self._sampling = dict(sampling or {})
        self._extra = dict(extra or {})
        self._slack = slack
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        # Proxies of the environment are not asked: prompts go to the configured host and nowhere else.
        self._tls = ssl.create_default_context()
        self._client = httpx.Client(
            headers=self._headers,
            verify=self._tls,
            trust_env=False,
            timeout=httpx.Timeout(60, connect=CONNECT_SECONDS),
        )
        self._tells_odds = True
        self._counts: dict[int, int] = {}
        self._counting = "unknown"
        self._capable = capable
        try:
            self._model, self._context = self._described(model, context)
        except BaseException:
            self._client.close()
            raise
        self._name = name or self._model

    @property
    def name(self) -> str:
        return self._name

    @property
    def context(self) -> int:
        return self._context

    @property
    def capable(self) -> bool:
        return self._capable

    @property
    def counts_exactly(self) -> bool:
        """Whether the server counts tokens for us; if not, `count` is an estimate that rather says too many."""
        if self._counting == "unknown":
            self.count([Message("user", "")])
        return self._counting != "estimate"

    def count(self, messages: Sequence[Message]) -> int:
        sent = wire(messages)
        known = hash(tuple((m["role"], m["content"]) for m in sent))
        if known not in self._counts:
            if len(self._counts) >= 10_000:
                self._counts.clear()
            self._counts[known] = self._counted(sent)
        return self._counts[known]

    def generate(self, requests: Sequence[Request], on_reply: OnReply | None = None) -> list[Reply]:
        lengths(requests, self.count, self._context)
        return asyncio.run(self._all(requests, on_reply))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    async def _all(self, requests: Sequence[Request], on_reply: OnReply | None) -> list[Reply]:
        limit = asyncio.Semaphore(self._side_by_side)
        replies: dict[int, Reply] = {}
        async with httpx.AsyncClient(
            headers=self._headers,
            verify=self._tls,
            trust_env=False,
            # No deadline on generation: a small machine may take minutes to read a prompt.
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=self._side_by_side),
        ) as client:

            async def one(index: int) -> int:
                async with limit:
                    replies[index] = await self._answer(client, requests[index])
                return index

            tasks = [asyncio.create_task(one(index)) for index in range(len(requests))]
            try:
                for done in asyncio.as_completed(tasks):
                    index = await done
                    if on_reply is not None:
                        on_reply(index, replies[index])
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        return [replies[index] for index in range(len(requests))]

    async def _answer(self, client: httpx.AsyncClient, request: Request) -> Reply:
        steps = answering(request, self._least, self.count, self._context)
        messages = next(steps)
        while True:
            completion = await self._complete(client, request, messages)
            try:
                messages = steps.send(completion)
            except StopIteration as end:
                reply: Reply = end.value
                if was_cut(reply):
                    # Not the model's fault: no reply of this server would be worth anything, and what was asked
                    # must not count as answered.
                    if not reply.prompt_tokens:
                        raise UserError(
                            f"{self._base} does not say how much of a prompt it read. Choose a server that does."
                        ) from end
                    raise UserError(
                        f"{self._base}: the {reply.problem}. Give it a longer context, or set `context` in"
                        " settings.toml to what it has."
                    ) from end
                return reply

    async def _complete(
        self, client: httpx.AsyncClient, request: Request, messages: Sequence[Message]
    ) -> Completion:
        body = {
            "model": self._model,
            "messages": wire(messages),
            "max_tokens": request.max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": re.sub(r"\W", "_", request.schema.__name__)[:64],
                    "schema": strict_schema(request.schema),
                    "strict": True,
                },
            },
            **self._sampling,
            **self._extra,
        }
        if not (self._tells_odds and decisions(request)):
            return _completion(self._checked(await self._sent(client, body)))
        answer = await self._sent(client, {**body, "logprobs": True, "top_logprobs": ALTERNATIVES})
        if answer.status in _REFUSED:
            plain = await self._sent(client, body)
            # If it answers without them, it was the probabilities that it refused: it is not asked for them again.
            self._tells_odds = plain.status != 200
            answer = plain
        return _completion(self._checked(answer))

    async def _sent(self, client: httpx.AsyncClient, body: Mapping[str, Any]) -> Answer:
        """The answer to a completion request, which is made again where a server is busy or lets go."""
        url = f"{self._base}/chat/completions"
        answer: Answer | None = None
        failed = ""
        for wait in (*(FIRST_WAIT_SECONDS * 2**n for n in range(TRIES - 1)), None):
            try:
                answer = await ask_async(client, "POST", url, body)
            except httpx.ConnectError:
                answer, failed = None, "can't be reached"
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                # Asking changes nothing at the server, so that a connection that it let go may be tried again.
                answer, failed = None, f"broke off ({type(error).__name__})"
            except httpx.HTTPError as error:
                raise self._gone(f"broke off ({type(error).__name__})") from error
            if answer is not None and answer.status != 429 and answer.status < 500:
                break
            if wait is not None:
                await asyncio.sleep(max(wait, answer.wait if answer is not None else 0.0))
        if answer is None:
            raise self._gone(failed)
        return answer

    def _least(self, messages: Sequence[Message]) -> int:
        """The prompt tokens that the server reports at the least if it read everything."""
        if self.counts_exactly:
            return self.count(messages) - self._slack
        # Hardly any tokenizer makes less than one token of a word.
        return sum(len(message.content.split()) for message in messages)

    def _counted(self, sent: list[dict[str, str]]) -> int:
        """Ask vLLM's /tokenize; else llama.cpp's /apply-template and /tokenize; else estimate."""
        if self._counting in ("unknown", "messages"):
            body = {"model": self._model, "messages": sent, "add_generation_prompt": True, **self._extra}
            answer = self._asked("/tokenize", body)
            if isinstance(answer.get("count"), int) and answer["count"] > 0:
                self._counting = "messages"
                return int(answer["count"])
        if self._counting in ("unknown", "template"):
            prompt = self._asked("/apply-template", {"messages": sent, **self._extra}).get("prompt")
            if isinstance(prompt, str):
                body = {"content": prompt, "add_special": True, "parse_special": True}
                tokens = self._asked("/tokenize", body).get("tokens")
                if isinstance(tokens, list) and tokens:
                    self._counting = "template"
                    return len(tokens)
        if self._counting in ("messages", "template"):
            raise self._gone("counts no tokens any more")
        self._counting = "estimate"
        # Real text takes three to four bytes a token, tables and addresses down to two and a half.
        return sum(16 + int(len(m["content"].encode()) / 2.5) for m in sent)

    def _asked(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """An answer of an optional endpoint; nothing where the server does not have it."""
        try:
            answer = ask(self._client, "POST", self._root + path, body)
        except httpx.HTTPError as error:
            raise self._gone("can't be reached") from error
        if answer.status in _NOT_OFFERED:
            return {}
        if answer.status != 200:
            self._checked(answer)
        return answer.body if isinstance(answer.body, dict) else {}

    def _described(self, model: str, context: int | None) -> tuple[str, int]:
        """The model's id and context, from /models where they were not given."""
        try:
            answer = ask(self._client, "GET", f"{self._base}/models")
        except httpx.HTTPError as error:
            raise self._gone("can't be reached") from error
        told_of = self._checked(answer).get("data")
        listed = [m for m in (told_of if isinstance(told_of, list) else []) if isinstance(m, dict) and m.get("id")]
        names = [str(m["id"]) for m in listed]
        if not model and len(names) != 1:
            offered = ", ".join(names[:8]) or "none"
            raise UserError(f"{self._base} offers {offered}. Name one: {self._base}#MODEL")
        if model and names and model not in names:
            raise UserError(f"{self._base} has no model {model!r}. It offers: {', '.join(names[:8])}")
        model = model or names[0]
        told = next((m.get("max_model_len") for m in listed if m["id"] == model), None)
        told = told or self._slot_context()
        if context and isinstance(told, int) and told < context:
            raise UserError(
                f"{self._base} has a context of {told} tokens, not {context}. Set it to {told} or less."
            )
        found = context or told
        if not isinstance(found, int) or found <= 0:
            raise UserError(f"{self._base} does not say how long a prompt may be. Set `context` in settings.toml.")
        return model, found

    def _slot_context(self) -> int | None:
        """llama.cpp tells in /props what one of its slots holds."""
        with contextlib.suppress(httpx.HTTPError, AttributeError):
            told = ask(self._client, "GET", f"{self._root}/props").body
            told = told.get("default_generation_settings", {}).get("n_ctx")
            return told if isinstance(told, int) else None
        return None

    def _checked(self, answer: Answer) -> dict[str, Any]:
        """The object in an answer.

        Raises UserError for every answer but a good one, in one line.
        """
        status = answer.status
        if status in (401, 403):
            raise UserError(f"{self._base} refused the key ({status}). Store the right one and try again.")
        if status == 404:
            raise UserError(f"{self._base} has no such model or path ({answer.said}). Check the address.")
        if status == 429:
            raise UserError(
                f"{self._base} takes no more requests at the moment (429). Lower side_by_side or wait."
            )
        if status >= 500:
            raise UserError(f"{self._base} failed ({status}: {answer.said}). See its log, then try again.")
        if status != 200:
            raise UserError(f"{self._base} refused the request ({status}: {answer.said}).")
        if not isinstance(answer.body, dict):
            raise UserError(f"{self._base} does not answer like an OpenAI-compatible server. Check the address.")
        return answer.body

    def _gone(self, what: str) -> UserError:
        return UserError(f"The model server {self._base} {what}. Start it, or choose another model.")


def checked_url(base_url: str) -> str:
    """The base URL without its last slash.

    Raises UserError unless it is https, or http to this machine.
    """
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that don't match, a port that is no number
        usable = False
    if not usable or not base_url.isprintable():
        raise UserError(
            f"{base_url!r} is no address of a model server. Use http://127.0.0.1:PORT/v1 or https://..."
        )
    if parts.username or parts.query or parts.fragment:
        raise UserError("The address of a model server holds no key or name. Store the key in the keyring.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise UserError(f"{base_url} would send your mail unencrypted to another machine. Use https.")
    return base_url.rstrip("/")


_NOT_OFFERED = (400, 404, 405, 422, 501)
_REFUSED = (400, 403, 422)
# Servers write minus infinity as -9999 and the like.
_MOST_LOGPROB = 1e9


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _completion(body: Mapping[str, Any]) -> Completion:
    """Read a chat completion; what is absent or of a wrong shape counts as nothing and fails in validation."""
    choices = body.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    usage = _object(body.get("usage"))
    text, finish = _object(choice.get("message")).get("content"), choice.get("finish_reason")
    return Completion(
        # Escapes in JSON can bring lone surrogates, which no text may hold.
        text=text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else "",
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        cached_tokens=_tokens(_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
        output_tokens=_tokens(usage.get("completion_tokens")),
        finish=finish if isinstance(finish, str) and finish else "nothing",
        tokens=_odds(_object(choice.get("logprobs")).get("content")),
    )


def _odds(told: Any) -> tuple[Token, ...]:
    """The tokens of an answer with their probabilities; none where a server tells them in another shape."""
    tokens = []
    for one in told if isinstance(told, list) else ():
        listed = _object(one).get("top_logprobs")
        entries = [_entry(entry) for entry in (one, *(listed if isinstance(listed, list) else ()))]
        text, logprob = entries[0]
        if logprob is None:
            return ()
        likeliest = {other: told_of for other, told_of in entries[1:] if told_of is not None}
        tokens.append(Token(text, logprob, likeliest))
    return tuple(tokens)


def _entry(said: Any) -> tuple[str, float | None]:
    text, logprob = _object(said).get("token"), _object(said).get("logprob")
    if isinstance(text, str) and isinstance(logprob, int | float) and abs(logprob) < _MOST_LOGPROB:
        return text, float(logprob)
    return "", None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tokens(value: Any) -> int:
    """A count of tokens; 0 where it is none that a server could mean."""
    return value if isinstance(value, int) and 0 <= value < 10**9 else 0
