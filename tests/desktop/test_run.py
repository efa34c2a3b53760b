"""A whole run on real files, without a model: from `add` to the digest, and what a second day costs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.commands.export import without_secret
from desktop.pipeline import at_work, sync
from desktop.progress import Mode
from workspace import Folders, Profile
from workspace.store import Store

Tide = Callable[..., Any]


def run(tide: Tide, *words: str) -> tuple[int, dict[str, Any]]:
    done = tide("run", "--strategy", "observed", "--json", *words)
    assert done.stdout, done.stderr
    return done.exit_code, json.loads(done.stdout)


def test_a_run_goes_from_files_to_findings(added: Path, tide: Tide) -> None:
    code, result = run(tide)
    assert code == 0
    assert result["artifacts"] == {"document": 2, "email": 40, "event": 3}
    assert [(one["source"], one["changed"], one["held"], one["problem"]) for one in result["synced"]] == [
        ("mail", 40, 40, ""),
        ("calendar", 3, 3, ""),
        ("documents", 2, 2, ""),
    ]
    (clash,) = result["findings"]
    assert clash["template"] == "overlapping-commitments"
    assert {item["title"] for item in clash["evidence"]} == {"Board meeting", "Handling course"}
    assert all(item["quote"] for item in clash["evidence"])
    assert clash["action"]["words"]
    assert result["run"]["strategy"] == "observed"
    assert {"sync", "discover"} <= set(result["seconds"])
    assert "sync" in result["run"]["seconds"]
    assert "capable model" in result["hint"]
    assert result["why"] == "As you asked, only what can be computed is looked for (observed)."


def test_a_second_run_brings_nothing_twice(added: Path, tide: Tide) -> None:
    run(tide)
    tide("digest")
    code, result = run(tide)
    assert code == 0
    assert [(one["changed"], one["gone"]) for one in result["synced"]] == [(0, 0)] * 3
    assert [finding["state"] for finding in result["findings"]] == ["seen"]


def test_a_dismissed_finding_does_not_come_back(added: Path, tide: Tide) -> None:
    run(tide)
    tide("dismiss", "1")
    assert run(tide)[1]["findings"] == []
    assert "Nothing new. Last sync: today 08:40." in tide("run", "--strategy", "observed").stdout


def test_text_for_the_person_goes_to_stdout_and_the_rest_to_stderr(added: Path, tide: Tide) -> None:
    done = tide("run", "--strategy", "observed")
    assert done.stdout.startswith("Tide · Tuesday, 19 May 2026 · Nora Keane\n1 finding: 1 new\n")
    assert "mail: 40 new or changed, 0 gone, 40 held." in done.stderr
    assert "Looked by observed: 1 new" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_source_that_fails_does_not_stop_the_others(added: Path, tide: Tide) -> None:
    (added / "calendar.ics").rename(added / "elsewhere.ics")
    done = tide("sync", "--json")
    assert done.exit_code == 1
    mail, calendar, documents = json.loads(done.stdout)["sources"]
    assert (mail["problem"], mail["held"], documents["problem"], documents["held"]) == ("", 40, "", 2)
    assert str(added / "calendar.ics") in calendar["problem"]
    assert str(added / "calendar.ics") in tide("digest").stdout.replace("\n", "")
    (added / "elsewhere.ics").rename(added / "calendar.ics")
    assert tide("sync", "calendar").exit_code == 0
    assert [source["problem"] for source in json.loads(tide("sources", "--json").stdout)] == ["", "", ""]


def test_a_source_that_is_suddenly_empty_is_asked_about(added: Path, tide: Tide, home: Folders) -> None:
    assert tide("sync").exit_code == 0
    shutil.rmtree(added / "mail" / "cur")
    (added / "mail" / "cur").mkdir()
    done = tide("sync", "mail")
    assert done.exit_code == 1
    assert done.stderr.endswith("run: tide sync mail --allow-empty\n")
    with Store(home.store) as store:
        assert store.artifacts.count_source("mail") == 40
    asked: list[str] = []
    with at_work(Mode.NONE) as work:
        (kept,) = sync(work, "mail", ask=lambda question: bool(asked.append(question)))
    assert kept.problem
    assert asked == [f"mail: {added / 'mail'} is suddenly empty. Remove its 40 artifacts here?"]
    with at_work(Mode.NONE) as work:
        (removed,) = sync(work, "mail", ask=lambda question: True)
    assert (removed.problem, removed.gone, removed.held) == ("", 40, 0)


def test_a_source_may_be_empty_where_that_is_allowed(added: Path, tide: Tide, home: Folders) -> None:
    assert tide("sync").exit_code == 0
    shutil.rmtree(added / "mail" / "cur")
    (added / "mail" / "cur").mkdir()
    assert tide("sync", "mail", "--allow-empty").exit_code == 0
    with Store(home.store) as store:
        assert store.artifacts.count_source("mail") == 0


def test_mail_without_a_known_address_is_refused(home: Folders, files: Path, tide: Tide) -> None:
    Profile(timezone="Europe/Dublin").save(home.profile)
    done = tide("add", "maildir", files / "mail")
    assert done.exit_code == 1
    assert "--email" in done.stderr
    assert tide("sources", "--json").stdout == "[]\n"
    words = ("--email", "Nora@Museum.example", "--email", "nk@home.example", "--person", "Nora Keane")
    assert tide("add", "maildir", files / "mail", *words).exit_code == 0
    persona = Profile.load(home.profile).persona
    assert (persona.name, persona.emails) == ("Nora Keane", ("nora@museum.example", "nk@home.example"))
    assert tide("add", "folder", files / "documents", "--email", "not an address").exit_code == 1


def test_a_place_is_added_once_and_named_by_its_path(added: Path, tide: Tide, tmp_path: Path) -> None:
    again = tide("add", "folder", added / "documents")
    assert (again.exit_code, again.stderr) == (
        1,
        f"{added / 'documents'} is there already, as 'documents'. `tide sync documents` brings it in.\n",
    )
    other = tmp_path / "other" / "documents"
    other.mkdir(parents=True)
    (other / "a.txt").write_text("a")
    assert json.loads(tide("add", "folder", other, "--json").stdout)["name"] == "documents-2"
    assert tide("add", "folder", other / "a.txt", "--name", "documents").exit_code == 1
    gone = tide("add", "mbox", tmp_path / "none.mbox")
    assert (gone.exit_code, gone.stderr.count("\n")) == (1, 1)
    assert str(tmp_path / "none.mbox") in gone.stderr


def test_progress_for_a_window_is_json_lines(added: Path, tide: Tide) -> None:
    done = tide("sync", "--progress", "json", "--json")
    events = [json.loads(line) for line in done.stderr.splitlines()]
    steps = {event["step"] for event in events if event["event"] == "progress"}
    assert steps == {"sync mail", "sync calendar", "sync documents"}
    assert json.loads(done.stdout)["sources"][0]["held"] == 40


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("/home/nora/Mail", "/home/nora/Mail"),
        ("https://nora:secret@dav.example:8443/cal/?key=secret#x", "https://dav.example:8443/cal/"),
    ],
)
def test_locations_are_exported_without_secrets(location: str, shown: str) -> None:
    assert without_secret(location) == shown
