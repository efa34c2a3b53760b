"""The closed types in which a model answers: what it may name is listed, what it may write is bounded.

A type is made for each view, since it lists the labels, people and templates of that view: citing an artifact
that does not exist, or naming an action that is not in the catalogue, cannot be said. Every list and string is
bounded, so the longest possible answer is known, and with it the tokens that always suffice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from inference.addresses import unattended, written_in
from inference.checks import address_of
from workspace import ACTIONS, RECIPIENTS, REFERENCES, TIMES, Action, Artifact, Kind, Profile, Role, Stakes, Trust

MAX_ADDRESS = 64
MAX_ADDRESSES = 40


@dataclass(frozen=True, slots=True)
class Bounds:
    """The longest strings (characters) and lists that an answer may hold."""

    thought: int
    why: int
    problem: int
    line: int
    text: int
    quote: int
    artifacts: int
    people: int
    quotes: int


ROOMY = Bounds(thought=400, why=300, problem=320, line=120, text=600, quote=240, artifacts=6, people=4, quotes=6)
SNUG = Bounds(thought=200, why=160, problem=240, line=80, text=300, quote=160, artifacts=5, people=3, quotes=5)
TIGHT = Bounds(thought=120, why=120, problem=160, line=60, text=120, quote=120, artifacts=4, people=2, quotes=4)


@dataclass(frozen=True, slots=True)
class Choices:
    """What an answer may name: template ids, labels by kind of artifact, and people.

    `people` are pairs of a bare address, which is what the model writes, and `Name <address>`.
    """

    templates: tuple[str, ...]
    labels: tuple[tuple[str, Kind], ...]
    people: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, artifacts: Sequence[Artifact], profile: Profile, templates: Sequence[str]) -> Choices:
        """The choices of a view of these artifacts: the people whom those of them name that are trusted, those of
        the profile, and those whose address stands in a trusted text; neither the person nor automatic senders."""
        names = {person.email: person.name for person in profile.world_model.relationships}
        automatic = set()
        for artifact in artifacts:
            for person in artifact.people:
                # Who is away answers automatically as well, but is met elsewhere.
                if artifact.automatic and person.role is Role.FROM:
                    automatic.add(person.email)
                elif artifact.trust is not Trust.UNKNOWN:
                    names[person.email] = names.get(person.email) or person.name
        written = {email for artifact in artifacts for email in written_in(artifact)} - automatic - set(names)
        names |= dict.fromkeys(written, "")
        fit = [
            email
            for email in names
            if len(email.encode()) <= MAX_ADDRESS and address_of(email) == email and not unattended(email)
        ]
        others = sorted(
            set(fit) - set(profile.persona.emails),
            key=lambda email: (email not in profile.known, email in written, email),
        )
        return cls(
            templates=tuple(templates),
            labels=tuple((artifact.label, artifact.kind) for artifact in artifacts),
            people=tuple((email, _written(email, names[email])) for email in sorted(others[:MAX_ADDRESSES])),
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A problem that a model named and nothing has confirmed yet. `artifacts` are row ids, each once."""

    template: str
    why: str
    artifacts: tuple[int, ...]
    problem: str
    action: Action


