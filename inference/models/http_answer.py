"""What a model server answers over HTTP, read so that no server can do harm with it.

A server may be of any make, may be another one than the person thinks, and may be broken: its answer is read up
to a limit, and what is no JSON, or nested without end, is no answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

MOST_BYTES = 64 * 1024 * 1024
_LONGEST_WAIT_SECONDS = 30.0


class TooLarge(httpx.HTTPError):
    """The answer goes on beyond MOST_BYTES."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of a response, its body as JSON (None where it is none), and the seconds that the server asks to
    wait before the next try."""

    status: int
    body: Any
    reason: str
    wait: float

    @property
    def said(self) -> str:
        """The server's own words on an error, in one line."""
        told = self.body.get("error") if isinstance(self.body, dict) else None
        told = told.get("message") if isinstance(told, dict) else told
        return " ".join(str(told or self.reason).split())[:200]


def ask(client: httpx.Client, method: str, url: str, body: Any = None) -> Answer:
    """Send a request and read the answer.

    Raises:
        httpx.HTTPError: if the server cannot be reached, breaks off, or answers without end.
    """
    with client.stream(method, url, json=body) as response:
        data = bytearray()
        for chunk in response.iter_bytes():
            _add(data, chunk)
    return _answer(response, data)


async def ask_async(client: httpx.AsyncClient, method: str, url: str, body: Any = None) -> Answer:
    """As `ask`, on an event loop."""
    async with client.stream(method, url, json=body) as response:
        data = bytearray()
        async for chunk in response.aiter_bytes():
            _add(data, chunk)
    return _answer(response, data)


def _add(data: bytearray, chunk: bytes) -> None:
    data += chunk
    if len(data) > MOST_BYTES:
        raise TooLarge(f"more than {MOST_BYTES} bytes")


def _answer(response: httpx.Response, data: bytearray) -> Answer:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    told = response.headers.get("retry-after", "")
    # A float takes what is too long for an integer.
    wait = min(float(told), _LONGEST_WAIT_SECONDS) if told.isdecimal() else 0.0
    return Answer(response.status_code, body, response.reason_phrase, wait)
