"""The adapter for OpenAI-compatible servers, against one that misbehaves in the ways that servers do."""

import os
import signal
import socket
import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from inference.models import Message, PromptTooLong, Request, http_answer
from inference.models.openai_server import OpenAIServer, checked_url
from workspace import UserError


class Answer(BaseModel):
    line: Annotated[str, Field(max_length=40)]
    title: str = "none"


def ask(text: str = "What is due?", max_tokens: int = 50) -> Request:
    return Request((Message("system", "Answer in JSON."), Message("user", text)), Answer, max_tokens, "ask")


GOOD = '{"line":"rent","title":"due"}'


def test_a_reply_carries_value_counts_and_finish(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion(GOOD))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
        assert reply.value == Answer(line="rent", title="due")
        assert (reply.prompt_tokens, reply.cached_tokens, reply.output_tokens) == (14, 3, 1)
        assert model.count(ask().messages) == 14


def test_the_schema_is_sent_strict_closed_and_without_defaults(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion(GOOD))]
    with OpenAIServer(scripted.url, sampling={"temperature": 0.7}) as model:
        model.generate([ask()])
    [sent] = scripted.requests
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"line": {"type": "string", "maxLength": 40}, "title": {"type": "string"}},
        "required": ["line", "title"],
        "additionalProperties": False,
    }
    assert sent["temperature"] == 0.7
    assert sent["max_tokens"] == 50


def test_the_key_goes_in_the_header(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion(GOOD))]
    with OpenAIServer(scripted.url, key="s3cret") as model:
        model.generate([ask()])
    assert scripted.headers[0]["authorization"] == "Bearer s3cret"


def test_a_server_that_cuts_prompts_is_told_and_its_replies_count_for_nothing(
    scripted: Any, completion: Any
) -> None:
    scripted.answers = [(200, completion(GOOD, read=100))]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError) as told:
        model.generate([ask("word " * 1000)])
    assert str(told.value) == (
        f"{scripted.url}: the prompt was cut by the server: it read 100 of at least 979 tokens. Give it a longer"
        " context, or set `context` in settings.toml to what it has."
    )
    assert len(scripted.requests) == 1


def test_a_cut_prompt_is_noticed_without_an_exact_count(scripted: Any, completion: Any) -> None:
    scripted.answers, scripted.tokenize = [(200, completion(GOOD, read=900))], "none"
    with OpenAIServer(scripted.url) as model:
        assert not model.counts_exactly
        with pytest.raises(UserError, match="prompt was cut by the server"):
            model.generate([ask("word " * 1000)])


def test_an_invalid_answer_is_repaired_once(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion('{"line": 7}')), (200, completion(GOOD))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value == Answer(line="rent", title="due")
    assert reply.repaired == '{"line": 7}'
    assert reply.output_tokens == 3
    again = scripted.requests[1]["messages"]
    assert again[2] == {"role": "assistant", "content": '{"line": 7}'}
    assert again[3]["role"] == "user"
    assert "line: Input should be a valid string" in again[3]["content"]
    assert "\n" not in again[3]["content"]


def test_an_answer_that_stays_invalid_has_no_value_and_says_why(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion('{"line": "' + "x" * 41 + '"}'))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is None
    assert reply.problem == "line: String should have at most 40 characters"
    assert len(scripted.requests) == 2


def test_no_repair_is_tried_that_would_not_fit(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, completion("word " * 40))]
    scripted.models[0]["max_model_len"] = 80
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is None
    assert len(scripted.requests) == 1


def test_json_in_a_fence_or_after_thinking_is_read(scripted: Any, completion: Any) -> None:
    scripted.answers = [
        (200, completion(f"```json\n{GOOD}\n```")),
        (200, completion(f"<think>maybe {{this}}</think>\n{GOOD}")),
    ]
    with OpenAIServer(scripted.url, side_by_side=1) as model:
        replies = model.generate([ask("One?"), ask("Two?")])
    assert [reply.value for reply in replies] == [Answer(line="rent", title="due")] * 2


