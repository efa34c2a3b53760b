"""The broken and odd mails that others have gathered, put into a mailbox and synced."""

from pathlib import Path
from typing import Any

import pytest

from connectors import open_connector
from connectors.follow import State
from connectors.mail import imap_fetch
from tests.connectors.imap_world import SURROUNDINGS, mailbox
from tests.servers.dovecot import PLAINEST, Dovecot

NO_DATE, NO_SENDER = "no date", "no sender"
CUT_OFF = "base64 is cut off or broken"
CHARSET = "text is not in the charset it claims; read as cp1252"
ODD_DATE = "date can't be read"
WRONG_DATE = "date can't be right"

# What is expected of broken ones: how the title begins, the defects, and how many artifacts they give, with the
# attachments and the mails in the mail.
EXPECTED = {
    "mikel/attachment_emails_attachment_only_email.eml": ("this message JUST contains an attachment", (), 2),
    "mikel/error_emails_bad_date_header.eml": (
        "You may_be Eligible for Legitimate_Cash",
        (ODD_DATE,),
        1,
    ),
    "mikel/error_emails_bad_encoded_subject.eml": ("TEST", (NO_DATE, NO_SENDER), 1),
    "mikel/error_emails_cant_parse_from.eml": ("Meet the new MacBook Pro family. Now inc", (), 1),
    "mikel/error_emails_content_transfer_encoding_empty.eml": ("4d8119", (NO_DATE,), 1),
    "mikel/error_emails_content_transfer_encoding_qp_with_space.eml": (
        "Low or High Blood Pressure? We can help.",
        ("unknown transfer encoding 'quoted printable'",),
        1,
    ),
    "mikel/error_emails_content_transfer_encoding_spam.eml": (
        "",
        ("unknown transfer encoding '7vladi.pimenovit'",),
        1,
    ),
    "mikel/error_emails_content_transfer_encoding_text-html.eml": (
        "Re: We will help you refinance your home",
        ("unknown transfer encoding 'text/html'",),
        1,
    ),
    "mikel/error_emails_empty_group_lists.eml": ("Western Union Swift Money Transfer", (), 1),
    "mikel/error_emails_missing_body.eml": ("REDACTED", (), 2),
    "mikel/plain_emails_raw_email_bad_time.eml": ("[0]: XXXXXXX", ("date lies far in the future",), 1),
    "mikel/plain_emails_raw_email_incorrect_header.eml": ("", (NO_DATE, NO_SENDER), 1),
    "mikel/rfc2822_example04.eml": ("", (WRONG_DATE,), 1),
    "mikel/rfc2822_example10.eml": ("", (WRONG_DATE, NO_SENDER), 1),
    "mikel/rfc6532_utf8_headers.eml": ("Säying Hello", (NO_DATE,), 1),
    "mime4j/mimetools-testmsgs_attachment-filename-encoding-UTF8.msg": ("", (NO_DATE, NO_SENDER), 2),
    "mime4j/mimetools-testmsgs_badbound.msg": ("Mail System Error - Returned Mail", (), 2),
    "mime4j/mimetools-testmsgs_dup-names.msg": ("Two images for you...", (), 6),
    "mime4j/mimetools-testmsgs_frag.msg": ("[Fwd: [Fwd: [Fwd: FW: Another Priceless", (), 5),
    "mime4j/mimetools-testmsgs_infinite.msg": ("", (CHARSET, NO_DATE, NO_SENDER), 1),
    "mime4j/mimetools-testmsgs_multi-frag.msg": ("A complex nested multipart example", (NO_DATE, CUT_OFF), 5),
    "mime4j/mimetools-testmsgs_x-gzip64.msg": (
        "Testing!",
        (NO_DATE, NO_SENDER, "unknown transfer encoding 'x-gzip64'"),
        1,
    ),
    "mime4j/testmsgs_basic-plain-with-bad-header-separator.msg": ("Simple Subject", (), 1),
    "mime4j/testmsgs_malformedHeader-noheader.msg": ("", (NO_DATE, NO_SENDER), 1),
    "mime4j/testmsgs_missing-inner-boundary.msg": ("", (NO_DATE, NO_SENDER), 2),
    "mime4j/testmsgs_multipartdigestnestedemptyparts.msg": ("", (), 1),
    "mime4j/testmsgs_obsolete.msg": ("", (CHARSET, NO_DATE, NO_SENDER), 1),
    "stalwart/legacy_009.eml": ("Die Hasen und die FrÃ¶sche", (), 1),
    "stalwart/malformed_000.eml": ("", (NO_DATE, NO_SENDER), 1),
    "stalwart/malformed_012.eml": ("", (NO_DATE, NO_SENDER), 4),
    "stalwart/malformed_015.eml": ("Hello world", (), 1),
    "stalwart/malformed_017.eml": ("Hello world", (NO_DATE,), 2),
    "stalwart/malformed_019.eml": ("", (CHARSET, NO_DATE, NO_SENDER), 1),
    "stalwart/rfc_001.eml": ("whatever", (ODD_DATE, NO_SENDER), 4),
    "stalwart/rfc_007.eml": ("RFC 8621 Section 4.1.4 test", (NO_DATE, NO_SENDER), 5),
    "stalwart/thirdparty_002.eml": ("", (CHARSET, NO_DATE, NO_SENDER, CUT_OFF), 1),
    "stalwart/thirdparty_004.eml": (
        "",
        (
            NO_DATE,
            NO_SENDER,
            "unknown transfer encoding '6bit'",
            "unknown transfer encoding '7bits'",
            "unknown transfer encoding '8 bit'",
        ),
        1,
    ),
    "stalwart/thirdparty_005.eml": ("", (CHARSET, NO_DATE, NO_SENDER), 1),  # UTF-16: Dovecot gives no NUL
}


