"""Waiting for real changes on disk, and what a folder of documents makes of renames."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors import open_connector
from connectors.changes import Changes
from connectors.documents.folder import DocumentFolder
from connectors.surroundings import Surroundings

AROUND = Surroundings(frozenset(), frozenset(), ZoneInfo("UTC"), lambda: datetime.now(UTC), 30, 30)
LONG = 60.0  # seconds, of which none is waited for unless a change is missed
SHORT = 0.7


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("connectors.changes._STEP", 50)
    monkeypatch.setattr("connectors.changes._SLICE", 100)


@contextmanager
def waiting(source: Any, seconds: float = LONG) -> Iterator[Callable[[], bool]]:
    """Wait in another thread as `tide watch` does; the function that is given says what came of it."""
    source.wait(threading.Event(), 0.01)  # from now on nothing is missed
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(source.wait(threading.Event(), seconds)))
    thread.start()

    def result() -> bool:
        thread.join()
        return found[0]

    try:
        yield result
    finally:
        thread.join()


def rang(source: Any, change: Callable[[], Any], seconds: float = LONG) -> bool:
    with waiting(source, seconds) as result:
        change()
        return result()


def folder(path: Path, *names: str) -> DocumentFolder:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"text of {name}")
    return DocumentFolder("test", path, AROUND)


def save_as_editors_do(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text)
    beside.rename(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "new.txt").write_text("new"),
        lambda root: (root / "a.txt").write_text("other"),
        lambda root: save_as_editors_do(root / "a.txt", "other"),
        lambda root: (root / "sub" / "b.txt").unlink(),
        lambda root: (root / "sub").rename(root / "other"),
        lambda root: shutil.rmtree(root / "sub"),
        lambda root: (root / "empty").mkdir(),
        lambda root: (root / "sub" / ".gitignore").write_text("b.txt"),
    ],
)
def test_what_changes_in_a_folder_rings(tmp_path: Path, change: Callable[[Path], Any]) -> None:
    assert rang(folder(tmp_path, "a.txt", "sub/b.txt"), lambda: change(tmp_path))


def test_what_is_of_no_interest_does_not_ring(tmp_path: Path, kept: Any) -> None:
    source = folder(tmp_path, "a.txt", ".git/b.txt", "node_modules/c.txt", "ignored/d.txt")
    (tmp_path / ".gitignore").write_text("ignored/")

    def change() -> None:
        for name in (".a.txt.swp", "~$a.docx", "4913", "a.txt~", "a.png", ".git/b.txt", "node_modules/c.txt"):
            (tmp_path / name).write_text("x")
        (tmp_path / "ignored" / "d.txt").write_text("x")
        kept.take(source.sync({}))  # reading is no change either

    assert not rang(source, change, SHORT)


def test_a_folder_that_was_made_while_waiting_is_watched(tmp_path: Path) -> None:
    source = folder(tmp_path, "a.txt")
    assert rang(source, lambda: (tmp_path / "new" / "deep").mkdir(parents=True))
    assert rang(source, lambda: (tmp_path / "new" / "deep" / "b.txt").write_text("b"))


def test_what_happens_between_two_waits_rings(tmp_path: Path) -> None:
    source = folder(tmp_path, "a.txt")
    stop = threading.Event()
    source.wait(stop, 0.01)
    (tmp_path / "a.txt").write_text("other")
    assert source.wait(stop, LONG)
    assert not source.wait(stop, 0.01)


def test_a_burst_of_changes_rings_once(tmp_path: Path) -> None:
    source = folder(tmp_path, "a.txt")

    def change() -> None:
        for number in range(200):
            (tmp_path / f"{number}.txt").write_text("x")

    assert rang(source, change)
    assert not source.wait(threading.Event(), SHORT)


@pytest.mark.parametrize("kind", ["calendar", "mbox"])
def test_a_file_that_is_replaced_written_to_or_back_again_rings(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "source"
    path.write_text("From - Mon Mar 16 08:00:00 2026\n\n")
    source = open_connector(kind, "test", str(path), AROUND)
    assert rang(source, lambda: save_as_editors_do(path, "From - Mon Mar 16 08:00:00 2026\n\nother"))
    assert rang(source, lambda: path.open("a").close() or path.write_text("again"))
    assert rang(source, path.unlink)
    assert rang(source, lambda: path.write_text("back"))
    assert not rang(source, lambda: (tmp_path / "beside").write_text("x"), SHORT)


def test_a_file_behind_a_link_rings(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "c.ics"
    target.write_text("x")
    link = tmp_path / "c.ics"
    link.symlink_to(target)
    source = open_connector("calendar", "test", str(link), AROUND)
    assert rang(source, lambda: save_as_editors_do(target, "y"))
    other = tmp_path / "other.ics"
    other.write_text("z")

    def turn() -> None:
        (tmp_path / "new").symlink_to(other)
        (tmp_path / "new").rename(link)

    assert rang(source, turn)


def test_a_root_that_vanishes_and_comes_back_rings(tmp_path: Path) -> None:
    root = tmp_path / "root"
    source = folder(root, "a.txt")
    assert rang(source, lambda: root.rename(tmp_path / "away"))
    assert rang(source, lambda: (tmp_path / "away").rename(root))
    assert rang(source, lambda: (root / "a.txt").write_text("other"))
    assert rang(source, lambda: shutil.rmtree(root))
    assert rang(source, lambda: folder(root, "b.txt"))


def test_links_are_not_followed_and_odd_names_do_no_harm(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    source = folder(root, "a.txt")
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to(root)
    os.mkdir(os.fsencode(root) + b"/\xff\xfe")
    assert not rang(source, lambda: (outside / "b.txt").write_text("b"), SHORT)
    assert rang(source, lambda: open(os.fsencode(root) + b"/\xff.txt", "w").close())
    assert rang(source, lambda: (root / "b.txt").write_text("b"))


def test_the_time_is_waited_out_where_nothing_can_be_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_paths: str, **_options: Any) -> Iterator[set[Any]]:
        raise OSError("OS file watch limit reached.")
        yield set()

    monkeypatch.setattr("watchfiles.watch", refuse)
    source = folder(tmp_path / "root", "a.txt")
    assert not rang(source, lambda: (tmp_path / "root" / "a.txt").write_text("other"), SHORT)
    assert rang(source, lambda: (tmp_path / "root").rename(tmp_path / "away"))


@pytest.mark.parametrize("there", [True, False])
def test_stop_ends_the_waiting(tmp_path: Path, there: bool) -> None:
    changes = Changes(tmp_path if there else tmp_path / "none")
    stop = threading.Event()
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(changes.wait(stop, 500)))
    thread.start()
    stop.set()
    thread.join()  # the test's own limit is less than what was to be waited
    assert found == [False]


def sync(path: Path, kept: Any) -> dict[str, str]:
    """Key -> text after another sync, which must leave nothing to do."""
    source = DocumentFolder("test", path, AROUND)
    kept.take(source.sync(kept.cursor))
    assert list(source.sync(kept.cursor)) == []
    return {key: artifact.text for key, artifact in kept.artifacts.items()}


def test_a_folder_that_is_renamed_keeps_its_documents(tmp_path: Path, kept: Any) -> None:
    folder(tmp_path, "a.txt", "old/b.txt", "old/deep/c.md")
    before = sync(tmp_path, kept)
    (tmp_path / "old").rename(tmp_path / "new")
    assert sync(tmp_path, kept) == before
    assert kept.artifacts["old/deep/c.md"].title == "new/deep/c.md"
    assert kept.gone == []


def test_one_is_renamed_while_another_is_edited(tmp_path: Path, kept: Any) -> None:
    folder(tmp_path, "a.txt", "b.txt")
    sync(tmp_path, kept)
    (tmp_path / "a.txt").rename(tmp_path / "z.txt")
    (tmp_path / "b.txt").write_text("edited")
    assert sync(tmp_path, kept) == {"a.txt": "text of a.txt", "b.txt": "edited"}
    (tmp_path / "b.txt").rename(tmp_path / "a.txt")
    assert sync(tmp_path, kept) == {"a.txt": "text of a.txt", "b.txt": "edited"}
    assert kept.gone == []


def test_two_that_are_swapped_stay_at_their_paths(tmp_path: Path, kept: Any) -> None:
    folder(tmp_path, "a.txt", "b.txt")
    sync(tmp_path, kept)
    for old, new in (("a.txt", "x.txt"), ("b.txt", "a.txt"), ("x.txt", "b.txt")):
        (tmp_path / old).rename(tmp_path / new)
    os.utime(tmp_path / "a.txt", (1, 1))
    os.utime(tmp_path / "b.txt", (2, 2))
    assert sync(tmp_path, kept) == {"a.txt": "text of b.txt", "b.txt": "text of a.txt"}
    assert kept.gone == []


def test_copies_that_are_renamed_are_told_apart(tmp_path: Path, kept: Any) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("the same")
    before = sync(tmp_path, kept)
    (tmp_path / "a.txt").rename(tmp_path / "c.txt")
    (tmp_path / "b.txt").rename(tmp_path / "d.txt")
    assert sync(tmp_path, kept) == before
    (tmp_path / "e.txt").write_text("the same")
    assert set(sync(tmp_path, kept)) == {"a.txt", "b.txt", "e.txt"}
    assert kept.gone == []


def test_a_file_in_a_folder_that_cannot_be_watched_waits_the_time_out(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folder.mkdir()
    (folder / "mail.mbox").write_bytes(b"")
    mailbox = open_connector("mbox", "test", str(folder / "mail.mbox"), AROUND)
    assert mailbox.wait(threading.Event(), 0.05) is False
