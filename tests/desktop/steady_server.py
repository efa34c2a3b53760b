"""An OpenAI-compatible server on loopback whose answers follow from the question alone.

Behind it stands no model: it names artifacts of the story by chance, drawn from a digest of what it is asked, and
proves them with words that it copies from the originals. So a run that is broken off and taken up again can be
compared with one that was not.
"""

import hashlib
import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "steady"


@contextmanager
def steady_server() -> Iterator[str]:
    """The server, running; yields the address for `--model`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1#{NAME}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two packets: the second must not wait until the first is acknowledged.
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._say({"data": [{"id": NAME, "max_model_len": 32_768}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tokens = sum(8 + len(message["content"]) // 4 for message in body["messages"])
        if self.path.endswith("/tokenize"):
            self._say({"count": tokens})
            return
        schema = body["response_format"]["json_schema"]["schema"]
        text = json.dumps(_answer(body["messages"][-1]["content"], schema))
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self._say({"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": len(text) // 4}})

    def _say(self, answer: Any) -> None:
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


def _answer(asked: str, schema: dict[str, Any]) -> dict[str, Any]:
    fields, types = schema["properties"], schema.get("$defs", {})
    # What differs between two runs of the same: the delimiter and, after a kill, perhaps a label.
    lasting = re.sub(r"</?data-[0-9a-f]+>|\ba\d+\b", "", asked)
    if "line" in fields:
        words = re.findall(r"\w+", lasting.partition("\n\n")[2])
        return {name: [] for name in fields} | {"line": " ".join(words[:24]) or "Nothing."}
    judged = [name for name, field in fields.items() if field.get("type") == "boolean"]
    if len(judged) == len(fields) - 1 and "stands" not in fields:
        return {"thought": "As it is.", **{name: name != "deadline" for name in judged}}
    if "same_as" in fields:
        return {"reason": "Another trouble.", "same_as": "none"}
    if "stands" in fields:
        return _proof(asked, _options(types["Quote"]["properties"]["artifact"]))
    draw = random.Random(hashlib.sha256(lasting.encode()).digest())
    if draw.random() < 0.1:
        return {"thought": "It agrees.", "problems": []}
    problem = types["Problem"]["properties"]
    labels = _options(problem["artifacts"]["items"])
    task = {"title": "Look at it", "due": f"2026-06-{draw.randint(10, 28)}", "notes": ""}
    named = {
        "template": draw.choice(_options(problem["template"])),
        "why": "They do not agree.",
        "artifacts": draw.sample(labels, min(2, len(labels))),
        "problem": "Two of these do not fit together.",
        "action": {"function_name": "create_task", "parameters": task},
    }
    return {"thought": "It does not agree.", "problems": [named]}


def _proof(asked: str, labels: list[str]) -> dict[str, Any]:
    quotes = []
    for label in labels[:2]:
        found = re.search(rf"^\[{label}\].*?^text:\n(.+?)$", asked, re.MULTILINE | re.DOTALL)
        if found:
            quotes.append({"artifact": label, "quote": " ".join(found[1].split()[:8])})
    verdict = {"stands": True, "still_open": True, "concerns_person": True}
    return {"quotes": quotes, "reason": "It stands there.", **verdict, "deadline": ""}


def _options(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("enum", [schema.get("const")]))
