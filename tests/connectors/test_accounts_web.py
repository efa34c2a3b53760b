"""HTTP with a sign-in: where it goes, where it never goes, and how much of an answer is taken."""

import base64
import gzip
import hashlib
import logging
import re
import ssl
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from connectors.accounts import transport, web
from connectors.accounts.providers import signs_in_at
from connectors.accounts.transport import host_of
from connectors.accounts.web import Web
from tests.servers.web_server import Asked, Said, web_server
from workspace import Account, CertificateRefused, QuotaReached, ServerAway, SignInFailed, SourceProblem

BASIC = "Basic " + base64.b64encode("me@example.org:kélp:9".encode()).decode()
MB = 1_000_000


class Memory(dict[str, str]):
    """Secrets while the test lasts."""

    def put(self, name: str, secret: str) -> None:
        self[name] = secret

    def remove(self, name: str) -> None:
        self.pop(name, None)


def account(url: str, **more: Any) -> Account:
    return Account(address="me@example.org", url=url, **more)


def opened(account: Account, secret: str = "kélp:9", waits: list[float] | None = None, **more: Any) -> Web:
    sleep = (lambda _: None) if waits is None else waits.append
    return Web("work", account, Memory(work=secret), sleep=sleep, **more)


def one_line(problem: SourceProblem) -> str:
    told = str(problem)
    assert "\n" not in told
    assert "kélp" not in told
    assert "secret-path" not in told
    return told


class TestSigningIn:
    def test_a_password_goes_with_each_request(self) -> None:
        with web_server(lambda _: Said(body=b"hello")) as server, opened(account(server.url)) as here:
            answer = here.request("PROPFIND", server.url + "/a", headers={"depth": "1"}, content=b"<x/>")
        assert (answer.status, answer.body, answer.url) == (200, b"hello", server.url + "/a")
        assert answer.headers["content-length"] == "5"
        (asked,) = server.asked
        assert (asked.method, asked.path, asked.body) == ("PROPFIND", "/a", b"<x/>")
        assert (asked.headers["authorization"], asked.headers["depth"]) == (BASIC, "1")

    def test_a_wrong_password_is_sent_once(self) -> None:
        with (
            web_server(lambda _: Said(401)) as server,
            opened(account(server.url)) as here,
            pytest.raises(SignInFailed, match="Run: tide sign-in work") as caught,
        ):
            here.request("GET", server.url)
        one_line(caught.value)
        assert len(server.asked) == 1

    def test_a_password_that_is_another_by_now_is_tried(self, tmp_path: Path) -> None:
        file = tmp_path / "password"
        file.write_text("old")

        def answer(asked: Asked) -> Said:
            file.write_text("kélp:9")
            return Said(200 if asked.headers["authorization"] == BASIC else 401)

        with web_server(answer) as server, opened(account(server.url, secret_command=f"cat {file}")) as here:
            assert here.request("GET", server.url).status == 200
            assert here.request("GET", server.url).status == 200
        assert len(server.asked) == 3

    def test_digest_is_spoken_where_it_is_asked_for(self) -> None:
        def answer(asked: Asked) -> Said:
            given = asked.headers.get("authorization", "")
            if not given.startswith("Digest "):
                return Said(401, headers={"www-authenticate": 'Digest realm="r", nonce="n1", qop="auth"'})
            said = dict(re.findall(r'(\w+)="?([^",]*)"?', given))
            whole = hashlib.md5("me@example.org:r:kélp:9".encode()).hexdigest()
            what = hashlib.md5(f"{asked.method}:{asked.path}".encode()).hexdigest()
            parts = f"{whole}:n1:{said['nc']}:{said['cnonce']}:auth:{what}"
            return Said(200 if said["response"] == hashlib.md5(parts.encode()).hexdigest() else 401)

        with web_server(answer) as server, opened(account(server.url)) as here:
            assert here.request("REPORT", server.url + "/a", content=b"x").status == 200
            before = len(server.asked)
            assert here.request("REPORT", server.url + "/b", content=b"x").status == 200
        assert len(server.asked) == before + 1

    def test_a_wrong_password_by_digest_is_refused(self) -> None:
        wanted = {"www-authenticate": 'Digest realm="r", nonce="n", qop="auth"'}
        with (
            web_server(lambda _: Said(401, headers=wanted)) as server,
            opened(account(server.url)) as here,
            pytest.raises(SignInFailed),
        ):
            here.request("GET", server.url)
        assert len(server.asked) <= 3

    def test_a_token_is_renewed_once(self, tmp_path: Path) -> None:
        file = tmp_path / "token"
        file.write_text("old")

        def answer(asked: Asked) -> Said:
            file.write_text("new")
            return Said(200 if asked.headers["authorization"] == "Bearer new" else 401)

        with (
            web_server(answer) as server,
            opened(account(server.url, sign_in="oauth", secret_command=f"cat {file}")) as here,
        ):
            assert here.request("GET", server.url).status == 200
        with (
            web_server(lambda _: Said(401)) as server,
            opened(account(server.url, sign_in="oauth", secret_command=f"cat {file}")) as here,
            pytest.raises(SignInFailed),
        ):
            here.request("GET", server.url)
        assert len(server.asked) == 2

    def test_what_is_no_token_is_not_sent(self) -> None:
        with (
            web_server(lambda _: Said()) as server,
            opened(account(server.url, sign_in="oauth", secret_command="echo kélp")) as here,
            pytest.raises(SignInFailed, match="no token") as caught,
        ):
            here.request("GET", server.url)
        one_line(caught.value)
        assert server.asked == []


