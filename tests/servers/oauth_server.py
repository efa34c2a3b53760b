"""An OAuth 2 provider on loopback that holds a client to the rules: redirect, PKCE, codes and tokens used once."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

from connectors.accounts.providers import Endpoints
from tests.servers.web_server import Asked, Said, web_server

CLIENT_ID = "a-client-of-mine"
MAIL = "https://mail.example/"
CALENDARS = "https://calendars.example/"


@dataclass
class OAuthServer:
    """What a test may set: `client_secret` is wanted if it is not empty; `refusal` is an error code for the
    browser; the token endpoint says `answer` instead of a token, and adds `more` to one. Refresh tokens that it
    `rotates` are good for one use."""

    url: str = ""
    client_secret: str = ""
    lasts: int = 3600
    rotates: bool = True
    refusal: str = ""
    answer: Said | None = None
    more: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refresh_tokens: set[str] = field(default_factory=set)
    given: list[str] = field(default_factory=list)

    @property
    def endpoints(self) -> Endpoints:
        return Endpoints(
            authorize=f"{self.url}/authorize",
            token=f"{self.url}/token",
            mail=MAIL,
            calendars=CALENDARS,
            offline="offline_access",
            parameters={"prompt": "consent"},
        )

    def withdraw(self) -> None:
        """As when the person takes the leave away again."""
        self.refresh_tokens.clear()

    def said(self, asked: Asked) -> Said:
        parts = urlsplit(asked.path)
        if parts.path == "/authorize":
            return self._authorized(_form(parts.query))
        assert (asked.method, parts.path) == ("POST", "/token")
        return self.answer or self._token(_form(asked.body.decode()))

    def _authorized(self, form: dict[str, str]) -> Said:
        assert form["response_type"] == "code"
        assert form["client_id"] == CLIENT_ID
        assert form["code_challenge_method"] == "S256"
        if self.refusal:
            back = {"error": self.refusal, "state": form["state"]}
        else:
            code = token_urlsafe(24)
            self.codes[code] = form
            back = {"code": code, "state": form["state"]}
        return Said(302, headers={"location": f"{form['redirect_uri']}?{urlencode(back)}"})

    def _token(self, form: dict[str, str]) -> Said:
        if form["client_id"] != CLIENT_ID or form.get("client_secret", "") != self.client_secret:
            return _error("invalid_client", 401)
        if form["grant_type"] == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            proof = (
                urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
            )
            if asked is None or asked["redirect_uri"] != form["redirect_uri"] or asked["code_challenge"] != proof:
                return _error("invalid_grant")
            scope = asked["scope"].replace(" offline_access", "")
        elif form["refresh_token"] not in self.refresh_tokens:
            return _error("invalid_grant")
        else:
            scope = MAIL
            if self.rotates:
                self.refresh_tokens.remove(form["refresh_token"])
        access = token_urlsafe(24)
        self.given.append(access)
        answer = {"access_token": access, "token_type": "Bearer", "expires_in": self.lasts, "scope": scope}
        if self.rotates or form["grant_type"] == "authorization_code":
            answer["refresh_token"] = token_urlsafe(24)
            self.refresh_tokens.add(answer["refresh_token"])
        return _json({name: value for name, value in (answer | self.more).items() if value is not None})


@contextmanager
def oauth_server() -> Iterator[OAuthServer]:
    """The provider, running."""
    server = OAuthServer()
    with web_server(server.said) as web:
        server.url, server.asked = web.url, web.asked
        yield server


def browse(address: str) -> tuple[int, str]:
    """Open an address as a browser does, redirects and all; the status and the page."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(address, timeout=20) as page:
            return page.status, page.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def _form(text: str) -> dict[str, str]:
    form = parse_qs(text, keep_blank_values=True)
    assert all(len(values) == 1 for values in form.values())
    return {name: values[0] for name, values in form.items()}


def _json(answer: dict[str, Any], status: int = 200) -> Said:
    return Said(status, json.dumps(answer).encode(), {"content-type": "application/json"})


def _error(code: str, status: int = 400) -> Said:
    return _json({"error": code, "error_description": "A text that nobody should\nbe shown."}, status)