class Answer(BaseModel):
    """Base of the answers. Their schemas say `anyOf` where pydantic says `oneOf`, which few servers take."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        schema: dict[str, Any] = _any_of(super().model_json_schema(*arguments, **options))
        return schema


@lru_cache(maxsize=512)
def ask_type(choices: Choices, bounds: Bounds, most: int) -> type[BaseModel]:
    """The type of the answer to an ask: a thought, and at most `most` problems."""
    fields = {
        "template": _one_of(choices.templates),
        "why": _prose(1, bounds.why),
        "artifacts": _list(_one_of([label for label, _ in choices.labels]), 1, bounds.artifacts),
        "problem": _prose(1, bounds.problem),
        "action": Annotated[_union(_actions(choices, bounds)), Field(discriminator="function_name")],
    }
    problem = _closed("Problem", fields)
    return _closed("Found", {"thought": _prose(0, bounds.thought), "problems": _list(problem, 0, most)})


@lru_cache(maxsize=512)
def proof_type(labels: tuple[str, ...], bounds: Bounds) -> type[BaseModel]:
    """The type of a verdict on one candidate, with quotes from the artifacts of these labels."""
    quote = _closed("Quote", {"artifact": _one_of(labels), "quote": _prose(1, bounds.quote)})
    fields = {
        "quotes": _list(quote, 0, bounds.quotes),
        "reason": _prose(1, bounds.why),
        "stands": bool,
        "still_open": bool,
        "concerns_person": bool,
        # A server that does not hold a model to the form may leave it out.
        "stakes": (_one_of([stakes.value for stakes in Stakes]), Stakes.MEDIUM.value),
        "deadline": Annotated[str, StringConstraints(pattern=f"^({_DAY}(T{_TIME})?)?$", max_length=16)],
    }
    return _closed("Proof", fields)


@lru_cache(maxsize=64)
def same_type(labels: tuple[str, ...], bounds: Bounds) -> type[BaseModel]:
    """The type of the answer to which of the findings of these labels a new one repeats, if any."""
    return _closed("Same", {"reason": _prose(1, bounds.why), "same_as": _one_of((*labels, "none"))})


@lru_cache(maxsize=64)
def judged_type(names: tuple[str, ...], bounds: Bounds) -> type[BaseModel]:
    """The type of the answer to which of these things a text says."""
    return _closed("Judged", {"thought": _prose(0, bounds.thought), **dict.fromkeys(names, bool)})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a model says of a candidate after seeing the originals.

    `quotes` are pairs of a row id and words, not yet compared with the artifact. `deadline` is a day or a moment
    in naive local time, or "". `certainty` is how sure the model was of all three of its decisions, 0 to 1, None
    where the engine does not tell.
    """

    quotes: tuple[tuple[int, str], ...]
    reason: str
    stands: bool
    still_open: bool
    concerns_person: bool
    stakes: Stakes
    deadline: str
    certainty: float | None


def candidates(answer: BaseModel, choices: Choices) -> list[Candidate]:
    """The problems of an answer of `ask_type`."""
    people = dict(choices.people)
    found = []
    for said in answer.model_dump()["problems"]:
        parameters = {
            name: _named(value, people) if name in RECIPIENTS else value
            for name, value in said["action"]["parameters"].items()
        }
        found.append(
            Candidate(
                template=said["template"],
                why=said["why"].strip(),
                artifacts=tuple(dict.fromkeys(int(label[1:]) for label in said["artifacts"])),
                problem=said["problem"].strip(),
                action=Action(function_name=said["action"]["function_name"], parameters=parameters),
            )
        )
    return found


def verdict(answer: BaseModel, certainty: float | None = None) -> Verdict:
    """The content of an answer of `proof_type`."""
    said = {**answer.model_dump(), "certainty": certainty}
    said["stakes"] = Stakes(said["stakes"])
    quotes = dict.fromkeys((int(quote["artifact"][1:]), quote["quote"].strip()) for quote in said.pop("quotes"))
    return Verdict(quotes=tuple(quotes), **said)


def longest(answer: type[BaseModel]) -> int:
    """The bytes of the longest answer of this type, written without white space between tokens.

    No token of a language model stands for less than a byte, so this many tokens (and one for the end) always
    suffice, whatever the model chooses.
    """
    schema = answer.model_json_schema()
    return _longest(schema, schema.get("$defs", {}))


# What a string may hold: no control characters, no backslash, nothing invisible or outside the basic plane. So a
# character is at most three bytes of JSON; only a line break can be written in up to six (\u000a).
_UNWANTED = (
    r"\x0b-\x1f\x7f-\x9f\\\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ue000-\uf8ff\ufeff\ufff0-\uffff\U00010000-\U0010FFFF"
)
_LINE_BYTES, _TEXT_BYTES = 3, 6
_DAY = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"
_NAME = re.compile(r"[^\W_][\w .'\u2019-]{0,50}")


def _actions(choices: Choices, bounds: Bounds) -> list[type[BaseModel]]:
    """The catalogue as far as the view offers what the parameters need."""
    offered = []
    for name in ACTIONS:
        parameters = _parameters(name, choices, bounds)
        if parameters is not None:
            fields = {"function_name": _one_of([name]), "parameters": _closed(f"{name}_parameters", parameters)}
            offered.append(_closed(name, fields))
    return offered


