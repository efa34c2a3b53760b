"""Signing in with the browser: one code, one answer, and tokens that outlive what goes wrong."""

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from connectors.accounts import oauth
from connectors.accounts.credentials import Credentials
from connectors.accounts.oauth import Tokens, authorize
from connectors.accounts.providers import endpoints, providers
from tests.servers.oauth_server import CALENDARS, CLIENT_ID, MAIL, OAuthServer, browse, oauth_server
from tests.servers.web_server import Said
from workspace import Account, KeyringLocked, ServerAway, SignInFailed

ACCOUNT = Account(
    address="me@example.org", host="imap.example.org", sign_in="oauth", provider="google", client_id=CLIENT_ID
)
CALENDAR = Account(
    address="me@example.org", url="https://dav.example/", sign_in="oauth", provider="google", client_id=CLIENT_ID
)


class Memory(dict[str, str]):
    """Secrets while the test lasts; `puts` is all that was ever kept."""

    def __init__(self, **kept: str) -> None:
        super().__init__(kept)
        self.puts: list[str] = []
        self.locked = False

    def put(self, name: str, secret: str) -> None:
        if self.locked:
            raise KeyringLocked("locked")
        self[name] = secret
        self.puts.append(secret)

    def remove(self, name: str) -> None:
        self.pop(name, None)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OAuthServer]:
    with oauth_server() as running:
        monkeypatch.setattr(oauth, "endpoints", lambda _: running.endpoints)
        yield running


class Browser:
    """A person who opens the address that is shown; `pages` is what they see."""

    def __init__(self, *before: Callable[[str], object]) -> None:
        self.pages: list[tuple[int, str]] = []
        self.address = ""
        self._before = before
        self._threads: list[threading.Thread] = []

    def __call__(self, address: str) -> None:
        self.address = address
        self._threads.append(threading.Thread(target=self._open))
        self._threads[-1].start()

    def _open(self) -> None:
        for do in self._before:
            do(self.address)
        self.pages.append(browse(self.address))

    def done(self) -> None:
        for thread in self._threads:
            thread.join()


def sign_in(kept: Memory, browser: Browser, account: Account = ACCOUNT, **more: Any) -> None:
    try:
        authorize("work", account, kept, show=browser, stop=threading.Event(), seconds=20, **more)
    finally:
        browser.done()


def refused(act: Callable[[], object], *hidden: str) -> str:
    with pytest.raises(SignInFailed) as caught:
        act()
    told = str(caught.value)
    assert "\n" not in told
    assert "nobody should" not in told
    assert not any(one in told for one in hidden)
    return told


