"""The digest: the findings of the day, the most pressing first, as text, as a page and as a record."""

from desktop.digest.digest import Digest, Item, Quote, Source, make_digest
from desktop.digest.html import page
from desktop.digest.record import record
from desktop.digest.text import print_digest

__all__ = ["Digest", "Item", "Quote", "Source", "make_digest", "page", "print_digest", "record"]
