"""What a folder of documents leaves out, beside git itself."""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.documents.folder import DocumentFolder
from connectors.ignoring import IgnoreRules
from connectors.surroundings import Surroundings
from connectors.tree import walk
from workspace import SourceEmpty

AROUND = Surroundings(frozenset(), frozenset(), ZoneInfo("UTC"), lambda: datetime.now(UTC), 30, 30)


@dataclass
class Repository:
    """A tree in which every folder has a folder and a file of each name, three deep, and what git says of it."""

    root: Path

    def __post_init__(self) -> None:
        subprocess.run(["git", "init", "-q", self.root], check=True, env=self._environment())
        for place in itertools.product(("a", "b", "a.d"), repeat=2):
            (self.root / Path(*place)).mkdir(parents=True, exist_ok=True)
        for folder in [self.root, *(path for path in self.root.glob("**/*") if path.is_dir())]:
            if ".git" not in folder.parts:
                for name in ("a.txt", "b.md", "ab", "#a", "!b ", "ü.txt"):
                    (folder / name).touch()

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}

    def write(self, rules: dict[str, Iterable[str]]) -> None:
        for old in self.root.rglob(".gitignore"):
            old.unlink()
        for place, lines in rules.items():
            (self.root / place / ".gitignore").write_text("\n".join(lines))

    def kept_by_git(self) -> set[str]:
        everything = set(walk(self.root, _seen, _seen).files)
        asked = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin", "-z"],
            cwd=self.root,
            env=self._environment(),
            input="\0".join(sorted(everything)).encode(),
            capture_output=True,
            check=False,
        )
        assert asked.returncode in (0, 1), asked.stderr
        return everything - set(asked.stdout.decode().split("\0"))

    def kept_here(self) -> set[str]:
        return set(walk(self.root, _seen, _seen, rules=IgnoreRules()).files)


def _seen(name: str) -> bool:
    return not name.startswith(".")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Repository(tmp_path_factory.mktemp("repository"))


@pytest.mark.parametrize(
    "rules",
    [
        {"": ["*.txt", "!a.txt"]},
        {"": ["/a/", "b/a/*.md"]},
        {"": ["a/*", "!a/b/", "a/b/*", "!a/b/ab"]},
        {"": ["a/", "!a/a.txt"]},
        {"": ["*", "!*/", "!*.md"]},
        {"": ["**/b/**", "!**/b.md"]},
        {"": ["*"], "a": ["!*"]},
        {"": ["*.md"], "a": ["!b.md"], "a/b": ["b.md"]},
        {"a": ["/b", "b/a.txt"]},
        {"": ["# comment", "\\#a", "\\!b\\ ", "", "   "]},
        {"": ["a.txt   ", "ab\r", "[!a].md", "?b"]},
        {"": ["!", "/", "//", "[", "a[", "\\", "***", "a/**/a.txt"]},
        {"": ["a.d", "!a.d/", "ü*"]},
        {"": ["\ufeff*.txt", "b/", "!b"]},
    ],
)
def test_rules_are_read_as_git_reads_them(repository: Repository, rules: dict[str, list[str]]) -> None:
    repository.write(rules)
    assert repository.kept_here() == repository.kept_by_git()


_part = st.sampled_from(["a", "b", "a.txt", "*.md", "*", "**", "?b", "[ab]*", "a.d", "ab"])
_pattern = st.builds(
    lambda negated, anchor, parts, end: negated + anchor + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(_part, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)
_rules = st.lists(_pattern, max_size=4)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=_rules, inner=_rules, deep=_rules)
def test_any_rules_are_read_as_git_reads_them(
    repository: Repository, top: list[str], inner: list[str], deep: list[str]
) -> None:
    repository.write({"": top, "a": inner, "a/b": deep})
    assert repository.kept_here() == repository.kept_by_git()


def folder(path: Path, *names: str) -> DocumentFolder:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"text of {name}")
    return DocumentFolder("test", path, AROUND)


def test_what_becomes_ignored_is_gone_and_comes_back(tmp_path: Path, kept: Any) -> None:
    source = folder(tmp_path, "a.txt", "old/b.txt", "old/c.md")
    kept.take(source.sync({}))
    (tmp_path / ".tideignore").write_text("old/\n")
    kept.take(source.sync(kept.cursor))
    assert set(kept.artifacts) == {"a.txt"}
    (tmp_path / ".tideignore").write_text("old/*.md\n")
    kept.take(source.sync(kept.cursor))
    assert set(kept.artifacts) == {"a.txt", "old/b.txt"}
    (tmp_path / ".tideignore").write_text("*\n")
    with pytest.raises(SourceEmpty):
        kept.take(source.sync(kept.cursor))


def test_a_tideignore_overrules_the_gitignore_beside_it(tmp_path: Path, kept: Any) -> None:
    source = folder(tmp_path, "a.txt", "b.txt", "c.md")
    (tmp_path / ".gitignore").write_text("*.txt\n")
    (tmp_path / ".tideignore").write_text("!a.txt\nc.md\n")
    kept.take(source.sync({}))
    assert set(kept.artifacts) == {"a.txt"}


def test_what_programs_put_there_is_left_out(tmp_path: Path, kept: Any) -> None:
    source = folder(
        tmp_path, "a.txt", "web/node_modules/x/README.md", "env/lib/site-packages/y/LICENSE.txt", ".venv/z.txt"
    )
    kept.take(source.sync({}))
    assert set(kept.artifacts) == {"a.txt"}


def test_rules_that_can_not_be_read_say_nothing(tmp_path: Path, kept: Any) -> None:
    source = folder(tmp_path, *(f"{name}/a.txt" for name in ("large", "pipe", "folder", "link", "odd", "slow")))
    (tmp_path / "large" / ".gitignore").write_text("*\n" * 100_000)
    os.mkfifo(tmp_path / "pipe" / ".gitignore")
    (tmp_path / "folder" / ".gitignore").mkdir()
    (tmp_path / "link" / ".gitignore").symlink_to("/dev/zero")
    (tmp_path / "odd" / ".gitignore").write_bytes(b"\xff\xfe\x00[z-a]\n" + bytes(range(256)))
    (tmp_path / "slow" / ".gitignore").write_text("*a" * 60 + "\n")
    (tmp_path / "slow" / ("a" * 240 + ".md")).write_text("x")
    kept.take(source.sync({}))
    assert len(kept.artifacts) == 7
