"""The digest for a terminal: wrapped to its width, with colour where there is a terminal to show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from desktop.digest.digest import Digest, Item, Quote
from desktop.moments import say_span

if TYPE_CHECKING:
    from rich.console import Console

    from workspace.finding import Run

_KINDS = {"email": "mails", "event": "events", "document": "documents", "task": "tasks", "function": "functions"}
_CHECKS = {
    "quote": "words that stand nowhere",
    "stands": "not borne out by the originals",
    "open": "settled already",
    "person": "not yours to act on",
    "known": "known already",
    "invalid": "not an answer",
    "originals": "too long to check",
    "strangers": "said by strangers alone",
}
MARKS = {"new": "new", "back": "back from snooze", "changed": "changed"}


def print_digest(digest: Digest, console: Console, *, cut: int = 0) -> None:
    """Print the digest; longer texts of actions cut at `cut` characters (0: whole)."""
    console.print(
        Text.assemble(("Tide", "bold cyan"), f" · {digest.day}", f" · {digest.person}" * bool(digest.person))
    )
    console.print(Text(headline(digest), "bold"))
    for item in digest.items:
        console.print()
        print_item(item, console, cut=cut)
    console.print()
    for line in footer(digest):
        console.print(Text(line, "dim"))
    for source in digest.sources:
        if source.problem:
            console.print(Text(f"{source.name}: {source.problem}", "yellow"))
    if digest.hint:
        console.print(Text(digest.hint, "dim"))


def print_item(item: Item, console: Console, *, cut: int = 0) -> None:
    """Print one finding; its action's texts cut at `cut` characters (0: whole)."""
    head = Text.assemble((f"#{item.id}", "bold cyan"), "  ", (item.description, "bold"))
    head.append(f"  [{MARKS[item.mark]}]" if item.mark else "", "green")
    _indented(console, head, 0)
    if item.deadline:
        _indented(console, Text(deadline_line(item), "yellow"), 4)
    _indented(console, Text.assemble(("Why  ", "dim"), item.why), 4)
    for quote in item.quotes:
        _indented(console, Text(quote_head(quote), "dim"), 4)
        _indented(console, Text(f"“{quote.text}”", "italic"), 6)
    _indented(console, Text.assemble(("→ ", "bold green"), item.action.sentence), 4)
    for name, text in item.action.texts:
        shown = text if not cut or len(text) <= cut else f"{text[:cut].rstrip()} … (`tide show {item.id}`)"
        _indented(console, Text.assemble((f"{name}: ", "dim"), shown), 6)


def headline(digest: Digest) -> str:
    """How many findings there are, and how many of them are new."""
    count = len(digest.items)
    if digest.run is None:
        return "Tide has not looked yet. Run: tide run"
    if not count:
        said = "Nothing new." + (f" Last sync: {digest.last_sync}." if digest.last_sync else "")
        return said + (f" {digest.snoozed} snoozed: tide findings --state snoozed" if digest.snoozed else "")
    marks = Counter(item.mark for item in digest.items)
    named = {"new": "new", "changed": "changed", "back": "back from a snooze", "": "still open"}
    parts = ", ".join(f"{marks[mark]} {name}" for mark, name in named.items() if marks[mark])
    return f"{count} {'finding' if count == 1 else 'findings'}: {parts}"


def footer(digest: Digest) -> list[str]:
    """What has settled itself; what was looked at, when, by what and for how long; what was not shown and why."""
    lines = [f"Settled: #{item.id} {item.description} {item.reason}" for item in digest.lapsed]
    held = counted(digest.artifacts)
    if held:
        lines.append(f"Looked at {held}; last sync {digest.last_sync or 'never'}.")
    if digest.run is not None:
        lines.append(f"Last run {digest.looked}: {_by(digest.run)}.")
    if digest.seconds:
        lines.append(
            "Took: " + ", ".join(f"{step} {say_span(took)}" for step, took in digest.seconds.items()) + "."
        )
    if digest.dropped:
        count = sum(digest.dropped.values())
        why = ", ".join(f"{_CHECKS.get(check, check)} {times}" for check, times in digest.dropped.items())
        lines.append(
            f"Not shown: {count} {'candidate that' if count == 1 else 'candidates that'} failed a check ({why})."
        )
    return lines


def counted(artifacts: Mapping[str, int]) -> str:
    """`60 mails, 20 events`."""
    return ", ".join(f"{count:,} {_kind(kind, count)}" for kind, count in artifacts.items() if count)


def deadline_line(item: Item) -> str:
    """By when to act."""
    deadline = item.deadline.removesuffix(" 00:00")
    return f"Late since {deadline}" if item.late else f"Act before {deadline}"


def quote_head(quote: Quote) -> str:
    """Where a quote is from, on one line."""
    if quote.where == "title" and quote.text == quote.title:
        return f"{quote.label} · {quote.whence} · its title"
    part = "" if quote.where == "text" else f" · its {quote.where}"
    return f"{quote.label} · {quote.whence} · {quote.title or '(without a title)'}{part}"


def _by(run: Run) -> str:
    if run.strategy == "observed":
        return "observed, without a model"
    prompt = sum(call.prompt_tokens for call in run.calls)
    cached = sum(call.cached_tokens for call in run.calls)
    said = f"{run.strategy}, {run.model}, {len(run.rounds)} rounds, {len(run.calls):,} calls"
    return f"{said}, {prompt:,} prompt tokens ({cached / prompt:.0%} from the cache)" if prompt else said


def _kind(kind: str, count: int) -> str:
    many = _KINDS.get(kind, kind)
    return many.removesuffix("s") if count == 1 else many


def _indented(console: Console, text: Text, by: int) -> None:
    for line in text.wrap(console, max(console.width - by, 20)):
        line.rstrip()
        console.print(Text(" " * by) + line)
