"""The algorithm behind all connectors, against a model, through kills at any batch."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors import follow
from connectors.follow import Read, State
from workspace import Artifact, Kind

Items = dict[str, tuple[tuple[str, str], ...]]  # item -> what it yields: (key, text)

KEYS = st.sampled_from(["k1", "k2", "k3", "k4"])
SOURCE = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "e"]),
    st.lists(st.tuples(KEYS, st.sampled_from(["x", "y"])), max_size=3, unique_by=lambda one: one[0]).map(tuple),
)


def artifact(key: str, text: str) -> Artifact:
    return Artifact("test", key, Kind.DOCUMENT, text=text)


def batches(cursor: dict[str, str], items: Items) -> Iterator[Any]:
    def read(wanted: list[str]) -> Iterator[Read]:
        for item in wanted:
            yield Read(item, tuple(artifact(*one) for one in items[item]))

    listing = {item: str(hash(content)) for item, content in sorted(items.items(), reverse=True)}
    return follow.follow(cursor, listing, read)


def expected(items: Items) -> dict[str, str]:
    """What a store must hold: of each key, the text in the first item that yields it."""
    found: dict[str, str] = {}
    for _, content in sorted(items.items()):
        for key, text in content:
            found.setdefault(key, text)
    return found


@settings(max_examples=200, deadline=None)
@given(states=st.lists(st.tuples(SOURCE, st.integers(0, 4)), min_size=1, max_size=5))
def test_the_store_holds_what_the_source_has_however_often_it_is_killed(
    states: list[tuple[Items, int]],
) -> None:
    from tests.connectors.conftest import Kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follow, "ITEMS_PER_BATCH", 1)
        kept = Kept()
        for items, most in states:
            kept.take(batches(kept.cursor, items), most)
        items = states[-1][0]
        for _ in range(100):
            if not kept.take(batches(kept.cursor, items), 1):
                break
        assert {key: one.text for key, one in kept.artifacts.items()} == expected(items)
        assert set(kept.cursor) == set(items)


def test_a_key_that_moves_to_an_item_read_later_is_never_gone(kept: Any) -> None:
    kept.take(batches({}, {"a": (("k", "x"),)}))
    kept.take(batches(kept.cursor, {"b": (("k", "x"),)}))
    assert kept.gone == []


def test_items_that_swap_what_they_yield_lose_nothing(kept: Any) -> None:
    kept.take(batches({}, {"a": (("k1", "x"),), "b": (("k2", "y"),)}))
    kept.take(batches(kept.cursor, {"a": (("k2", "y"),), "b": (("k1", "x"),)}))
    assert kept.gone == []
    assert set(kept.artifacts) == {"k1", "k2"}


def test_nothing_is_gone_while_an_item_moves_on_before_it_was_read(kept: Any) -> None:
    """From a to b before the listing, on to c before b is read."""
    kept.take(batches({}, {"a": (("k", "x"),)}))
    moved = follow.follow(kept.cursor, {"b": "1"}, lambda items: [], records={"/": "seen"})
    kept.take(moved)
    assert kept.gone == []
    assert "/" not in kept.cursor
    kept.take(batches(kept.cursor, {"c": (("k", "x"),)}))
    assert kept.gone == []
    assert set(kept.cursor) == {"c"}
    kept.take(follow.follow(kept.cursor, {}, lambda items: [], records={"/": "seen"}))
    assert kept.gone == ["k"]
    assert kept.cursor == {"/": "seen"}


def test_what_was_read_once_is_kept_while_it_can_not_be_opened(kept: Any) -> None:
    kept.take(batches({}, {"a": (("k", "x"),)}))

    def read(items: list[str]) -> list[Read]:
        return [Read(item, (artifact("unread", ""),), failed=True) for item in items]

    assert list(follow.follow(kept.cursor, {"a": "new"}, read)) == []


def test_what_could_not_be_opened_is_tried_again(kept: Any) -> None:
    def read(items: list[str]) -> list[Read]:
        return [Read(item, (artifact("unread", ""),), failed=True) for item in items]

    kept.take(follow.follow({}, {"a": "1"}, read))
    assert set(kept.artifacts) == {"unread"}
    assert list(follow.follow(kept.cursor, {"a": "1"}, read)) == []
    kept.take(follow.follow(kept.cursor, {"a": "1"}, lambda items: [Read("a", (artifact("k", "x"),))]))
    assert set(kept.artifacts) == {"k"}


def test_batches_are_bounded_by_the_text_they_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "CHARACTERS_PER_BATCH", 10)
    items: Items = {name: ((name, "long enough"),) for name in "abcde"}
    assert [len(batch.changes) for batch in batches({}, items)] == [1, 1, 1, 1, 1]


@given(
    st.builds(
        State,
        st.text("0123456789:", max_size=9),
        st.text("abcdef", max_size=9),
        st.lists(KEYS).map(tuple),
        st.lists(KEYS).map(tuple),
    )
)
def test_a_state_reads_back_as_it_was_written(state: State) -> None:
    assert State.parse(str(state)) == state
