"""Invitations that come by mail, and answers to them, become events and words."""

from collections.abc import Callable, Iterator
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from connectors.mail.message import Mailbox, read_message
from connectors.reading import Reader
from workspace import Artifact, Kind, Person, Role, Trust

ANN, ME = "ORGANIZER;CN=Ann:mailto:ann@example.com", "ATTENDEE;CN=Me;PARTSTAT=NEEDS-ACTION:mailto:me@example.org"


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as reader:
        yield reader


@pytest.fixture
def read(reader: Reader) -> Callable[..., list[Artifact]]:
    """Reads a mail of Ann's with these calendars in it, of which the first is an alternative to its text."""
    mailbox = Mailbox(
        "test", frozenset({"me@example.org"}), frozenset({"ann@example.com"}), reader, ZoneInfo("UTC")
    )

    def read(*calendars: str, headers: str = "", documents: bool = True) -> list[Artifact]:
        first, *others = calendars
        body = f"--A\n\nPlease come.\n--A\nContent-Type: text/calendar; charset=utf-8\n\n{first}\n--A--\n"
        attached = "".join(f"--B\nContent-Type: application/ics; name=invite.ics\n\n{one}\n" for one in others)
        mail = (
            "From: Ann <ann@example.com>\nMessage-ID: <m@x>\nSubject: Meeting\n"
            f"Date: Mon, 16 Mar 2026 08:00:00 +0000\n{headers}Content-Type: multipart/mixed; boundary=B\n\n--B\n"
            f"Content-Type: multipart/alternative; boundary=A\n\n{body}\n{attached}--B--\n"
        )
        here = mailbox if documents else Mailbox("test")
        return list(read_message(mail.encode(), here, origin="file:///m"))

    return read


def calendar(*lines: str, method: str = "REQUEST", uid: str = "u1", more: str = "") -> str:
    event = (
        f"BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260316T080000Z\nSUMMARY:Budget review\nDTSTART:20260320T100000Z\n"
        "DTEND:20260320T110000Z\n" + "".join(f"{line}\n" for line in lines) + "END:VEVENT\n"
    )
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:{method}\n{event}{more}END:VCALENDAR\n"


def test_an_invitation_is_an_event_of_the_mail(read: Any) -> None:
    mail, event = read(calendar(ANN, ME, "LOCATION:Room 4", "DESCRIPTION:Bring figures", "SEQUENCE:2"))
    assert mail.text == "Please come."
    assert (event.kind, event.key, event.parent, event.series) == (Kind.EVENT, "m@x#1.2", "m@x", "u1")
    assert (event.title, event.text, event.location) == ("Budget review", "Bring figures", "Room 4")
    assert event.people == (
        Person(Role.ORGANIZER, "Ann", "ann@example.com"),
        Person(Role.ATTENDEE, "Me", "me@example.org", "needs-action"),
    )
    assert str(event.time) == "2026-03-20 10:00:00+00:00"
    assert str(event.end) == "2026-03-20 11:00:00+00:00"
    assert (event.origin, event.trust, event.thread) == ("file:///m", Trust.KNOWN, mail.thread)
    assert not event.cancelled
    assert event.recurrence == ""
    assert event.defects == ()


def test_an_invitation_is_trusted_as_its_mail_whoever_it_names(read: Any) -> None:
    headers = "Authentication-Results: mx; dmarc=fail\n"
    _, event = read(calendar(ANN.replace("ann@example.com", "me@example.org")), headers=headers)
    assert event.trust is Trust.UNKNOWN


def test_a_cancelled_meeting_is_cancelled(read: Any) -> None:
    _, event = read(calendar(ANN, ME, method="CANCEL"))
    assert (event.kind, event.series, event.cancelled) == (Kind.EVENT, "u1", True)


