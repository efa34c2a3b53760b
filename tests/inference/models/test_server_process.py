"""The life of a model server's process: started, watched, found again, ended; with a stand-in for vLLM itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inference.models import server_guard, vllm_server
from inference.models.vllm_server import VLLMServer, stop_kept
from workspace import UserError

GUARD = server_guard.__file__

STAND_IN = """
import json, os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        body = json.dumps({"data": [{"id": "stand-in", "max_model_len": 4096}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print("serving", flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""

BROKEN = """
import sys
print("(APIServer pid=7) INFO 11-30 17:18:11 [api.py:1] hello")
print("(EngineCore pid=9) ERROR 11-30 17:18:12 [core.py:2] ValueError: no memory for the cache")
print("RuntimeError: Engine core initialization failed. See root cause above.")
sys.exit(1)
"""


def instead_of_vllm(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(vllm_server, "vllm_installed", lambda: True)
    monkeypatch.setattr(vllm_server, "_command", lambda *_: [sys.executable, "-c", script])


def opened(folder: Path, **options: Any) -> VLLMServer:
    return VLLMServer(Path("weights"), folder=folder, context=4096, name="stand-in", **options)


def members(group: int) -> list[int]:
    """The live processes of a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found


def eventually(condition: Callable[[], bool]) -> bool:
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_closing_ends_the_server_and_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    with opened(tmp_path) as model:
        group = os.getpgid(model._running.pid)
        assert len(members(group)) == 3
    assert eventually(lambda: members(group) == [])
    model.close()


def test_the_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    start = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-I', {GUARD!r}, 'watch', 'sleep', '600'],"
        " stdin=subprocess.PIPE, start_new_session=True)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        group = int(parent.stdout.readline())
        assert eventually(lambda: len(members(group)) == 2)
        parent.kill()
    assert eventually(lambda: members(group) == [])


def test_children_of_a_server_that_crashed_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    with opened(tmp_path) as model:
        group = os.getpgid(model._running.pid)
        os.kill(model._running.pid, signal.SIGKILL)
        assert eventually(lambda: members(group) == [])


def test_a_server_that_does_not_start_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, BROKEN)
    with pytest.raises(UserError, match=r"did not start: ValueError: no memory for the cache\. ") as caught:
        opened(tmp_path)
    [log] = tmp_path.glob("vllm-*.log")
    assert str(log) in str(caught.value)
    assert log.stat().st_mode & 0o777 == 0o600


def test_progress_is_told_until_the_server_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    told: list[tuple[str, float]] = []
    with opened(tmp_path, on_progress=lambda phase, seconds: told.append((phase, seconds))):
        pass
    assert told[0][0] == "starting the model server"


def test_cancelling_the_start_ends_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    seen: list[int] = []
    start = vllm_server._start

    def remembered(*given: Any, **named: Any) -> Any:
        running, guard = start(*given, **named)
        seen.append(running.pid)
        return running, guard

    def interrupt(_: str, __: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vllm_server, "_start", remembered)
    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path, on_progress=interrupt)
    assert eventually(lambda: vllm_server._started(seen[0]) is None)


def test_a_kept_server_is_found_again_until_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    try:
        with opened(tmp_path, keep=True) as first:
            running = first._running
        with opened(tmp_path, keep=True) as second:
            assert second._running == running
        assert running.key not in (tmp_path / "vllm-server.json").read_text()
    finally:
        assert stop_kept(tmp_path)
    assert eventually(lambda: vllm_server._started(running.pid) is None)
    assert not stop_kept(tmp_path)


def test_a_kept_server_for_other_wishes_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead_of_vllm(monkeypatch, STAND_IN)
    try:
        with opened(tmp_path, keep=True) as first:
            pass
        with opened(tmp_path, keep=True, side_by_side=2) as second:
            assert second._running.pid != first._running.pid
        assert eventually(lambda: vllm_server._started(first._running.pid) is None)
    finally:
        stop_kept(tmp_path)


@pytest.mark.parametrize("record", ["", "{", "[]", '{"pid": 1, "started": 5, "port": 1, "log": "x"}'])
def test_a_record_of_a_server_that_is_not_there_is_of_no_use(tmp_path: Path, record: str) -> None:
    (tmp_path / "vllm-server.json").write_text(record)
    assert not stop_kept(tmp_path)


def test_old_logs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(9):
        (tmp_path / f"vllm-2020010{n}-000000-1.log").touch()
    instead_of_vllm(monkeypatch, BROKEN)
    with pytest.raises(UserError):
        opened(tmp_path)
    assert len(list(tmp_path.glob("vllm-*.log"))) == vllm_server.LOGS_KEPT


def test_without_vllm_the_way_to_get_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_server, "vllm_installed", lambda: False)
    with pytest.raises(UserError, match="pip install"):
        opened(tmp_path)


def test_cache_counters_are_summed_over_engines() -> None:
    metrics = (
        "# HELP vllm:prefix_cache_hits_total Prefix cache hits\n"
        'vllm:prefix_cache_queries_total{engine="0",model_name="a{b}"} 884.0\n'
        'vllm:prefix_cache_queries_total{engine="1",model_name="a"} 1.6e+01\n'
        'vllm:external_prefix_cache_queries_total{engine="0"} 7.0\n'
    )
    assert vllm_server._counter(metrics, "queries") == 900
    assert vllm_server._counter(metrics, "hits") == 0
