"""What a person keeps out of sight by `.gitignore` and `.tideignore` files in a folder, read as git reads them.

A file deeper down overrules those above it, `.tideignore` the `.gitignore` beside it. What is below an ignored
folder cannot be taken back in. A file of rules that is unreadable or too large says nothing.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass

from connectors.tree import read_bytes

FILES = (".gitignore", ".tideignore")
_MAX_BYTES = 64 * 1024
# A pattern is tried in time that grows with the length of the name to the power of its wildcards.
_MAX_WILDCARDS = 4
_WILDCARD = re.compile(r"\*+")
_TRAILING_SPACES = re.compile(r"(?<!\\) +$")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of a file of rules: what it fits is ignored, or taken back in."""

    pattern: re.Pattern[str]
    ignored: bool
    folders_only: bool

    def fits(self, path: str, folder: bool) -> bool:
        if self.folders_only and not folder:
            return False
        found = self.pattern.search(path)
        # The group takes part where it is a folder above that fits; that one was looked at before.
        return found is not None and found.groupdict().get("ps_d") is None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: those of each file, and the beginning of the items they are about."""

    levels: tuple[tuple[str, tuple[_Rule, ...]], ...] = ()

    def within(self, folder: str, prefix: str, names: Collection[str]) -> "IgnoreRules":
        """The rules that hold in a folder which has files of these names and whose items begin with `prefix`."""
        lines = [line for name in FILES if name in names for line in _lines(os.path.join(folder, name))]
        # What stands last counts first.
        rules = tuple(rule for line in reversed(lines) if (rule := _rule(line)) is not None)
        return IgnoreRules(((prefix, rules), *self.levels)) if rules else self

    def leave_out(self, item: str, *, folder: bool) -> bool:
        """Whether an item is ignored; the folders that it is in are not."""
        for prefix, rules in self.levels:
            path = item[len(prefix) :]
            for rule in rules:
                if rule.fits(path, folder):
                    return rule.ignored
        return False


def _lines(path: str) -> list[str]:
    try:
        data = read_bytes(path, _MAX_BYTES + 1)
    except OSError:
        return []
    if len(data) > _MAX_BYTES:
        return []
    return [line.removesuffix("\r") for line in data.decode("utf-8-sig", "replace").split("\n")]


def _rule(line: str) -> _Rule | None:
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    line = _TRAILING_SPACES.sub("", line)
    if len(_WILDCARD.findall(line)) > _MAX_WILDCARDS:
        return None
    try:
        found = GitIgnoreSpecPattern(line.removesuffix("/"))
    except (GitIgnorePatternError, re.error):  # git passes over what is no pattern, too
        return None
    if found.regex is None or found.include is None:
        return None
    return _Rule(found.regex, found.include, line.endswith("/"))
