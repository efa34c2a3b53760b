"""Sync of a CalDAV calendar of 5,000 entries on loopback: the first, with nothing new, a change, and a new day.

Beside it what the server itself takes to give all of them, asked in the same way by a client that keeps nothing.
"""

import os
import ssl
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from tests.servers.radicale_server import Radicale
from workspace import Accounts, Folders
from workspace.store import Store

COUNT = 5_000
SERIES = 250
TASKS = 250
AT_ONCE = 100
BERLIN = """BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:DAYLIGHT
DTSTART:19810329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZNAME:CEST
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
BEGIN:STANDARD
DTSTART:19961027T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZNAME:CET
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE"""
TIDE = str(Path(sys.executable).with_name("tide"))


def entry(number):
    """An entry as an office calendar has them: a meeting with guests, now and then a series or a task."""
    start = datetime(2026, 1, 1, 8, tzinfo=UTC) + timedelta(hours=number % 3_000)
    lines = [f"UID:{number}@example.org", "DTSTAMP:20260101T000000Z", f"SUMMARY:Matter {number} of the week"]
    kind = "VEVENT"
    if number < TASKS:
        kind = "VTODO"
        lines.append(f"DUE:{start:%Y%m%dT%H%M%SZ}")
    else:
        lines += [
            f"DTSTART;TZID=Europe/Berlin:{start:%Y%m%dT%H%M%S}",
            f"DTEND;TZID=Europe/Berlin:{start + timedelta(hours=1):%Y%m%dT%H%M%S}",
            "LOCATION:Room 4",
            "DESCRIPTION:What was agreed last week\\, and what is still open.",
            "ORGANIZER;CN=Ann:mailto:ann@example.com",
            *(f"ATTENDEE;CN=Guest {n};PARTSTAT=ACCEPTED:mailto:guest{n}@example.com" for n in range(4)),
        ]
    if TASKS <= number < TASKS + SERIES:
        lines.append("RRULE:FREQ=WEEKLY")
    head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", *BERLIN.split("\n")]
    return "\r\n".join([*head, f"BEGIN:{kind}", *lines, f"END:{kind}", "END:VCALENDAR", ""])


def seconds(*command):
    begin = time.perf_counter()
    subprocess.run([TIDE, *command], check=True, stdout=subprocess.DEVNULL, env=os.environ)
    return time.perf_counter() - begin


def bare_download(server, user):
    """Seconds to get all entries by calendar-multiget; the server has read its files by then."""
    client = httpx.Client(
        verify=ssl.create_default_context(cafile=str(server.ca)), auth=(user.name, user.password), timeout=600
    )
    space = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"'
    with client:
        client.request("PROPFIND", f"{user.url}work/", headers={"depth": "1"}).raise_for_status()
        begin = time.perf_counter()
        for start in range(0, COUNT, AT_ONCE):
            hrefs = "".join(f"<href>/{user.name}/work/{n}.ics</href>" for n in range(start, start + AT_ONCE))
            body = f"<C:calendar-multiget {space}><prop><C:calendar-data/></prop>{hrefs}</C:calendar-multiget>"
            client.request("REPORT", f"{user.url}work/", content=body).raise_for_status()
        return time.perf_counter() - begin


def test_sync_over_caldav(tmp_path, monkeypatch, figure):
    (tmp_path / "server").mkdir()
    with Radicale(tmp_path / "server") as server:
        user = server.user()
        calendar = user.calendar("work")
        for number in range(COUNT):
            (calendar / f"{number}.ics").write_text(entry(number))
        bare = bare_download(server, user)

        monkeypatch.setenv("TIDE_HOME", str(tmp_path / "tide"))
        folders = Folders.find()
        Accounts({"work": user.account(secret_command=f"echo {user.password}")}).save(folders.accounts)
        with Store(folders.store) as store:
            store.artifacts.add_source("work", "caldav", user.url, datetime.now(UTC))
        first = seconds("sync")
        again = statistics.median(seconds("sync") for _ in range(5))
        (calendar / f"{COUNT - 1}.ics").write_text(entry(COUNT - 1).replace("Matter", "Another matter"))
        one = seconds("sync")
        with Store(folders.store) as store:
            kinds = store.artifacts.counts()
    assert kinds["task"] == TASKS
    assert kinds["event"] > COUNT - TASKS - SERIES

    what = f"{COUNT:,} entries over CalDAV"
    figure(f"first sync of {what}", f"{first:.1f} s", f"download alone {bare:.1f} s", first / bare)
    figure(f"first sync of {what}", f"{first:.1f} s", "limit 20 s", first / 20)
    figure(f"nothing new among {what}", f"{again:.2f} s", "limit 0.5 s", again / 0.5)
    figure(f"one changed among {what}", f"{one:.2f} s")
