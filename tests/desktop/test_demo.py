"""The demo and the workspace file: all of the work on the sample, apart from the person's own things."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from workspace import Folders
from workspace.store import Store

Tide = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("one_embedder")


@pytest.fixture(scope="module")
def sample() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("workspace") / "sample.json").read_text("utf-8"))
    return found


def test_the_demo_prints_one_object(home: Folders, tide: Tide, sample: dict[str, Any], tmp_path: Path) -> None:
    done = tide("demo", "--strategy", "observed", "--json", "--keep", tmp_path / "kept")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["workspace"] == sample["id"]
    assert result["now"].startswith(sample["now"])
    assert sum(result["artifacts"].values()) >= len(sample["artifacts"])
    assert {"sync", "discover"} <= set(result["seconds"])
    assert result["run"]["strategy"] == "observed"
    assert len(result["findings"]) >= 2
    with Store(tmp_path / "kept" / "data" / "tide.sqlite") as store:
        assert store.problems() == []
        for finding in result["findings"]:
            cited = store.artifacts.get([item["artifact"] for item in finding["evidence"]])
            assert set(cited) == {item["artifact"] for item in finding["evidence"]}
            assert all(item["quote"] and item["title"] for item in finding["evidence"])
    with Store(home.store) as own:
        assert own.artifacts.sources() == []


def test_the_demo_for_a_person_ends_with_a_digest_and_leaves_nothing(
    home: Folders, tide: Tide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "scratch").mkdir()
    done = tide("demo", "--strategy", "observed")
    assert done.exit_code == 0, done.stderr
    assert "findings: " in done.stdout
    assert "→ " in done.stdout
    assert "A capable model also reads what mail and documents say" in " ".join(done.stdout.split())
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_demo_does_not_write_into_a_folder_that_holds_something(
    home: Folders, tide: Tide, tmp_path: Path
) -> None:
    done = tide("demo", "--keep", tmp_path)
    assert done.exit_code == 1
    assert done.stderr.endswith("is there already. Name a new folder with --keep.\n")


def test_a_workspace_file_is_written_out_as_files(
    home: Folders, tide: Tide, tmp_path: Path, sample: dict[str, Any]
) -> None:
    done = tide("workspace", "export", str(files("workspace") / "sample.json"), "--to", tmp_path / "out")
    assert (done.exit_code, done.stderr.startswith(f"Wrote {len(sample['artifacts'])} artifacts")) == (0, True)
    assert (tmp_path / "out" / "mail" / "cur").is_dir()
    assert (tmp_path / "out" / "calendar" / "calendar.ics").is_file()
    assert any((tmp_path / "out" / "documents").rglob("*.*"))
    missing = tide("workspace", "export", tmp_path / "none.json", "--to", tmp_path / "x")
    assert (missing.exit_code, missing.stderr.count("\n")) == (1, 1)


def test_a_demo_that_is_stopped_does_not_say_that_it_goes_on(
    home: Folders, tide: Tide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*words: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("desktop.pipeline.sync", stop)
    done = tide("demo", "--progress", "none")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "Stopped.\n")
    done = tide("demo", "--progress", "none", "--keep", tmp_path / "kept")
    assert done.stderr == f"Stopped. What was done is in {tmp_path / 'kept'}.\n"