class TestWhereItGoes:
    def test_no_sign_in_goes_without_encryption(self) -> None:
        with (
            opened(account("https://example.org/")) as here,
            pytest.raises(SourceProblem, match=r"example\.org is to be asked without encryption") as caught,
        ):
            here.request("GET", "http://example.org/secret-path")
        one_line(caught.value)

    @pytest.mark.parametrize("port", ["same", "other"])
    def test_a_redirect_on_the_own_server_is_followed_and_to_another_port_not(self, port: str) -> None:
        with web_server(lambda _: Said(body=b"there")) as other:

            def answer(asked: Asked) -> Said:
                if asked.path != "/from":
                    return Said(body=b"here")
                target = "/to?x=1" if port == "same" else other.url + "/secret-path"
                return Said(308, headers={"location": target})

            with web_server(answer) as server, opened(account(server.url)) as here:
                if port == "same":
                    got = here.request("PROPFIND", server.url + "/from", content=b"x")
                    assert (got.body, got.url) == (b"here", server.url + "/to?x=1")
                    assert (server.asked[1].method, server.asked[1].body) == ("PROPFIND", b"x")
                    assert server.asked[1].headers["authorization"] == BASIC
                else:
                    with pytest.raises(SourceProblem, match="does not sign in") as caught:
                        here.request("GET", server.url + "/from")
                    one_line(caught.value)
            assert other.asked == []

    def test_a_sign_in_goes_to_its_own_origin_alone(self) -> None:
        own = "https://dav.example.org/begin"
        assert signs_in_at("https://dav.example.org:443/calendars", own)
        for url in (
            "https://dav.example.org:8443/",
            "https://example.org/",
            "https://dav.example.org.evil.example/",
            "https://evil.example/dav.example.org",
            "https://dav.example.org@evil.example/",
        ):
            assert not signs_in_at(url, own)
        with pytest.raises(SourceProblem, match="without encryption"):
            signs_in_at("http://dav.example.org/", own)

    def test_a_provider_with_many_hosts_is_signed_in_at_all_of_them(self) -> None:
        own = "https://caldav.icloud.com/"
        assert signs_in_at("https://p42-caldav.icloud.com:443/1/calendars/", own)
        for url in (
            "https://p42-caldav.icloud.com:8443/",
            "https://evilicloud.com/",
            "https://icloud.com.evil.example/",
        ):
            assert not signs_in_at(url, own)
        assert not signs_in_at("https://p42-caldav.icloud.com/", "https://icloud.com.evil.example/")

    def test_a_published_calendar_gets_no_sign_in(self) -> None:
        with web_server(lambda _: Said()) as server, opened(Account(), server.url) as here:
            here.request("GET", server.url + "/calendar.ics")
        assert "authorization" not in server.asked[0].headers

    def test_a_circle_ends(self) -> None:
        with (
            web_server(lambda _: Said(302, headers={"location": "/again"})) as server,
            opened(account(server.url)) as here,
            pytest.raises(SourceProblem, match="in a circle"),
        ):
            here.request("GET", server.url)
        assert len(server.asked) == 6

    def test_after_303_one_gets(self) -> None:
        def answer(asked: Asked) -> Said:
            return Said(303, headers={"location": "/b"}) if asked.path == "/a" else Said()

        with web_server(answer) as server, opened(account(server.url)) as here:
            here.request("REPORT", server.url + "/a", content=b"x")
        assert (server.asked[1].method, server.asked[1].body) == ("GET", b"")

    @pytest.mark.parametrize(
        ("target", "told"),
        [
            ("http://other.example/secret-path", "without encryption"),
            ("https://inside.example/secret-path", "own network"),
            ("https://127.0.0.1:1/secret-path", "own network"),
            ("https://[::1/secret-path", "an address that is none"),
            ("ftp://other.example/", "has to begin with https://"),
            ("file:///etc/passwd", "has to begin with https://"),
            ("https://other.example:99999999/", "an address that is none"),
        ],
    )
    def test_a_public_host_does_not_lead_where_one_does_not_go(
        self, target: str, told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent: list[str] = []

        def send(self: object, method: str, url: str, **_: object) -> transport.Answer:
            sent.append(url)
            return transport.Answer(302, {"location": target}, b"", url)

        inside = {"public.example": False, "inside.example": True, "127.0.0.1": True, "other.example": False}
        monkeypatch.setattr(web, "_within", inside.__getitem__)
        monkeypatch.setattr(transport.Transport, "send", send)
        with opened(Account()) as here, pytest.raises(SourceProblem, match=told) as caught:
            here.request("GET", "https://public.example/secret-path")
        one_line(caught.value)
        assert len(sent) == 1

    @pytest.mark.parametrize(
        ("host", "within"),
        [
            ("127.0.0.1", True), ("10.1.2.3", True), ("192.168.1.1", True), ("169.254.169.254", True),
            ("::1", True), ("fd00::1", True), ("::ffff:127.0.0.1", True), ("localhost", True),
            ("0.0.0.0", True), ("1.1.1.1", False), ("2606:4700:4700::1111", False),
        ],
    )  # fmt: skip
    def test_what_counts_as_within(self, host: str, within: bool) -> None:
        try:
            assert web._within(host) is within
        except ServerAway:
            assert ":" in host  # a machine without IPv6

    def test_proxies_and_netrc_of_the_environment_are_not_asked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login other password other\n")
        monkeypatch.setenv("NETRC", str(netrc))
        with web_server(lambda _: Said()) as proxy, web_server(lambda _: Said()) as server:
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            with opened(Account()) as here:
                here.request("GET", server.url)
            assert proxy.asked == []
        assert "authorization" not in server.asked[0].headers


class TestBounds:
    def test_an_answer_of_just_the_size_is_taken_and_one_more_byte_is_not(self) -> None:
        with (
            web_server(lambda asked: Said(body=b"x" * int(asked.path[1:]))) as server,
            opened(account(server.url)) as here,
        ):
            assert len(here.request("GET", server.url + "/1000", most=1000).body) == 1000
            with pytest.raises(SourceProblem, match=r"more than 0\.001 MB") as caught:
                here.request("GET", server.url + "/1001", most=1000)
        one_line(caught.value)
        assert len(server.asked) == 2

    def test_packed_answers_are_unpacked(self) -> None:
        text = bytes(range(256)) * 2000
        packed = Said(body=gzip.compress(text), headers={"content-encoding": "gzip"})
        with web_server(lambda _: packed) as server, opened(account(server.url)) as here:
            assert here.request("GET", server.url, most=len(text)).body == text
        assert server.asked[0].headers["accept-encoding"] == "gzip"

    def test_a_bomb_is_unpacked_no_further_than_its_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        unpacked = 0
        make = zlib.decompressobj

        class Counting:
            def __init__(self, wbits: int) -> None:
                self.real = make(wbits=wbits)

            def __getattr__(self, name: str) -> Any:
                return getattr(self.real, name)

            def decompress(self, data: bytes, most: int) -> bytes:
                nonlocal unpacked
                got = self.real.decompress(data, most)
                unpacked += len(got)
                return got

        bomb = gzip.compress(b"\0" * 20 * MB)
        said = Said(body=bomb, headers={"content-encoding": "gzip"})
        monkeypatch.setattr(zlib, "decompressobj", Counting)
        with (
            web_server(lambda _: said) as server,
            opened(account(server.url)) as here,
            pytest.raises(SourceProblem, match="more than 1 MB"),
        ):
            here.request("GET", server.url, most=MB)
        assert MB < unpacked <= MB + 64 * 1024

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            (Said(body=b"no gzip at all", headers={"content-encoding": "gzip"}), "cannot be unpacked"),
            (Said(body=gzip.compress(b"x" * 999)[:-9], headers={"content-encoding": "gzip"}), "broke its answer"),
            (Said(body=b"x", headers={"content-encoding": "br"}), "not asked to"),
            (Said(body=b"x" * 99, cut=50), "broke the connection off"),
            (Said(cut=0), "broke the connection off"),
        ],
    )
    def test_a_broken_answer_is_told(self, said: Said, told: str) -> None:
        with (
            web_server(lambda _: said) as server,
            opened(account(server.url)) as here,
            pytest.raises(SourceProblem, match=told) as caught,
        ):
            here.request("GET", server.url + "/secret-path")
        one_line(caught.value)

    def test_an_answer_without_a_body_may_be_called_packed(self) -> None:
        said = Said(304, headers={"content-encoding": "gzip"})
        with web_server(lambda _: said) as server, opened(account(server.url)) as here:
            assert here.request("GET", server.url).status == 304

    def test_a_server_that_sends_slowly_without_end_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transport, "LONGEST_SECONDS", -1.0)
        with (
            web_server(lambda _: Said(body=b"x")) as server,
            opened(account(server.url)) as here,
            pytest.raises(ServerAway, match="too slow"),
        ):
            here.request("GET", server.url)


