"""Accounts at servers, added and signed in to: what is asked, what is kept where, what a failure leaves."""

import ast
import json
import os
import pty
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest
from click.testing import Result
from typer.testing import CliRunner

from connectors.accounts.oauth import Tokens
from desktop.adding import in_options
from desktop.cli import app
from tests.servers.dovecot import PASSWORD, USER, Dovecot
from tests.servers.keyring_file import FileKeyring
from tests.servers.radicale_server import Radicale
from tests.servers.web_server import Said, web_server
from workspace import Account, Accounts, Folders, Profile, SecretStore
from workspace.store import Store

MAIL = (
    b"From: Ann <ann@example.com>\nTo: me@example.org\nSubject: The berth\nMessage-ID: <%d@example.com>\n\nLet.\n"
)


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with Dovecot(oauth=True) as server:
        server.fill("INBOX", [MAIL % number for number in range(3)])
        yield server


class Tide:
    """The command, with a keyring in a file: called here, or as the words and environment of a process."""

    def __init__(self, folder: Path, home: Folders) -> None:
        self.home = home
        self.keyring = folder / "keyring.json"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHON_KEYRING_BACKEND": "tests.servers.keyring_file.FileKeyring",
        }

    def __call__(self, *words: object, typed: str = "") -> Result:
        return CliRunner().invoke(app, [str(word) for word in words], input=typed)

    def process(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "desktop", *map(str, words)]

    def secrets(self) -> dict[str, str]:
        return json.loads(self.keyring.read_text()) if self.keyring.exists() else {}

    def nothing_is_kept(self) -> None:
        assert self.secrets() == {}
        assert Accounts.load(self.home.accounts).root == {}
        assert Profile.load(self.home.profile).persona.emails == ("nora@museum.example",)
        with Store(self.home.store) as store:
            assert store.artifacts.sources() == []


@pytest.fixture
def tide(tmp_path: Path, home: Folders, monkeypatch: pytest.MonkeyPatch) -> Tide:
    monkeypatch.setenv("TIDE_TEST_KEYRING", str(tmp_path / "keyring.json"))
    monkeypatch.setattr(keyring.core, "_keyring_backend", FileKeyring())
    return Tide(tmp_path, home)


def at(server: Dovecot, *, tls: bool = True) -> list[str]:
    """The words that name the server."""
    port = server.tls_port if tls else server.port
    named = ["--server", f"localhost:{port}", "--certificate", str(server.ca)]
    return named if tls else [*named, "--security", "starttls"]


@pytest.mark.parametrize("tls", [True, False])
def test_an_account_is_added_with_its_password_in_the_keyring_alone(
    tls: bool, tide: Tide, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dovecot.ca.parent)
    done = tide(
        "add",
        "imap",
        USER,
        *at(dovecot, tls=tls),
        "--certificate",
        "ca.pem",
        "--json",
        typed=f"{PASSWORD}\nmore\n",
    )
    assert done.exit_code == 0, done.stderr
    port = dovecot.tls_port if tls else dovecot.port
    scheme = "imaps" if tls else "imap"
    added = json.loads(done.stdout)
    assert added["name"] == "example"
    assert added["location"] == f"{scheme}://me%40example.org@localhost:{port}"
    assert "3 messages" in added["holds"]
    assert f"localhost:{port}, encrypted ({'TLS' if tls else 'STARTTLS'})" in done.stderr
    assert tide.secrets() == {"tide example": PASSWORD}
    assert Profile.load(tide.home.profile).persona.emails == ("nora@museum.example", USER)
    account = Accounts.load(tide.home.accounts).root["example"]
    assert (account.host, account.port, account.login) == ("localhost", port, USER)
    assert account.certificate == str(dovecot.ca)
    for path in tide.home.config.parent.rglob("*"):
        assert path.is_dir() or PASSWORD.encode() not in path.read_bytes(), path
    synced = subprocess.run(
        tide.process("sync", "--json"), env=tide.environment, capture_output=True, text=True, check=False
    )
    assert json.loads(synced.stdout)["sources"][0]["held"] == 3, synced.stderr
    again = tide("add", "imap", USER, *at(dovecot, tls=tls), typed=PASSWORD)
    assert (again.exit_code, "is there already, as 'example'" in again.stderr) == (1, True)