def test_a_series_is_one_event_with_its_rule_and_one_for_each_change(read: Any) -> None:
    changes = "".join(
        f"BEGIN:VEVENT\nUID:u1\nRECURRENCE-ID:2026032{day}T100000Z\nSUMMARY:Moved\nDTSTART:2026032{day}T150000Z\n"
        "END:VEVENT\n"
        for day in (7, 8)
    )
    _, *events = read(calendar("RRULE:FREQ=DAILY;COUNT=20", more=changes))
    assert [(one.key, one.title, one.series) for one in events] == [
        ("m@x#1.2", "Budget review", "u1"),
        ("m@x#1.2.1", "Moved", "u1"),
        ("m@x#1.2.2", "Moved", "u1"),
    ]
    assert [one.recurrence for one in events] == ["FREQ=DAILY;COUNT=20", "", ""]
    assert [one.time.day for one in events] == [20, 27, 28]


def test_the_same_invitation_twice_in_a_mail_counts_once(read: Any) -> None:
    one = calendar(ANN, ME)
    assert [artifact.key for artifact in read(one, one)] == ["m@x", "m@x#1.2"]
    other = calendar(ANN, ME, uid="u2")
    assert [artifact.series for artifact in read(one, one, other)] == ["", "u1", "u2"]


@pytest.mark.parametrize(
    ("status", "title", "words"),
    [
        ("ACCEPTED", "Accepted", "accepted"),
        ("DECLINED", "Declined", "declined"),
        ("TENTATIVE", "Tentatively accepted", "tentatively accepted"),
        ("DELEGATED", "Answered", "answered"),
    ],
)
def test_an_answer_is_put_into_words(read: Any, status: str, title: str, words: str) -> None:
    guest = f"ATTENDEE;CN=Bo;PARTSTAT={status}:mailto:bo@example.net"
    _, answer = read(calendar(ANN, guest, "COMMENT:See you there", method="REPLY"))
    assert (answer.kind, answer.key, answer.parent, answer.series) == (Kind.DOCUMENT, "m@x#1.2", "m@x", "")
    assert answer.title == f"{title}: Budget review"
    assert answer.text == (
        f'Bo <bo@example.net> {words} the invitation to "Budget review" on 2026-03-20 10:00-11:00 (UTC). '
        "See you there"
    )


def test_a_counter_proposal_is_put_into_words(read: Any) -> None:
    guest = "ATTENDEE;CN=Bo:mailto:bo@example.net"
    _, other = read(calendar(ANN, guest, method="COUNTER"))
    assert other.kind is Kind.DOCUMENT
    assert other.text == (
        'Bo <bo@example.net> proposes another time for "Budget review" on 2026-03-20 10:00-11:00 (UTC).'
    )
    _, refused = read(calendar(ANN, guest, method="DECLINECOUNTER"))
    assert refused.text.startswith("Ann <ann@example.com> does not take up the other time proposed")
    whole_day = calendar(guest, method="REFRESH").replace(
        "DTSTART:20260320T100000Z\n", "DTSTART;VALUE=DATE:20260320\n"
    )
    _, asked = read(whole_day.replace("DTEND:20260320T110000Z\n", ""))
    assert asked.text == 'Bo <bo@example.net> asks for the current state of "Budget review" on 2026-03-20.'


def test_a_calendar_with_many_events_is_read_in_part(read: Any) -> None:
    many = "".join(
        f"BEGIN:VEVENT\nUID:n{n}\nSUMMARY:s\nDTSTART:20260320T100000Z\nEND:VEVENT\n" for n in range(300)
    )
    _, *events = read(calendar(more=many))
    assert len(events) == len({event.key for event in events}) == 50
    assert [event.defects for event in events[:2]] == [("251 more events in it not read",), ()]


@pytest.mark.parametrize("broken", ["", "garbage", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:odd\n"])
def test_what_is_no_invitation_stays_as_it_is(read: Any, broken: str) -> None:
    _, part = read(broken)
    assert (part.kind, part.key, part.title) == (Kind.DOCUMENT, "m@x#1.2", "text/calendar")
    assert part.text.strip() == broken.strip()


def test_without_a_reader_the_text_of_an_invitation_is_kept(read: Any) -> None:
    _, part = read(calendar(ANN), documents=False)
    assert part.kind is Kind.DOCUMENT
    assert "SUMMARY:Budget review" in part.text