class TestTrouble:
    @pytest.mark.parametrize(
        ("status", "told", "problem"),
        [(429, "asked less often", QuotaReached), (503, "busy", ServerAway), (502, "busy", ServerAway)],
    )
    def test_a_busy_server_is_told_with_when_it_wants_to_be_asked_again(
        self, status: int, told: str, problem: type[SourceProblem]
    ) -> None:
        for wait, said in (("120", "try again in 120 seconds"), ("Mon, 1 Jan 2035", told), ("9" * 99, told)):
            with (
                web_server(lambda _, wait=wait: Said(status, headers={"retry-after": wait})) as server,
                opened(account(server.url)) as here,
                pytest.raises(problem, match=said) as caught,
            ):
                here.request("GET", server.url)
            assert type(caught.value) is problem
            assert told in one_line(caught.value)
            assert len(server.asked) == 1

    @pytest.mark.parametrize("status", [200, 207, 304, 400, 403, 404, 410, 500, 507])
    def test_any_other_status_is_the_callers_to_judge(self, status: int) -> None:
        with web_server(lambda _: Said(status)) as server, opened(account(server.url)) as here:
            assert here.request("GET", server.url).status == status

    def test_a_connection_that_breaks_is_tried_again_after_a_wait(self) -> None:
        answers = [Said(cut=0), Said(body=b"x" * 99, cut=9), Said(body=b"whole")]
        waits: list[float] = []
        with web_server(lambda _: answers.pop(0)) as server, opened(account(server.url), waits=waits) as here:
            assert here.request("GET", server.url).body == b"whole"
        assert len(waits) == 2
        assert all(0 <= wait <= 10 for wait in waits)

    def test_a_request_that_may_have_done_something_is_not_repeated(self) -> None:
        with (
            web_server(lambda _: Said(cut=0)) as server,
            opened(account(server.url)) as here,
            pytest.raises(ServerAway),
        ):
            here.request("POST", server.url)
        assert len(server.asked) == 1

    def test_a_server_that_is_not_there_is_away_after_a_few_tries(self) -> None:
        with web_server(lambda _: Said()) as server:
            pass
        waits: list[float] = []
        with (
            opened(account(server.url), waits=waits) as here,
            pytest.raises(ServerAway, match=r"127\.0\.0\.1 refuses the connection") as caught,
        ):
            here.request("GET", server.url + "/secret-path")
        one_line(caught.value)
        assert len(waits) == 2

    def test_a_silent_server_is_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def send(*_: object, **__: object) -> None:
            raise httpx.ReadTimeout("timed out")

        monkeypatch.setattr(httpx.Client, "stream", send)
        with (
            opened(account("https://example.org/")) as here,
            pytest.raises(ServerAway, match=r"example\.org does not answer"),
        ):
            here.request("GET", "https://example.org/")

    def test_a_certificate_is_checked_and_the_own_one_taken(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(tmp_path / "own.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        with web_server(lambda _: Said(), context) as server:
            with (
                opened(account(server.url)) as here,
                pytest.raises(CertificateRefused, match="does not know") as caught,
            ):
                here.request("GET", server.url + "/secret-path")
            one_line(caught.value)
            assert server.asked == []
            with opened(account(server.url, certificate=str(tmp_path / "own.pem"))) as here:
                assert here.request("GET", server.url).status == 200


@pytest.mark.parametrize("url", ["", "nothing", "https://", "//host/x", "https://[", "mailto:me@example.org"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(SourceProblem) as caught:
        host_of(url)
    one_line(caught.value)


def test_nothing_shows_a_secret_or_a_secret_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server(lambda _: Said(body=b"mail text")) as server, opened(account(server.url)) as here:
        answer = here.request("GET", server.url + "/secret-path")
        told = repr(answer) + repr(here)
    for hidden in ("secret-path", "kélp", BASIC, "mail text"):
        assert hidden not in told
        assert hidden not in caplog.text
