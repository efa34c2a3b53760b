"""`accounts.toml`: what the person may write there, and what would give a secret away."""

import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from workspace import Account, Accounts, UserError
from workspace.accounts import on_this_machine


def test_what_is_saved_is_read_again_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "accounts.toml"
    accounts = Accounts().changed(
        {
            "work": Account(address="me@example.org", host="imap.example.org", port=993, folders=("INBOX",)),
            "home": Account(url="https://dav.example.org/", user="me", certificate="~/own.pem"),
        }
    )
    accounts.save(path)
    assert Accounts.load(path) == accounts
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert accounts.changed({"work": None, "never": None}).root.keys() == {"home"}
    assert Accounts.load(tmp_path / "none.toml") == Accounts()


def test_the_name_to_sign_in_with_is_the_address_unless_it_is_another() -> None:
    assert Account(address="me@example.org").login == "me@example.org"
    assert Account(address="me@example.org", user="me").login == "me"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"host": "imap.example.org", "security": "none"}, "for all to read"),
        ({"url": "http://dav.example.org/kelp"}, "http:// would send all to dav.example.org"),
        ({"url": "https://me:kelp@dav.example.org/"}, "no name or password belongs in an address"),
        ({"url": "https://kelp@dav.example.org/"}, "no name or password belongs in an address"),
        ({"url": "ftp://dav.example.org/kelp"}, "begins with https://"),
        ({"url": "dav.example.org/kelp"}, "begins with https://"),
        ({"url": "https:///kelp"}, "begins with https://"),
        ({"url": "https://["}, "Invalid IPv6 URL"),
        ({"url": "https://dav.example.org:99999/kelp"}, "Port out of range"),
        ({"url": "https://dav.example.org:0/kelp"}, "begins with https://"),
        ({"password": "kelp"}, "Extra inputs"),
        ({"sign_in": "kelp"}, "Input should be"),
        ({"port": 65_536}, "less than or equal to 65535"),
    ],
)
def test_what_would_give_a_secret_away_is_refused_without_repeating_it(
    values: dict[str, object], told: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Account.model_validate(values)
    assert told in str(caught.value)
    assert "kelp" not in str(caught.value).replace("'kelp'", "")


def test_a_wrong_file_is_told_in_one_line_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "accounts.toml"
    path.write_text('[work]\nurl = "https://me:kelp@dav.example.org/"\n')
    with pytest.raises(UserError, match=r"accounts\.toml: work\.url: .*no name or password") as caught:
        Accounts.load(path)
    assert "\n" not in str(caught.value)
    assert "kelp" not in str(caught.value)


def test_this_machine_needs_no_encryption() -> None:
    assert Account(host="127.0.0.1", security="none").security == "none"
    assert Account(url="http://localhost:5232/").url == "http://localhost:5232/"


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("LOCALHOST", True), ("127.3.2.1", True), ("[::1]", True), ("::1", True),
     ("localhost.example.org", False), ("10.0.0.1", False), ("127.0.0.1.example.org", False), ("", False)],
)  # fmt: skip
def test_what_is_this_machine(host: str, here: bool) -> None:
    assert on_this_machine(host) is here
