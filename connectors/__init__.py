"""The doors: mail, calendars, files and contacts. They bring artifacts in and know nothing of models."""

import pkgutil

from connectors.surroundings import Surroundings
from workspace import Account, Connector, UserError, expanded

# By name, so that what a connector needs is loaded when a source of its kind is opened.
LOCAL = {
    "maildir": "connectors.mail.maildir:Maildir",
    "mbox": "connectors.mail.mbox:Mbox",
    "eml": "connectors.mail.eml:EmlFolder",
    "calendar": "connectors.calendars.ics:IcsCalendar",
    "folder": "connectors.documents.folder:DocumentFolder",
    "contacts": "connectors.contacts.cards:Cards",
}
REMOTE = {
    "imap": "connectors.mail.imap:ImapMailbox",
    "caldav": "connectors.calendars.caldav:CaldavCalendars",
    "webcal": "connectors.calendars.published:PublishedCalendar",
}
KINDS = (*LOCAL, *REMOTE)


def open_connector(
    kind: str, source: str, location: str, surroundings: Surroundings, account: Account | None = None
) -> Connector:
    """The connector of a source of one of KINDS: at a path if it is LOCAL, of an account if it is REMOTE.

    Raises:
        UserError: if there is no such kind, or the account is missing.
    """
    connector: Connector
    if kind in LOCAL:
        path = expanded(location).absolute()
        connector = pkgutil.resolve_name(LOCAL[kind])(source, path, surroundings)
    elif kind not in REMOTE:
        raise UserError(f"There is no source of kind {kind!r}. Choose one of {', '.join(KINDS)}.")
    elif account is None:
        raise UserError(
            f"accounts.toml has no table [{source}], which tells how to reach it. Write it, or add it anew after"
            f" `tide forget {source}`."
        )
    else:
        connector = pkgutil.resolve_name(REMOTE[kind])(source, account, surroundings)
    return connector