@pytest.mark.parametrize("finish", ["content_filter", "tool_calls", None])
def test_an_answer_ended_for_another_reason_has_no_value(scripted: Any, completion: Any, finish: str) -> None:
    scripted.answers = [(200, completion(GOOD, finish=finish))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is None
    assert "ended the answer for another reason" in reply.problem


def test_a_connection_that_the_server_lets_go_is_tried_again(scripted: Any, completion: Any) -> None:
    scripted.answers = [(0, {}), (200, completion('{"line":"rent","title":"due"}'))]
    with OpenAIServer(scripted.url) as model:
        (reply,) = model.generate([ask()])
    assert reply.value == Answer(line="rent", title="due")
    scripted.answers = [(0, {})]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match="broke off"):
        model.generate([ask()])


def test_a_busy_or_failing_server_is_asked_again(scripted: Any, completion: Any) -> None:
    scripted.answers = [(429, {}), (503, "starting"), (500, {}), (200, completion(GOOD))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is not None
    assert len(scripted.requests) == 4


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, {"error": {"message": "engine\n  dead"}}, r"failed \(500: engine dead\)"),
        (429, {}, "takes no more requests"),
        (401, {}, "refused the key"),
        (404, {"error": "no model"}, r"no such model or path \(no model\)"),
        (400, {"error": {"message": "bad grammar"}}, r"refused the request \(400: bad grammar\)"),
        (302, {}, "refused the request"),
        (200, "<html>", "does not answer like an OpenAI-compatible server"),
    ],
)
def test_errors_of_the_server_are_one_line_for_the_person(
    scripted: Any, status: int, body: Any, said: str
) -> None:
    scripted.answers = [(status, body)]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match=said) as caught:
        model.generate([ask()])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{"message": None}]}, {"choices": ["x"]}])
def test_a_completion_without_content_is_an_invalid_answer(scripted: Any, body: Any) -> None:
    scripted.answers = [(200, body)]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is None
    assert reply.problem


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(UserError, match=r"can.t be reached\. Start it"):
            OpenAIServer(url)


def test_requests_go_out_side_by_side_up_to_the_limit(scripted: Any, completion: Any) -> None:
    together = threading.Barrier(3)

    def answer(body: Any) -> Any:
        together.wait(timeout=20)
        return completion(GOOD)(body)

    scripted.answers = [(200, answer)]
    with OpenAIServer(scripted.url, side_by_side=3) as model:
        replies = model.generate([ask(f"{n}?") for n in range(6)])
    assert all(reply.value is not None for reply in replies)


def test_llama_cpp_counts_by_template_and_text(scripted: Any) -> None:
    scripted.tokenize = "template"
    with OpenAIServer(scripted.url) as model:
        assert model.counts_exactly
        assert model.count(ask().messages) == 14


def test_an_estimate_says_rather_too_many(scripted: Any) -> None:
    scripted.tokenize = "none"
    text = "Die Rechnung vom 12.05.2026 über 1.240,50 € ist offen; siehe <rechnung@example.org>. " * 20
    with OpenAIServer(scripted.url) as model:
        # Tokenizers of today make about 45 tokens of that sentence.
        assert model.count([Message("user", text)]) > 20 * 30


def test_a_prompt_too_long_is_not_sent(scripted: Any) -> None:
    with OpenAIServer(scripted.url) as model, pytest.raises(PromptTooLong) as caught:
        model.generate([ask("word " * 4096)])
    assert caught.value.context == 4096
    assert scripted.requests == []


def test_a_model_must_be_named_where_there_are_several(scripted: Any) -> None:
    scripted.models = [{"id": "one", "max_model_len": 4096}, {"id": "two", "max_model_len": 8192}]
    with pytest.raises(UserError, match="offers one, two"):
        OpenAIServer(scripted.url)
    with pytest.raises(UserError, match="no model 'three'"):
        OpenAIServer(scripted.url, "three")
    with OpenAIServer(scripted.url, "two") as model:
        assert (model.name, model.context) == ("two", 8192)


def test_a_context_that_nobody_tells_must_be_set(scripted: Any) -> None:
    scripted.models = [{"id": "one"}]
    with pytest.raises(UserError, match="Set `context`"):
        OpenAIServer(scripted.url)
    with OpenAIServer(scripted.url, context=2048) as model:
        assert model.context == 2048


