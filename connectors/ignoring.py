"""What a person keeps out of sight by `.gitignore` and `.tideignore` files in a folder, read as git reads them.

A file deeper down overrules those above it, `.tideignore` the `.gitignore` beside it. What is below an ignored
folder cannot be taken back in. A file of rules that is unreadable or too large says nothing.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from connectors.tree import read_bytes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILES = (".gitignore", ".tideignore")
_MAX_BYTES = 64 * 1024
# A pattern is tried in time that grows with the length of the name to the power of its wildcards.
_MAX_WILDCARDS = 4
_WILDCARD = re.compile(r"\*+")


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: the beginning of the items they are about, and what is ignored there."""

    levels: tuple[tuple[str, "GitIgnoreSpec"], ...] = ()

    def within(self, folder: str, prefix: str, names: Collection[str]) -> "IgnoreRules":
        """The rules that hold in a folder which has files of these names and whose items begin with `prefix`."""
        lines = [line for name in FILES if name in names for line in _lines(os.path.join(folder, name))]
        spec = _compiled(lines) if lines else None
        return IgnoreRules((*self.levels, (prefix, spec))) if spec is not None else self

    def leave_out(self, item: str, *, folder: bool) -> bool:
        """Whether an item is ignored; the folders that it is in are not."""
        for prefix, spec in reversed(self.levels):
            found = spec.check_file(item[len(prefix) :] + ("/" if folder else "")).include
            if found is not None:
                return found
        return False


def _lines(path: str) -> list[str]:
    try:
        data = read_bytes(path, _MAX_BYTES + 1)
    except OSError:
        return []
    if len(data) > _MAX_BYTES:
        return []
    return [line.removesuffix("\r") for line in data.decode("utf-8-sig", "replace").split("\n")]


def _compiled(lines: list[str]) -> "GitIgnoreSpec | None":
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns = []
    for line in lines:
        if len(_WILDCARD.findall(line)) > _MAX_WILDCARDS:
            continue
        try:
            patterns.append(GitIgnoreSpecPattern(line))
        except (GitIgnorePatternError, re.error):  # git passes over what is no pattern, too
            continue
    said = [pattern for pattern in patterns if pattern.include is not None]
    return GitIgnoreSpec(said) if said else None