def test_a_password_may_come_from_a_command(tide: Tide, dovecot: Dovecot) -> None:
    done = tide("add", "imap", USER, *at(dovecot), "--secret-command", f"echo {PASSWORD}", "--months", "3",
                "--folder", "INBOX", "--folder", "Archive", "--name", "berths")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert done.stderr.endswith("Next: tide run\n")
    assert tide.secrets() == {}
    account = Accounts.load(tide.home.accounts).root["berths"]
    assert (account.secret_command, account.months, account.folders) == (
        f"echo {PASSWORD}", 3, ("INBOX", "Archive"),
    )  # fmt: skip


def test_a_token_may_come_from_a_command(tide: Tide, dovecot: Dovecot) -> None:
    words = ("--token-command", f"echo {shlex.quote(dovecot.token())}")
    assert tide("add", "imap", USER, *at(dovecot), *words).exit_code == 0
    assert json.loads(tide("sync", "--json").stdout)["sources"][0]["held"] == 3


def test_what_the_server_refuses_leaves_nothing_behind(tide: Tide, dovecot: Dovecot) -> None:
    refused = tide("add", "imap", USER, *at(dovecot), typed="not the password\n")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 2
    assert "Nothing was kept" in refused.stderr
    assert "not the password" not in refused.stderr
    assert "tide sign-in" not in refused.stderr
    silent = tide("add", "imap", USER, *at(dovecot))
    assert "No password came in." in silent.stderr
    command = tide("add", "imap", USER, *at(dovecot), "--secret-command", "false")
    assert (command.exit_code, "--secret-command" in command.stderr) == (1, True)
    untrusted = tide("add", "imap", USER, "--server", f"localhost:{dovecot.tls_port}", typed=PASSWORD)
    assert (untrusted.exit_code, "with --certificate FILE" in untrusted.stderr) == (1, True)
    nowhere = tide("add", "imap", USER, *at(dovecot), "--folder", "Nowhere", typed=PASSWORD)
    assert (nowhere.exit_code, "Correct --folder; there are: INBOX" in nowhere.stderr) == (1, True)
    words = ("--server", f"localhost:{dovecot.port}", "--security", "tls", "--certificate", dovecot.ca)
    plain = tide("add", "imap", USER, *words, typed=PASSWORD)
    assert (plain.exit_code, "Correct the port in --server" in plain.stderr) == (1, True)
    for done in (refused, command, untrusted, nowhere, plain):
        assert "accounts.toml" not in done.stderr
    tide.nothing_is_kept()


def test_all_that_is_said_of_a_kept_account_has_its_options() -> None:
    said = [
        "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        for path in (Path(__file__).parents[2] / "connectors").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.JoinedStr)
    ]
    kept = [line for line in said if "in accounts.toml" in line]
    assert len(kept) > 5
    assert [line for line in kept if "accounts.toml" in in_options(line, "--server")] == []


def test_without_a_keyring_the_other_way_is_named_before_a_password_is_asked(
    tide: Tide, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tide.keyring.write_text("locked")
    locked = tide("add", "imap", USER, *at(dovecot), typed=PASSWORD)
    tide.keyring.write_text("{}")
    monkeypatch.setattr(keyring.core, "_keyring_backend", keyring.backends.fail.Keyring())
    missing = tide("add", "imap", USER, *at(dovecot), typed=PASSWORD)
    for done in (locked, missing):
        assert (done.exit_code, done.stderr.count("\n")) == (1, 2)
        assert "--secret-command" in done.stderr
    tide.nothing_is_kept()


@pytest.mark.parametrize(
    "block", ["data", "config"], ids=["the store may not be written", "accounts.toml may not be written"]
)
def test_what_cannot_be_kept_whole_is_not_kept(block: str, tide: Tide, dovecot: Dovecot) -> None:
    if block == "config":
        (tide.home.config / "accounts.toml.new").mkdir()
    else:
        with Store(tide.home.store) as store:
            store._connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON source BEGIN SELECT raise(ABORT, 'no room'); END"
            )
    done = tide("add", "imap", USER, *at(dovecot), "--person", "Nora K.", typed=PASSWORD)
    assert done.exit_code == 1
    if block == "config":
        (tide.home.config / "accounts.toml.new").rmdir()
    tide.nothing_is_kept()
    assert Profile.load(tide.home.profile).persona.name == "Nora Keane"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("not an address",), "is no mail address"),
        ((USER, "--server", "mail.example", "--security", "none"), "would send the password to mail.example"),
        ((USER, "--server", "imap://mail.example/"), "is no server"),
        ((USER, "--server", "mail.example:many"), "is no server"),
        ((USER, "--server", "mail.example", "--client-id", "abc"), "--provider google or microsoft"),
        ((USER, "--server", "m.example", "--client-id", "a", "--secret-command", "b"), "Name one of"),
        ((USER, "--server", "mail.example", "--name", "mail"), "There is a source called 'mail' already"),
        ((USER, "--server", "mail.example", "--name", "own"), "accounts.toml has a table [own] already"),
        (("someone@outlook.com",), "--client-id"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words: tuple[str, ...], said: str, tide: Tide) -> None:
    with Store(tide.home.store) as store:
        store.artifacts.add_source("mail", "maildir", "/mail", datetime.now(UTC))
    tide.home.accounts.write_text('[own]\nhost = "mail.example"\n')
    done = tide("add", "imap", *words, typed=PASSWORD)
    assert done.exit_code == 1
    assert said in done.stderr.splitlines()[-1]


