"""Whole discoveries on vLLM with random weights: the hardest model there is, and still every reply is valid.

It says anything that its answer types allow. So all replies must pass, and nothing of it be shown that the
originals do not bear out.
"""

import zlib
from dataclasses import dataclass, field, replace
from datetime import timedelta

import numpy as np
import pytest

from inference.discovery import Options, cached_share, discover
from inference.index import index_artifacts
from tests.inference.scripted import NOW, PROFILE, artifacts, fill
from workspace import ACTIONS, Kind
from workspace.store import Store

pytestmark = pytest.mark.vllm

MATTERS = (
    "greenhouse", "lighthouse", "bakery", "museum", "orchestra", "harbour", "vineyard", "observatory", "ferry",
    "theatre", "quarry", "nursery", "windmill", "archive", "stadium", "brewery", "monastery", "aquarium",
)  # fmt: skip
REQUESTS = 50


class Words:
    """Embeds by the words of a text, which is near enough where matters differ in their words."""

    name = "words"
    dimensions = 64

    def embed(self, texts):
        vectors = np.full((len(texts), self.dimensions), 1e-3, np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.casefold().split():
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if texts else vectors


@dataclass
class Recorded:
    """The model behind it, and all that it was asked and said."""

    model: object
    said: list = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.model, name)

    def generate(self, requests, on_reply=None):
        replies = self.model.generate(requests, on_reply)
        self.said += zip(requests, replies, strict=True)
        return replies


@pytest.fixture(scope="module")
def random_run(vllm_server, tmp_path_factory):
    """A run over the matters of a mailbox: its record, what was said, and the store."""
    folder = tmp_path_factory.mktemp("random")
    mail, event, document = artifacts()[:3]
    items = [
        replace(
            kind,
            key=f"{matter}-{number}",
            title=f"The {matter}, part {number}",
            text=f"About the {matter}: "
            + " ".join(f"{matter}{word} is due by {word} May." for word in range(1, 20)),
            thread=matter if kind.kind is Kind.EMAIL else "",
            time=kind.time + timedelta(days=day),
            end=kind.end and kind.end + timedelta(days=day),
        )
        for day, matter in enumerate(MATTERS)
        for number, kind in enumerate((mail, mail, event, document))
    ]
    with Store(folder / "tide.sqlite") as store:
        fill(store, items)
        index_artifacts(store, Words())
        model = Recorded(vllm_server)
        run = discover(
            store,
            PROFILE,
            NOW,
            Options("tide", rounds=7, view_tokens=900),
            model=model,
            embedder=Words(),
            index_folder=folder,
        )
        yield run, model.said, store


def test_every_reply_is_valid(random_run):
    run, said, _ = random_run
    assert len(said) >= REQUESTS
    assert [reply.problem for _, reply in said if reply.value is None] == []
    assert [reply.repaired for _, reply in said if reply.repaired] == []
    assert "invalid" not in {item.check for item in run.dropped}


def test_replies_cite_artifacts_that_exist_and_actions_of_the_catalogue(random_run):
    _, said, store = random_run
    ids = {artifact.id for artifact in store.artifacts.all()}
    problems = [problem for request, reply in said if request.purpose == "ask" for problem in reply.value.problems]
    assert problems
    for problem in problems:
        assert {int(label[1:]) for label in problem.artifacts} <= ids
        assert problem.action.function_name in ACTIONS


def test_nothing_is_shown_that_the_originals_do_not_bear_out(random_run):
    run, _, store = random_run
    assert store.findings.all() == []
    for count in run.rounds:
        assert count.candidates == count.new + count.known + sum(count.dropped.values())
    assert len(run.dropped) >= 10


def test_prompts_come_from_the_prefix_cache(random_run):
    run, _, _ = random_run
    assert run.views > 1
    assert len(run.rounds) > 1
    from_second_call, second_rounds = cached_share(run)
    assert from_second_call >= 0.40
    assert second_rounds >= 0.85


def test_the_server_counts_what_was_counted_before(random_run):
    _, said, _ = random_run
    for request, reply in said:
        assert reply.prompt_tokens + request.max_tokens <= 32_768
