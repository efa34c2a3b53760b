"""The contract that every connector keeps, whatever it reads from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connectors import follow
from workspace import SourceEmpty, UserError

COUNT = 7


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 2)


class TestConnector:
    def test_first_sync_brings_everything(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        assert set(kept.artifacts) == keys
        for artifact in kept.artifacts.values():
            assert artifact.source == "test"
            assert artifact.title
            assert artifact.origin.startswith(source.origin)
            assert artifact.time is not None
            assert artifact.time.tzinfo is not None

    def test_second_sync_brings_nothing(self, source: Any, kept: Any) -> None:
        source.fill(COUNT)
        kept.take(source.connector().sync({}))
        assert list(source.connector().sync(kept.cursor)) == []

    def test_new_items_are_noticed(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        key = source.add(50)
        batches = list(source.connector().sync(kept.cursor))
        kept.take(batches)
        assert set(kept.artifacts) == keys | {key}
        assert kept.gone == []

    def test_changed_items_are_noticed_and_keep_their_key(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        before = kept.said()
        key = source.change(3)
        kept.take(source.connector().sync(kept.cursor))
        assert set(kept.artifacts) == keys
        assert {one for one, digest in kept.said().items() if digest != before[one]} == {key}
        assert kept.gone == []

    def test_moved_items_keep_their_artifact(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        source.move(2)
        kept.take(source.connector().sync(kept.cursor))
        assert set(kept.artifacts) == keys
        assert kept.gone == []
        assert list(source.connector().sync(kept.cursor)) == []

    def test_removed_items_are_gone(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        key = source.remove(4)
        kept.take(source.connector().sync(kept.cursor))
        assert set(kept.artifacts) == keys - {key}
        assert kept.gone == [key]
        assert list(source.connector().sync(kept.cursor)) == []

    @pytest.mark.parametrize("most", [0, 1, 2, 5])
    def test_a_kill_between_batches_loses_nothing(
        self, source: Any, new_kept: Callable[[], Any], most: int
    ) -> None:
        source.fill(COUNT)
        whole, cut = new_kept(), new_kept()
        cut.take(source.connector().sync({}), most)
        whole.take(source.connector().sync({}))
        for number in (50, 51, 52):
            source.add(number)
        source.change(1)
        source.move(5)
        source.remove(3)
        cut.take(source.connector().sync(cut.cursor), most)
        while cut.take(source.connector().sync(cut.cursor), 1):
            pass
        whole.take(source.connector().sync(whole.cursor))
        assert sorted(cut.said().values()) == sorted(whole.said().values())
        assert set(cut.cursor) == set(whole.cursor)
        if most or not source.key_is_first_path:
            assert cut.said() == whole.said()
            assert cut.cursor == whole.cursor

    def test_a_source_that_is_suddenly_empty_stops_with_a_question(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        source.empty()
        with pytest.raises(SourceEmpty, match="suddenly empty"):
            kept.take(source.connector().sync(kept.cursor))
        assert set(kept.artifacts) == keys
        kept.take(source.connector().sync(kept.cursor, allow_empty=True))
        assert kept.artifacts == {}
        assert [item for item in kept.cursor if not item.startswith(follow.RECORD)] == []

    def test_a_source_that_is_away_loses_nothing(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        source.away()
        error, says = source.away_error
        with pytest.raises(error, match=says):
            kept.take(source.connector().sync(kept.cursor))
        source.back()
        assert list(source.connector().sync(kept.cursor)) == []
        assert set(kept.artifacts) == keys

    def test_a_source_that_is_away_may_be_allowed_to_be_empty(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        kept.take(source.connector().sync({}))
        source.away()
        if source.stays:
            with pytest.raises(source.away_error[0], match=source.away_error[1]):
                kept.take(source.connector().sync(kept.cursor, allow_empty=True))
            assert set(kept.artifacts) == keys
        else:
            kept.take(source.connector().sync(kept.cursor, allow_empty=True))
            assert kept.artifacts == {}
            assert kept.cursor == {}

    def test_a_source_that_was_never_there_is_an_error_for_the_person(self, source: Any) -> None:
        with pytest.raises(UserError, match=source.never_there):
            list(source.connector().sync({}))
        with pytest.raises(UserError, match=source.never_there):
            source.connector().check()

    def test_the_source_is_never_written_to(self, source: Any, kept: Any) -> None:
        source.fill(COUNT)
        before = source.snapshot()
        source.connector().check()
        kept.take(source.connector().sync({}))
        kept.take(source.connector().sync(kept.cursor))
        assert source.snapshot() == before

    def test_what_can_not_be_read_is_kept_with_a_defect(self, source: Any, kept: Any) -> None:
        keys = source.fill(COUNT)
        source.spoil()
        kept.take(source.connector().sync({}))
        assert keys <= set(kept.artifacts)
        odd = [one for key, one in kept.artifacts.items() if key not in keys]
        assert odd
        assert all(one.defects for one in odd)
        assert all("\n" not in defect for one in odd for defect in one.defects)
        for one in odd:
            (one.key + one.title + one.text + one.origin).encode("utf-8")
        for item, state in kept.cursor.items():
            (item + state).encode("utf-8")
        assert list(source.connector().sync(kept.cursor)) == []

    def test_check_says_what_is_there_in_one_line(self, source: Any) -> None:
        source.fill(COUNT)
        said = source.connector().check()
        assert str(COUNT) in said
        assert "\n" not in said

    def test_progress_ends_at_its_total(self, source: Any) -> None:
        source.fill(COUNT)
        batches = [batch for batch in source.connector().sync({}) if batch.total]
        assert batches[-1].done == batches[-1].total


def test_an_unknown_kind_names_the_known_ones(tmp_path: Path, source: Any) -> None:
    source.kind = "carrier pigeon"
    with pytest.raises(UserError, match="maildir, mbox, eml, calendar, folder, contacts, imap, caldav, webcal"):
        source.connector()
