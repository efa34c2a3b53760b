"""A worker that is killed at any moment leaves a sound store, and the finished result is as if it had not been."""

import json
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.desktop.steady_server import steady_server
from workspace import Folders, Profile, Relationship, WorldModel
from workspace.store import Store

TURNS = 3
STEPS = ("sync", "read", "index", "discover")
DISCOVERY = ("observe", "select", "ask", "prove")
MAILS = 30
Start = Callable[..., subprocess.Popen[str]]


def test_the_result_of_a_killed_worker_equals_that_of_one_that_was_not(
    added: Path, home: Folders, tide_process: Start, put_mail: Callable[..., Path]
) -> None:
    """Twelve kills: three in each of sync, read, index and discover, at random moments of the step."""
    for number in range(100, 100 + MAILS):
        put_mail(added / "mail", number, f"Note {number}", f"Note {number} on the loan of object {number * 7}.\n")
    # What strangers alone say is no finding.
    known = WorldModel(relationships=(Relationship(name="Jonas Feld", email="jonas@x.example"),))
    Profile.load(home.profile).model_copy(update={"world_model": known}).save(home.profile)
    fresh = home.store.read_bytes()
    with steady_server() as model:
        lengths = finish(tide_process, model)
        expected = contents(home.store)
        assert len(expected["artifacts"]) == MAILS + 45
        assert len(expected["findings"]) >= 5
        assert len(expected["notes"]) >= MAILS + 40

        draw = random.Random(20260519)
        kills = dict.fromkeys(STEPS, 0)
        for _ in range(TURNS):
            start_afresh(home.store, fresh)
            for step in STEPS:
                kills[step] += kill_in(step, draw.uniform(0, 0.8) * lengths[step], tide_process, model)
                assert integrity(home.store) == ["ok"]
            finish(tide_process, model)
            assert integrity(home.store) == ["ok"]
            assert_same(contents(home.store), expected)
        assert all(kills.values()), kills


def kill_in(step: str, after: float, start: Start, model: str) -> bool:
    """Kill a run so many seconds after it has come to a step; whether it was still in it."""
    process = start("run", "--model", model, "--progress", "json", "--json")
    steps: list[str] = []
    seen = threading.Event()
    thread = threading.Thread(target=watch, args=(process, step, steps, seen))
    thread.start()
    seen.wait()
    time.sleep(after)
    process.kill()
    process.wait()
    thread.join()
    assert process.stdout is not None
    process.stdout.close()
    return bool(steps) and steps[-1] == step


def watch(process: subprocess.Popen[str], step: str, steps: list[str], seen: threading.Event) -> None:
    """Note each step that a run comes to, and say when it is the one waited for, or over."""
    assert process.stderr is not None
    for line in process.stderr:
        name = json.loads(line).get("step")
        if name:
            steps.append("discover" if name in DISCOVERY else name.split()[0])
        if steps and steps[-1] == step:
            seen.set()
    seen.set()
    process.stderr.close()


def finish(start: Start, model: str) -> dict[str, float]:
    """Run to the end; how long each step took."""
    process = start("run", "--model", model, "--progress", "none", "--json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    seconds: dict[str, float] = json.loads(out)["seconds"]
    return seconds


def start_afresh(store: Path, content: bytes) -> None:
    """Put the store back to where the sources were added and nothing was done."""
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink()
    store.write_bytes(content)


def integrity(store: Path) -> list[str]:
    connection = sqlite3.connect(store)
    try:
        return [row[0] for row in connection.execute("PRAGMA integrity_check")]
    finally:
        connection.close()


def contents(path: Path) -> dict[str, Any]:
    """All that the store holds, told without row ids."""
    with Store(path) as store:
        artifacts = list(store.artifacts.all())
        keys = {artifact.id: (artifact.source, artifact.key) for artifact in artifacts}
        return {
            "artifacts": {keys[artifact.id]: artifact.digest for artifact in artifacts},
            "cursors": {source.name: store.artifacts.cursor(source.name) for source in store.artifacts.sources()},
            "problems": {source.name: source.problem for source in store.artifacts.sources()},
            "findings": sorted(
                (
                    finding.template,
                    sorted((*keys[item.artifact], item.where, item.quote) for item in finding.evidence),
                    finding.state.value,
                    finding.confidence,
                    str(finding.deadline),
                )
                for finding in store.findings.all()
            ),
            "notes": {
                keys[row]: [reading.note.line for reading in readings]
                for row, readings in store.readings.notes(list(keys)).items()
            },
            "vectors": {
                (keys[vector.artifact], vector.part, vector.digest): np.frombuffer(vector.data, "<f4")
                for vector in store.readings.vectors("all-MiniLM-L6-v2")
            },
        }


def assert_same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    for part in ("artifacts", "cursors", "problems", "notes", "findings"):
        assert got[part] == expected[part]
    assert got["vectors"].keys() == expected["vectors"].keys()
    assert len(got["vectors"]) >= len(got["artifacts"])
    # Texts are embedded in batches, whose make-up moves the last bits of a sum.
    for key, vector in got["vectors"].items():
        assert np.allclose(vector, expected["vectors"][key], atol=1e-4)


def test_ctrl_c_of_a_sync_leaves_things_in_order(
    added: Path, home: Folders, tide_process: Start, put_mail: Callable[..., Path]
) -> None:
    for number in range(100, 1100):
        put_mail(added / "mail", number, f"Note {number}", f"Note {number}\n" * 50)
    process = tide_process("sync", "--progress", "json")
    assert process.stderr is not None
    assert json.loads(process.stderr.readline())["event"] == "progress"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert json.loads(err.splitlines()[-1])["code"] == 130
    assert integrity(home.store) == ["ok"]

    again = tide_process("sync", "--json")
    out, _ = again.communicate(timeout=120)
    assert again.returncode == 0
    assert [source["held"] for source in json.loads(out)["sources"]] == [1040, 3, 2]
