"""Exit codes and the one line that goes with each."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workspace import Folders
from workspace.store import worker_lock

Tide = Callable[..., Any]


def test_help_documents_the_exit_codes(tide: Tide) -> None:
    shown = " ".join(tide("--help").stdout.split())
    for code in (
        "0 all went well",
        "1 something is wrong",
        "2 the command was not",
        "3 another Tide",
        "130 stopped",
    ):
        assert code in shown


def test_all_well_is_0(home: Folders, tide: Tide) -> None:
    assert tide("sources").exit_code == 0
    assert tide().exit_code == 0


@pytest.mark.parametrize(
    "words", [["bla"], ["show"], ["add", "pop3", "x"], ["run", "--rounds", "0"], ["workspace"]]
)
def test_a_command_that_is_not_understood_is_2_and_names_its_help(
    home: Folders, tide: Tide, words: list[str]
) -> None:
    done = tide(*words)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("--help` shows how it is used.\n")


def test_an_error_of_the_person_is_1_with_what_to_do(home: Folders, tide: Tide) -> None:
    done = tide("sync")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("There are no sources yet. Add one, for example: tide add")
    assert done.stderr.count("\n") == 1


def test_a_broken_settings_file_is_named(home: Folders, tide: Tide) -> None:
    home.settings.write_text("rounds = 0\n")
    done = tide("digest")
    assert done.exit_code == 1
    assert done.stderr.startswith(f"{home.settings}: rounds: ")


def test_another_worker_is_3(home: Folders, tide_process: Callable[..., subprocess.Popen[str]]) -> None:
    with worker_lock(home.store):
        process = tide_process("sync")
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert err.startswith("Tide is at work already (process ")


def test_looking_goes_on_beside_a_worker(home: Folders, tide: Tide) -> None:
    with worker_lock(home.store):
        assert tide("digest").exit_code == 0


def test_a_fault_of_ours_is_one_line_and_a_traceback_only_on_demand(
    home: Folders, tide: Tide, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("the shelf\nfell \x1b[2Jover")

    monkeypatch.setattr("desktop.pipeline.looking", broken)
    done = tide("sources")
    assert done.exit_code == 1
    assert done.stderr == (
        "This is a fault of Tide, not yours (RuntimeError: the shelf fell over)."
        " TIDE_DEBUG=1 shows where; please report it.\n"
    )
    monkeypatch.setenv("TIDE_DEBUG", "1")
    assert isinstance(tide("sources").exception, RuntimeError)


def test_a_full_disk_is_not_our_fault(home: Folders) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "desktop", "export", "-"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert (
        done.stderr
        == "No space left on device. Free some disk space and run the command again; nothing was lost.\n"
    )


def test_with_json_progress_errors_are_json_lines_too(home: Folders, tide: Tide) -> None:
    for words in (["sync", "--progress", "json"], ["sync", "--progress=json"]):
        event = json.loads(tide(*words).stderr)
        assert (event["event"], event["code"]) == ("error", 1)
        assert event["text"].startswith("There are no sources yet.")


def test_a_reader_that_leaves_early_gets_no_complaint(home: Folders) -> None:
    shown = subprocess.run(
        f"{sys.executable} -m desktop export - | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert (shown.stdout, shown.stderr) == ("{\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_130_and_one_line(
    number: signal.Signals, home: Folders, tide_process: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    program = tmp_path / "sitecustomize.py"
    program.write_text(
        "import desktop.pipeline, time, sys\n"
        "def sync(*words, **options):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "desktop.pipeline.sync = sync\n"
    )
    process = tide_process("sync", PYTHONPATH=f"{tmp_path}:{Path.cwd()}")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "Stopped. What was done is kept; the same command goes on where it was.\n"
    with worker_lock(home.store):
        pass