def state(tide: Tide) -> tuple[str, str]:
    (source,) = json.loads(tide("sources", "--json").stdout)
    return source["state"], source["problem"]


def test_a_refused_account_is_left_alone_until_it_is_signed_in_to(tide: Tide, dovecot: Dovecot) -> None:
    assert tide("add", "imap", USER, *at(dovecot), typed=PASSWORD).exit_code == 0
    assert state(tide) == ("never", "")
    tide.keyring.write_text(json.dumps({"tide example": "an older password"}))
    before = dovecot.refused()
    assert tide("sync").exit_code == 1
    assert (state(tide)[0], "tide sign-in example" in state(tide)[1]) == ("sign-in", True)
    refusals = dovecot.refused()
    assert refusals > before
    for words in (["sync"], ["sync", "example"]):
        again = tide(*words)
        assert (again.exit_code, "tide sign-in example" in again.stderr) == (1, True)
    assert dovecot.refused() == refusals
    wrong = tide("sign-in", "example", typed="another wrong one")
    assert (wrong.exit_code, state(tide)[0]) == (1, "sign-in")
    assert tide.secrets() == {"tide example": "an older password"}
    right = tide("sign-in", "example", typed=PASSWORD)
    assert (right.exit_code, state(tide), tide.secrets()) == (0, ("never", ""), {"tide example": PASSWORD})
    assert "3 messages" in right.stderr
    assert tide("sync").exit_code == 0
    assert state(tide) == ("well", "")


def test_signing_in_runs_the_command_again(tide: Tide, dovecot: Dovecot, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text(PASSWORD)
    words = ("--secret-command", f"cat {kept}")
    assert tide("add", "imap", USER, *at(dovecot), *words).exit_code == 0
    kept.write_text("changed")
    assert (tide("sync").exit_code, state(tide)[0]) == (1, "sign-in")
    assert tide("sign-in", "example").exit_code == 1
    kept.write_text(PASSWORD)
    assert (tide("sign-in", "example").exit_code, state(tide)[0]) == (0, "never")


def test_there_is_nothing_to_sign_in_to_on_this_machine(tide: Tide, files: Path) -> None:
    assert tide("add", "folder", files / "documents").exit_code == 0
    for name, said in (("documents", "is on this machine"), ("nobody", "There is no source called 'nobody'")):
        done = tide("sign-in", name)
        assert (done.exit_code, said in done.stderr) == (1, True)


def typed_at_terminal(tide: Tide, typed: str, *words: object) -> tuple[int, str]:
    """The exit code and the output of a command at a terminal, to which its password is typed."""
    terminal, inside = pty.openpty()
    process = subprocess.Popen(tide.process(*words), preexec_fn=lambda: os.login_tty(inside), env=tide.environment)
    os.close(inside)
    seen = b""
    while b"Password of" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, typed.encode())
    with suppress(OSError):  # as Linux says that nobody is there any more
        while chunk := os.read(terminal, 1000):
            seen += chunk
    os.close(terminal)
    return process.wait(60), seen.decode()


def test_a_sign_in_that_is_stopped_changes_nothing(tide: Tide, dovecot: Dovecot) -> None:
    assert tide("add", "imap", USER, *at(dovecot), typed=PASSWORD).exit_code == 0
    ended, seen = typed_at_terminal(tide, "\x03", "sign-in", "example")
    assert (ended, seen.endswith("Stopped. Nothing was changed.\r\n")) == (130, True)
    assert tide.secrets() == {"tide example": PASSWORD}


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [(f"{PASSWORD}\n", 0, "Added example"), ("\x03", 130, "Stopped. Nothing was added.")],
    ids=["typed", "Ctrl-C"],
)
def test_a_password_is_not_seen_as_it_is_typed(
    typed: str, code: int, said: str, tide: Tide, dovecot: Dovecot
) -> None:
    ended, seen = typed_at_terminal(tide, typed, "add", "imap", USER, *at(dovecot))
    assert ended == code
    assert f"Password of {USER} at localhost" in seen
    assert said in seen
    assert PASSWORD not in seen
    if code:
        tide.nothing_is_kept()


