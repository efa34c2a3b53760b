"""Selection, measured: what is counted, by stories and views of known contents and on the sample workspace."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from desktop.evaluating import opened
from inference.evaluation.selection import HEADER, LinksAlone, measure, over_all, print_rows, reach
from inference.models.embedded import embedded_counter
from inference.stories import Selected, Story
from tests.inference.small_world import count
from workspace.file import read_workspace

SAMPLE = Path(__file__).parents[3] / "workspace" / "sample.json"


def selected(stories, views):
    shown = [SimpleNamespace(artifacts=tuple(view), text="word " * len(view)) for view in views]
    return Selected([Story(story[0], list(story), len(story)) for story in stories], shown)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measure")
    with opened(read_workspace(SAMPLE), folder, seed=1, notes=True) as world:
        return measure(world, None, folder, notes=True, budgets=(300, 4000), count=count)


def test_a_problem_is_reached_where_all_its_evidence_is_together():
    stories = [[1, 2], [3, 4], [5, 6], [1, 3, 5], *([n] for n in range(7, 13))]
    problems = [[(1,), (2,)], [(1,), (3,)], [(2,), (3,)], [(6, 60), (5,)]]
    found = reach(selected(stories, [[1, 2, 3], [4, 5]]), problems, 100, lambda text: len(text.split()), 0.5)
    assert (found.stories, found.in_stories) == (10, 3)
    # In the first story of ten, the first two, the first three, the first five.
    assert found.told == (1, 1, 2, 3)
    assert (found.views, found.in_views, found.shown) == (2, 3, (3, 3, 3, 3))
    assert found.tokens == 5


def test_any_occurrence_of_a_series_counts_and_what_was_not_read_never_does():
    found = reach(selected([[1, 9]], [[1, 9]]), [[(1,), (7, 8, 9)], [(1,), ()]], 100, len, 0.0)
    assert (found.in_stories, found.in_views) == (1, 1)


def test_a_larger_budget_reaches_no_less_and_all_of_the_sample(table):
    small, large = table.reached
    assert table.problems == 6
    assert small.in_stories < large.in_stories == 6
    assert small.tokens <= small.views * 300
    assert large.told == tuple(sorted(large.told))


def test_rows_have_a_cell_for_each_name_and_are_sums(table):
    other = replace(table, workspace="other", nearness="another")
    rows = print_rows([table, replace(table, workspace="third"), other])
    assert {len(row) for row in rows} == {len(HEADER)}
    assert [row[1:3] for row in rows] == [
        [table.nearness, "300"],
        [table.nearness, "4,000"],
        ["another", "300"],
        ["another", "4,000"],
    ]
    assert rows[1][3:5] == ["100%", "100%"]
    other = replace(table, workspace="other")
    (both,) = over_all([table, other])
    assert both.problems == 12
    assert both.reached[1].in_stories == 12
    assert both.reached[1].tokens == 2 * table.reached[1].tokens


def test_links_alone_find_nothing_near():
    vectors = LinksAlone().embed(["a", "b"])
    assert vectors.shape == (2, LinksAlone.dimensions)
    assert not vectors.any()


def test_tokens_are_those_of_the_embedded_model():
    tokens = embedded_counter()
    assert tokens("") == 0
    assert tokens("Ask Anna.") < tokens("Ask Anna for the key of the plant room.") < 20
    assert tokens("\ud800 lone") > 0
