"""The keyring: what is put there is there again, and one that does not answer is told with what to do."""

import gc
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from tests.servers.keyring_daemon import KeyringDaemon, keyring_daemon
from workspace import Keyring, KeyringLocked, UserError, secrets

SECRET = "kelp ünd salt\n{'9'}"


class MemoryKeyring(KeyringBackend):
    """Keeps secrets while the process lives."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("No such password!")


@pytest.fixture
def backend() -> Iterator[Callable[[KeyringBackend], None]]:
    """Choose what the `keyring` library asks; afterwards it is as before."""
    before = keyring.core._keyring_backend
    yield keyring.set_keyring
    keyring.core._keyring_backend = before


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyringDaemon]:
    with keyring_daemon(tmp_path_factory.mktemp("keyring")) as daemon:
        yield daemon


def use(daemon: KeyringDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in daemon.environment.items():
        monkeypatch.setenv(name, value)


def secret_service() -> KeyringBackend:
    from keyring.backends.SecretService import Keyring as SecretService

    return SecretService()


@pytest.fixture(params=["memory", "gnome-keyring"])
def store(
    request: pytest.FixtureRequest, backend: Callable[[KeyringBackend], None], monkeypatch: pytest.MonkeyPatch
) -> Keyring:
    """Tide's keyring, over one in memory and over a real one."""
    if request.param == "memory":
        backend(MemoryKeyring())
    else:
        daemon = request.getfixturevalue("running")
        use(daemon, monkeypatch)
        backend(secret_service())
    return Keyring()


class TestSecretStore:
    def test_what_is_put_is_there_until_it_is_removed(self, store: Keyring) -> None:
        assert store.get("work") is None
        store.put("work", SECRET)
        store.put("other", "x")
        assert store.get("work") == SECRET
        store.put("work", "another")
        assert store.get("work") == "another"
        store.remove("work")
        assert store.get("work") is None
        assert store.get("other") == "x"
        store.remove("other")

    def test_removing_what_is_not_there_does_nothing(self, store: Keyring) -> None:
        store.remove("never put")

    def test_a_long_secret_stays_whole(self, store: Keyring) -> None:
        store.put("tokens", SECRET * 1000)
        assert store.get("tokens") == SECRET * 1000
        store.remove("tokens")

    def test_nothing_tells_of_a_secret(self, store: Keyring, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        store.put("work", SECRET)
        store.get("work")
        store.remove("work")
        assert "salt" not in caplog.text + repr(store) + repr(vars(store))


def refusals(store: Keyring) -> list[str]:
    """What it says to each thing that is asked of it."""
    said = []
    for ask in (lambda: store.get("work"), lambda: store.put("work", SECRET), lambda: store.remove("work")):
        with pytest.raises(KeyringLocked) as caught:
            ask()
        assert isinstance(caught.value, UserError)
        said.append(str(caught.value))
    assert not any("\n" in line or "salt" in line for line in said)
    return said


# The library leaves the connection to a keyring that does not answer to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_a_keyring_that_is_locked_or_ends_is_told(
    tmp_path: Path, backend: Callable[[KeyringBackend], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with keyring_daemon(tmp_path) as daemon:
        use(daemon, monkeypatch)
        backend(secret_service())
        Keyring().put("work", SECRET)
        with daemon.silent():
            monkeypatch.setattr(secrets, "WAIT_SECONDS", 0.3)
            assert all("wait for you to unlock it" in line for line in refusals(Keyring()))
        monkeypatch.undo()
        use(daemon, monkeypatch)
        daemon.lock()
        assert all("is locked. Unlock it" in line for line in refusals(Keyring()))
        daemon.end_daemon()
        assert all("No keyring answers" in line for line in refusals(Keyring()))
        daemon.end_bus()
        assert all("No keyring answers" in line for line in refusals(Keyring()))
        monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
        assert all("No keyring answers" in line for line in refusals(Keyring()))
    gc.collect()


def test_without_any_keyring_one_is_told_what_else_there_is(backend: Callable[[KeyringBackend], None]) -> None:
    backend(fail.Keyring())
    assert all("No keyring answers" in line and "`secret_command`" in line for line in refusals(Keyring()))


def test_a_keyring_that_is_switched_off_takes_no_secret(backend: Callable[[KeyringBackend], None]) -> None:
    backend(null.Keyring())
    with pytest.raises(KeyringLocked, match="switched off"):
        Keyring().put("work", SECRET)
    assert Keyring().get("work") is None


@pytest.mark.parametrize("named", ["no_such_module.Keyring", "keyring.backends.fail.NoSuch", "nothing"])
def test_a_keyring_that_cannot_be_loaded_is_told(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)  # as before the first question
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", named)
    assert all("names cannot be loaded" in line for line in refusals(Keyring()))


def test_a_program_finds_the_keyring_by_itself(running: KeyringDaemon) -> None:
    program = (
        "from workspace import Keyring\nKeyring().put('work', 'kelp')\n"
        "print(Keyring().get('work'))\nKeyring().remove('work')\nprint(Keyring().get('work'))"
    )
    environment = {"PATH": "/usr/bin:/bin", **running.environment}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    assert (done.stdout, done.returncode) == ("kelp\nNone\n", 0), done.stderr
