"""HTML to text that reads like the page: lines for blocks, `> ` before what a mail quotes, nothing hidden.

The page is parsed by selectolax, which is quick but takes time and memory with the square of the nesting;
`tame` says whether a page from outside may be parsed in this process or belongs into the limited one.
"""

import re
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from connectors.text import clean

_MAX_TAGS = 10_000
_MAX_PRODUCT = 4_000_000
_FORMATTING = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s>/]", re.IGNORECASE)

# Marks that stand in the text while the parser has it: no cleaned text holds these characters.
_LINE, _CELL, _QUOTE, _END = "\x01", "\x02", "\x03", "\x04"
_BLOCKS = (
    "address|article|aside|blockquote|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|li|ol|p|section|ul"
)
_OPENING = re.compile(rf"<(?:{_BLOCKS}|body|caption|center|main|nav|pre)(?:\s[^>]{0, 2000})?>", re.IGNORECASE)
_CLOSING = re.compile(
    rf"</(?:{_BLOCKS}|caption|center|main|nav|pre)\s*>|<(?:br|hr)(?:\s[^>]{0, 2000})?/?>", re.IGNORECASE
)
_FIRST_CELL = re.compile(r"<tr(?:\s[^>]{0,2000})?>\s*<t[dh](?:\s[^>]{0,2000})?>", re.IGNORECASE)
_ANY_CELL = re.compile(r"<t[dh](?:\s[^>]{0,2000})?>", re.IGNORECASE)
_ROW_START = re.compile(f"{_CELL} *{_LINE}")
_PRE = re.compile(r"(</?pre\b)", re.IGNORECASE)
_DROPPED = [
    "script",
    "style",
    "head",
    "title",
    "template",
    "noframes",
    "object",
    "svg",
    "math",
    "select",
    "textarea",
]

_QUOTES = (
    "blockquote[type=cite], .gmail_quote, .gmail_quote_container, .gmail_extra blockquote, .yahoo_quoted, "
    ".moz-cite-prefix + blockquote, .protonmail_quote, .tutanota_quote, .zmail_extra, blockquote.iosymail, "
    "#isForwardContent, #isReplyContent, .WordSection1 blockquote, .mail_quote, .quote[data-marker]"
)
_REPLY_HEADS = "#divRplyFwdMsg, #appendonsend, #mail-editor-reference-message-container, hr#stopSpelling"
SEPARATOR = "-----Original Message-----"

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*(?:0|1px|0?\.\d+)(?![\d.])|mso-hide\s*:\s*all"
    r"|opacity\s*:\s*0(?![.\d])|max-height\s*:\s*0(?![.\d])|color\s*:\s*transparent|text-indent\s*:\s*-\d{3,}"
    r"|(?:left|top)\s*:\s*-\d{4,}",
    re.IGNORECASE,
)
_MAY_HIDE = re.compile(r"display|visibility|font-size|mso-hide|opacity|max-height|transparent|indent|hidden", re.I)
_RULE = re.compile(r"([^{}@]{1,200})\{([^{}]*)\}")
_SPACES = re.compile(r"[ \t\n\r\f]+")
_AROUND_LINE = re.compile(f" *{_LINE} *")
_TAG = re.compile(r"<[^<>]*>")


def tame(html: str) -> bool:
    """Whether the page is small enough, and formatted plainly enough, to be parsed without limits."""
    tags = html.count("<")
    return tags <= _MAX_TAGS and tags * len(_FORMATTING.findall(html)) <= _MAX_PRODUCT


def to_text(html: str) -> tuple[str, tuple[str, ...]]:
    """The text that a reader of the page sees, and defects: hidden text left out, invisible characters."""
    defects = []
    if "<pre" in html or "<PRE" in html:
        html = _with_breaks(html)
    marked = _FIRST_CELL.sub(lambda found: found[0] + _LINE, _marks_out(html))
    marked = _ANY_CELL.sub(lambda found: found[0] + _CELL, marked)
    marked = _CLOSING.sub(lambda found: found[0] + _LINE, _OPENING.sub(lambda found: found[0] + _LINE, marked))
    tree = LexborHTMLParser(marked)
    hidden = _drop_hidden(tree) if _MAY_HIDE.search(html) else 0
    if hidden:
        defects.append(f"hidden HTML text left out ({hidden} characters)")
    tree.strip_tags(_DROPPED)
    _mark_quotes(tree, html)
    body = tree.body or tree.root
    text = _laid_out(body.text(deep=True) if body is not None else "")
    text, invisible = clean(text)
    if invisible:
        defects.append(invisible)
    return text, tuple(defects)


