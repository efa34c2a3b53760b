"""tide profile: what it shows, what it takes over, and the editor it opens."""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.conftest import HOSTILE, NOW
from workspace import Artifact, Batch, Folders, Kind, Person, Profile, Put, Role
from workspace.card import lay_out
from workspace.store import Store

ME = "nora@museum.example"
Tide = Callable[..., Any]


def mail(number: int, sender: tuple[str, str], to: tuple[str, str], **other: Any) -> Artifact:
    people = (Person(Role.FROM, *sender), Person(Role.TO, *to))
    return Artifact("mail", f"m{number}", Kind.EMAIL, people=people, time=NOW - timedelta(days=number), **other)


@pytest.fixture
def dealings(home: Folders) -> Folders:
    """A home with the person's own card, a colleague, somebody under the colleague's name, and a newsletter."""
    ben, eve = ("Ortiz, Ben", "ben@museum.example"), ("Ben Ortiz", "eve@evil.example")
    own = Artifact(
        "mail",
        "card",
        Kind.DOCUMENT,
        title="Nora Keane",
        text=lay_out([("Organisation", "Harbour Museum"), ("Title", "Curator")]),
        people=(Person(Role.CONTACT, "Nora Keane", ME),),
    )
    with Store(home.store) as store:
        store.artifacts.add_source("mail", "maildir", "/mail", NOW)
        artifacts = [
            own,
            mail(1, ben, ("", ME)),
            mail(2, ("", ME), ben),
            mail(3, ben, ("", ME)),
            mail(4, eve, ("", ME)),
            mail(5, (HOSTILE, "odd@x.example"), ("", ME)),
            Artifact(
                "mail",
                "cy",
                Kind.DOCUMENT,
                title="Cy Lund",
                people=tuple(Person(Role.CONTACT, "Cy Lund", f"cy@{place}.example") for place in ("work", "home")),
            ),
            mail(7, ("", "cy@work.example"), ("", ME)),
            mail(6, ("News", "news@x.example"), ("", ME), automatic=True),
        ]
        store.artifacts.take("mail", Batch(tuple(map(Put, artifacts)), {}))
    return home


def said(home: Folders) -> Profile:
    return Profile.load(home.profile)