def test_a_sign_in_in_the_browser_keeps_tokens_in_the_keyring_alone(
    tide: Tide, dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def authorize(source: str, account: Account, secrets: SecretStore, *, client_secret: str, **_: object) -> None:
        asked.append((source, account.client_id, account.provider, client_secret))
        tokens = Tokens(
            refresh_token="rope",
            access_token=dovecot.token(),
            client_secret=client_secret,
            until=time.time() + 3600,
        )
        secrets.put(source, tokens.model_dump_json())

    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr("connectors.accounts.oauth.authorize", authorize)
    words = ["add", "imap", USER, *at(dovecot), "--client-id", "anchor", "--provider", "google", "--name", "work"]
    done = tide(*words, typed="windlass\n")
    assert done.exit_code == 0, done.stderr
    assert asked == [("work", "anchor", "google", "windlass")]
    assert "windlass" in tide.secrets()["tide work"]
    kept = tide.home.accounts.read_text()
    assert ("windlass" in kept, "rope" in kept, "anchor" in kept) == (False, False, True)
    again = tide("sign-in", "work", typed="\n")
    assert again.exit_code == 0, again.stderr
    assert asked[1:] == [("work", "anchor", "google", "")]


EVENT = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:test\r
BEGIN:VEVENT\r
UID:{0}\r
DTSTAMP:20260501T080000Z\r
SUMMARY:{0}\r
DTSTART:20260521T100000Z\r
DTEND:20260521T110000Z\r
END:VEVENT\r
END:VCALENDAR\r
"""


@pytest.fixture(scope="module")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    with Radicale(tmp_path_factory.mktemp("radicale")) as server:
        yield server


def test_calendars_at_a_server_are_added_and_synced(tide: Tide, radicale: Radicale) -> None:
    user = radicale.user()
    for name in ("Work", "Choir"):
        (user.calendar(name.lower(), name) / "event.ics").write_text(EVENT.format(name))
    words = ("add", "caldav", radicale.url, "--user", user.name, "--certificate", radicale.ca)
    refused = tide(*words, typed="not the password")
    assert (refused.exit_code, "Nothing was kept" in refused.stderr) == (1, True), refused.stderr
    tide.nothing_is_kept()
    done = tide(*words, "--calendar", "Work", "--json", typed=user.password)
    assert done.exit_code == 0, done.stderr
    added = json.loads(done.stdout)
    assert (added["name"], added["location"]) == (
        "localhost-calendar",
        f"https://{user.name}@localhost:{radicale.port}/",
    )
    assert tide.secrets() == {"tide localhost-calendar": user.password}
    assert json.loads(tide("sync", "--json").stdout)["sources"][0]["held"] == 1
    again = tide(*words, typed=user.password)
    assert (again.exit_code, "is there already, as 'localhost-calendar'" in again.stderr) == (1, True)


def test_an_address_of_calendars_holds_no_password_and_needs_a_user(tide: Tide) -> None:
    for address, said in (
        ("https://nora:kelp@dav.example/", "Leave the password out of the address"),
        ("https://dav.example/", "--user NAME"),
        ("dav.example", "--user NAME"),
    ):
        done = tide("add", "caldav", address)
        assert (done.exit_code, said in done.stderr) == (1, True)


def test_the_address_of_a_published_calendar_is_a_secret(tide: Tide) -> None:
    answers = {"/private-8f/basic.ics": EVENT.format("Rehearsal").encode(), "/other.ics": b"no calendar"}
    with web_server(lambda asked: Said(200, answers.get(asked.path, b""))) as server:
        address = f"{server.url}/private-8f/basic.ics"
        failed = tide("add", "webcal", f"{server.url}/other.ics")
        assert failed.exit_code == 1
        assert "other" not in failed.stderr
        tide.nothing_is_kept()
        done = tide("add", "calendar", address, "--email", "nk@home.example", "--json")
        assert done.exit_code == 0, done.stderr
        added = json.loads(done.stdout)
        assert (added["name"], added["kind"], added["location"]) == (
            "calendar",
            "webcal",
            f"http://127.0.0.1:{server.port}/…",
        )
        assert tide.secrets() == {"tide calendar": address}
        assert "nk@home.example" in Profile.load(tide.home.profile).persona.emails
        again = tide("add", "webcal", typed=address)
        assert (again.exit_code, "is there already, as 'calendar'" in again.stderr) == (1, True)
        assert json.loads(tide("sync", "--json").stdout)["sources"][0]["held"] == 1
    for path in tide.home.config.parent.rglob("*"):
        assert path.is_dir() or b"private-8f" not in path.read_bytes(), path
    assert "private-8f" not in tide("sources").stdout + tide("sync").stderr


def test_a_public_calendar_stands_in_accounts_toml(tide: Tide) -> None:
    with web_server(lambda asked: Said(200, EVENT.format("Spring tide").encode())) as server:
        address = f"{server.url}/holidays.ics"
        done = tide("add", "webcal", address, "--public")
        assert done.exit_code == 0, done.stderr
    assert Accounts.load(tide.home.accounts).root["holidays"].url == address
    assert tide.secrets() == {}
    with Store(tide.home.store) as store:
        assert [source.location for source in store.artifacts.sources()] == [address]


@pytest.mark.parametrize("address", ["https://[::1", "https://h.example:99999/", "https://[zz]/"])
@pytest.mark.parametrize("kind", ["caldav", "calendar", "webcal"])
def test_what_is_no_address_is_told_in_one_line(kind: str, address: str, tide: Tide) -> None:
    refused = tide("add", kind, address)
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith("This is no address of the web.")


def test_an_open_address_holds_no_user(tide: Tide) -> None:
    refused = tide("add", "webcal", "--public", "https://nora:kelp@h.example/a.ics")
    assert (refused.exit_code, refused.stderr.count("\n"), "kelp" in refused.stderr) == (1, 1, False)
    assert "Leave user and password out of the address" in refused.stderr
    assert "sign-in" not in refused.stderr


def test_an_account_that_was_edited_is_shown_where_it_is_now(tide: Tide) -> None:
    accounts = {
        "mail": Account(host="new.example", user="nora"),
        "feed": Account(sign_in="none"),
        "dates": Account(url="https://new.example/dav/", user="nora"),
    }
    Accounts(accounts).save(tide.home.accounts)
    with Store(tide.home.store) as store:
        for name, kind in (("mail", "imap"), ("feed", "webcal"), ("dates", "caldav"), ("torn", "imap")):
            store.artifacts.add_source(name, kind, "https://old.example/", datetime.now(UTC))
    assert {one["name"]: one["location"] for one in json.loads(tide("sources", "--json").stdout)} == {
        "mail": "imaps://nora@new.example:993",
        "feed": "https://old.example/",
        "dates": "https://nora@new.example/dav/",
        "torn": "https://old.example/",
    }
    assert "imaps://nora@new.example:993" in tide("sources").stdout
    forgotten = tide("forget", "mail", "--yes", "--json")
    assert json.loads(forgotten.stdout)["place"] == "imaps://nora@new.example:993"


def test_what_is_there_is_not_added_under_another_name(tide: Tide) -> None:
    accounts = {
        "mail": Account(host="mail.example", port=993, user="nora"),
        "tunnel": Account(host="localhost", port=1993, user="nora"),
        "dates": Account(url="https://dav.example/home/", user="nora"),
        "feed": Account(url="https://h.example/a.ics", sign_in="none"),
    }
    Accounts(accounts).save(tide.home.accounts)
    kinds = {"mail": "imap", "tunnel": "imap", "dates": "caldav", "feed": "webcal"}
    with Store(tide.home.store) as store:
        for name, kind in kinds.items():
            store.artifacts.add_source(name, kind, "https://old.example/", datetime.now(UTC))
    mail = ("imap", "n@x.example", "--user", "nora", "--server")
    for words, name in (
        ((*mail, "MAIL.example:143"), "mail"),
        ((*mail, "localhost:1993"), "tunnel"),
        (("caldav", "https://dav.example:443/other/", "--user", "nora"), "dates"),
        (("webcal", "--public", "https://h.example/a.ics"), "feed"),
    ):
        done = tide("add", *words, "--name", "another")
        assert (done.exit_code, f"is there already, as '{name}'" in done.stderr) == (1, True), done.stderr
    for words in (
        (*mail[:3], "ann", "--server", "mail.example"),
        (*mail, "localhost:2993"),
        ("caldav", "https://dav.example/home/", "--user", "ann"),
    ):
        assert "No password came in" in tide("add", *words, "--name", "another").stderr
