"""A careful reader in the place of a model: it names one problem after the other, and a few that are none.

What it says is known beforehand; what its prompts cost is what the server behind it counts. So the cost of two
ways to look can be compared although no model that could find anything runs here.
"""

import re
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from inference.models.contract import Reply


class Yes(BaseModel):
    """The shortest answer that the server may give, in place of what the reader says."""

    yes: bool


@dataclass
class Careful:
    """`matters` are lists of rows for each piece of evidence: a matter is named where some of each are shown. The
    last `false` of them do not stand up to the originals."""

    model: object
    matters: list = field(default_factory=list)
    false: int = 0
    asked: list = field(default_factory=list)

    name = "careful"
    capable = True

    def __getattr__(self, name):
        return getattr(self.model, name)

    def generate(self, requests, on_reply=None):
        short = [replace(request, schema=Yes, max_tokens=12) for request in requests]
        replies = []
        for index, (request, reply) in enumerate(zip(requests, self.model.generate(short), strict=True)):
            self.asked.append(request.purpose)
            value = request.schema.model_validate(self._answer(request))
            replies.append(Reply(value, "", reply.prompt_tokens, reply.cached_tokens, 0, "stop", ""))
            if on_reply is not None:
                on_reply(index, replies[-1])
        return replies

    def _answer(self, request):
        said = request.messages[-1].content
        if request.purpose == "same":
            return {"reason": "Another trouble.", "same_as": "none"}
        if request.purpose == "prove":
            return self._proof(said, request.schema)
        shown = set(_enum(request.schema, "artifacts"))
        for number, rows in enumerate(self.matters):
            cited = [next((f"a{row}" for row in some if f"a{row}" in shown), None) for some in rows]
            if None not in cited and f"Matter {number} " not in said:
                task = {"title": f"Matter {number}", "due": "2027-01-04", "notes": ""}
                problem = {
                    "template": _enum(request.schema, "template")[number],
                    "why": "They do not agree.",
                    "artifacts": cited,
                    "problem": f"Matter {number} is one in which what these say does not fit together at all.",
                    "action": {"function_name": "create_task", "parameters": task},
                }
                return {"thought": "", "problems": [problem]}
        return {"thought": "", "problems": []}

    def _proof(self, said, schema):
        number = int(re.search(r"Matter (\d+) ", said)[1])
        quotes = []
        for label in re.search(r"^artifacts: (.+)$", said, re.MULTILINE)[1].split(", "):
            found = re.search(rf"^\[{label}\].*?^text:\n(.+?)$", said, re.MULTILINE | re.DOTALL)
            if found:
                quotes.append({"artifact": label, "quote": " ".join(found[1].split()[:8])})
        stands = number < len(self.matters) - self.false
        verdict = {"stands": stands, "still_open": True, "concerns_person": True, "deadline": ""}
        verdict |= {name: "medium" for name in schema.model_fields if name == "stakes"}
        return {"quotes": quotes, "reason": "The words stand there.", **verdict}


def _enum(schema, name):
    """What an answer may name under this field of a problem."""
    kind = schema.model_json_schema()["$defs"]["Problem"]["properties"][name]
    kind = kind.get("items", kind)
    return kind.get("enum", [kind.get("const")])