def without_tags(html: str) -> str:
    """The text of a page that could not be parsed, by cutting out whatever looks like a tag."""
    return clean(_SPACES.sub(" ", unescape(_TAG.sub(" ", html))))[0].strip()


def _with_breaks(html: str) -> str:
    """The page with the line ends of preformatted text as breaks, which outlive the collapse of white space."""
    pieces, inside = [], False
    for piece in _PRE.split(html):
        if _PRE.fullmatch(piece):
            inside = not piece.startswith("</")
        elif inside:
            piece = piece.replace("\n", "<br>")
        pieces.append(piece)
    return "".join(pieces)


def _marks_out(html: str) -> str:
    for mark in (_LINE, _CELL, _QUOTE, _END):
        if mark in html:
            html = html.replace(mark, "")
    return html


def _drop_hidden(tree: LexborHTMLParser) -> int:
    """Take hidden elements out of the tree; return how many characters of text they had."""
    nodes = [node for node in tree.css("[style]") if _HIDING.search(node.attributes.get("style") or "")]
    nodes += tree.css("[hidden]")
    for selector in _hiding_selectors(tree):
        nodes += tree.css(selector)
    count = 0
    for node in nodes:
        if node.tag in ("body", "html"):
            continue
        count += len("".join(_marks_out(node.text(deep=True)).split()))
        _empty(node)
    return count


def _empty(node: LexborNode) -> None:
    # The node stays, as others in the list may be inside it: only what it holds goes.
    for child in list(node.iter(include_text=True)):
        child.remove()


def _hiding_selectors(tree: LexborHTMLParser) -> list[str]:
    """Plain class and id selectors that the page's style sheets hide whatever the screen."""
    found = []
    for sheet in tree.css("style")[:20]:
        for selectors, body in _RULE.findall(_without_media(sheet.text(deep=True)[:50_000])):
            if _HIDING.search(body):
                found += [one.strip() for one in selectors.split(",")]
    return [one for one in found[:100] if re.fullmatch(r"[a-zA-Z]{0,10}[.#][-\w]{1,60}", one)]


def _without_media(sheet: str) -> str:
    """The rules outside of @media blocks: those hide what suits another screen, not the reader."""
    kept, depth, skipping = [], 0, False
    for piece in re.split(r"([{}]|@media)", sheet):
        if piece == "@media" and not depth:
            skipping = True
        elif piece == "{":
            depth += 1
        elif piece == "}":
            depth = max(depth - 1, 0)
            if not depth and skipping:
                skipping = False
                continue
        if not skipping:
            kept.append(piece)
    return "".join(kept)


def _mark_quotes(tree: LexborHTMLParser, html: str) -> None:
    if "quote" in html or "mail" in html or "Content" in html:
        for node in tree.css(_QUOTES):
            node.insert_before(_QUOTE)
            node.insert_after(_END)
    if "divRplyFwdMsg" in html or "appendonsend" in html or "reference-message" in html or "stopSpelling" in html:
        heads = tree.css(_REPLY_HEADS)
        if heads:
            heads[0].insert_before(f"{_LINE}{SEPARATOR}{_LINE}")


def _laid_out(text: str) -> str:
    """Collapse white space as a browser does, then turn the marks into lines, columns and `> `."""
    text = _SPACES.sub(" ", text).replace("\xa0", " ")
    text = _ROW_START.sub(_LINE, text).replace(_CELL, " | ")
    lines: list[str] = []
    depth = 0
    pieces = re.split(f"([{_QUOTE}{_END}])", text) if _QUOTE in text else [text]
    for piece in pieces:
        if piece == _QUOTE:
            depth += 1
        elif piece == _END:
            depth = max(depth - 1, 0)
        else:
            prefix = "> " * min(depth, 10)
            for line in _AROUND_LINE.sub("\n", piece).split("\n"):
                line = line.strip()
                if line or (lines and lines[-1] and not lines[-1].isspace()):
                    lines.append(prefix + line if line else "")
    return "\n".join(lines).strip()
