"""Reads the text of documents in the limited process; what can't be read comes back as a defect."""

from types import TracebackType
from typing import Self

from connectors.limited import SECONDS, Limited

# The formats of `extraction.FORMATS`; written here too, as importing those would load their parsers.
SUFFIXES = frozenset(
    {".txt", ".text", ".log", ".md", ".markdown", ".html", ".htm", ".csv", ".tsv", ".pdf", ".docx", ".xlsx"}
)
_TYPES = {
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}


class DocumentReader:
    """A reader of documents; a context manager whose end is `close`. One document may take `seconds`."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._limited = Limited(seconds)

    def read(
        self, name: str, content_type: str, data: bytes, charset: str = ""
    ) -> tuple[str, tuple[str, ...]] | None:
        """The text and defects of a document; None if neither name nor type says a format that can be read."""
        suffix = suffix_of(name) if suffix_of(name) in SUFFIXES else _TYPES.get(content_type, "")
        if not suffix:
            return None
        reply = self._limited.ask({"job": "document", "suffix": suffix, "charset": charset}, data)
        if isinstance(reply, str):
            return "", (reply,)
        return str(reply["text"]), tuple(str(defect) for defect in reply["defects"])

    def close(self) -> None:
        self._limited.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def suffix_of(name: str) -> str:
    """The lower-case ending of a file name with its dot, "" if it has none."""
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if dot and stem and len(ending) <= 10 else ""
