"""Workspace files, opened for the evaluation: as real files, shuffled, and known again by their artifacts."""

from pathlib import Path

import pytest

from desktop.evaluating import opened
from workspace.file import WorkspaceFile, read_workspace


@pytest.fixture(scope="module")
def sample() -> WorkspaceFile:
    return read_workspace(Path("workspace/sample.json"))


def test_every_row_is_known_by_its_artifact(sample: WorkspaceFile, tmp_path: Path) -> None:
    with opened(sample, tmp_path / "home", seed=1, notes=True) as found:
        kinds = {item.id: item.kind for item in sample.artifacts}
        held = {artifact.id: artifact for artifact in found.store.artifacts.all()}
        assert set(found.rows) == set(kinds)
        assert all(found.rows.values())
        assert {row: kinds[str(found.artifact_of(row))] for row in held} == {
            row: artifact.kind for row, artifact in held.items()
        }
        recurring = [item.id for item in sample.artifacts if item.kind == "event" and item.recurrence]
        assert all(len(found.rows[name]) > 1 for name in recurring)
        assert found.artifact_of(10**6) is None
        notes = found.store.readings.notes(sorted(held))
        assert {found.artifact_of(row): reading.note.line for row, (reading,) in notes.items()} == sample.notes


def test_the_seed_alone_decides_the_order(sample: WorkspaceFile, tmp_path: Path) -> None:
    def order(home: str, seed: int) -> list[str | None]:
        with opened(sample, tmp_path / home, seed=seed, notes=False) as found:
            assert found.store.readings.notes(range(1, 500)) == {}
            return [found.artifact_of(artifact.id) for artifact in found.store.artifacts.all()]

    first = order("a", 1)
    assert order("b", 1) == first
    assert order("a", 2) != first
    assert sorted(map(str, order("a", 2))) == sorted(map(str, first))


def test_what_was_opened_before_is_taken_up(sample: WorkspaceFile, tmp_path: Path) -> None:
    def runs(seed: int) -> int:
        with opened(sample, tmp_path, seed=seed, notes=False) as found:
            return found.store.runs.begin(f"{seed}", found.now).id

    assert [runs(1), runs(1), runs(1)] == [1, 1, 1]
    assert runs(2) == 1
    with opened(sample, tmp_path, seed=2, notes=False) as found:
        assert found.store.runs.begin("other", found.now).id == 2
    changed = sample.model_copy(update={"language": "de"})
    with opened(changed, tmp_path, seed=2, notes=False) as found:
        assert found.store.runs.begin("other", found.now).id == 1
