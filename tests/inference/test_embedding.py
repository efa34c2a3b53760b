"""The embedder, with the weights that travel with Tide."""

import subprocess
import sys

import numpy as np
import pytest

from inference.embedding import EMBEDDED, SentenceEmbedder
from workspace import UserError


@pytest.fixture(scope="module")
def embedder():
    return SentenceEmbedder()


def test_vectors_have_length_one_and_the_stated_shape(embedder):
    vectors = embedder.embed(["The lease ends in March.", "", "x " * 5000])
    assert vectors.shape == (3, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)


def test_nothing_to_embed_gives_no_rows(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_order_is_kept_although_batches_are_sorted_by_length(embedder):
    texts = [f"{'word ' * (40 - n)}{n}" for n in range(40)]
    together = embedder.embed(texts)
    alone = embedder.embed([texts[7]])
    assert np.allclose(together[7], alone[0], atol=1e-4)


def test_near_meaning_is_nearer_than_other_meaning(embedder):
    asked, near, far = embedder.embed(
        ["The flight to Porto was cancelled", "Our plane to Portugal does not go", "Please review the invoice"]
    )
    assert asked @ near > asked @ far + 0.2


def test_lone_surrogates_are_embedded_like_any_unreadable_character(embedder):
    assert np.allclose(embedder.embed(["broken \udce4 mail"]), embedder.embed(["broken ? mail"]), atol=1e-5)


def test_weights_that_are_not_here_are_named_and_not_fetched():
    with pytest.raises(UserError, match="nobody/no-such-embedder"):
        SentenceEmbedder("nobody/no-such-embedder")


def test_importing_the_module_loads_no_torch():
    code = "import sys, inference.embedding; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_name_is_that_of_the_model(embedder):
    assert embedder.name == EMBEDDED