class TestTheBrowser:
    def test_brings_tokens_that_are_kept(self, server: OAuthServer) -> None:
        kept, browser = Memory(), Browser()
        sign_in(kept, browser)
        tokens = Tokens.model_validate_json(kept["work"])
        assert tokens.access_token == server.given[0]
        assert {tokens.refresh_token} == server.refresh_tokens
        ((status, page),) = browser.pages
        assert status == 200
        assert "You may close this page" in page
        asked = parse_qs(urlsplit(browser.address).query)
        assert asked["scope"] == [f"{MAIL} offline_access"]
        assert asked["login_hint"] == ["me@example.org"]
        assert asked["prompt"] == ["consent"]
        assert urlsplit(asked["redirect_uri"][0]).hostname == "127.0.0.1"

    def test_asks_for_calendars_where_the_account_is_one(self, server: OAuthServer) -> None:
        browser = Browser()
        sign_in(Memory(), browser, CALENDAR)
        assert parse_qs(urlsplit(browser.address).query)["scope"] == [f"{CALENDARS} offline_access"]

    def test_a_client_secret_is_kept_with_the_tokens_and_used_again(self, server: OAuthServer) -> None:
        server.client_secret = "salt"
        kept = Memory()
        assert "invalid_client" in refused(lambda: sign_in(kept, Browser()))
        sign_in(kept, Browser(), client_secret="salt")
        sign_in(kept, Browser())
        assert Credentials("work", ACCOUNT, kept).token(renew=True) == server.given[-1]
        assert Tokens.model_validate_json(kept["work"]).client_secret == "salt"

    def test_brings_a_refusal_that_is_told(self, server: OAuthServer) -> None:
        server.refusal = "access_denied"
        kept, browser = Memory(), Browser()
        assert "was refused: access_denied" in refused(lambda: sign_in(kept, browser))
        assert "refused" in browser.pages[0][1]
        assert not kept

    def test_an_odd_refusal_is_not_repeated(self, server: OAuthServer) -> None:
        server.refusal = "<b>Call\nus"
        assert "no reason given" in refused(lambda: sign_in(Memory(), Browser()), "Call")

    def test_only_who_knows_the_state_is_heeded(self, server: OAuthServer) -> None:
        seen: list[tuple[int, str]] = []

        def strangers(address: str) -> None:
            back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
            for query in (
                "?code=evil",
                "?code=evil&state=guessed",
                "?error=x&state=%C3%A9",
                "/favicon.ico",
                "?a=%FF",
            ):
                seen.append(browse(back + query))
            port = urlsplit(back).port
            with (
                socket.create_connection(("127.0.0.1", port)),
                socket.create_connection(("127.0.0.1", port)) as odd,
            ):
                odd.sendall(b"\xff\xfe no HTTP\r\n\r\n")
                odd.recv(100)

        kept = Memory()
        sign_in(kept, Browser(strangers))
        assert [status for status, _ in seen] == [404] * 5
        assert Tokens.model_validate_json(kept["work"]).access_token == server.given[0]

    def test_a_page_runs_nothing_and_goes_nowhere(self, server: OAuthServer) -> None:
        heads: list[bytes] = []

        def look(address: str) -> None:
            port = urlsplit(parse_qs(urlsplit(address).query)["redirect_uri"][0]).port
            with socket.create_connection(("127.0.0.1", port)) as here:
                here.sendall(b"GET /?code=%3Cscript%3E HTTP/1.0\r\n\r\n")
                while chunk := here.recv(4096):
                    heads.append(chunk)

        sign_in(Memory(), Browser(look))
        page = b"".join(heads)
        assert b"content-security-policy: default-src 'none'" in page
        assert b"referrer-policy: no-referrer" in page
        assert b"<script>" not in page

    def test_it_ends_when_it_is_stopped_or_nothing_comes(self, server: OAuthServer) -> None:
        stop = threading.Event()
        stop.set()
        shown: list[str] = []
        told = refused(lambda: authorize("work", ACCOUNT, Memory(), show=shown.append, stop=stop))
        assert "was stopped" in told
        told = refused(
            lambda: authorize("work", ACCOUNT, Memory(), show=shown.append, stop=threading.Event(), seconds=-1)
        )
        assert "Nothing came back" in told
        port = urlsplit(parse_qs(urlsplit(shown[0]).query)["redirect_uri"][0]).port
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    def test_a_sign_in_without_leave_to_read_is_refused(self, server: OAuthServer) -> None:
        server.more = {"scope": "openid email"}
        kept = Memory()
        assert "without leave" in refused(lambda: sign_in(kept, Browser()))
        assert not kept

    def test_a_scope_that_is_not_repeated_is_the_one_asked_for(self, server: OAuthServer) -> None:
        server.more = {"scope": None}
        kept = Memory()
        sign_in(kept, Browser())
        assert kept

    def test_a_sign_in_that_does_not_last_is_refused(self, server: OAuthServer) -> None:
        server.more = {"refresh_token": None}
        assert "no lasting sign-in" in refused(lambda: sign_in(Memory(), Browser()))

    def test_a_locked_keyring_is_told(self, server: OAuthServer) -> None:
        kept = Memory()
        kept.locked = True
        with pytest.raises(KeyringLocked):
            sign_in(kept, Browser())


