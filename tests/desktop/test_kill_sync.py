"""A worker that is killed at any moment leaves a sound store, and the finished result is as if it had not been."""

import json
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workspace import Folders
from workspace.store import Store

KILLS = 6
MAILS = 150
Start = Callable[..., subprocess.Popen[str]]


def test_the_result_of_a_killed_worker_equals_that_of_one_that_was_not(
    added: Path, home: Folders, tide_process: Start, put_mail: Callable[..., Path]
) -> None:
    for number in range(100, 100 + MAILS):
        put_mail(added / "mail", number, f"Note {number}", f"Note {number} on the loan of object {number * 7}.\n")
    fresh = home.store.read_bytes()
    began = time.monotonic()
    finish(tide_process)
    whole = time.monotonic() - began
    expected = contents(home.store)
    assert len(expected["artifacts"]) == MAILS + 45

    draw = random.Random(20260519)
    kills, under_way = 0, False
    while kills < KILLS:
        if not under_way:
            start_afresh(home.store, fresh)
        process = tide_process("run", "--strategy", "observed", "--progress", "none")
        try:
            process.communicate(timeout=draw.uniform(0.1, 1.0) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills, under_way = kills + 1, True
            assert integrity(home.store) == ["ok"]
        else:
            assert process.returncode == 0
            assert_same(contents(home.store), expected)
            under_way = False
    finish(tide_process)
    assert integrity(home.store) == ["ok"]
    assert_same(contents(home.store), expected)


def finish(start: Start) -> None:
    process = start("run", "--strategy", "observed", "--progress", "none")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


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
            "vectors": {
                (keys[vector.artifact], vector.part, vector.digest): np.frombuffer(vector.data, "<f4")
                for vector in store.readings.vectors("all-MiniLM-L6-v2")
            },
        }


def assert_same(got: dict[str, Any], expected: dict[str, Any]) -> None:
    for part in ("artifacts", "cursors", "problems", "findings"):
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
