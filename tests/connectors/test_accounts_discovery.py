"""An address leads to its servers, no stranger leads it astray, and only its domain is ever sent out."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from connectors.accounts.autoconfig import is_host, read_autoconfig
from connectors.accounts.discovery import Found, find_calendars, find_mail
from connectors.accounts.names import Names
from connectors.accounts.providers import providers
from tests.servers.dns_server import NameServer, Records, name_server
from tests.servers.web_server import Asked, Said, WebServer, web_server
from workspace import Account, ServerAway, UserError

LOCAL = "kelp.salt"
ADDRESS = f"{LOCAL}@firm.example"


def incoming(host: str = "imap.firm.example", port: str = "993", security: str = "SSL", **more: str) -> str:
    lines = {
        "hostname": host,
        "port": port,
        "socketType": security,
        "username": "%EMAILADDRESS%",
        "authentication": "password-cleartext",
    } | more
    return (
        '<incomingServer type="imap">'
        + "".join(f"<{name}>{value}</{name}>" for name, value in lines.items())
        + "</incomingServer>"
    )


def autoconfig(*servers: str, before: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>{before}<clientConfig version="1.1"><emailProvider id="firm.example">'
        f"{''.join(servers)}</emailProvider></clientConfig>"
    ).encode()


@dataclass
class Internet:
    """The names and servers there are. Nothing else can be reached; `looked_up` is each host that was wanted."""

    dns: NameServer
    names: Names
    context: ssl.SSLContext
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    looked_up: list[tuple[str, int]] = field(default_factory=list)
    webs: list[WebServer] = field(default_factory=list)

    def find_mail(self, address: str = ADDRESS) -> Found:
        return find_mail(address, names=self.names)

    def find_calendars(self, address: str = ADDRESS) -> Found:
        return find_calendars(address, names=self.names)

    @contextmanager
    def web(self, *hosts: str, **files: Said) -> Iterator[WebServer]:
        """A web server for hosts, with TLS; what it has, by a part of the path."""

        def answer(asked: Asked) -> Said:
            return next((said for part, said in files.items() if part in asked.path), Said(404, b"<html>No"))

        with web_server(answer, self.context) as server:
            self.places |= {(host, 443): server.port for host in hosts}
            self.webs.append(server)
            yield server

    @contextmanager
    def imap(self, host: str, port: int, greeting: bytes = b"* OK ready\r\n") -> Iterator[None]:
        """An IMAP server as far as its greeting; on port 143 with STARTTLS."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.places[host, port] = listener.getsockname()[1]

            def serve() -> None:
                try:
                    plain, _ = listener.accept()
                except OSError:
                    return  # nobody came
                with plain:
                    try:
                        if port == 143:
                            plain.sendall(greeting)
                            if plain.recv(100) == b"a STARTTLS\r\n":
                                plain.sendall(b"a OK begin\r\n")
                        with self.context.wrap_socket(plain, server_side=True) as safe:
                            if port != 143:
                                safe.sendall(greeting)
                            safe.recv(1)
                    except OSError:
                        pass  # the client leaves as it likes

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                yield
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                thread.join()

    def told(self) -> str:
        """All that was ever sent out, as one text."""
        asked = [
            f"{one.method} {one.path} {dict(one.headers)} {one.body!r}" for web in self.webs for one in web.asked
        ]
        return "\n".join([*asked, repr(self.dns.asked), repr(self.looked_up)])


@pytest.fixture
def records() -> dict[tuple[str, str], list[str]]:
    return {}


