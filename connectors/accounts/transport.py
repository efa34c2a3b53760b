"""One request over HTTP and its answer, bounded whatever the server does. It knows of no secrets and no redirects.

Proxies and .netrc of the environment are not asked: a request goes to the host that it names and to no other.
"""

import logging
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from connectors.accounts.network import LATER, SECONDS, Backoff, problem_of, tls_context
from workspace import Account, QuotaReached, ServerAway, SourceProblem
from workspace.accounts import on_this_machine

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 64 * 1024 * 1024
TRIES = 3
CONNECT_SECONDS = 10.0
LONGEST_SECONDS = 600.0
"""How long one answer may take, however busily the server sends."""

_CHUNK = 64 * 1024
_SAFE_TO_REPEAT = frozenset({"GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"})


class TooLarge(SourceProblem):
    """A server answers with more than it was allowed to."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered: the names of headers are in lower case, `url` is where the answer came from."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    url: str = field(repr=False)


class Transport:
    """Connections to servers, their certificates checked as the account wants. Close it, or leave its `with`."""

    def __init__(
        self, account: Account, *, tries: int = TRIES, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        # The command line that httpx brings along takes half of its time to load; None keeps it out.
        sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
        import httpx

        # At their own levels they would log addresses, which may be secrets, and headers.
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self._tries = tries
        self._sleep = sleep
        self._client = httpx.Client(
            verify=tls_context(account),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS),
            headers={"accept-encoding": "gzip", "user-agent": "Tide"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        most: int = MOST_BYTES,
        auth: "httpx.Auth | None" = None,
    ) -> Answer:
        """Send a request, again where the connection failed and that can do no harm, and read up to `most` bytes.

        Raises:
            CertificateRefused: the server does not prove that it is the host of `url`.
            QuotaReached: it wants to be asked less often (429).
            ServerAway: it cannot be reached, breaks off or is busy (502, 503, 504).
            SourceProblem: its answer is too large, or no HTTP; or `url` is none that one may go to.
        """
        import httpx

        where = host_of(url)
        backoff = Backoff(most=10.0)
        for left in reversed(range(self._tries)):
            try:
                return _sound(self._sent(method, url, dict(headers or {}), content, most, auth), where)
            except httpx.InvalidURL as error:
                raise SourceProblem(f"{where} gave an address that is none.") from error
            except httpx.TransportError as error:
                problem = _problem(error, where)
                repeat = method in _SAFE_TO_REPEAT or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if not left or not repeat or not isinstance(problem, ServerAway):
                    raise problem from error
            self._sleep(backoff.next())
        raise AssertionError("the last try returns or raises")

    def _sent(
        self, method: str, url: str, headers: dict[str, str], content: bytes, most: int, auth: "httpx.Auth | None"
    ) -> Answer:
        where = host_of(url)
        with self._client.stream(method, url, headers=headers, content=content, auth=auth) as response:
            data = bytearray()
            until = time.monotonic() + LONGEST_SECONDS
            for chunk in _decoded(response, most, where):
                data += chunk
                if len(data) > most:
                    raise TooLarge(f"{where} answers with more than {most / 1e6:.3g} MB. It was not read.")
                if time.monotonic() > until:
                    raise ServerAway(f"{where} is too slow: one answer took {LONGEST_SECONDS:.0f} seconds.")
            names = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, names, bytes(data), url)


def host_of(url: str) -> str:
    """The host of an address, for people; the rest of it may be a secret.

    Raises:
        SourceProblem: if one may not go there: it is none of http(s), or http to another machine.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        raise SourceProblem("A server gave an address that is none.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise SourceProblem("Not an address of the web: it has to begin with https://.")
    if parts.scheme == "http" and not on_this_machine(host):
        raise SourceProblem(f"{host} is to be asked without encryption, for all to read. Use https://.")
    return host


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an address (RFC 6454).

    Raises:
        SourceProblem: as `host_of`.
    """
    host = host_of(url)
    parts = urlsplit(url)
    return parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80)


def _decoded(response: "httpx.Response", most: int, where: str) -> Iterator[bytes]:
    """The body in pieces, unpacked no further than one byte beyond `most`, so that a bomb ends here."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("", "identity"):
        yield from response.iter_raw(_CHUNK)
        return
    if coding not in ("gzip", "x-gzip"):
        raise SourceProblem(f"{where} packs its answers in a way that it was not asked to.")
    unpack = zlib.decompressobj(wbits=31)
    room, begun = most + 1, False
    try:
        for packed in response.iter_raw(_CHUNK):
            begun = begun or bool(packed)
            while packed and room > 0:
                chunk = unpack.decompress(packed, min(room, _CHUNK))
                packed = unpack.unconsumed_tail
                room -= len(chunk)
                yield chunk
    except zlib.error as error:
        raise SourceProblem(f"{where} answers with what cannot be unpacked.") from error
    if begun and room > 0 and not unpack.eof:
        raise ServerAway(f"{where} broke its answer off.")


def _problem(error: "httpx.TransportError", where: str) -> SourceProblem:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return ServerAway(f"{where} does not answer. {LATER}.")
    if isinstance(error, httpx.RemoteProtocolError):
        return ServerAway(f"{where} broke the connection off, or speaks no HTTP.")
    return problem_of(error, where) or ServerAway(f"{where} cannot be reached.")


def _sound(answer: Answer, where: str) -> Answer:
    """The answer, unless the server says that it can give none now.

    Raises:
        QuotaReached, ServerAway: as `Transport.send`.
    """
    told = answer.headers.get("retry-after", "")
    wait = f" It says: try again in {int(told)} seconds." if told.isdecimal() and len(told) < 8 else ""
    if answer.status == 429:
        raise QuotaReached(f"{where} wants to be asked less often.{wait}")
    if answer.status in (502, 503, 504):
        raise ServerAway(
            f"{where} is busy or being serviced (status {answer.status}).{wait}"
            " It is tried again at the next sync."
        )
    return answer
