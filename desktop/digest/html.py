"""The digest as one page: self-contained, nothing loaded, light or dark as the reader's system is."""

from __future__ import annotations

from html import escape

from desktop.digest.digest import Digest, Item, Quote
from desktop.digest.text import MARKS, deadline_line, footer, headline, quote_head


def page(digest: Digest) -> str:
    """A complete HTML document. All text from outside is escaped; its direction is kept to itself."""
    items = "\n".join(_item(item) for item in digest.items)
    notes = "".join(f"<p>{escape(line)}</p>" for line in footer(digest))
    problems = "".join(
        f'<p class="problem">{_outside(f"{source.name}: {source.problem}")}</p>'
        for source in digest.sources
        if source.problem
    )
    hint = f"<p>{escape(digest.hint)}</p>" if digest.hint else ""
    person = f" · {_outside(digest.person)}" if digest.person else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tide · {escape(digest.day)}</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<p>Tide · {escape(digest.day)}{person}</p>
<h1>{escape(headline(digest))}</h1>
</header>
<main>
{items}
</main>
<footer>{problems}{notes}{hint}</footer>
</body>
</html>
"""


def _item(item: Item) -> str:
    mark = f' <span class="mark">{escape(MARKS[item.mark])}</span>' if item.mark else ""
    deadline = f'<p class="deadline">{escape(deadline_line(item))}</p>' if item.deadline else ""
    quotes = "\n".join(_quote(quote) for quote in item.quotes)
    texts = "".join(f"<dt>{escape(name)}</dt><dd>{_outside(text)}</dd>" for name, text in item.action.texts)
    texts = f"<dl>{texts}</dl>" if texts else ""
    return f"""<article id="finding-{item.id}">
<h2><span class="number">#{item.id}</span> {_outside(item.description)}{mark}</h2>
{deadline}
<p class="why">{_outside(item.why)}</p>
{quotes}
<div class="action"><p>{_outside(item.action.sentence)}</p>{texts}</div>
</article>"""


def _quote(quote: Quote) -> str:
    return (
        f"<figure><figcaption>{_outside(quote_head(quote))}</figcaption>"
        f"<blockquote>{_outside(quote.text)}</blockquote></figure>"
    )


def _outside(text: str) -> str:
    return f'<bdi dir="auto">{escape(text)}</bdi>'


_STYLE = """
:root { --ink: #1d2433; --soft: #5b6475; --paper: #f6f7f9; --card: #fff; --line: #dfe3ea; --sea: #0b6e8a;
  --warn: #9a5b00; --good: #1f7a4d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8f0; --soft: #9aa4b5; --paper: #12161d; --card: #1a2029; --line: #2b3442; --sea: #58bdd8;
    --warn: #e0a64a; --good: #62c48f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--soft); }
h1 { margin: .2rem 0 1.5rem; font-size: 1.5rem; line-height: 1.25; }
article { margin: 0 0 1.25rem; padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem; }
h2 { margin: 0 0 .4rem; font-size: 1.08rem; line-height: 1.4; }
.number { color: var(--sea); }
.mark { padding: .05rem .45rem; border: 1px solid currentColor; border-radius: 1rem; color: var(--good);
  font-size: .72rem; font-weight: 600; white-space: nowrap; }
.deadline { margin: 0 0 .4rem; color: var(--warn); font-weight: 600; }
.why { margin: 0 0 .8rem; }
figure { margin: 0 0 .7rem; padding-left: .8rem; border-left: 3px solid var(--line); }
figcaption { color: var(--soft); font-size: .85rem; }
blockquote { margin: .1rem 0 0; white-space: pre-wrap; }
blockquote::before { content: "\\201c"; } blockquote::after { content: "\\201d"; }
.action { margin-top: .9rem; padding-top: .8rem; border-top: 1px solid var(--line); }
.action > p { margin: 0; font-weight: 600; } .action > p::before { content: "\\2192\\00a0"; color: var(--good); }
dl { margin: .5rem 0 0; } dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0 0 .4rem; white-space: pre-wrap; }
footer { color: var(--soft); font-size: .88rem; } footer p { margin: .25rem 0; } .problem { color: var(--warn); }
"""