@pytest.fixture
def internet(records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Internet]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    hosts = (
        "firm.example",
        "*.firm.example",
        "dav.other.example",
        "xn--bcher-kva.example",
        "*.xn--bcher-kva.example",
    )
    authority.issue_cert(*hosts).configure_cert(context)
    look_up = socket.getaddrinfo
    with name_server(records) as dns:
        here = Internet(dns, Names(dns.resolver()), context)

        def getaddrinfo(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
            host = host.decode() if isinstance(host, bytes) else host
            here.looked_up.append((host, port))
            if (host, port) in here.places:
                return look_up("127.0.0.1", here.places[host, port], *rest, **more)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield here
    assert LOCAL not in here.told()
    assert "%40" not in here.told()


class TestMail:
    @pytest.mark.parametrize("domain", ["gmail.com", "GMail.Com", "outlook.de", "icloud.com", "web.de", "qq.com"])
    def test_a_large_provider_is_known_without_asking_anybody(self, domain: str, internet: Internet) -> None:
        found = internet.find_mail(f"{LOCAL}@{domain}")
        assert found.account.address == f"{LOCAL}@{domain.lower()}"
        assert (found.account.port, found.account.security) == (993, "tls")
        assert "known to Tide" in found.how
        assert found.hint
        assert (internet.dns.asked, internet.looked_up) == ([], [])

    @pytest.mark.parametrize("host", ["autoconfig.firm.example", "firm.example"])
    def test_the_providers_file_names_the_server(self, host: str, internet: Internet) -> None:
        file = autoconfig(incoming(security="STARTTLS", port="143"), incoming(username="u-%EMAILLOCALPART%"))
        with internet.web(host, autoconfig=Said(body=file), mail=Said(body=file)):
            found = internet.find_mail()
        assert found.account == Account(
            address=ADDRESS, user=f"u-{LOCAL}", host="imap.firm.example", port=993, security="tls"
        )
        assert found.how == f"{host} names imap.firm.example."

    def test_a_file_may_lead_to_a_provider_that_is_known(self, internet: Internet) -> None:
        file = autoconfig(incoming("outlook.office365.com", authentication="password-cleartext"))
        with internet.web("autoconfig.firm.example", mail=Said(body=file)):
            found = internet.find_mail()
        assert (found.account.sign_in, found.account.provider) == ("oauth", "microsoft")
        assert "client id" in found.hint

    def test_services_of_the_domain_name_the_server(self, internet: Internet, records: Any) -> None:
        records["_imaps._tcp.firm.example", "SRV"] = [
            "20 0 993 second.firm.example.",
            "10 5 9930 light.firm.example.",
            "10 9 9931 First.firm.example.",
        ]
        found = internet.find_mail()
        assert (found.account.host, found.account.port, found.account.security) == (
            "first.firm.example",
            9931,
            "tls",
        )
        assert (found.how, found.hint) == ("The domain names first.firm.example.", "")

    def test_a_service_elsewhere_is_told_to_the_person(self, internet: Internet, records: Any) -> None:
        records["_imap._tcp.firm.example", "SRV"] = ["0 0 143 imap.evilfirm.example."]
        found = internet.find_mail()
        assert (found.account.port, found.account.security) == (143, "starttls")
        assert (
            found.hint == "The server is imap.evilfirm.example, which is not part of firm.example. Go on only if"
            " you know it."
        )

    @pytest.mark.parametrize("target", [".", "localhost.", "127.0.0.1.", "me.localhost."])
    def test_a_service_that_is_none_is_passed_over(self, target: str, internet: Internet, records: Any) -> None:
        records["_imaps._tcp.firm.example", "SRV"] = [f"0 0 993 {target}"]
        records["firm.example", "MX"] = ["10 aspmx.l.google.com."]
        assert internet.find_mail().account.host == "imap.gmail.com"

    @pytest.mark.parametrize(
        ("mail_host", "host"),
        [
            ("ASPMX.L.Google.com.", "imap.gmail.com"),
            ("firm-example.mail.protection.outlook.com.", "outlook.office365.com"),
            ("in1-smtp.messagingengine.com.", "imap.fastmail.com"),
            ("mx01.mail.icloud.com.", "imap.mail.me.com"),
        ],
    )
    def test_a_domain_of_ones_own_at_a_large_provider_is_found_by_its_mail_host(
        self, mail_host: str, host: str, internet: Internet, records: Any
    ) -> None:
        records["firm.example", "MX"] = ["20 backup.example.", f"10 {mail_host}"]
        found = internet.find_mail()
        assert found.account.host == host
        assert found.account.address == ADDRESS
        assert found.how.startswith("The mail of firm.example is at ")

    def test_a_mail_host_that_only_sounds_like_a_provider_is_none(self, internet: Internet, records: Any) -> None:
        records["firm.example", "MX"] = ["10 mx.evilgoogle.com.", "20 google.com.evil.example."]
        with pytest.raises(UserError, match=r"No mail server was found for firm\.example"):
            internet.find_mail()

    @pytest.mark.parametrize(
        ("host", "port", "security"),
        [
            ("imap.firm.example", 993, "tls"),
            ("mail.firm.example", 993, "tls"),
            ("mail.firm.example", 143, "starttls"),
        ],
    )
    def test_a_common_name_that_answers_is_the_server(
        self, host: str, port: int, security: str, internet: Internet
    ) -> None:
        with internet.imap(host, port):
            account = internet.find_mail().account
        assert (account.host, account.port, account.security) == (host, port, security)

    def test_what_answers_but_is_no_mail_server_is_none(self, internet: Internet) -> None:
        with (
            internet.imap("imap.firm.example", 993, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            pytest.raises(UserError, match="--server HOST"),
        ):
            internet.find_mail()

    def test_a_server_whose_certificate_is_refused_is_told(
        self, internet: Internet, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SSL_CERT_FILE")
        with internet.imap("imap.firm.example", 993), pytest.raises(UserError) as caught:
            internet.find_mail()
        assert "The certificate of imap.firm.example is signed by an authority" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_without_any_name_server_one_is_told_to_be_offline(self, internet: Internet) -> None:
        internet.dns.broken = True
        with pytest.raises(ServerAway, match="offline"):
            internet.find_mail()

    def test_a_domain_of_other_letters_is_asked_in_ascii(self, internet: Internet, records: Any) -> None:
        records["_imaps._tcp.xn--bcher-kva.example", "SRV"] = ["0 0 993 imap.xn--bcher-kva.example."]
        account = internet.find_mail(f"{LOCAL}@BÜCHER.example").account
        assert account.address == f"{LOCAL}@xn--bcher-kva.example"
        assert account.host == "imap.xn--bcher-kva.example"


BOMB = "<!DOCTYPE x [" + "".join(
    f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' if n else '<!ENTITY a1 "imap.firm.example">' for n in range(12)
) + "]>"  # fmt: skip


class TestHostileFiles:
    @pytest.mark.parametrize(
        "file",
        [
            autoconfig(incoming(security="plain")),
            autoconfig(incoming(security="")),
            autoconfig(incoming("localhost")),
            autoconfig(incoming("127.0.0.1")),
            autoconfig(incoming("[::1]")),
            autoconfig(incoming("10.0.0.1")),
            autoconfig(incoming("2130706433")),
            autoconfig(incoming("0x7f.1")),
            autoconfig(incoming("router")),
            autoconfig(incoming("imap.firm.example/x")),
            autoconfig(incoming("me:pw@imap.firm.example")),
            autoconfig(incoming("imap.firm.example\r\nx")),
            autoconfig(incoming(port="0")),
            autoconfig(incoming(port="99999")),
            autoconfig(incoming(port="-1")),
            autoconfig(incoming(port="9" * 9999)),
            autoconfig(incoming(username="x&#10;y")),
            autoconfig(incoming(username="x" * 10_000)),
            autoconfig(incoming(authentication="NTLM")),
            autoconfig(incoming("&a12;"), before=BOMB),
            autoconfig(incoming() + '<x y="&a12;"/>', before=BOMB),
            autoconfig(incoming(), before='<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">'),
            autoconfig(incoming("&f;"), before='<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>'),
            autoconfig("<incomingServer/>" * 9),
            autoconfig("<a>" * 100_000),
            autoconfig(incoming().replace('"imap"', '"pop3"')),
            autoconfig() + b"<more/>",
            b"",
            b"<html><body>Hello</html>",
            b"\xff\xfe\x00",
            b'<?xml version="1.0" encoding="no-such"?><clientConfig/>',
        ],
    )
    def test_what_is_not_to_be_asked_is_not_named(self, file: bytes) -> None:
        assert read_autoconfig(file, ADDRESS) is None

    def test_a_huge_file_is_passed_over(self, internet: Internet, records: Any) -> None:
        records["firm.example", "MX"] = ["10 aspmx.l.google.com."]
        file = autoconfig(incoming(), "<!--" + "x" * 1_000_000 + "-->")
        with internet.web("autoconfig.firm.example", "firm.example", mail=Said(body=file)) as web:
            assert internet.find_mail().account.host == "imap.gmail.com"
        assert len(web.asked) == 2

    def test_a_file_is_not_fetched_without_encryption(self, internet: Internet, records: Any) -> None:
        records["firm.example", "MX"] = ["10 aspmx.l.google.com."]
        leads = Said(302, headers={"location": "http://autoconfig.firm.example/mail/config-v1.1.xml"})
        with internet.web("autoconfig.firm.example", "firm.example", mail=leads):
            assert internet.find_mail().account.host == "imap.gmail.com"
        assert not [port for _, port in internet.looked_up if port == 80]

    def test_a_file_may_say_oauth_alone(self, internet: Internet) -> None:
        file = autoconfig(incoming(authentication="OAuth2"))
        with internet.web("firm.example", autoconfig=Said(body=file)):
            found = internet.find_mail()
        assert found.account.sign_in == "oauth"
        assert "--token-command" in found.hint


class TestCalendars:
    def test_a_large_provider_is_known(self, internet: Internet) -> None:
        assert internet.find_calendars(f"{LOCAL}@icloud.com").account.url == "https://caldav.icloud.com/"
        google = internet.find_calendars("me+x@gmail.com")
        assert google.account.url == "https://apidata.googleusercontent.com/caldav/v2/me%2Bx@gmail.com/user"
        assert (google.account.sign_in, google.account.provider) == ("oauth", "google")
        with pytest.raises(UserError, match="webcal"):
            internet.find_calendars("me@hotmail.com")
        assert (internet.dns.asked, internet.looked_up) == ([], [])

    @pytest.mark.parametrize(
        ("service", "texts", "url"),
        [
            ("0 0 443 dav.firm.example.", [], "https://dav.firm.example/.well-known/caldav"),
            ("0 0 8443 dav.firm.example.", ['"path=/dav/a b"'], "https://dav.firm.example:8443/dav/a%20b"),
            ("0 0 443 dav.firm.example.", ['"path=//evil.example/"'], "https://dav.firm.example/evil.example/"),
            (
                "0 0 443 dav.firm.example.",
                ['"v=spf1"', '"path=@evil.example/"'],
                "https://dav.firm.example/%40evil.example/",
            ),
        ],
    )
    def test_services_of_the_domain_name_the_address(
        self, service: str, texts: list[str], url: str, internet: Internet, records: Any
    ) -> None:
        records["_caldavs._tcp.firm.example", "SRV"] = [service]
        if texts:
            records["_caldavs._tcp.firm.example", "TXT"] = texts
        found = internet.find_calendars()
        assert found.account == Account(address=ADDRESS, url=url)
        assert found.hint == ""

    @pytest.mark.parametrize("status", [401, 207])
    def test_the_well_known_address_leads_there(self, status: int, internet: Internet) -> None:
        leads = Said(301, headers={"location": "/remote.php/dav"})
        with internet.web("firm.example", caldav=leads, remote=Said(status)) as web:
            found = internet.find_calendars()
        assert found.account.url == "https://firm.example/remote.php/dav"
        assert [one.method for one in web.asked] == ["PROPFIND", "PROPFIND"]

    def test_the_well_known_address_may_lead_to_another_host_which_is_told(self, internet: Internet) -> None:
        leads = Said(301, headers={"location": "https://dav.other.example/dav/"})
        with internet.web("firm.example", caldav=leads), internet.web("dav.other.example", dav=Said(401)):
            found = internet.find_calendars()
        assert found.account.url == "https://dav.other.example/dav/"
        assert "dav.other.example, which is not part of firm.example" in found.hint

    @pytest.mark.parametrize("status", [200, 403, 404, 405, 500])
    def test_a_site_without_calendars_is_none(self, status: int, internet: Internet) -> None:
        with (
            internet.web("firm.example", caldav=Said(status)),
            pytest.raises(UserError, match="in place of yours"),
        ):
            internet.find_calendars()

    def test_a_domain_of_ones_own_at_a_large_provider_is_found(self, internet: Internet, records: Any) -> None:
        records["firm.example", "MX"] = ["10 in1-smtp.messagingengine.com."]
        assert internet.find_calendars().account.url == "https://caldav.fastmail.com/"
        records["firm.example", "MX"] = ["10 firm-example.mail.protection.outlook.com."]
        with pytest.raises(UserError, match="no CalDAV"):
            internet.find_calendars()


@pytest.mark.parametrize(
    "address", ["", "me", "me@", "@firm.example", "a@b@c.example", "me@firm", "me you@firm.example",
                "me@127.0.0.1", "me@[127.0.0.1]", "me@-firm.example", "me@fi\x00rm.example", "me@firm..example",
                "me\n@firm.example", "me@" + "x" * 70 + ".example", "me@localhost"],
)  # fmt: skip
def test_what_is_no_address_is_told(address: str) -> None:
    for find in (find_mail, find_calendars):
        with pytest.raises(UserError, match="is no mail address") as caught:
            find(address)
        assert "\n" not in str(caught.value)


def test_the_providers_are_whole() -> None:
    domains = [domain for one in providers() for domain in one.domains]
    assert len(domains) == len(set(domains))
    assert len({one.host for one in providers()}) >= 10
    for one in providers():
        assert all(map(is_host, (one.host, *one.domains, *one.mx)))
        assert one.hint
        assert one.calendars_hint
        assert "\n" not in one.hint + one.calendars_hint
        assert not one.calendars or one.calendars.startswith("https://")
        assert (one.sign_in, one.calendars_sign_in) == ("password", "password") or one.provider