@pytest.fixture
def at_terminal(home: Folders, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run the command at a terminal and type these lines; the exit code and all that was printed."""

    def run(*words: str, typed: str = "", **env: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "desktop", *words],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env={**os.environ, "VISUAL": "", "NO_COLOR": "1", "TERM": "dumb", **env},
            )
            os.write(master, typed.encode())
            output = b""
            while process.poll() is None or select.select([master], [], [], 0)[0]:
                if select.select([master], [], [], 0.05)[0]:
                    output += os.read(master, 65536)
        finally:
            process.kill()
            process.wait()
            os.close(slave)
            os.close(master)
        return process.returncode, " ".join(output.decode().split())

    return run


@pytest.fixture
def editor(tmp_path: Path) -> Callable[..., str]:
    """The command of an editor that does this, in Python, to the `text` of its file: each time the next."""

    def make(*changes: str) -> str:
        script = tmp_path / "editor.py"
        (tmp_path / "opened").unlink(missing_ok=True)
        script.write_text(
            "import sys, pathlib\n"
            f"count = pathlib.Path({str(tmp_path / 'opened')!r})\n"
            "turn = int(count.read_text()) if count.exists() else 0\n"
            "count.write_text(str(turn + 1))\n"
            "path = pathlib.Path(sys.argv[-1])\n"
            "text = path.read_text()\n"
            f"exec({list(changes)!r}[turn])\n"
            "path.write_text(text)\n"
        )
        return f"'{sys.executable}' {script} --wait"

    return make


def test_it_shows_profile_suggestions_and_people(dealings: Folders, tide: Tide) -> None:
    shown = tide("profile").stdout
    assert str(dealings.profile) in shown.replace("\n", "")
    assert "Nora Keane" in shown
    flat = " ".join(shown.split())
    assert "not used until you take them over: tide profile --take" in flat
    assert "fact occupation: Curator Your own card says so." in flat
    assert (
        "guess ben@museum.example: Ben Ortiz, colleague Same domain as yours; 2 mails from them, 1 from you."
        in flat
    )
    assert "Ben Ortiz 2 1 0 2026-05-18 your mail ben@museum.example" in flat
    assert "cy@work.example cy@home.example one person: one card of your contacts lists them" in flat
    assert "perhaps also eve@evil.example: the same name; not known" in flat
    assert flat.endswith("And 1 automatic sender; --json lists all.")
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066")
    assert all(len(line) <= 80 for line in shown.split("\n"))


def test_showing_changes_nothing(dealings: Folders, tide: Tide) -> None:
    before = dealings.profile.read_bytes()
    tide("profile")
    tide("profile", "--json")
    assert dealings.profile.read_bytes() == before


def test_the_record_tells_facts_guesses_and_who_is_known_from_what(dealings: Folders, tide: Tide) -> None:
    record = json.loads(tide("profile", "--json").stdout)
    assert record["path"] == str(dealings.profile)
    assert record["profile"]["persona"]["name"] == "Nora Keane"
    assert [(one["suggestion"], one["value"], one["fact"]) for one in record["suggestions"]] == [
        ("occupation", "Curator", True),
        ("organization", "Harbour Museum", True),
        ("ben@museum.example", "Ben Ortiz", False),
    ]
    known = {person["addresses"][0]: person["known_from"] for person in record["people"]}
    assert known == {
        "ben@museum.example": "your mail",
        "eve@evil.example": "",
        "odd@x.example": "",
        "cy@work.example": "contacts",
        "news@x.example": "",
    }
    assert record["people"][0]["same_name"] == [{"email": "eve@evil.example", "known_from": ""}]


def test_before_anything_is_known_it_says_what_to_do(home: Folders, tide: Tide) -> None:
    home.profile.unlink()
    shown = " ".join(tide("profile").stdout.split())
    assert "which is not written yet" in shown
    assert "Next: tide sync" in shown
    assert not home.profile.exists()


def test_facts_are_taken_over_and_guesses_only_by_name(dealings: Folders, tide: Tide) -> None:
    dealings.profile.write_text(f'# mine\n[persona]\nname = "Nora Keane"\nemails = ["{ME}"] # work\n')
    done = tide("profile", "--take")
    assert done.exit_code == 0
    assert done.stderr.split("\n")[:2] == [
        "Took over occupation: Curator.",
        "Took over organization: Harbour Museum.",
    ]
    assert "Name them: tide profile --take ben@museum.example" in done.stderr
    assert said(dealings).persona.occupation == "Curator"
    assert said(dealings).world_model.relationships == ()
    text = dealings.profile.read_text()
    assert text.startswith("# mine\n")
    assert f'emails = ["{ME}"] # work\n' in text

    record = json.loads(tide("profile", "--take", "Ben@museum.example", "--json").stdout)
    assert ([one["suggestion"] for one in record["taken"]], record["left"]) == (["ben@museum.example"], [])
    (ben,) = said(dealings).world_model.relationships
    assert (ben.name, ben.email, ben.relation) == ("Ben Ortiz", "ben@museum.example", "colleague")
    assert tide("profile", "--take").stderr == "There is nothing to take over.\n"


def test_each_guess_is_asked_at_a_terminal(dealings: Folders, at_terminal: Callable[..., tuple[int, str]]) -> None:
    code, shown = at_terminal("profile", "--take", typed="n\n")
    assert code == 0
    assert (
        "ben@museum.example: Ben Ortiz, colleague (same domain as yours; 2 mails from them, 1 from you)." in shown
    )
    assert "Is that so? [y/N]" in shown
    assert said(dealings).world_model.relationships == ()
    assert said(dealings).persona.occupation == "Curator"
    code, shown = at_terminal("profile", "--take", typed="y\n")
    assert shown.endswith("Took over ben@museum.example: Ben Ortiz, colleague.")
    assert [one.email for one in said(dealings).world_model.relationships] == ["ben@museum.example"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["manager"], "Suggestions are taken over with --take, as in: tide profile --take manager\n"),
        (["--take", "helen"], "There is no suggestion 'helen'. `tide profile` lists those that there are.\n"),
        (["--edit", "--take"], "--edit goes alone: tide profile --edit\n"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_line(
    dealings: Folders, tide: Tide, words: list[str], line: str
) -> None:
    done = tide("profile", *words)
    assert (done.exit_code, done.stderr) == (1, line)


def test_without_a_terminal_it_names_the_file(home: Folders, tide: Tide) -> None:
    done = tide("profile", "--edit")
    assert done.exit_code == 1
    assert done.stderr == f"There is no terminal to edit in. Edit {home.profile} with any editor.\n"


def test_a_new_profile_explains_itself_in_the_editor(
    home: Folders, at_terminal: Callable[..., tuple[int, str]], editor: Callable[..., str]
) -> None:
    home.profile.unlink()
    change = (
        "assert '# Every address of yours' in text; text = text.replace('occupation = \"\"', 'occupation = \"c\"')"
    )
    code, shown = at_terminal("profile", "--edit", EDITOR=editor(change))
    assert (code, shown) == (0, f"Saved {home.profile}.")
    assert said(home).persona.occupation == "c"
    assert home.profile.stat().st_mode & 0o777 == 0o600


def test_a_wrong_profile_is_opened_again_until_it_is_right(
    home: Folders, at_terminal: Callable[..., tuple[int, str]], editor: Callable[..., str]
) -> None:
    command = editor(
        "text += 'oops'", "text = text.replace('oops', '') + '[persona]'", "text = text[:-9] + '# mine'"
    )
    code, shown = at_terminal("profile", "--edit", typed="y\n\n", VISUAL=command, EDITOR="false")
    assert code == 0
    assert shown.count("Open it again? [Y/n]") == 2
    assert "line" in shown
    assert shown.endswith(f"Saved {home.profile}.")
    assert home.profile.read_text().endswith("# mine")


def test_a_profile_that_is_left_wrong_keeps_what_was_written(
    home: Folders, at_terminal: Callable[..., tuple[int, str]], editor: Callable[..., str], tide: Tide
) -> None:
    code, shown = at_terminal(
        "profile", "--edit", typed="n\n", EDITOR=editor("text = 'timezone = \"Mars\" # mine'")
    )
    assert code == 1
    assert "timezone: Value error, unknown time zone 'Mars'" in shown
    assert shown.endswith("is left as you wrote it, and must be put right: tide profile --edit")
    assert home.profile.read_text() == 'timezone = "Mars" # mine'
    assert "Mars" in tide("profile").stderr
    code, shown = at_terminal("profile", "--edit", EDITOR=editor("text = ''"))
    assert (code, shown) == (0, f"Saved {home.profile}."), "it can be opened while it is wrong"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("/nowhere/editor", "/nowhere/editor: No such file or directory. Set EDITOR to your editor, or edit"),
        ("false", "false ended with an error (1). What it saved is in"),
        ("'vi", "EDITOR is no command (No closing quotation). Set it to your editor, or edit"),
    ],
)
def test_an_editor_that_fails_is_named(
    home: Folders, at_terminal: Callable[..., tuple[int, str]], command: str, line: str
) -> None:
    code, shown = at_terminal("profile", "--edit", EDITOR=command)
    assert code == 1
    assert shown.startswith(line)


def test_a_profile_that_the_editor_removes_is_told(
    home: Folders, at_terminal: Callable[..., tuple[int, str]]
) -> None:
    code, shown = at_terminal("profile", "--edit", EDITOR="rm")
    assert code == 1
    assert shown == f"{home.profile} was removed while it was edited. A new one: tide profile --edit"


def test_without_an_editor_it_says_so(home: Folders, at_terminal: Callable[..., tuple[int, str]]) -> None:
    code, shown = at_terminal("profile", "--edit", EDITOR="", PATH="/nowhere")
    assert (code, shown) == (
        1,
        f"There is no editor here. Set EDITOR to one, or edit {home.profile} in another way.",
    )
