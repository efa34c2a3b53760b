"""The network as it is: servers that are away, certificates that prove nothing, and waiting for the next try."""

import errno
import random
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from workspace import Account, CertificateRefused, ServerAway, SourceProblem, UserError, expanded

SECONDS = 30.0
"""How long a server may be silent, on whatever protocol, before it counts as away."""

LATER = "Check host and port; it is tried again at the next sync"
_OWN_SERVER = "If it is a server of your own, name its certificate (PEM) as `certificate` in accounts.toml."
# X509_V_ERR_ of OpenSSL's x509_vfy.h: what is wrong, and what can be done.
_REFUSALS = {
    9: ("is not yet valid", "Set the clock of this machine, if it is slow."),
    10: ("has expired", "Its owner has to renew it; if the clock of this machine is wrong, set it."),
    18: ("is signed by itself alone", _OWN_SERVER),
    19: ("is signed by an authority that this machine does not know", _OWN_SERVER),
    20: ("is signed by an authority that this machine does not know", _OWN_SERVER),
    21: ("is signed by an authority that this machine does not know", _OWN_SERVER),
    62: ("is that of another host", "Correct the name of the server, or somebody is in between."),
    64: ("is that of another host", "Write the server's name, not its number."),
}


def tls_context(account: Account) -> ssl.SSLContext:
    """What a server has to prove: its name, by a certificate that leads to an authority of this system or to the
    account's own, over TLS 1.2 or later. The system's authorities are OpenSSL's: SSL_CERT_FILE is honoured.

    Raises:
        UserError: if the account's certificate cannot be read.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if account.certificate:
        path = expanded(account.certificate)
        try:
            context.load_verify_locations(cafile=path)
        except ssl.SSLError as error:
            raise UserError(
                f"{path} holds no certificate. It has to be a file in PEM, as the server sends."
            ) from error
        except OSError as error:
            raise UserError(f"{path}: {error.strerror}. Correct `certificate` in accounts.toml.") from error
        # The file may hold the server's own certificate, whoever signed it, and people's own are seldom strict.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


@contextmanager
def reaching(where: str) -> Iterator[None]:
    """Tell what befalls a connection to `where` (a host, as the person knows it) as what it means to the person.

    Raises:
        CertificateRefused: if the server does not prove that it is `where`.
        ServerAway: if it cannot be found or reached, is silent, or breaks off.
    """
    try:
        yield
    except OSError as error:
        problem = problem_of(error, where)
        if problem is None:
            raise
        raise problem from error


def problem_of(error: BaseException, where: str) -> SourceProblem | None:
    """What an error of the network means: itself or the one that led to it; None where it is none."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return _refused(seen, where)
        if isinstance(seen, ssl.SSLError):
            return _no_tls(seen, where)
        if isinstance(seen, OSError):
            # An error of a file has the file's name.
            local = seen.filename is not None or seen.errno == errno.ENOSPC
            return None if local else ServerAway(f"{where} {_away(seen)}.")
        seen = seen.__cause__ or seen.__context__
    return None


def _refused(error: ssl.SSLCertVerificationError, where: str) -> CertificateRefused:
    what, remedy = _REFUSALS.get(error.verify_code, (f"is not good ({error.verify_message})", _OWN_SERVER))
    return CertificateRefused(f"The certificate of {where} {what}. Nothing was sent. {remedy}")


def _no_tls(error: ssl.SSLError, where: str) -> SourceProblem:
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return ServerAway(f"{where} broke the connection off.")
    if error.reason in ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return ServerAway(f"{where} speaks no TLS at that port. Correct the port in accounts.toml.")
    reason = (error.reason or "no reason given").replace("_", " ").lower()
    return CertificateRefused(f"No safe connection can be made to {where}: {reason}. Nothing was sent.")


def _away(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        if error.errno == socket.EAI_AGAIN:
            return "cannot be looked up: this machine seems to be offline"
        return "is not known: no such name, or this machine is offline"
    if isinstance(error, TimeoutError):
        return f"does not answer. {LATER}"
    if isinstance(error, ConnectionRefusedError):
        return f"refuses the connection. {LATER}"
    if isinstance(error, ConnectionError):
        return "broke the connection off"
    return f"cannot be reached: {error.strerror or 'no reason given'}"


@dataclass
class Backoff:
    """How long to wait before the next try: on average twice as long each time, drawn from the whole span so that
    many who were cut off together do not come back together. Seconds.
    """

    first: float = 1.0
    most: float = 900.0
    random: Callable[[], float] = random.random
    _tries: int = field(default=0, init=False)

    def next(self) -> float:
        span = min(self.most, self.first * 2.0 ** min(self._tries, 64))
        self._tries += 1
        return span * self.random()

    def reset(self) -> None:
        """Begin anew, after a try that went well."""
        self._tries = 0
