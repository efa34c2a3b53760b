"""The person whose mailbox the tests of the IMAP connector read, and the connector itself without its pauses."""

from datetime import datetime
from zoneinfo import ZoneInfo

from connectors.mail.imap import ImapMailbox
from connectors.surroundings import Surroundings
from workspace import Account

NOW = datetime(2026, 3, 16, 8, 30, tzinfo=ZoneInfo("Europe/Berlin"))


SURROUNDINGS = Surroundings(
    own=frozenset({"me@example.org"}),
    known=frozenset({"ann@example.com"}),
    zone=ZoneInfo("Europe/Berlin"),
    now=lambda: NOW,
    past_days=30,
    future_days=30,
)


def mailbox(account: Account) -> ImapMailbox:
    """The connector of an account; between two tries it does not wait."""
    return ImapMailbox("test", account, SURROUNDINGS, sleep=lambda seconds: None)
