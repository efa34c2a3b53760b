"""How sure a model was: read off the probabilities of its tokens, asked for where something is decided."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from inference.models import LanguageModel, Message, Request
from inference.models.certainty import Token, certainty_of, decisions
from inference.models.openai_server import OpenAIServer
from inference.models.vllm_server import VLLMServer
from workspace import UserError


class Ruling(BaseModel):
    reason: Annotated[str, Field(max_length=20)]
    stands: bool
    still_open: bool


def ask(text: str = "Does it stand?", purpose: str = "prove") -> Request:
    return Request((Message("system", "Judge in JSON."), Message("user", text)), Ruling, 60, purpose)


def token(text: str, share: float = 1.0, **likeliest: float) -> Token:
    return Token(text, math.log(share), {said: math.log(odds) for said, odds in likeliest.items()})


def answer(*decided: Token) -> list[Token]:
    """The tokens of an answer in which the tokens given stand for the two decisions."""
    first, second = decided
    return [token('{"reason":"\ufffd\ufffd","'), token("stands"), token('":'), first, token(',"still_open":'),
            second, token("}")]  # fmt: skip


NAMES = ("stands", "still_open")


def test_only_what_is_decided_in_a_proof_counts() -> None:
    assert decisions(ask()) == NAMES
    assert decisions(ask(purpose="ask")) == ()
    assert certainty_of([token("{}")], ()) is None


def test_the_decisions_are_sure_together_and_each_as_a_share_of_its_two_values() -> None:
    first = token("true", 0.4, true=0.4, false=0.1, maybe=0.5)
    second = token("false", 0.9, false=0.9, true=0.1)
    assert certainty_of(answer(first, second), NAMES) == pytest.approx(0.8 * 0.9)


@pytest.mark.parametrize(
    ("text", "likeliest", "share"),
    [
        pytest.param(" true", {" true": 0.6, " false": 0.3, "true": 0.1}, 0.7, id="blanks make no difference"),
        pytest.param("tr", {"tr": 0.75, "fal": 0.25}, 0.75, id="a part of the word"),
        pytest.param("true,", {"true,": 0.75, "false": 0.25}, 0.75, id="more than the word"),
        pytest.param("true", {"true": 1.0, "yes": 0.25}, 0.8, id="no likelier than the least that is told"),
        pytest.param("true", {"null": 0.9, "[": 0.09, "true": 0.001}, 0.5, id="forced against its will"),
        pytest.param("true", {}, 1.0, id="nothing told beside it"),
    ],
)
def test_a_value_is_known_however_the_tokens_fall(text: str, likeliest: Mapping[str, float], share: float) -> None:
    rest = "true"[len(text) :] if len(text) < 4 else ""
    tokens = [*answer(token(text, likeliest.get(text, 1.0), **likeliest), token("true"))]
    tokens.insert(4, token(rest))
    assert certainty_of(tokens, NAMES) == pytest.approx(share)


def test_what_stands_before_the_value_in_its_token_does_not_count() -> None:
    tokens = [token('{"stands'), token('":true', 0.9, **{'":true': 0.9, '":false': 0.1}), token("}")]
    assert certainty_of(tokens, ["stands"]) == pytest.approx(0.9)


def test_an_answer_without_the_field_tells_nothing() -> None:
    assert certainty_of([token('{"stands": "true"}')], ["stands"]) is None
    assert certainty_of([], ["stands"]) is None
    assert certainty_of([token('{"stands": true}', 0.5)], ["stands"]) == 1.0


GOOD = '{"reason":"yes","stands":true,"still_open":false}'


def told(text: str, logprob: float, likeliest: Any = ()) -> dict[str, Any]:
    top = [{"token": other, "logprob": math.log(odds)} for other, odds in likeliest]
    return {"token": text, "logprob": logprob, "top_logprobs": top}


ODDS = [
    told('{"reason":"yes","stands":', 0.0),
    told("true", math.log(0.8), (("true", 0.8), ("false", 0.2))),
    told(',"still_open":', 0.0),
    told("false", math.log(0.5), (("false", 0.5), ("true", 0.5))),
    told("}", 0.0),
]


def with_odds(completion: Any, content: Any) -> Any:
    def made(body: Any) -> Any:
        said = completion(GOOD)(body)
        said["choices"][0]["logprobs"] = {"content": content}
        return said

    return made


def test_a_server_is_asked_for_probabilities_in_proofs_alone(scripted: Any, completion: Any) -> None:
    scripted.answers = [(200, with_odds(completion, ODDS))]
    with OpenAIServer(scripted.url, side_by_side=1) as model:
        proof, other = model.generate([ask(), ask(purpose="ask")])
    assert proof.certainty == pytest.approx(0.4)
    assert other.certainty is None
    assert [body.get("logprobs") for body in scripted.requests] == [True, None]
    assert scripted.requests[0]["top_logprobs"] == 5


@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_server_that_refuses_probabilities_is_asked_without_them_from_then_on(
    scripted: Any, completion: Any, status: int
) -> None:
    def refusing(body: Any) -> tuple[int, Any]:
        return (status, {"error": "no logprobs"}) if "logprobs" in body else (200, completion(GOOD)(body))

    scripted.chat = refusing
    with OpenAIServer(scripted.url, side_by_side=1) as model:
        replies = model.generate([ask("One?"), ask("Two?")])
    assert all(reply.value is not None and reply.certainty is None for reply in replies)
    assert ["logprobs" in body for body in scripted.requests] == [True, False, False]


def test_a_request_that_is_refused_for_another_reason_says_so(scripted: Any) -> None:
    scripted.answers = [(400, {"error": {"message": "bad grammar"}})]
    with OpenAIServer(scripted.url) as model, pytest.raises(UserError, match="400: bad grammar"):
        model.generate([ask()])


@pytest.mark.parametrize(
    "content",
    [
        None,
        "x",
        [],
        [1],
        [{"token": GOOD}],
        [{"token": GOOD, "logprob": "high"}],
        [{"token": GOOD, "logprob": float("nan")}],
        [{"token": 5, "logprob": 0.0}],
    ],
)
def test_a_server_that_tells_no_probabilities_leaves_it_open(scripted: Any, completion: Any, content: Any) -> None:
    scripted.answers = [(200, with_odds(completion, content))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.value == Ruling(reason="yes", stands=True, still_open=False)
    assert reply.certainty is None


@pytest.mark.parametrize("logprob", [1e8, -9999.0, 0])
def test_probabilities_that_none_can_be_do_no_harm(scripted: Any, completion: Any, logprob: float) -> None:
    odd = [ODDS[0], {**told("true", logprob), "top_logprobs": [{"token": "false", "logprob": logprob}, 5]}]
    scripted.answers = [(200, with_odds(completion, [*odd, *ODDS[2:]]))]
    with OpenAIServer(scripted.url) as model:
        [reply] = model.generate([ask()])
    assert reply.certainty is None or 0 <= reply.certainty <= 1


def holds(model: LanguageModel) -> None:
    proof, other = model.generate([ask("Is the lease over?"), ask("Is the lease over?", purpose="ask")])
    assert proof.value is not None
    assert proof.certainty is not None
    assert 0 < proof.certainty <= 1
    assert other.certainty is None


def test_a_model_in_this_process_tells_how_sure_it_was(tiny_qwen: Path) -> None:
    from inference.models.local import TransformersModel

    with TransformersModel(tiny_qwen) as model:
        holds(model)
        # Random weights are sure of nothing.
        assert (model.generate([ask()])[0].certainty or 1.0) < 0.5


@pytest.mark.vllm
def test_a_vllm_server_tells_how_sure_its_model_was(vllm_server: VLLMServer) -> None:
    holds(vllm_server)
    assert vllm_server._tells_odds