# Those that Dovecot takes apart in another way than Python: boundaries that begin with another one, are missing or
# end with a semicolon, and mails in a mail, which count as attachments then.
DIVIDED_OTHERWISE = {
    "mikel/mime_emails_raw_email4.eml",
    "mikel/plain_emails_raw_email_bad_time.eml",
    "mime4j/mimetools-testmsgs_double-semicolon.msg",
    "mime4j/testmsgs_ending-boundaries.msg",
    "mime4j/testmsgs_multipartemptypart.msg",
    "mime4j/testmsgs_very-long-boundary.msg",
    "mime4j/testmsgs_very-very-long-boundary.msg",
    "mime4j/testmsgs_weird-boundary.msg",
    "stalwart/malformed_004.eml",
    "stalwart/malformed_016.eml",
    "stalwart/malformed_019.eml",
    "stalwart/rfc_004.eml",
    "stalwart/thirdparty_007.eml",
}


@pytest.fixture
def files(corpora: Path) -> list[Path]:
    found = sorted(path for path in (corpora / "mail").rglob("*") if path.is_file())
    assert len(found) > 250
    return found


def artifacts(kept: Any, uid: int) -> list[Any]:
    """What a message gave."""
    for item, state in kept.cursor.items():
        if item.startswith("INBOX/") and item.endswith(f"/{uid}"):
            return [kept.artifacts[key] for key in State.parse(state).keys]
    return []


@pytest.mark.parametrize("capability", ["", PLAINEST], ids=["all", "plainest"])
def test_no_mail_is_lost(capability: str, files: list[Path], new_kept: Any, tmp_path: Path) -> None:
    """They give what the same bytes give in a Maildir."""
    with Dovecot(capability=capability) as server:
        server.fill("INBOX", [path.read_bytes() for path in files])
        kept, local = new_kept(), new_kept()
        kept.take(mailbox(server.account(months=0)).sync({}))
        assert list(mailbox(server.account(months=0)).sync(kept.cursor)) == []
        with server.opened("INBOX") as session:
            given = session.fetch("1:*", ["BODY.PEEK[]"])
    (tmp_path / "cur").mkdir()
    for uid, answer in given.items():
        (tmp_path / "cur" / str(uid)).write_bytes(answer[b"BODY[]"])
    local.take(open_connector("maildir", "test", str(tmp_path), SURROUNDINGS).sync({}))

    assert kept.said() == local.said()
    for uid, path in enumerate(files, 1):
        found = artifacts(kept, uid)
        assert found, path.name
        assert tuple(one.key for one in found) == State.parse(local.cursor[str(uid)]).keys, path.name
    for key, artifact in kept.artifacts.items():
        assert artifact.defects == local.artifacts[key].defects
        assert all("\n" not in defect for defect in artifact.defects)


def test_broken_ones_are_told(files: list[Path], kept: Any) -> None:
    with Dovecot() as server:
        server.fill("INBOX", [path.read_bytes() for path in files])
        kept.take(mailbox(server.account(months=0)).sync({}))
    names = {f"{path.parent.name}/{path.name}": uid for uid, path in enumerate(files, 1)}
    assert set(EXPECTED) <= set(names)
    for name, (title, defects, count) in EXPECTED.items():
        mail, *others = artifacts(kept, names[name])
        assert (mail.title[: len(title)], mail.defects, 1 + len(others)) == (title, defects, count), name
        assert mail.title == "" or title


def test_mails_are_the_same_when_they_are_taken_apart(
    files: list[Path], new_kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is downloaded part by part, without any attachment."""
    with Dovecot() as server:
        server.fill("INBOX", [path.read_bytes() for path in files])
        whole, parts = new_kept(), new_kept()
        whole.take(mailbox(server.account(months=0)).sync({}))
        monkeypatch.setattr(imap_fetch, "_ALWAYS_WHOLE", 0)
        parts.take(mailbox(server.account(months=0, largest_mb=0)).sync({}))
    names = {f"{path.parent.name}/{path.name}": uid for uid, path in enumerate(files, 1)}
    assert all(artifacts(parts, uid) for uid in names.values())
    others = set()
    for name, uid in names.items():
        one, other = artifacts(whole, uid)[0], artifacts(parts, uid)[0]
        assert one.title == other.title
        if one.text != other.text:
            others.add(name)
    assert others == DIVIDED_OTHERWISE
