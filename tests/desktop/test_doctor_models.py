"""`tide doctor` and `tide models`: what is in place and what fits."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from workspace import Folders

Tide = Callable[..., Any]


def test_doctor_says_ok_or_what_to_do(home: Folders, tide: Tide) -> None:
    done = tide("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert {"packages", "config", "data", "disk", "settings", "profile", "time zone", "store", "GPU"} <= set(
        checks
    )
    assert {"embedding weights", "embedded model", "model", "sources"} <= set(checks)
    assert checks["profile"]["found"] == "Nora Keane nora@museum.example"
    assert checks["store"]["level"] == "ok"
    assert checks["sources"]["advice"].startswith("Add one")
    assert tide("doctor").stdout.count("\n") >= len(checks)


def test_doctor_finds_a_damaged_store(home: Folders, tide: Tide) -> None:
    home.store.write_bytes(b"this is no database, and long enough to be read as one" * 40)
    done = tide("doctor", "--json")
    (store,) = [check for check in json.loads(done.stdout) if check["name"] == "store"]
    assert done.exit_code == 1
    assert store["level"] == "problem"
    assert "move the file away" in store["found"]


def test_doctor_finds_a_source_that_is_gone_and_a_broken_profile(found: Any, home: Folders, tide: Tide) -> None:
    home.profile.write_text("timezone = 'Mars/Olympus'\n")
    done = tide("doctor", "--json")
    problems = [check["name"] for check in json.loads(done.stdout) if check["level"] == "problem"]
    assert done.exit_code == 1
    assert problems == ["profile", "source mail"]


def test_models_are_listed_with_what_fits_and_why(home: Folders, tide: Tide) -> None:
    listed = json.loads(tide("models", "--json").stdout)
    names = [model["id"] for model in listed["models"]]
    assert {"gpu-80", "gpu-24", "cpu", "embedded"} <= set(names)
    assert all(model["why"] for model in listed["models"])
    shown = tide("models").stdout
    assert "This machine:" in shown
    assert all(name in shown for name in names)


def test_fetching_tells_how_far_it_is(home: Folders, tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(profile: Any, on_progress: Callable[[int, int], None]) -> str:
        on_progress(4_000_000_000, 8_100_000_000)
        return "/weights"

    monkeypatch.setattr("inference.models.profiles.fetch", fetch)
    done = tide("models", "fetch", "cpu", "--progress", "json")
    events = [json.loads(line) for line in done.stderr.splitlines()[:-1]]
    assert done.exit_code == 0
    assert events[-1] == {"event": "progress", "step": "fetch, MB", "done": 4000, "total": 8100}
    assert done.stderr.splitlines()[-1] == "The weights are in /weights. Next: tide run --model cpu"


def test_an_unknown_model_is_not_fetched(home: Folders, tide: Tide) -> None:
    done = tide("models", "fetch", "gpt-9")
    assert (done.exit_code, done.stderr) == (
        1,
        "There is no model 'gpt-9'. See `tide models` for those there are.\n",
    )
