"""The template: a class of trouble with a name, its structural pattern and the evidence that shows it.

Name, pattern and evidence flow are all that a model is shown, so they are abstract: no person, product, date
or number, only roles. Each step of the evidence flow is also a search query held against the notes of
artifacts, and therefore reads like a description of what one artifact says.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from templates.case import POOL, Slug, load_cases
from templates.lines import first_error, read_text, refusal, toml_line
from workspace import ACTIONS


def _abstract(text: str) -> str:
    """Refuse what belongs to one case alone: numbers, dates, addresses, quotations, names."""
    for what, sign in _CONCRETE.items():
        if found := sign.search(text):
            raise ValueError(f"{what} ({found.group().strip()!r}) belongs to one case; name its role instead")
    return text


_CONCRETE = {
    "a number": re.compile(r"\d+"),
    "an address": re.compile(r"\S*@\S*"),
    "a quotation": re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb\u2018]|(?<!\w)'"),
    "a date": re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
        r"|\b(?:january|february|april|june|july|august|september|october|november|december)\b",
        re.IGNORECASE,
    ),
    "a name": re.compile(r"(?<=[\w,;:] )[A-Z]\w*"),
}


def _in_catalogue(action: str) -> str:
    if action not in ACTIONS:
        raise ValueError(f"unknown action {action!r}; the catalogue has {', '.join(ACTIONS)}")
    return action


Name = Annotated[str, StringConstraints(min_length=1, max_length=60), AfterValidator(_abstract)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=320), AfterValidator(_abstract)]
Step = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_abstract)]
ActionName = Annotated[str, AfterValidator(_in_catalogue)]


class Template(BaseModel):
    """A discovery schema, distilled once from solved cases and then held fixed.

    `actions` are the catalogue functions that usually resolve such a problem, the usual one first; `cases`
    are the ids of the solved cases behind it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Slug
    setting: Literal["workspace"] = "workspace"
    name: Name
    pattern: Pattern
    evidence_flow: Annotated[tuple[Step, ...], Field(min_length=2, max_length=6)]
    actions: Annotated[tuple[ActionName, ...], Field(min_length=1)]
    cases: Annotated[tuple[Slug, ...], Field(min_length=1)]


def load_templates(folder: Path | None = None) -> tuple[Template, ...]:
    """The templates of a pool, sorted by id; those that come with Tide where no folder is given.

    A pool is a folder with `workspace/*.toml` (templates) and `cases/*.json` (solved cases).

    Raises:
        UserError: naming the file and the line that is wrong.
    """
    pool = folder or POOL
    known = frozenset(case.id for case in load_cases(pool))
    names: dict[str, str] = {}
    templates = []
    for path in sorted((pool / "workspace").glob("*.toml")):
        template = read_template(path, known, names)
        names[template.name.casefold()] = path.name
        templates.append(template)
    return tuple(sorted(templates, key=lambda template: template.id))


def read_template(path: Path, cases: frozenset[str], names: Mapping[str, str]) -> Template:
    """One template file. `cases` are the ids of solved cases, `names` the names of others -> their files.

    Raises:
        UserError: naming the file and the line that is wrong.
    """
    text = read_text(path)
    template = _read_template(path, text)
    for place, what in _faults(template, path.stem, cases, names):
        raise refusal(path, toml_line(text, place), what)
    return template


def render(template: Template) -> str:
    """The one line by which a model is shown a template: `[id] name / pattern / evidence flow`."""
    flow = " ".join(f"({number}) {step}" for number, step in enumerate(template.evidence_flow, start=1))
    return f"[{template.id}] {template.name} / {template.pattern} / {flow}"


def _read_template(path: Path, text: str) -> Template:
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, line = _syntax_error(str(error), text)
        raise refusal(path, line, what) from error
    except (ValueError, RecursionError) as error:
        raise refusal(path, 1, "a number is too long, or lists are too deep") from error
    try:
        return Template.model_validate(data)
    except ValidationError as error:
        place, what = first_error(error)
        raise refusal(path, toml_line(text, place), what) from error


def _syntax_error(message: str, text: str) -> tuple[str, int]:
    """What tomllib found wrong, and the line; it says `(at line 3, column 5)` or `(at end of document)`."""
    what, _, where = message.partition(" (at ")
    found = re.match(r"line (\d+)", where)
    return what, int(found.group(1)) if found else text.count("\n") + 1


def _faults(
    template: Template, stem: str, known: frozenset[str], names: Mapping[str, str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong with a template in its file and pool although its values are well-formed, and where."""
    if template.id != stem:
        yield ("id",), f"id {template.id!r} is not the name of the file"
    if template.name.casefold() in names:
        yield (
            ("name",),
            f"the name {template.name!r} is already that of {names[template.name.casefold()]}",
        )
    for index, case in enumerate(template.cases):
        if case not in known:
            yield ("cases", index), f"there is no solved case {case!r}"
