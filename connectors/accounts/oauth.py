"""OAuth 2 for a program on the person's machine (RFC 8252): the browser signs in, Tide keeps the tokens.

The code goes to a loopback address that listens for this one sign-in alone, bound to it by `state` and by PKCE
(RFC 7636, S256). Tokens, and the client secret where the provider gives one, are one JSON text in the keyring.
"""

import hashlib
import hmac
import json
import re
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from connectors.accounts.providers import Endpoints, endpoints
from connectors.accounts.transport import Transport, host_of
from workspace import Account, SecretStore, ServerAway, SignInFailed

SIGN_IN_SECONDS = 600.0
"""How long the person has in the browser."""

_EARLY_SECONDS = 120.0  # a token that ends sooner may end on the way
_MOST_BYTES = 256 * 1024


class Tokens(BaseModel):
    """What is kept of a sign-in. `until` is when the access token ends, in seconds since 1970."""

    model_config = ConfigDict(frozen=True)
    refresh_token: str = Field(min_length=1, repr=False)
    access_token: str = Field(default="", repr=False)
    client_secret: str = Field(default="", repr=False)
    until: float = 0.0


def authorize(
    source: str,
    account: Account,
    secrets: SecretStore,
    *,
    show: Callable[[str], None],
    stop: threading.Event,
    client_secret: str = "",
    seconds: float = SIGN_IN_SECONDS,
) -> None:
    """Have the person sign in with their browser, and keep the tokens under the source's name.

    `show` is given the address that the browser has to open. `client_secret` is what some providers give even to
    programs that can keep no secret; without it that of an earlier sign-in is used.

    Raises:
        SignInFailed: if the person or the provider refuses, or nothing came in `seconds`, or `stop` was set.
        KeyringLocked: if the tokens cannot be kept.
        ServerAway, CertificateRefused: if the provider cannot be reached.
    """
    ends = _endpoints(source, account)
    kept = _kept(source, secrets)
    client_secret = client_secret or (kept.client_secret if kept else "")
    verifier, state = token_urlsafe(64), token_urlsafe(32)
    challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    scope = ends.mail if account.host else ends.calendars
    with _Redirect(state) as redirect:
        address = f"http://{ends.redirect}:{redirect.port}"
        asked = {
            "response_type": "code",
            "client_id": account.client_id,
            "redirect_uri": address,
            "scope": f"{scope} {ends.offline}".strip(),
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "login_hint": account.login,
        }
        show(f"{ends.authorize}?{urlencode({**asked, **ends.parameters})}")
        code = redirect.code(source, stop, seconds)
    given = _given(
        source,
        account,
        ends,
        {"grant_type": "authorization_code", "code": code, "redirect_uri": address, "code_verifier": verifier},
        client_secret,
    )
    granted = str(given.get("scope") or scope).lower().split()
    if scope.lower() not in granted:
        raise SignInFailed(
            f"The sign-in of {source} was given without leave to read. Sign in again and tick what Tide asks for."
        )
    if not given.get("refresh_token"):
        raise SignInFailed(
            f"{account.provider} gives {source} no lasting sign-in. Take Tide's leave away in your account there,"
            " then sign in again."
        )
    secrets.put(source, _tokens(given, str(given["refresh_token"]), client_secret).model_dump_json())


def access_token(source: str, account: Account, secrets: SecretStore, *, renew: bool = False) -> str:
    """The access token kept for a source; a new one if it is about to end, or with `renew`.

    Raises:
        SignInFailed: if none is kept, or it is not renewed since the person or the provider withdrew it.
        KeyringLocked: if the keyring cannot be asked.
        ServerAway, CertificateRefused: if the provider cannot be reached.
    """
    ends = _endpoints(source, account)
    kept = _kept(source, secrets)
    if kept is None:
        raise SignInFailed(f"{source} is not signed in. Run: tide sign-in {source}")
    if not renew and kept.access_token and kept.until - _EARLY_SECONDS > time.time():
        return kept.access_token
    asked = {"grant_type": "refresh_token", "refresh_token": kept.refresh_token}
    given = _given(source, account, ends, asked, kept.client_secret)
    tokens = _tokens(given, str(given.get("refresh_token") or kept.refresh_token), kept.client_secret)
    # Before anything is done with the new token: the old refresh token may be good for nothing by now.
    secrets.put(source, tokens.model_dump_json())
    return tokens.access_token


def _endpoints(source: str, account: Account) -> Endpoints:
    if not account.provider or not account.client_id:
        raise SignInFailed(
            f"{source} signs in with OAuth: accounts.toml has to name its `provider` and your `client_id`, or a"
            " `secret_command` that prints a token."
        )
    ends = endpoints(account.provider)
    if not account.host and not ends.calendars:
        raise SignInFailed(f"{account.provider} has no calendars that Tide can sign in to. Publish yours instead.")
    return ends


