"""HTTP with an account's sign-in, which goes to the account's own server and nowhere else."""

import base64
import ipaddress
import socket
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin

from connectors.accounts.credentials import Credentials
from connectors.accounts.network import reaching
from connectors.accounts.providers import signs_in_at
from connectors.accounts.transport import MOST_BYTES, TRIES, Answer, Transport, host_of, origin
from workspace import Account, SecretStore, SignInFailed, SourceProblem

if TYPE_CHECKING:
    import httpx

MOST_REDIRECTS = 5


class Web:
    """The web as an account sees it. Close it, or leave its `with`.

    An account that signs in at an address (`url`) sends its sign-in there, and asks no other host but those of the
    same provider. One without (a published calendar) sends none, and may be led on.
    """

    def __init__(
        self,
        source: str,
        account: Account,
        secrets: SecretStore,
        *,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._source = source
        self._account = account
        self._credentials = Credentials(source, account, secrets)
        self._signs_in = account.sign_in != "none" and bool(account.url)
        self._transport = Transport(account, tries=tries, sleep=sleep)
        self._secret: str | None = None
        self._digest: httpx.DigestAuth | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        most: int = MOST_BYTES,
    ) -> Answer:
        """Send a request, signed in where the account wants it, and follow where the server leads within reason.

        Any status but those below is the caller's to judge. `url` is absolute; `most` is in bytes, unpacked.

        Raises:
            SignInFailed: the server takes neither the secret nor a renewed one (401).
            QuotaReached: it wants to be asked less often (429).
            ServerAway: it cannot be reached, breaks off or is busy (502, 503, 504).
            CertificateRefused: it does not prove that it is the host of `url`.
            SourceProblem: it leads to where Tide does not go, or its answer is too large.
        """
        for _ in range(MOST_REDIRECTS + 1):
            if self._signs_in:
                answer = self._signed_in(method, url, headers or {}, content, most)
            else:
                answer = self._transport.send(method, url, headers=headers, content=content, most=most)
            if answer.status not in (301, 302, 303, 307, 308) or "location" not in answer.headers:
                return answer
            url = self._led(url, answer.headers["location"])
            if answer.status == 303:
                method, content = "GET", b""
        raise SourceProblem(f"{host_of(url)} leads round in a circle: more than {MOST_REDIRECTS} redirects.")

    def _signed_in(self, method: str, url: str, headers: Mapping[str, str], content: bytes, most: int) -> Answer:
        if not signs_in_at(url, self._account.url):
            raise SourceProblem(
                f"{host_of(self._account.url)} leads to {host_of(url)}, where Tide does not sign in. If that is"
                " where the account is, write it as `url` in accounts.toml."
            )

        def send() -> Answer:
            signed = dict(headers)
            if self._digest is None:
                signed["authorization"] = self._authorization()
            return self._transport.send(method, url, headers=signed, content=content, most=most, auth=self._digest)

        answer = send()
        if answer.status == 401 and self._renewed(answer):
            answer = send()
        if answer.status == 401:
            raise SignInFailed(
                f"{host_of(url)} refuses the sign-in of {self._source}. Run: tide sign-in {self._source}"
            )
        return answer

    def _authorization(self) -> str:
        if self._secret is None:
            oauth = self._account.sign_in == "oauth"
            self._secret = self._credentials.token() if oauth else self._credentials.secret()
        if self._account.sign_in == "oauth":
            if not self._secret.isascii() or not self._secret.isprintable():
                raise SignInFailed(
                    f"What {self._source} signs in with is no token. Run: tide sign-in {self._source}"
                )
            return f"Bearer {self._secret}"
        pair = f"{self._account.login}:{self._secret}".encode()
        return f"Basic {base64.b64encode(pair).decode('ascii')}"

    def _renewed(self, refused: Answer) -> bool:
        """Whether there is another way to sign in than the one that was refused."""
        if self._account.sign_in == "oauth":
            self._secret = self._credentials.token(renew=True)
            return True
        wanted = refused.headers.get("www-authenticate", "").lower()
        if self._digest is None and "digest" in wanted and "basic" not in wanted:
            import httpx

            self._digest = httpx.DigestAuth(self._account.login, self._secret or "")
            return True
        before, self._secret = self._secret, self._credentials.secret()
        if self._secret == before:
            return False
        if self._digest is not None:
            import httpx

            self._digest = httpx.DigestAuth(self._account.login, self._secret)
        return True

    def _led(self, url: str, location: str) -> str:
        """Where a redirect leads.

        Raises:
            SourceProblem: if that is an address where one does not go.
        """
        try:
            target = urljoin(url, location)
        except ValueError as error:
            raise SourceProblem(f"{host_of(url)} leads to an address that is none.") from error
        here, there = origin(url), origin(target)
        if here[1:] == there[1:] or self._signs_in:
            return target  # where one signs in, every address is checked before it is asked
        if there[0] != "https":
            raise SourceProblem(f"{here[1]} leads to {there[1]} without encryption. Tide does not go there.")
        if _within(there[1]) and not _within(here[1]):
            raise SourceProblem(f"{here[1]} leads into this machine's own network. Tide does not go there.")
        return target


def _within(host: str) -> bool:
    """Whether a host is, by any of its numbers, in a network that is not the public one.

    A name may have another number by the time it is asked: that it has to prove its name by then bounds the harm.
    """
    with reaching(host):
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    return any(not ipaddress.ip_address(str(one[4][0]).partition("%")[0]).is_global for one in found)
