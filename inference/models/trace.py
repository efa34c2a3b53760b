"""Every prompt and reply of a model, kept as numbered JSON files for a person who wants to see them."""

from __future__ import annotations

import json
from pathlib import Path

from inference.models.contract import LanguageModel, Reply, Request
from inference.models.overheard import Overheard
from workspace import UserError, write_private


class Trace:
    """A folder of traces. Files are numbered on from those that are there and only their owner can read them."""

    def __init__(self, folder: Path) -> None:
        """Raises UserError: the folder cannot be made, or is none."""
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UserError(f"{folder}: {error.strerror}. Name a folder for the traces.") from error
        self._folder = folder
        self._number = max((int(p.stem) for p in folder.glob("*.json") if p.stem.isdecimal()), default=0)

    def write(self, model: str, request: Request, reply: Reply) -> None:
        self._number += 1
        record = {
            "model": model,
            "purpose": request.purpose,
            "schema": request.schema.__name__,
            "max_tokens": request.max_tokens,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "reply": {
                "text": reply.text,
                "repaired": reply.repaired,
                "problem": reply.problem,
                "finish": reply.finish,
                "prompt_tokens": reply.prompt_tokens,
                "cached_tokens": reply.cached_tokens,
                "output_tokens": reply.output_tokens,
                "certainty": reply.certainty,
            },
        }
        text = json.dumps(record, ensure_ascii=False, indent=1)
        # A reply may hold lone surrogates, which no file can; they are kept as escapes.
        safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
        write_private(self._folder / f"{self._number:06d}.json", safe)


def traced(model: LanguageModel, trace: Trace) -> Overheard:
    """The model, with all its requests and replies in a trace, in the order of completion."""
    return Overheard(model, lambda request, reply: trace.write(model.name, request, reply))
