"""A workspace that is cut keeps whole problems first, and stays a workspace."""

import pytest

from inference.evaluation.fitting import cut, kept, needed
from inference.evaluation.strategies import Strategy, Switches, options_of, takes_notes
from inference.options import Method, Options
from workspace.file import WorkspaceFile, read_workspace


@pytest.fixture(scope="module")
def sample(pytestconfig: pytest.Config) -> WorkspaceFile:
    return read_workspace(pytestconfig.rootpath / "workspace" / "sample.json")


def test_whole_problems_come_first(sample: WorkspaceFile) -> None:
    sizes = {item.id: 10 for item in sample.artifacts}
    first, second = (needed(problem) for problem in sample.problems[:2])
    room = 10 * len(first | second)
    names = kept(sample, sizes, room)
    assert first | second <= names
    assert 10 * len(names) <= room
    assert kept(sample, sizes, room) == names
    assert kept(sample, sizes, 10 * len(sample.artifacts)) == set(sizes)
    assert kept(sample, sizes, 9) == frozenset()


def test_what_is_too_large_is_passed_over(sample: WorkspaceFile) -> None:
    sizes = {item.id: 10 for item in sample.artifacts}
    large = sample.problems[0].evidence[0]
    names = kept(sample, {**sizes, large: 10_000}, 200)
    assert large not in names
    assert len(names) == 20


def test_a_cut_workspace_is_one(sample: WorkspaceFile) -> None:
    names = kept(sample, {item.id: 10 for item in sample.artifacts}, 100)
    small = cut(sample, names)
    assert {item.id for item in small.artifacts} == names
    assert 0 < len(small.problems) < len(sample.problems)
    again = WorkspaceFile.model_validate(small.model_dump(mode="json", by_alias=True))
    assert again == small
    assert cut(sample, frozenset(item.id for item in sample.artifacts)) == sample


def test_the_strategies_differ_in_what_is_named() -> None:
    base = Options("tide", rounds=7, view_tokens=3000, views=5)
    every = {name: options_of(name, base, Switches(), 1) for name in Strategy}
    nonce = every[Strategy.TIDE].method.nonce
    assert len(nonce) == 16
    assert every[Strategy.TIDE].method == Method(nonce=nonce)
    assert len({one.method.nonce for one in every.values()}) == len(Strategy)
    assert options_of(Strategy.TIDE, base, Switches(), 1).method.nonce == nonce
    assert options_of(Strategy.TIDE, base, Switches(), 2).method.nonce != nonce
    assert every[Strategy.OBSERVED].strategy == "observed"
    assert every[Strategy.MULTI].method.agents == 7
    assert (every[Strategy.SINGLE].rounds, every[Strategy.PUBLISHED].rounds) == (1, 7)
    assert {name for name, one in every.items() if one.method.whole} == {
        Strategy.SINGLE, Strategy.MULTI, Strategy.WHOLE, Strategy.PUBLISHED,
    }  # fmt: skip
    assert {name for name, one in every.items() if one.full_text} == {
        Strategy.SINGLE, Strategy.MULTI, Strategy.TEXT, Strategy.PUBLISHED,
    }  # fmt: skip
    assert not any(takes_notes(name) and one.full_text for name, one in every.items())
    assert len({str(one) for one in every.values()}) == len(Strategy)


def test_the_switches_hold_for_all() -> None:
    base = Options("tide")
    for name in Strategy:
        bare = options_of(name, base, Switches(observations=False, proof=False), 1).method
        assert (bare.observations, bare.proof) == (False, False)
        whole = options_of(name, base, Switches(), 1).method
        assert (whole.observations, whole.proof) == ((name is not Strategy.PUBLISHED),) * 2
