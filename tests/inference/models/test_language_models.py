"""What every language model does, held against all of them with real weights, and what is special to each."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from inference.models import Cancelled, LanguageModel, Message, PromptTooLong, Reply, Request
from inference.models.openai_server import OpenAIServer
from inference.models.vllm_server import VLLMServer

Short = Annotated[str, Field(max_length=12)]


class Answer(BaseModel):
    decision: Literal["yes", "no"]
    reason: Short


class Fact(BaseModel):
    who: Short
    amount: Annotated[int, Field(ge=0, le=99)]
    state: Literal["open", "done"]


class Facts(BaseModel):
    title: Annotated[str, Field(max_length=40)]
    facts: Annotated[list[Fact], Field(max_length=3)]
    day: Annotated[str, Field(pattern=r"^2026-(0[1-9]|1[0-2])-[0-2][0-9]$")] | None = None


SYSTEM = Message("system", "You look after the mail of one person and answer in JSON. " * 8)


def ask(question: str, *, max_tokens: int = 60, schema: type[BaseModel] = Answer) -> Request:
    return Request((SYSTEM, Message("user", question)), schema, max_tokens, "ask")


class LanguageModelContract:
    """Subclasses give a `model`."""

    def test_replies_are_of_the_type_asked_for_and_in_order(self, model: LanguageModel) -> None:
        questions = [ask("Is the lease over?"), ask("Is Monday free?"), ask("Who pays?", schema=Fact)]
        replies = model.generate(questions)
        assert [type(reply.value) for reply in replies] == [Answer, Answer, Fact]
        assert all(reply.problem == "" and reply.finish == "stop" for reply in replies)
        assert all(reply.output_tokens > 0 for reply in replies)

    def test_prompts_are_counted_as_the_model_reads_them(self, model: LanguageModel) -> None:
        request = ask("Ünïcode — 日本語, 12.05.2026 <b>html</b> and <|im_end|>")
        [reply] = model.generate([request])
        assert reply.prompt_tokens == model.count(request.messages)

    def test_control_tokens_in_content_are_plain_text(self, model: LanguageModel) -> None:
        def size(text: str) -> int:
            return model.count([Message("user", text)])

        assert size("<|im_end|>" * 20) - size("") > 20 * 3

    def test_what_prompts_share_at_their_start_is_computed_once(self, model: LanguageModel) -> None:
        replies = [model.generate([ask(f"Question {n}?")])[0] for n in range(2)]
        assert replies[1].cached_tokens >= 32
        assert replies[1].cached_tokens < replies[1].prompt_tokens

    def test_each_reply_is_told_once_in_the_callers_thread(self, model: LanguageModel) -> None:
        told: list[tuple[int, Reply, int]] = []
        replies = model.generate(
            [ask("One?"), ask("Two?"), ask("Three?")],
            lambda index, reply: told.append((index, reply, threading.get_ident())),
        )
        assert {index: reply for index, reply, _ in told} == dict(enumerate(replies))
        assert len(told) == 3
        assert {thread for _, _, thread in told} == {threading.get_ident()}

    def test_a_prompt_that_does_not_fit_is_not_sent(self, model: LanguageModel) -> None:
        long = ask("word " * model.context)
        told: list[int] = []
        with pytest.raises(PromptTooLong, match=rf"request 1 \(ask\): \d+ prompt tokens.*{model.context} tokens"):
            model.generate([ask("Short?"), long], lambda index, _: told.append(index))
        assert told == []

    def test_the_answer_counts_toward_the_context(self, model: LanguageModel) -> None:
        with pytest.raises(PromptTooLong):
            model.generate([ask("Short?", max_tokens=model.context)])

    def test_cancelling_stops_the_rest_and_leaves_the_model_usable(self, model: LanguageModel) -> None:
        told = []

        def stop(index: int, _: Reply) -> None:
            told.append(index)
            raise Cancelled

        with pytest.raises(Cancelled):
            model.generate([ask(f"Number {n}?") for n in range(6)], stop)
        assert len(told) == 1
        assert model.generate([ask("Still there?")])[0].value is not None

    def test_an_answer_cut_off_twice_has_no_value_and_says_why(self, model: LanguageModel) -> None:
        [reply] = model.generate([ask("Why?", max_tokens=3)])
        assert reply.value is None
        assert reply.finish == "length"
        assert "cut off after 3 tokens" in reply.problem
        assert reply.repaired
        assert reply.output_tokens == 6

    def test_lone_surrogates_in_a_prompt_do_no_harm(self, model: LanguageModel) -> None:
        assert model.generate([ask("broken \udce4 mail")])[0].problem == ""

    def test_nothing_asked_gives_nothing(self, model: LanguageModel) -> None:
        assert model.generate([]) == []


@pytest.fixture(scope="module")
def embedded_model(embedded_folder: Path) -> Iterator[LanguageModel]:
    from inference.models.local import TransformersModel

    with TransformersModel(embedded_folder, capable=False) as model:
        yield model


@pytest.fixture(scope="module")
def random_model(tiny_qwen: Path) -> Iterator[LanguageModel]:
    from inference.models.local import TransformersModel

    with TransformersModel(tiny_qwen, sampling={"temperature": 0.8, "top_p": 0.9}) as model:
        yield model


@pytest.fixture(scope="module")
def adapter(vllm_server: VLLMServer) -> Iterator[OpenAIServer]:
    running = vllm_server._running
    with OpenAIServer(f"http://127.0.0.1:{running.port}/v1/", key=running.key, slack=0) as model:
        yield model


class TestEmbeddedInProcess(LanguageModelContract):
    @pytest.fixture
    def model(self, embedded_model: LanguageModel) -> LanguageModel:
        return embedded_model

    def test_it_says_that_it_is_not_capable(self, model: LanguageModel) -> None:
        assert not model.capable
        assert model.name == "SmolLM2-135M-Instruct"
        assert model.context == 8192


class TestRandomQwenInProcess(LanguageModelContract):
    @pytest.fixture
    def model(self, random_model: LanguageModel) -> LanguageModel:
        return random_model

    def test_the_kept_prefix_changes_no_reply(self, tiny_qwen: Path) -> None:
        from inference.models.local import TransformersModel

        questions = [ask("What is due on Monday?"), ask("What is due on Tuesday?"), ask("What is due on Monday?")]
        with TransformersModel(tiny_qwen) as one:
            together = one.generate(questions)
        for question, reply in zip(questions, together, strict=True):
            with TransformersModel(tiny_qwen) as fresh:
                assert fresh.generate([question])[0].text == reply.text

    def test_after_a_generation_that_broke_off_nothing_of_it_is_reused(
        self, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(**_: object) -> None:
            raise KeyboardInterrupt

        model.generate([ask("First?")])
        with monkeypatch.context() as patch:
            patch.setattr(model._model, "generate", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.generate([ask("Second?")])
        assert model.generate([ask("Third?")])[0].cached_tokens == 0


@pytest.mark.vllm
class TestRandomQwenOnVLLM(LanguageModelContract):
    @pytest.fixture
    def model(self, vllm_server: VLLMServer) -> VLLMServer:
        return vllm_server

    def test_fifty_requests_of_a_random_model_are_all_valid(self, model: VLLMServer) -> None:
        replies = model.generate(
            [ask(f"What is due on day {n}?", schema=Facts, max_tokens=250) for n in range(50)]
        )
        assert [reply.problem for reply in replies if reply.value is None] == []
        assert not any(reply.repaired for reply in replies)

    def test_the_servers_counters_agree_with_the_replies(self, model: VLLMServer) -> None:
        before = model.cache_counters()
        replies = model.generate([ask(f"Counter {n}?") for n in range(3)])
        after = model.cache_counters()
        assert after.queries - before.queries == sum(reply.prompt_tokens for reply in replies)
        assert after.hits - before.hits == sum(reply.cached_tokens for reply in replies)

    def test_the_key_is_on_no_command_line_and_the_log_is_private(self, model: VLLMServer) -> None:
        key = model._running.key
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                assert key.encode() not in entry.read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
        assert model.log.stat().st_mode & 0o777 == 0o600
        assert key not in model.log.read_text("utf-8", "replace")

    def test_prompts_stay_out_of_the_log(self, model: VLLMServer) -> None:
        model.generate([ask("Does the xylophone of Quillon have a lease?")])
        assert "Quillon" not in model.log.read_text("utf-8", "replace")


@pytest.mark.vllm
class TestOpenAIAdapterOnVLLM(LanguageModelContract):
    @pytest.fixture
    def model(self, adapter: OpenAIServer) -> OpenAIServer:
        return adapter

    def test_name_and_context_are_the_servers(self, model: OpenAIServer) -> None:
        assert model.name == "tiny-qwen"
        assert model.context == 32768
        assert model.counts_exactly
