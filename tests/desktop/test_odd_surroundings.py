"""Files, folders, names and moments that nobody would think of: each is the person's to put right, in one line."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workspace import Folders

Tide = Callable[..., Any]


def refused(done: Any) -> str:
    """The line of a command that said what the person can put right."""
    assert done.exit_code == 1, done.stderr
    assert "fault of Tide" not in done.stderr
    assert done.stderr.count("\n") == 1
    return str(done.stderr)


@pytest.mark.parametrize("inside", ["", "config"])
def test_a_home_that_is_a_file_is_named(
    inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tide: Tide
) -> None:
    place = tmp_path / "home" / inside
    place.parent.mkdir(exist_ok=True)
    place.write_text("no folder")
    monkeypatch.setenv("TIDE_HOME", str(tmp_path / "home"))
    for command in ("sources", "doctor"):
        assert refused(tide(command)).startswith(f"{tmp_path / 'home' / 'config'}: ")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a = " + b"[" * 100_000, b"rounds = " + b"9" * 5_000], ids=["bytes", "deep", "long"]
)
def test_settings_that_are_no_toml_are_named(content: bytes, home: Folders, tide: Tide) -> None:
    home.settings.write_bytes(content)
    assert refused(tide("sources")).startswith(str(home.settings))
    assert str(home.settings) in tide("doctor", "--json").stdout


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_settings_that_are_no_file_are_named(make: Callable[[Path], None], home: Folders, tide: Tide) -> None:
    make(home.settings)
    assert refused(tide("sources")) == f"{home.settings} is not a file. Remove it to start afresh.\n"


@pytest.mark.parametrize("path", ["x" * 3_000, "~no-such-person/Mail"])
def test_a_source_that_cannot_be_is_not_there(path: str, home: Folders, tide: Tide) -> None:
    assert "does not exist" in refused(tide("add", "folder", path))


def test_no_path_is_not_the_folder_that_one_is_in(home: Folders, tide: Tide) -> None:
    assert refused(tide("add", "folder", "")).startswith("The path is empty.")
    assert tide("sources", "--json").stdout == "[]\n"


def test_a_source_whose_name_cannot_be_kept_is_refused(home: Folders, tide: Tide, tmp_path: Path) -> None:
    place = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(place)
    assert "is not in UTF-8" in refused(tide("add", "folder", place))
    assert "is not in UTF-8" in refused(tide("add", "folder", tmp_path, "--name", "\udcff"))
    assert "is not in UTF-8" in refused(tide("add", "folder", tmp_path, "--person", "\udcff"))
    assert tide("sources", "--json").stdout == "[]\n"


def test_a_place_is_known_again_however_it_is_named(home: Folders, tide: Tide, tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "link").symlink_to("plans")
    assert tide("add", "folder", tmp_path / "plans").exit_code == 0
    for name in ("link", "plans/../plans"):
        assert "is there already, as 'plans'" in refused(tide("add", "folder", f"{tmp_path}/{name}"))


def test_an_address_holds_no_control_characters(home: Folders, tide: Tide, tmp_path: Path) -> None:
    assert "is no mail address" in refused(tide("add", "folder", tmp_path, "--email", "me@x.example\x1b[31m"))


def test_traces_that_cannot_be_kept_are_told_before_a_model_starts(
    added: Path, tide: Tide, home: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a model was started")

    monkeypatch.setattr("inference.models.opening._open", never)
    done = tide("read", "--model", "embedded", "--trace", "/dev/null")
    assert done.exit_code == 1
    assert done.stderr.endswith("/dev/null: File exists. Name a folder for the traces.\n")


@pytest.mark.parametrize(
    "moment", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00", "1969-12-31", "2026-03-16T24:00"]
)
def test_a_present_at_the_end_of_time_is_refused(
    moment: str, home: Folders, tide: Tide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDE_NOW", moment)
    assert refused(tide("digest")).startswith(f"TIDE_NOW='{moment}' is no moment.")


@pytest.mark.parametrize("number", ["0", "99999999999999999999"])
def test_a_number_that_no_finding_can_have_is_not_understood(number: str, home: Folders, tide: Tide) -> None:
    done = tide("dismiss", number)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
