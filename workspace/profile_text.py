"""The text of profile.toml: made with a comment at each key, and changed without losing a comment of anybody's."""

from collections.abc import Mapping
from typing import Any

TEMPLATE = """\
# Who you are, whom you work with and what matters to you. It makes findings better; nothing here is needed.
# Write text "in quotes", several texts ["like", "this"]. A line that begins with # is a remark.

# The time zone in which you read times, as in "Europe/Lisbon".
timezone = "UTC"

[persona]
name = ""
# Every address of yours: mail from them counts as written by you.
emails = []
# What you do, in a few words: "project lead in a small architects' office".
occupation = ""
# What else one must know to tell what matters to you, in a sentence or two.
about = ""

[world_model]
# What you want to reach these days, one sentence each.
priorities = []

[world_model.organization]
name = ""
department = ""
# Whom you report to, by name.
reports_to = ""

# The people who matter, with four lines for each. What they ask of you counts, as it does from all whom you have
# written to or who share the domain of your address. For example:
#
# [[world_model.relationships]]
# name = "Ben Ortiz"
# email = "ben@example.org"
# relation = "manager"
# context = "Decides on money above 5,000 euro."
"""


def with_changes(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The TOML text with what `after` has other than `before`, which is what the text says; the rest as it was.

    Raises:
        ValueError: if the text is written in a way in which it cannot be changed.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _change(document, before, after)
        return tomlkit.dumps(document).rstrip("\n") + "\n"
    except (TOMLKitError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from error


_WIDEST = 100


def _change(table: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    import tomlkit

    for key, new in after.items():
        old = before[key]
        if new == old:
            continue
        if isinstance(new, Mapping):
            if key not in table:
                table[key] = {}
            _change(table[key], old, new)
        elif isinstance(new, list) and key in table and new[: len(old)] == old:
            for one in new[len(old) :]:
                table[key].append(_member(one))
        elif isinstance(new, list) and any(isinstance(one, Mapping) for one in new):
            if key in table:
                del table[key]
            table[key] = [_member(one) for one in new]
        elif isinstance(new, list):
            array = tomlkit.array()
            array.extend(new)
            table[key] = array.multiline(len(array.as_string()) > _WIDEST)
        else:
            table[key] = new


def _member(one: Any) -> Any:
    """A member of a list; what a relationship does not tell is left out."""
    if not isinstance(one, Mapping):
        return one
    return {key: value for key, value in one.items() if value or key in ("name", "email")}
