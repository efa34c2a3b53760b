"""Which documents can be read, told by their names and types alone: no parser is loaded for it."""

# The formats of `extraction.FORMATS`; written here too, as importing those would load their parsers.
SUFFIXES = frozenset(
    {
        *(".txt", ".text", ".log", ".md", ".markdown", ".html", ".htm", ".csv", ".tsv", ".pdf"),
        *(".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods"),
    }
)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_TYPES = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/pdf": ".pdf",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OPEN}.text": ".odt",
    f"{_OPEN}.presentation": ".odp",
    f"{_OPEN}.spreadsheet": ".ods",
}


def suffix_of(name: str) -> str:
    """The lower-case ending of a file name with its dot, "" if it has none."""
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if dot and stem and len(ending) <= 10 else ""


def format_of(name: str, content_type: str) -> str:
    """One of SUFFIXES by a document's name, or else its type; "" if neither says a format that can be read."""
    suffix = suffix_of(name)
    return suffix if suffix in SUFFIXES else _TYPES.get(content_type, "")
