"""The digest and the findings as records for programs: plain values that `json.dumps` takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from desktop.digest.digest import Digest, Item
from workspace.finding import Run


def record(digest: Digest) -> dict[str, Any]:
    """The whole digest."""
    return {
        "now": digest.now.isoformat(),
        "person": digest.person,
        "findings": finding_records(digest.items),
        "lapsed": [asdict(item) for item in digest.lapsed],
        "run": run_record(digest.run),
        "artifacts": dict(digest.artifacts),
        "sources": [
            {"name": s.name, "kind": s.kind, "last_sync": s.last_sync, "problem": s.problem}
            for s in digest.sources
        ],
        "seconds": dict(digest.seconds),
        "dropped": dict(digest.dropped),
        "hint": digest.hint,
    }


def finding_records(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Findings with their checked evidence and where it is from, and the action in words beside its parameters."""
    return [
        {
            **item.finding.model_dump(mode="json"),
            "evidence": [
                {
                    "artifact": evidence.artifact,
                    "label": quote.label,
                    "kind": quote.kind,
                    "title": quote.title,
                    "from": quote.whence,
                    "where": evidence.where,
                    "quote": evidence.quote,
                    "origin": quote.origin,
                }
                for evidence, quote in zip(item.finding.evidence, item.quotes, strict=True)
            ],
            "action": {
                **item.finding.action.model_dump(mode="json"),
                "words": item.action.sentence,
            },
        }
        for item in items
    ]


def run_record(run: Run | None) -> dict[str, Any] | None:
    """The record of a run."""
    return None if run is None else run.model_dump(mode="json")