def test_a_context_beyond_the_servers_is_refused(scripted: Any) -> None:
    with pytest.raises(UserError, match="context of 4096 tokens, not 8192"):
        OpenAIServer(scripted.url, context=8192)


@pytest.mark.parametrize(
    "url", ["http://example.org/v1", "http://192.168.1.5:8000/v1", "http://localhost.example.org"]
)
def test_mail_does_not_leave_the_machine_unencrypted(url: str) -> None:
    with pytest.raises(UserError, match="Use https"):
        checked_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:8000",
        "file:///etc/passwd",
        "http://",
        "",
        "http://127.0.0.1:abc/v1",
        "http://127.0.0.1:99999/v1",
        "http://[::1/v1",
        "http://127.0.0.1/\x1b[31m",
    ],
)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="no address"):
        checked_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/v1/", "http://localhost:1/v1", "http://[::1]:1/v1", "https://example.org/v1"]
)
def test_loopback_and_https_are_allowed(url: str) -> None:
    assert checked_url(url) == url.rstrip("/")


def test_a_key_in_the_address_is_refused() -> None:
    with pytest.raises(UserError, match="keyring"):
        checked_url("https://user:key@example.org/v1")


def test_proxies_of_the_environment_are_not_used(
    scripted: Any, completion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    scripted.answers = [(200, completion(GOOD))]
    with OpenAIServer(scripted.url) as model:
        assert model.generate([ask()])[0].value is not None


def test_an_interrupt_stops_the_requests_under_way(scripted: Any, completion: Any) -> None:
    arrived, done = threading.Event(), threading.Event()

    def never(body: Any) -> Any:
        arrived.set()
        done.wait(60)
        return completion(GOOD)(body)

    def interrupt() -> None:
        arrived.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    scripted.answers = [(200, never)]
    sender = threading.Thread(target=interrupt)
    sender.start()
    try:
        with OpenAIServer(scripted.url) as model, pytest.raises(KeyboardInterrupt):
            model.generate([ask(f"{n}?") for n in range(4)])
        assert not done.is_set()
    finally:
        done.set()
        sender.join()


def test_a_server_too_busy_to_count_is_an_error_and_no_estimate(scripted: Any) -> None:
    scripted.tokenize = "busy"
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match="takes no more requests"):
        model.count(ask().messages)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": {"a": 1}},
        {"choices": "x", "usage": [1]},
        {"choices": [{"message": "x"}]},
        {"choices": [{"message": {"content": [{"text": "{}"}]}, "finish_reason": {"a": 1}}]},
        {"choices": [{"message": {"content": "\ud800"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 99}},
        {
            "choices": [{"message": {"content": '{"a":' * 9_999}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 99},
        },
    ],
)
def test_an_answer_of_another_shape_is_an_error_of_the_reply(body: Any, scripted: Any) -> None:
    scripted.answers = [(200, body)]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value is None
    assert reply.problem
    reply.text.encode()


@pytest.mark.parametrize("told", ['"many"', "1e999", "-5", "1" + "0" * 30, "null"])
def test_a_count_that_can_not_be_meant_is_none(told: str, scripted: Any) -> None:
    scripted.answers = [
        (200, f'{{"choices": [{{"message": {{"content": "x"}}}}], "usage": {{"prompt_tokens": {told}}}}}')
    ]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match="does not say how much of a prompt"):
        model.generate([ask("word " * 100)])


@pytest.mark.parametrize("body", ["[" * 100_000, "null", "[1]", "\x00"])
def test_an_answer_that_is_no_object_is_told(body: str, scripted: Any) -> None:
    scripted.answers = [(200, body)]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match="does not answer like"):
        model.generate([ask()])


def test_an_answer_without_end_is_not_waited_for(
    scripted: Any, completion: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.answers = [(200, completion("x" * 5_000))]
    monkeypatch.setattr(http_answer, "MOST_BYTES", 4_000)
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match=r"broke off \(TooLarge\)"):
        model.generate([ask()])


@pytest.mark.parametrize("models", [5, "x", [5], [{"id": ""}], [{"id": {"a": 1}, "max_model_len": -1}]])
def test_a_list_of_models_of_another_shape_is_told(models: Any, scripted: Any) -> None:
    scripted.models = models
    with pytest.raises(UserError):
        OpenAIServer(scripted.url)
