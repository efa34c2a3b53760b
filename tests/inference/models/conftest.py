"""An OpenAI-compatible server on loopback that answers what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from inference.models import openai_server


def words(messages: list[dict[str, str]]) -> int:
    return sum(4 + len(message["content"].split()) for message in messages)


@dataclass
class Scripted:
    """`answers` are taken in turn, the last one for ever: a status and a body, or a body made of the request.

    Status 0 lets the connection go without an answer.
    """

    answers: list[tuple[int, Any]] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "scripted", "max_model_len": 4096}])
    tokenize: str = "messages"
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        status, answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return status, answer(body) if callable(answer) else answer

    def count(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self.tokenize == "messages" and path == "/tokenize":
            return 200, {"count": words(body["messages"])}
        if self.tokenize == "template" and path == "/apply-template":
            return 200, {"prompt": " ".join("a b c d " + m["content"] for m in body["messages"])}
        if self.tokenize == "template" and path == "/tokenize":
            return 200, {"tokens": body.get("content", "").split()}
        return (429, {}) if self.tokenize == "busy" else (404, {"error": {"message": "no such path"}})


def _completion(
    text: str, *, finish: str | None = "stop", read: int | None = None
) -> Callable[[dict[str, Any]], Any]:
    """A chat completion that says `text`, and that it read all of the prompt or only `read` tokens of it."""

    def answer(body: dict[str, Any]) -> Any:
        return {
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": words(body["messages"]) if read is None else read,
                "completion_tokens": len(text.split()),
                "prompt_tokens_details": {"cached_tokens": 3},
            },
        }

    return answer


@pytest.fixture
def completion() -> Callable[..., Callable[[dict[str, Any]], Any]]:
    """Makes chat completions; see `_completion`."""
    return _completion


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(openai_server, "FIRST_WAIT_SECONDS", 0.01)
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def say(self, status: int, body: Any) -> None:
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", "http://127.0.0.1:9/elsewhere")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            listed = (200, {"data": script.models}) if self.path.endswith("/models") else (404, {})
            self.say(*listed)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if not self.path.endswith("/chat/completions"):
                self.say(*script.count(self.path, body))
                return
            script.requests.append(body)
            script.headers.append(dict(self.headers))
            status, answer = script.chat(body)
            if status == 0:
                self.close_connection = True
                return
            self.say(status, answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield script
    server.shutdown()
    server.server_close()
    thread.join()
