"""Secrets come from the keyring or a command, and nothing that fails tells of them."""

import os
import signal
import time
from pathlib import Path

import pytest

from connectors.accounts import credentials
from connectors.accounts.credentials import Credentials, printed
from workspace import Account, SecretCommandFailed, SignInFailed


class Memory(dict[str, str]):
    """Secrets while the test lasts."""

    def put(self, name: str, secret: str) -> None:
        self[name] = secret

    def remove(self, name: str) -> None:
        self.pop(name, None)


def refused(command: str) -> str:
    with pytest.raises(SecretCommandFailed) as caught:
        printed(command, "work")
    told = str(caught.value)
    assert "\n" not in told
    assert "secret_command of work" in told
    assert command not in told
    assert "kelp" not in f"{told}{caught.value.__cause__}"
    return told


def test_the_keyrings_secret_is_that_of_the_sources_name() -> None:
    assert Credentials("work", Account(), Memory(work="kelp", other="x")).secret() == "kelp"


@pytest.mark.parametrize("kept", [{}, {"work": ""}, {"other": "x"}])
def test_without_a_secret_one_is_told_to_sign_in(kept: dict[str, str]) -> None:
    with pytest.raises(SignInFailed, match="Run: tide sign-in work"):
        Credentials("work", Account(), Memory(kept)).secret()


def test_a_command_goes_before_the_keyring_for_tokens_too() -> None:
    account = Account(secret_command="echo salt", sign_in="oauth")
    credentials = Credentials("work", account, Memory(work="kelp"))
    assert credentials.secret() == "salt"
    assert credentials.token() == credentials.token(renew=True) == "salt"


@pytest.mark.parametrize(
    ("command", "secret"),
    [
        ("echo kelp", "kelp"),
        ("printf 'kelp and salt  \\r\\nlogin: me\\n'", "kelp and salt  "),
        ("printf ' k\\303\\251lp'", " kélp"),
        ("printf 'kelp|salt' | cut -d '|' -f 2", "salt"),
        ('echo "$TIDE_TEST_SECRET"', "from the environment"),
        ("cat; echo kelp", "kelp"),
        ("echo noise >&2; echo kelp", "kelp"),
    ],
)
def test_the_secret_is_the_first_line_that_a_command_prints(
    command: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDE_TEST_SECRET", "from the environment")
    assert printed(command, "work") == secret


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo kelp; echo kelp >&2; exit 3", "ended with code 3."),
        ("echo kelp; kill -9 $$", "was ended by signal 9."),
        ("/no/such/program kelp", "ended with code 127."),
        ("true", "prints an empty line, or nothing."),
        ("echo; echo kelp", "prints an empty line, or nothing."),
        ("printf 'kelp\\377'", "prints what is no text."),
        ("yes kelp", "prints far more than a secret."),
    ],
)
def test_a_command_that_fails_is_told_without_what_it_printed(command: str, told: str) -> None:
    assert told in refused(command)


def test_a_command_without_end_is_ended_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(credentials, "COMMAND_SECONDS", 0.5)
    told = refused(f"echo kelp; sleep 1000 & echo $! > {tmp_path}/child; wait")
    assert "took longer than" in told
    child = int((tmp_path / "child").read_text())
    for _ in range(200):
        try:
            if "Z" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2]:
                return  # ended; nobody has asked for it yet
        except FileNotFoundError:
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def test_a_command_that_closes_its_output_and_goes_on_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "COMMAND_SECONDS", 0.3)
    assert "took longer than" in refused("echo kelp; exec >&-; sleep 1000")


def test_an_agent_that_a_command_leaves_behind_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(credentials, "COMMAND_SECONDS", 20.0)
    assert printed(f"sleep 1000 & echo $! > {tmp_path}/agent; echo kelp", "work") == "kelp"
    os.kill(int((tmp_path / "agent").read_text()), signal.SIGTERM)  # it was left alone


def test_nothing_shows_a_secret() -> None:
    account = Account(secret_command="echo kelp")
    credentials = Credentials("work", account, Memory(work="salt"))
    credentials.secret()
    assert "kelp" not in repr(account) + repr(credentials)
    assert "salt" not in repr(credentials)
