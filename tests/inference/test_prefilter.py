"""Pre-filter: stories are ordered by how well an evidence flow is answered, each step by another artifact."""

import numpy as np
import pytest

from inference.embedding import SentenceEmbedder
from inference.prefilter import MOST_TEMPLATES, fits
from inference.reading import show
from templates import load_templates
from tests.inference.small_world import FILLER, PROFILE, ids_of, mail, open_index, open_store

LAPSE = [
    mail(
        "offer",
        "The printer's low price holds only for a signed order that reaches them by Thursday.",
        title="Quote",
    ),
    mail("away", "The director who must sign orders is on leave without mail until June.", title="Absence"),
    mail("order", "The order still waits for the director's signature before it can go out.", title="Order"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    embedder = SentenceEmbedder()
    with open_store(folder / "tide.sqlite", [*LAPSE, *FILLER]) as store:
        index = open_index(store, embedder, folder)
        ids = ids_of(store)
        yield ids, {i: one.text() for i, one in show(store, list(ids.values()), PROFILE).items()}, index, embedder


@pytest.fixture
def fit_of(world):
    """`fit_of(story, ...)` with each story a list of keys, the first the seed; `templates` the built-in ones."""
    ids, texts, index, embedder = world

    def build(*stories, templates=None):
        made = [([ids[story[0]]], [ids[key] for key in story]) for story in stories]
        return fits(made, texts, index, embedder, load_templates() if templates is None else templates)

    return build


def test_a_story_that_answers_a_flow_comes_before_small_talk(fit_of):
    lapse, chat, other = fit_of(["order", "away", "offer"], ["f1", "f2", "f3"], ["f5", "f6", "f7"])
    assert lapse.score > max(chat.score, other.score)
    assert 0 <= chat.score <= 1


def test_templates_that_fit_are_named_best_first(fit_of):
    talk = [[f"f{number}", f"f{number + 1}", f"f{number + 2}"] for number in range(10)]
    lapse, *_ = fit_of(["order", "away", "offer"], *talk)
    assert 1 <= len(lapse.templates) <= MOST_TEMPLATES
    assert set(lapse.templates) & {"approval-holds-up-work", "needed-person-away", "discount-about-to-lapse"}


def test_a_flow_with_a_step_unanswered_scores_less(fit_of):
    whole, part, _ = fit_of(["order", "away", "offer"], ["order", "f1", "f2"], ["f3", "f4", "f5"])
    assert whole.score > part.score


def test_an_artifact_answers_one_step_alone(fit_of):
    single, several, _ = fit_of(["order"], ["order", "away", "offer"], ["f3", "f4", "f5"])
    assert several.score > single.score


def test_the_steps_are_embedded_once_a_run(world):
    ids, texts, index, embedder = world

    class Counting:
        name, dimensions, calls = embedder.name, embedder.dimensions, 0

        def embed(self, steps):
            self.calls += 1
            return embedder.embed(steps)

    counting = Counting()
    stories = [([i], [i]) for i in ids.values()]
    fits(stories, texts, index, counting, load_templates())
    assert counting.calls == 1


def test_nothing_to_fit_is_no_fit(world, fit_of):
    _, texts, index, embedder = world
    assert fits([], texts, index, embedder, load_templates()) == []
    (none,) = fit_of(["f1", "f2"], templates=())
    assert (none.score, none.templates) == (0.0, ())


def test_an_artifact_without_a_vector_is_no_obstacle(world):
    ids, texts, index, embedder = world
    (fit,) = fits([([10_000], [10_000, ids["f1"]])], {**texts, 10_000: "order"}, index, embedder, load_templates())
    assert np.isfinite(fit.score)
