"""What befalls a connection is told as what it means, and no certificate is taken that proves nothing."""

import errno
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from connectors.accounts.network import Backoff, problem_of, reaching, tls_context
from workspace import Account, CertificateRefused, ServerAway, SourceProblem, UserError

HOST = "localhost"


@contextmanager
def tls_server(context: ssl.SSLContext) -> Iterator[int]:
    """A server that makes the TLS handshake, again and again; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    plain, _ = listener.accept()
                except OSError:
                    return
                with plain:
                    try:
                        with context.wrap_socket(plain, server_side=True) as safe:
                            safe.recv(1)
                    except OSError:
                        continue  # the client does not like the certificate

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def server_context(certificate: trustme.LeafCert | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate is not None:
        certificate.configure_cert(context)
    return context


def connect(port: int, context: ssl.SSLContext, host: str = HOST) -> str | None:
    with (
        reaching(host),
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain, server_hostname=host) as safe,
    ):
        return safe.version()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def authority_file(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def own_certificate(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A certificate that a server signed by itself, as many do at home, and the file to name in accounts.toml."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "my mail at home")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path, secret = tmp_path / "server.pem", tmp_path / "server.key"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = server_context()
    context.load_cert_chain(path, secret)
    return context, path


def refused(port: int, context: ssl.SSLContext, host: str = HOST) -> str:
    with pytest.raises(CertificateRefused) as caught:
        connect(port, context, host)
    assert "\n" not in str(caught.value)
    assert "Nothing was sent" in str(caught.value)
    return str(caught.value)


class TestCertificates:
    def test_one_of_an_authority_of_the_system_is_taken(
        self, authority: trustme.CA, authority_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with tls_server(server_context(authority.issue_cert(HOST))) as port:
            assert "does not know" in refused(port, tls_context(Account()))
            monkeypatch.setenv("SSL_CERT_FILE", str(authority_file))
            assert connect(port, tls_context(Account())) == "TLSv1.3"

    def test_one_of_the_accounts_own_authority_is_taken(self, authority: trustme.CA, authority_file: Path) -> None:
        with tls_server(server_context(authority.issue_cert(HOST))) as port:
            assert connect(port, tls_context(Account(certificate=str(authority_file)))) == "TLSv1.3"

    def test_one_that_a_server_signed_itself_is_taken_when_it_is_named(
        self, own_certificate: tuple[ssl.SSLContext, Path]
    ) -> None:
        context, path = own_certificate
        with tls_server(context) as port:
            told = refused(port, tls_context(Account()))
            assert "signed by itself" in told
            assert "name its certificate (PEM) as `certificate` in accounts.toml" in told
            assert connect(port, tls_context(Account(certificate=str(path)))) == "TLSv1.3"

    def test_a_leaf_is_taken_when_it_is_named_whoever_signed_it(
        self, authority: trustme.CA, tmp_path: Path
    ) -> None:
        leaf = authority.issue_cert(HOST)
        leaf.cert_chain_pems[0].write_to_path(tmp_path / "leaf.pem")
        with tls_server(server_context(leaf)) as port:
            assert connect(port, tls_context(Account(certificate=str(tmp_path / "leaf.pem")))) == "TLSv1.3"

    def test_a_named_one_still_has_to_bear_the_hosts_name(
        self, own_certificate: tuple[ssl.SSLContext, Path]
    ) -> None:
        context, path = own_certificate
        with tls_server(context) as port:
            assert "of another host" in refused(port, tls_context(Account(certificate=str(path))), "mail.example")

    def test_one_that_has_expired_is_refused(self, authority: trustme.CA, authority_file: Path) -> None:
        old = authority.issue_cert(HOST, not_after=datetime.now(UTC) - timedelta(days=1))
        with tls_server(server_context(old)) as port:
            assert "has expired" in refused(port, tls_context(Account(certificate=str(authority_file))))

    def test_one_of_another_host_is_refused(self, authority: trustme.CA, authority_file: Path) -> None:
        with tls_server(server_context(authority.issue_cert("other.example"))) as port:
            told = refused(port, tls_context(Account(certificate=str(authority_file))))
        assert "The certificate of localhost is that of another host" in told

    @pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
    def test_an_old_encryption_is_refused(self, authority: trustme.CA, authority_file: Path) -> None:
        context = server_context(authority.issue_cert(HOST))
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with tls_server(context) as port:
            told = refused(port, tls_context(Account(certificate=str(authority_file))))
        assert "No safe connection" in told

    @pytest.mark.parametrize("text", ["", "no certificate", None])
    def test_a_file_that_is_none_is_named(self, text: str | None, tmp_path: Path) -> None:
        path = tmp_path / "certificate.pem"
        if text is not None:
            path.write_text(text)
        with pytest.raises(UserError, match=r"certificate\.pem") as caught:
            tls_context(Account(certificate=str(path)))
        assert "\n" not in str(caught.value)


def test_a_server_without_tls_at_that_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain:
                plain.sendall(b"* OK no TLS here\r\n")
                plain.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ServerAway, match="speaks no TLS at that port"):
            connect(listener.getsockname()[1], tls_context(Account()))
        thread.join()


def test_a_server_that_ends_in_the_handshake_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain, _ = listener.accept()
            with plain:
                plain.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ServerAway, match="localhost broke the connection off"):
            connect(listener.getsockname()[1], tls_context(Account()))
        thread.join()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "mail.example is not known: no such name, or"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "mail.example cannot be looked up"),
        (
            TimeoutError("timed out"),
            "mail.example does not answer. Check host and port; it is tried again at the next sync.",
        ),
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "x"),
            "mail.example refuses the connection. Check host and port; it is",
        ),
        (ConnectionResetError(errno.ECONNRESET, "x"), "mail.example broke the connection off."),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "cannot be reached: Network is unreachable."),
        (OSError("odd"), "cannot be reached: no reason given."),
    ],
)
def test_what_the_network_does_is_a_server_that_is_away(error: OSError, told: str) -> None:
    with pytest.raises(ServerAway) as caught, reaching("mail.example"):
        raise error
    assert told in str(caught.value)
    assert caught.value.__cause__ is error


def test_what_led_to_an_error_of_a_library_counts() -> None:
    outer = RuntimeError("library")
    outer.__cause__ = ConnectionRefusedError(errno.ECONNREFUSED, "x")
    assert isinstance(problem_of(outer, "mail.example"), ServerAway)
    assert problem_of(RuntimeError("library"), "mail.example") is None


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file", "/some/file"),
        OSError(errno.ENOSPC, "No space left on device"),
        ValueError("x"),
        SourceProblem("told already"),
    ],
)
def test_what_is_not_of_the_network_stays_what_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, reaching("mail.example"):
        raise error
    assert caught.value is error


def upper() -> float:
    return 1.0


@pytest.mark.parametrize(("random", "most"), [(upper, 8.0), (lambda: 0.5, 8.0)])
def test_waits_grow_to_their_limit_and_begin_anew(random: Callable[[], float], most: float) -> None:
    backoff = Backoff(first=1.0, most=most, random=random)
    share = random()
    assert [backoff.next() for _ in range(6)] == [share * span for span in (1, 2, 4, 8, 8, 8)]
    backoff.reset()
    assert backoff.next() == share
    assert all(0 <= Backoff().next() <= 1 for _ in range(20))


def test_waits_stay_within_their_limit_however_often() -> None:
    backoff = Backoff(random=upper)
    assert max(backoff.next() for _ in range(5000)) == 900.0
