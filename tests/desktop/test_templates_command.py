"""tide templates: list, show, edit, enable, disable, test, case and distill."""

import json
import os
import re
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from templates import load_templates
from tests.desktop.conftest import NOW
from workspace import Artifact, Batch, Folders, Kind, Put, Settings
from workspace.store import Store

Tide = Callable[..., Any]
IDS = [template.id for template in load_templates()]


@pytest.fixture
def late(home: Folders) -> Folders:
    """A home with a task that is late, and one that was late long ago."""
    with Store(home.store) as store:
        store.artifacts.add_source("tasks", "folder", "/tasks", NOW)
        tasks = [
            Artifact("tasks", f"k{days}", Kind.TASK, title, due=NOW - timedelta(days=days), status="open")
            for days, title in ((4, "Pay the caterer"), (50, "Order the plinths"))
        ]
        store.artifacts.take("tasks", Batch(tuple(Put(task) for task in tasks), {}))
    return home


def records(tide: Tide) -> dict[str, Any]:
    return {one["id"]: one for one in json.loads(tide("templates", "list", "--json").stdout)}


@pytest.mark.usefixtures("found")
def test_the_list_tells_state_findings_and_weight(tide: Tide) -> None:
    before = records(tide)
    assert sorted(before) == IDS
    (first, *_) = json.loads(tide("findings", "--json").stdout)
    assert before[first["template"]]["findings"] >= 1
    tide("dismiss", first["id"], "--reason", "wrong")
    assert records(tide)[first["template"]]["weight"] < 1
    assert IDS[0] in tide("templates", "list").stdout


def test_show_tells_pattern_flow_and_case(home: Folders, tide: Tide) -> None:
    template = load_templates()[0]
    shown = " ".join(tide("templates", "show", template.id).stdout.split())
    for said in (template.name, template.evidence_flow[-1], f"Case {template.cases[0]}"):
        assert " ".join(said.split()) in shown


@pytest.mark.parametrize("command", ["show", "edit", "enable", "disable", "test"])
def test_a_template_that_does_not_exist_is_named(home: Folders, tide: Tide, command: str) -> None:
    result = tide("templates", command, "no-such")
    assert result.exit_code == 1
    assert "There is no template 'no-such'. `tide templates list` lists them." in result.stderr


def test_what_is_disabled_is_not_looked_for_until_it_is_enabled(late: Folders, tide: Tide) -> None:
    late.settings.write_text("rounds = 4  # enough\n")
    assert tide("templates", "disable", "task-past-due").exit_code == 0
    assert Settings.load(late.settings).disabled_templates == ("task-past-due",)
    assert "# enough" in late.settings.read_text()
    assert records(tide)["task-past-due"]["enabled"] is False
    assert json.loads(tide("discover", "--strategy", "observed", "--json").stdout)["run"]["dropped"] == []
    assert json.loads(tide("findings", "--json").stdout) == []
    tide("templates", "enable", "task-past-due")
    tide("discover", "--strategy", "observed")
    assert len(json.loads(tide("findings", "--json").stdout)) == 2


def test_a_template_is_tried_on_what_is_new_and_nothing_is_stored(late: Folders, tide: Tide) -> None:
    result = tide("templates", "test", "task-past-due", "--json")
    assert [one["template"] for one in json.loads(result.stdout)["findings"]] == ["task-past-due"] * 2
    assert "nothing of it is kept" in tide("templates", "test", "task-past-due").stderr
    assert json.loads(tide("findings", "--json").stdout) == []
    assert json.loads(tide("templates", "test", IDS[0], "--json").stdout)["findings"] == []


def test_an_edited_template_of_tide_becomes_one_of_ones_own(
    home: Folders, tide: Tide, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/^name = .*/name = "A name of my own"/\' "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    monkeypatch.setattr("desktop.editing.at_terminal", lambda: True)
    assert tide("templates", "edit", IDS[0]).exit_code == 0
    own = home.templates / "workspace" / f"{IDS[0]}.toml"
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert (records(tide)[IDS[0]]["name"], records(tide)[IDS[0]]["personal"]) == ("A name of my own", True)


def test_a_template_that_was_spoilt_is_told_and_left_out(home: Folders, tide: Tide) -> None:
    (home.templates / "workspace").mkdir(parents=True)
    (home.templates / "workspace" / f"{IDS[0]}.toml").write_text("id = 3\n")
    result = tide("templates", "list", "--json")
    assert f"Left out: {home.templates / 'workspace' / IDS[0]}.toml:1: id" in " ".join(result.stderr.split())
    assert records(tide)[IDS[0]]["personal"] is False


def test_an_accepted_finding_becomes_a_solved_case(late: Folders, tide: Tide) -> None:
    with Store(late.store) as store:
        store.artifacts.add_source("calendar", "calendar", "/c.ics", NOW)
        leave = datetime(2026, 5, 22, tzinfo=UTC)
        put = Artifact(
            "calendar", "e1", Kind.EVENT, "Annual leave", time=leave, end=leave + timedelta(days=4), all_day=True
        )
        task = Artifact("tasks", "k9", Kind.TASK, "Send the claim", due=leave + timedelta(days=1), status="open")
        for artifact in (put, task):
            store.artifacts.take(artifact.source, Batch((Put(artifact),), {}))
    tide("discover", "--strategy", "observed")
    number = next(one["id"] for one in json.loads(tide("findings", "--json").stdout) if len(one["evidence"]) == 2)
    refused = tide("templates", "case", number)
    assert f"Accept it first: tide done {number}" in refused.stderr
    tide("done", number)
    made = json.loads(tide("templates", "case", number, "--json").stdout)
    path = late.templates / "cases" / f"{made['id']}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {one["kind"] for one in made["artifacts"]} == {"task", "event"}
    assert not tide("templates", "list").stderr
    assert json.loads(tide("templates", "case", number, "--json").stdout) == made, "asked again, it is the same"
    path.write_text("spoilt")
    other = json.loads(tide("templates", "case", number, "--json").stdout)
    assert other["id"] != made["id"]
    assert path.read_text() == "spoilt"


def test_what_is_off_and_gone_can_be_enabled(home: Folders, tide: Tide) -> None:
    home.settings.write_text('disabled_templates = ["gone-one"]\n')
    assert tide("templates", "enable", "gone-one").exit_code == 0
    assert Settings.load(home.settings).disabled_templates == ()
    assert tide("templates", "enable", "gone-one").exit_code == 1


def test_only_templates_are_edited(home: Folders, tide: Tide) -> None:
    (home.templates / "workspace").mkdir(parents=True)
    home.settings.write_text("rounds = 4\n")
    up = os.path.relpath(home.settings.with_suffix(""), home.templates / "workspace")
    assert "There is no template" in tide("templates", "edit", up).stderr


def test_the_examples_name_what_exists() -> None:
    from desktop.commands.templates import EXAMPLE, group

    epilogs = " ".join([EXAMPLE, *(command.epilog or "" for command in group.registered_commands)])
    named = set(re.findall(r"(?:show|edit|enable|disable|test) ([a-z]+-[a-z-]+)", epilogs))
    assert named
    assert named <= set(IDS)


def test_without_a_model_nothing_is_distilled_and_it_says_why(home: Folders, tide: Tide) -> None:
    result = tide("templates", "distill", "copier-lease")
    assert result.exit_code == 1
    assert "takes a language model" in result.stderr
    assert "no solved case 'no-such'" in tide("templates", "distill", "no-such").stderr
    assert not os.path.exists(home.templates / "workspace")