def _parameters(action: str, choices: Choices, bounds: Bounds) -> dict[str, Any] | None:
    fields: dict[str, Any] = {}
    for name, schema in _properties(action).items():
        if name in REFERENCES:
            options = [label for label, kind in choices.labels if kind == REFERENCES[name]]
            if not options:
                return None
            fields[name] = _one_of(options)
        elif name in RECIPIENTS:
            if not choices.people:
                return None
            person = _one_of([address for address, _ in choices.people])
            # Somebody must be written to; copies and guests may be none.
            least = 1 if name in ("to", "recipients") else 0
            fields[name] = person if schema["type"] == "string" else _list(person, least, bounds.people)
        elif name in TIMES:
            pattern = _DAY if name == "due" else f"{_DAY}T{_TIME}"
            length = 10 if name == "due" else 16
            fields[name] = Annotated[str, StringConstraints(pattern=f"^{pattern}$", max_length=length)]
        elif "maxLength" in schema:
            # The catalogue's lines need a character, its texts do not.
            least = schema.get("minLength", 0)
            most = min(schema["maxLength"], bounds.line if least else bounds.text)
            fields[name] = _prose(least, most, breaks=not least)
        else:
            fields[name] = ACTIONS[action].__annotations__[name]
    return fields


@lru_cache
def _properties(action: str) -> dict[str, dict[str, Any]]:
    properties: dict[str, dict[str, Any]] = ACTIONS[action].model_json_schema()["properties"]
    return properties


def _prose(least: int, most: int, *, breaks: bool = False) -> Any:
    before = r"\x00-\x09" if breaks else r"\x00-\x0a"
    pattern = f"^[^{before}{_UNWANTED}]{{{least},{most}}}$"
    return Annotated[str, StringConstraints(pattern=pattern, min_length=least, max_length=most)]


def _list(item: Any, least: int, most: int) -> Any:
    return Annotated[list[item], Field(min_length=least, max_length=most)]


def _one_of(values: Sequence[str]) -> Any:
    return Literal[tuple(values)]


def _union(types: Sequence[type[BaseModel]]) -> Any:
    return Union[tuple(types)]  # noqa: UP007 - the members are known only when it runs


def _closed(name: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    definitions: dict[str, Any] = {
        field: said if isinstance(said, tuple) else (said, ...) for field, said in fields.items()
    }
    made: type[BaseModel] = create_model(name, __base__=Answer, **definitions)
    return made


def _written(email: str, name: str) -> str:
    return f"{name} <{email}>" if _NAME.fullmatch(name) else email


def _named(value: str | list[str], people: Mapping[str, str]) -> str | list[str]:
    return people[value] if isinstance(value, str) else [people[address] for address in dict.fromkeys(value)]


def _any_of(node: Any) -> Any:
    if isinstance(node, list):
        return [_any_of(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        "anyOf" if key == "oneOf" else key: _any_of(value) for key, value in node.items() if key != "discriminator"
    }


def _longest(node: Any, types: Any) -> int:
    if "$ref" in node:
        return _longest(types[node["$ref"].rpartition("/")[2]], types)
    if "anyOf" in node:
        return max(_longest(option, types) for option in node["anyOf"])
    if "const" in node or "enum" in node:
        values = node.get("enum", [node.get("const")])
        return max(len(json.dumps(value, ensure_ascii=False).encode()) for value in values)
    match node["type"]:
        case "object":
            fields = node["properties"].items()
            return 2 + sum(len(f'"{name}":,') + _longest(field, types) for name, field in fields)
        case "array":
            return 2 + int(node["maxItems"]) * (_longest(node["items"], types) + 1)
        case "string":
            per_character = _LINE_BYTES if r"[^\x00-\x0a" in node["pattern"] else _TEXT_BYTES
            return 2 + int(node["maxLength"]) * (per_character if "[^" in node["pattern"] else 1)
        case "integer":
            return len(str(node["maximum"]))
        case kind:
            return {"boolean": 5}[kind]
