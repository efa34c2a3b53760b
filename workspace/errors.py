"""The errors that are for the person: everything else that is raised is a fault of ours.

Those of a source say in `state` what has become of it; `tide sources` shows it.
"""

from typing import ClassVar


class UserError(Exception):
    """One line that says what is wrong and what to do next; shown without a traceback."""


class WorkerBusy(UserError):
    """Another process syncs, reads, indexes or discovers at the moment."""


class SourceProblem(UserError):
    """A source cannot be read at the moment. What was brought in from it is kept."""

    state: ClassVar[str] = "problem"


class SourceEmpty(SourceProblem):
    """A source that held artifacts is suddenly empty: rather away than emptied, so the person is asked."""

    state = "empty"


class ServerAway(SourceProblem):
    """The server cannot be reached, breaks off or is busy; the same may work later."""

    state = "away"


class QuotaReached(ServerAway):
    """The server takes no more requests for now; it wants to be asked less often."""

    state = "quota"


class SignInFailed(SourceProblem):
    """The server refuses the name or the secret. It is not tried again until the person signs in anew."""

    state = "sign-in"


class CertificateRefused(SourceProblem):
    """The server cannot prove that it is who it says; nothing was sent to it."""

    state = "certificate"


class SecretUnavailable(SourceProblem):
    """The secret is not to be had at the moment, so that no server was asked."""

    state = "locked"


class KeyringLocked(SecretUnavailable):
    """The keyring that holds the secret is locked, or there is none."""


class SecretCommandFailed(SecretUnavailable):
    """The command that prints the secret fails."""
