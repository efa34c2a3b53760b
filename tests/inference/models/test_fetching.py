"""Fetching weights, from a hub on loopback that holds one small model."""

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from inference.models import fetch, find_profile, load_profiles, weights
from workspace import UserError

COMMIT = "a" * 40
PROFILE = find_profile("gpu-8", load_profiles())


@dataclass
class Hub:
    files: dict[str, bytes] = field(
        default_factory=lambda: {
            "config.json": b"{}",
            "tokenizer_config.json": b"{ }",
            "model.safetensors": b"w" * 300_000,
            "pytorch_model.bin": b"never wanted",
        }
    )
    fetched: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        if "/tree/" in path:
            listed = [
                {"type": "file", "path": n, "size": len(c), "oid": _digest(c)} for n, c in self.files.items()
            ]
            return 200, json.dumps(listed).encode(), {}
        if path.startswith("/api/models/"):
            siblings = [{"rfilename": name} for name in self.files]
            return 200, json.dumps({"id": PROFILE.model, "sha": COMMIT, "siblings": siblings}).encode(), {}
        name = path.rpartition("/")[2]
        if "/resolve/" in path and name in self.files and name not in self.missing:
            content = self.files[name]
            return 200, content, {"X-Repo-Commit": COMMIT, "ETag": f'"{_digest(content)}"'}
        return 404, b"", {}


def _digest(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    served = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self, body: bool = False) -> None:
            path = self.path.partition("?")[0]
            status, content, headers = served.answer(path)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if body:
                if "/resolve/" in path:
                    served.fetched.append(path.rpartition("/")[2])
                self.wfile.write(content)

        def do_GET(self) -> None:
            self.do_HEAD(body=True)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def test_weights_are_fetched_with_progress_and_only_what_is_needed(
    hub: Hub, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[tuple[int, int]] = []
    folder = fetch(PROFILE, lambda here, whole: told.append((here, whole)))
    assert weights(PROFILE) == folder
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert sorted(set(hub.fetched)) == ["config.json", "model.safetensors", "tokenizer_config.json"]
    assert told[-1] == (300_005, 300_005)
    assert told == sorted(told)
    assert capsys.readouterr() == ("", "")


def test_what_is_here_is_not_fetched_again(hub: Hub) -> None:
    fetch(PROFILE)
    hub.fetched.clear()
    told: list[tuple[int, int]] = []
    fetch(PROFILE, lambda here, whole: told.append((here, whole)))
    assert hub.fetched == []
    assert told == [(300_005, 300_005)]


def test_a_fetch_that_broke_off_is_taken_up(hub: Hub) -> None:
    hub.missing.add("model.safetensors")
    with pytest.raises(UserError, match="can't be fetched"):
        fetch(PROFILE)
    assert weights(PROFILE) is None
    hub.missing.clear()
    assert fetch(PROFILE) == weights(PROFILE)
