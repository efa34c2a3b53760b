"""What tells the model of classes of trouble: thought templates, or raw solved cases in their place."""

from __future__ import annotations

import json

from templates import SolvedCase, Template, render

Guide = Template | SolvedCase

UNGUIDED = "none"
"""What stands for the template of a problem where the model is shown no guide."""


def shown(guide: Guide) -> str:
    """The guide as the model is shown it: the line of a template, or a case as it was solved."""
    if isinstance(guide, Template):
        return render(guide)
    resolved = guide.resolved
    lines = [
        f"[{guide.id}] {guide.problem}",
        *(
            _artifact(item.model_dump(mode="json", by_alias=True, exclude_defaults=True))
            for item in guide.artifacts
        ),
        f"Found: {guide.found}",
        f"Action: {resolved.function_name} {json.dumps(resolved.parameters, ensure_ascii=False, sort_keys=True)}",
    ]
    return "\n".join(lines)


def _artifact(fields: dict[str, object]) -> str:
    return "- " + " / ".join(f"{name}: {value}" for name, value in fields.items())