class TestTokens:
    @pytest.fixture
    def kept(self, server: OAuthServer) -> Memory:
        kept = Memory()
        sign_in(kept, Browser())
        return kept

    def test_the_kept_one_serves_while_it_lasts(self, server: OAuthServer, kept: Memory) -> None:
        before = len(server.asked)
        assert Credentials("work", ACCOUNT, kept).token() == server.given[0]
        assert len(server.asked) == before

    @pytest.mark.parametrize("lasts", [0, 100, -5, "60", "soon", None])
    def test_one_that_is_about_to_end_is_renewed(self, server: OAuthServer, lasts: object) -> None:
        server.more = {"expires_in": lasts}
        kept = Memory()
        sign_in(kept, Browser())
        assert Credentials("work", ACCOUNT, kept).token() == server.given[1]

    def test_a_refused_one_is_renewed_and_kept(self, server: OAuthServer, kept: Memory) -> None:
        first = Tokens.model_validate_json(kept["work"])
        token = Credentials("work", ACCOUNT, kept).token(renew=True)
        assert token == server.given[1] != first.access_token
        assert Tokens.model_validate_json(kept["work"]).refresh_token != first.refresh_token
        assert Credentials("work", ACCOUNT, kept).token() == token

    def test_a_refresh_token_that_stays_is_kept_on(self, server: OAuthServer, kept: Memory) -> None:
        server.rotates = False
        first = Tokens.model_validate_json(kept["work"])
        for _ in range(2):
            Credentials("work", ACCOUNT, kept).token(renew=True)
        assert Tokens.model_validate_json(kept["work"]).refresh_token == first.refresh_token

    def test_the_new_one_is_kept_before_it_is_given_out(self, server: OAuthServer, kept: Memory) -> None:
        kept.locked = True
        with pytest.raises(KeyringLocked):
            Credentials("work", ACCOUNT, kept).token(renew=True)

    def test_many_at_once_renew_one_after_the_other(self, server: OAuthServer, kept: Memory) -> None:
        credentials = Credentials("work", ACCOUNT, kept)
        threads = [threading.Thread(target=credentials.token, kwargs={"renew": True}) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(kept.puts) == 6
        assert {Tokens.model_validate_json(kept["work"]).refresh_token} == server.refresh_tokens

    def test_a_withdrawn_sign_in_is_told_and_what_is_kept_stays(self, server: OAuthServer, kept: Memory) -> None:
        server.withdraw()
        before = dict(kept)
        told = refused(lambda: renewed(kept), before["work"])
        assert "invalid_grant" in told
        assert "Run: tide sign-in work" in told
        assert kept == before

    @pytest.mark.parametrize(
        "answer",
        [
            Said(500, b"<html>Oh no"),
            Said(500, b'{"error": "internal_failure"}'),
            Said(200, b"[]"),
            Said(200, b"{}"),
            Said(200, b'{"access_token": 7}'),
            Said(200, b'{"access_token": ""}'),
            Said(200, b"[" * 100_000),
            Said(503, b""),
            Said(cut=0),
        ],
    )
    def test_nonsense_from_the_provider_is_a_server_that_is_away(
        self, server: OAuthServer, kept: Memory, answer: Said
    ) -> None:
        before = dict(kept)
        server.answer = answer
        with pytest.raises(ServerAway) as caught:
            renewed(kept)
        assert "\n" not in str(caught.value)
        assert kept == before

    @pytest.mark.parametrize("secret", ["", "a password of before", "{}", '{"refresh_token": ""}', "[1]"])
    def test_what_is_no_sign_in_leads_to_one(self, server: OAuthServer, secret: str) -> None:
        told = refused(lambda: renewed(Memory(work=secret)))
        assert "Run: tide sign-in work" in told
        kept = Memory(work=secret)
        sign_in(kept, Browser())
        assert renewed(kept) == server.given[-1]


def renewed(kept: Memory) -> str:
    return Credentials("work", ACCOUNT, kept).token(renew=True)


def test_an_account_without_a_client_says_what_it_lacks() -> None:
    told = refused(lambda: Credentials("work", Account(sign_in="oauth"), Memory(work="x")).token())
    assert "`client_id`" in told
    assert "`secret_command`" in told


def test_a_provider_without_calendars_says_so() -> None:
    account = Account(url="https://x.example/", sign_in="oauth", provider="microsoft", client_id="x")
    told = refused(lambda: authorize("work", account, Memory(), show=print, stop=threading.Event()))
    assert "no calendars" in told


def test_nothing_shows_a_token(server: OAuthServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    kept = Memory()
    sign_in(kept, Browser(), client_secret="")
    renewed(kept)
    tokens = Tokens.model_validate_json(kept["work"])
    for hidden in (*server.given, tokens.refresh_token):
        assert hidden not in repr(tokens) + caplog.text
    assert set(json.loads(kept["work"])) == {"refresh_token", "access_token", "client_secret", "until"}


@pytest.mark.parametrize("name", sorted({one.provider for one in providers() if one.provider}))
def test_every_provider_with_oauth_has_its_endpoints(name: str) -> None:
    ends = endpoints(name)
    assert ends.authorize.startswith("https://")
    assert ends.token.startswith("https://")
    assert ends.mail
    assert ends.redirect in ("127.0.0.1", "localhost")