def _kept(source: str, secrets: SecretStore) -> Tokens | None:
    try:
        return Tokens.model_validate_json(secrets.get(source) or "")
    except ValidationError:
        return None  # nothing, or the password of an earlier time


def _tokens(given: Mapping[str, object], refresh_token: str, client_secret: str) -> Tokens:
    lasts = str(given.get("expires_in"))  # some providers write the number as a text
    seconds = min(float(lasts), 7 * 86_400.0) if lasts.isdecimal() else 0.0
    return Tokens(
        refresh_token=refresh_token,
        access_token=str(given["access_token"]),
        client_secret=client_secret,
        until=time.time() + seconds,
    )


def _given(
    source: str, account: Account, ends: Endpoints, asked: Mapping[str, str], client_secret: str
) -> Mapping[str, object]:
    """What the token endpoint answers (RFC 6749, 5.1), with an access token in it.

    Raises:
        SignInFailed: if it refuses (5.2).
        ServerAway, CertificateRefused: if it cannot be reached, or answers with nonsense.
    """
    form = {**asked, "client_id": account.client_id}
    if client_secret:
        form["client_secret"] = client_secret
    with Transport(Account(certificate=account.certificate)) as transport:
        answer = transport.send(
            "POST",
            ends.token,
            headers={"content-type": "application/x-www-form-urlencoded", "accept": "application/json"},
            content=urlencode(form).encode(),
            most=_MOST_BYTES,
        )
    try:
        given = json.loads(answer.body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or answer.status >= 500:
        raise ServerAway(f"{host_of(ends.token)} gives no answer that can be used (status {answer.status}).")
    if answer.status != 200:
        raise SignInFailed(
            f"{account.provider} refuses the sign-in of {source}: {_code(given.get('error'))}."
            f" Run: tide sign-in {source}"
        )
    if not isinstance(given.get("access_token"), str) or not given["access_token"]:
        raise ServerAway(f"{host_of(ends.token)} answers without a token.")
    return given


def _code(error: object) -> str:
    """An error code (RFC 6749, 4.1.2.1 and 5.2), nothing else that a stranger may have written there."""
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{1,40}", error) else "no reason given"


class _Redirect:
    """The loopback address to which the browser comes back. It answers all, and heeds who knows `state`."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._came = threading.Event()
        self._answer: dict[str, str] = {}
        redirect = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10  # browsers open connections that they never use

            def do_GET(self) -> None:
                redirect._hear(self)

            def log_message(self, *_: object) -> None:
                """The code stands in the address: it is not logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.port = self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def code(self, source: str, stop: threading.Event, seconds: float) -> str:
        """Wait for the code.

        Raises:
            SignInFailed: if it does not come, or the provider sends a refusal in its stead.
        """
        until = time.monotonic() + seconds
        while not self._came.wait(0.1):
            if stop.is_set():
                raise SignInFailed(f"The sign-in of {source} was stopped. Run: tide sign-in {source}")
            if time.monotonic() > until:
                raise SignInFailed(
                    f"Nothing came back from the browser in {seconds:.0f} seconds. Run: tide sign-in {source}"
                )
        if "code" not in self._answer:
            raise SignInFailed(
                f"The sign-in of {source} was refused: {_code(self._answer.get('error'))}."
                f" Run: tide sign-in {source}"
            )
        return self._answer["code"]

    def _hear(self, request: BaseHTTPRequestHandler) -> None:
        try:
            parts = urlsplit(request.path)
            said = {name: values[0] for name, values in parse_qs(parts.query, max_num_fields=50).items()}
        except ValueError:
            said = {}
        # As bytes: what comes need not be ASCII.
        if not hmac.compare_digest(said.get("state", "").encode("utf-8", "replace"), self._state.encode()):
            _say(request, 404, "This is no answer to a sign-in of Tide's. You may close this page.")
        elif "code" in said:
            _say(request, 200, "Tide has what it asked for. You may close this page and go back to Tide.")
        else:
            _say(request, 200, "The sign-in was refused. You may close this page; Tide says how to go on.")
        if said.get("state") == self._state and not self._came.is_set():
            self._answer = said
            self._came.set()


def _say(request: BaseHTTPRequestHandler, status: int, text: str) -> None:
    page = f"<!doctype html><html lang=en><meta charset=utf-8><title>Tide</title><p>{text}</p></html>".encode()
    request.send_response(status)
    for name, value in (
        ("content-type", "text/html; charset=utf-8"),
        ("content-length", str(len(page))),
        ("content-security-policy", "default-src 'none'"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("connection", "close"),
    ):
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(page)
