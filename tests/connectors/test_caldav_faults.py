"""CalDAV servers that fail, lie or answer nonsense: an error in one line or a good sync, and nothing lost."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from connectors import follow
from connectors.calendars import dav, entry
from tests.connectors.caldav_world import (
    DAV,
    Between,
    Change,
    ReadHere,
    between,
    calendars,
    edited,
    is_list,
    is_sync,
    plainly,
    refusing,
    without,
)
from tests.servers.proxy import Proxy
from tests.servers.radicale_server import Radicale, User
from tests.servers.web_server import Asked, Said
from workspace import QuotaReached, ServerAway, SourceProblem

BOMB = b"""<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<multistatus xmlns="DAV:"><response><href>/&d;&d;&d;&d;</href></response></multistatus>"""
OUTSIDE = b"""<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<multistatus xmlns="DAV:"><response><href>/&a;</href></response></multistatus>"""
DEEP = b'<multistatus xmlns="DAV:">' + b"<a>" * 100_000


def always(*said: Any) -> Change:
    return lambda asked, _: Said(*said)


FAULTS: dict[str, Change] = {
    "refused": always(403, b""),
    "broken": always(500, b"<html>Internal error</html>"),
    "busy": always(503, b"", {"retry-after": "120"}),
    "asked too often": always(429, b"", {"retry-after": "60"}),
    "a web page": always(200, b"<html><body>Sign in</body></html>", {"content-type": "text/html"}),
    "nothing": always(207, b""),
    "no XML": always(207, b"\x00\xff<<<"),
    "other XML": always(207, b"<feed/>"),
    "no list": always(207, b'<multistatus xmlns="DAV:"/>'),
    "a bomb": always(207, BOMB),
    "a file from outside": always(207, OUTSIDE),
    "nested deep": always(207, DEEP),
    "cut off": lambda asked, said: Said(said.status, said.body[: len(said.body) // 2], said.headers),
    "broken off": lambda asked, said: Said(said.status, said.body, said.headers, cut=len(said.body) // 2),
    "not a word": lambda asked, said: Said(cut=0),
    "round in a circle": always(302, b"", {"location": "/"}),
    "elsewhere": always(302, b"", {"location": "https://elsewhere.example/"}),
}


@pytest.fixture(autouse=True)
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "Reader", ReadHere)


@pytest.fixture
def user(radicale: Radicale) -> User:
    """Somebody with an empty calendar called Work."""
    found = radicale.user()
    found.calendar("work")
    return found


@pytest.fixture
def far(user: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    with between(user) as found:
        plainly(monkeypatch)
        yield found


@pytest.fixture
def put(user: User, make_event: Callable[..., str], make_calendar: Callable[..., bytes]) -> Callable[..., Path]:
    def write(name: str, title: str = "") -> Path:
        path = user.home / f"{name}.ics"
        path.write_bytes(make_calendar(make_event(int(re.sub(r"\D", "", path.stem)), title)))
        return path

    return write


def titles(kept: Any) -> dict[str, str]:
    return {key: one.title for key, one in kept.artifacts.items()}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_answer_goes_wrong_costs_nothing(far: Between, put: Any, new_kept: Any, fault: str) -> None:
    for number in range(4):
        put(f"work/{number}")
    old = new_kept()
    old.take(far.connector().sync({}))
    put("work/0", "Another")
    put("work/5")
    (far.user.home / "work/3.ics").unlink()
    wanted = {"e0": "Another", "e1": "Event 1", "e2": "Event 2", "e5": "Event 5"}

    for wrong in range(5):
        kept = new_kept()
        kept.artifacts, kept.cursor = dict(old.artifacts), dict(old.cursor)
        count = 0

        def change(asked: Asked, said: Said, wrong: int = wrong) -> Said:
            nonlocal count
            count += 1
            return FAULTS[fault](asked, said) if count > wrong else said

        far.change = change
        told = ""
        try:
            kept.take(far.connector().sync(kept.cursor))
        except SourceProblem as problem:
            told = str(problem)
        assert "\n" not in told
        assert len(told) < 300
        assert {"e0", "e1", "e2"} <= set(kept.artifacts), wrong
        far.change = lambda asked, said: said
        kept.take(far.connector().sync(kept.cursor))
        assert titles(kept) == wanted, wrong


def test_a_busy_server_says_when_to_come_back(far: Between) -> None:
    far.change = FAULTS["busy"]
    with pytest.raises(ServerAway, match="try again in 120 seconds"):
        list(far.connector().sync({}))
    far.change = FAULTS["asked too often"]
    with pytest.raises(QuotaReached, match="60 seconds"):
        list(far.connector().sync({}))


def test_a_connection_that_breaks_off_anywhere_loses_nothing(
    user: User, put: Any, new_kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 2)
    for number in range(5):
        put(f"work/{number}")

    def connector(proxy: Proxy) -> Any:
        return calendars(user.account(f"https://localhost:{proxy.port}/{user.name}/"))

    whole = new_kept()
    with Proxy(user.server.port) as proxy:
        whole.take(connector(proxy).sync({}))
        connections, received = proxy.connections, proxy.received
    longest = 2 * received // connections
    told = 0
    for sound in range(connections):
        for after in range(1, longest, longest // 10):
            kept = new_kept()
            with Proxy(user.server.port, [None] * sound + [after] * 3) as proxy:
                try:
                    kept.take(connector(proxy).sync({}))
                except ServerAway:
                    told += 1
                kept.take(connector(proxy).sync(kept.cursor))
            assert kept.said() == whole.said()
    assert told > 5 * connections


def test_a_calendar_that_fails_does_not_keep_the_others_back(far: Between, put: Any, kept: Any) -> None:
    far.user.calendar("plan", "Team plan")
    put("work/1")
    put("plan/2")
    kept.take(far.connector().sync({}))
    put("work/1", "Another")
    put("plan/3")
    put("work/4")
    far.change = lambda asked, said: Said(500) if "/work/" in asked.path else said
    with pytest.raises(
        SourceProblem, match=r"Calendar 'Work' is left as it was: 127.0.0.1 answers with status 500"
    ):
        kept.take(far.connector().sync(kept.cursor))
    assert titles(kept) == {"e1": "Event 1", "e2": "Event 2", "e3": "Event 3"}
    far.change = lambda asked, said: said
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept) == {"e1": "Another", "e2": "Event 2", "e3": "Event 3", "e4": "Event 4"}


def hidden(name: str) -> Change:
    """A home that does not name one of its calendars."""

    def edit(root: etree._Element) -> None:
        for one in root.findall(f"{DAV}response"):
            if one.findtext(f"{DAV}href", "").endswith(f"/{name}/"):
                root.remove(one)

    return lambda asked, said: edited(said, edit) if is_list(asked) and f"/{name}/" not in asked.path else said


def test_a_calendar_that_is_only_not_named_stays(far: Between, put: Any, kept: Any) -> None:
    far.user.calendar("plan")
    put("work/1")
    put("plan/2")
    kept.take(far.connector().sync({}))
    far.change = hidden("plan")
    put("plan/3")
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e1", "e2", "e3"}
    assert kept.gone == []


def test_a_calendar_of_which_nothing_is_known_stays(far: Between, put: Any, kept: Any) -> None:
    far.user.calendar("plan")
    put("work/1")
    put("plan/2")
    kept.take(far.connector().sync({}))
    hide = hidden("plan")
    far.change = lambda asked, said: Said(403) if "/plan/" in asked.path else hide(asked, said)
    put("work/3")
    with pytest.raises(SourceProblem, match="status 403"):
        kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e1", "e2", "e3"}


def test_a_calendar_that_was_removed_goes(user: User, put: Any, kept: Any) -> None:
    user.calendar("plan")
    put("work/1")
    put("plan/2")
    kept.take(calendars(user.account()).sync({}))
    shutil.rmtree(user.home / "plan")
    kept.take(calendars(user.account()).sync(kept.cursor))
    assert set(kept.artifacts) == {"e1"}
    assert [name for name in kept.cursor if "plan" in name] == []


def test_a_home_that_moved_is_found_again(far: Between, put: Any, kept: Any) -> None:
    put("work/1")
    kept.take(calendars(far.user.account(far.server.url)).sync({}))
    kept.cursor["/places"] = f"{far.server.url}\nhome {far.server.url}/before/"
    put("work/2")
    kept.take(calendars(far.user.account(far.server.url)).sync(kept.cursor))
    assert set(kept.artifacts) == {"e1", "e2"}


def test_entries_without_etags_are_read_when_anything_changed(far: Between, put: Any, kept: Any) -> None:
    no_etag = without(dav.ETAG)
    far.change = no_etag
    put("work/1")
    put("work/2")
    kept.take(far.connector().sync({}))
    assert list(far.connector().sync(kept.cursor)) == []
    put("work/1", "Another")
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept) == {"e1": "Another", "e2": "Event 2"}


@pytest.mark.parametrize("etag", ["W/{}", " {} ", "{}" * 100, "\u00e9{}"])
def test_etags_of_any_kind_are_good_for_something(far: Between, put: Any, kept: Any, etag: str) -> None:
    def odd(root: etree._Element) -> None:
        for one in root.iter(dav.ETAG):
            one.text = etag.replace("{}", one.text or "")

    far.change = lambda asked, said: edited(said, odd)
    put("work/1")
    kept.take(far.connector().sync({}))
    assert list(far.connector().sync(kept.cursor)) == []
    put("work/1", "Another")
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept) == {"e1": "Another"}
    assert max(len(state) for state in kept.cursor.values()) < 1_000


NAMES = ["a b 1", "\u00fcml\u00e4ut 2", "100% 3", "plus+4", "semi;colon,5", "a#b?6", "a%20b 7", "tilde~(8)'@"]


@pytest.mark.parametrize("quoting", ["as the server does", "everything", "capitals", "nothing", "whole addresses"])
def test_names_are_known_again_however_they_are_written(far: Between, put: Any, kept: Any, quoting: str) -> None:
    for name in NAMES:
        put(f"work/{name}")
    kept.take(far.connector().sync({}))
    assert len(kept.artifacts) == len(NAMES)
    assert [one.defects for one in kept.artifacts.values() if one.defects] == []

    def rewrite(root: etree._Element) -> None:
        for one in root.iter(f"{DAV}href"):
            path = one.text or ""
            if quoting == "capitals":
                path = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), path)
            elif quoting == "everything":
                path = re.sub("%..|[A-Za-z0-9]", lambda found: _quoted(found[0]), path)
            elif quoting == "nothing":
                path = re.sub("%(?:C3%[0-9A-F]{2}|20)", lambda found: _unquoted(found[0]), path)
            elif quoting == "whole addresses":
                path = f"HTTP://127.0.0.1:80{path}"
            one.text = path

    far.change = lambda asked, said: edited(said, rewrite)
    kept.cursor = {item: state for item, state in kept.cursor.items() if not item.startswith("/calendar/")}
    far.requests()
    kept.take(far.connector().sync(kept.cursor))
    assert "GET" not in far.requests()
    assert len(kept.artifacts) == len(NAMES)
    assert kept.gone == []
    put(f"work/{NAMES[0]}", "Another")
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept)["e1"] == "Another"


def _quoted(letter: str) -> str:
    return f"%{ord(letter):02X}" if len(letter) == 1 else letter


def _unquoted(quoted: str) -> str:
    return bytes.fromhex(quoted.replace("%", "")).decode()


@pytest.mark.parametrize(
    "href", ["https://elsewhere.example/9.ics", "/other/place/9.ics", "../9.ics", "http://[", ""]
)
def test_what_lies_elsewhere_is_not_read_and_told(far: Between, put: Any, kept: Any, href: str) -> None:
    def more(root: etree._Element) -> None:
        response = etree.SubElement(root, f"{DAV}response")
        etree.SubElement(response, f"{DAV}href").text = href
        part = etree.SubElement(response, f"{DAV}propstat")
        etree.SubElement(etree.SubElement(part, f"{DAV}prop"), dav.ETAG).text = '"1"'
        etree.SubElement(part, f"{DAV}status").text = "HTTP/1.1 200 OK"

    far.change = lambda asked, said: edited(said, more) if is_sync(asked) else said
    put("work/1")
    put("work/2")
    with pytest.raises(SourceProblem, match="names 1 entries that are elsewhere"):
        kept.take(far.connector().sync({}))
    assert set(kept.artifacts) == {"e1", "e2"}
    assert all(asked.path.startswith(f"/{far.user.name}/") for asked in far.asked)


def test_calendars_at_another_host_are_not_read(far: Between, put: Any) -> None:
    def edit(root: etree._Element) -> None:
        for one in root.iter(f"{DAV}href"):
            one.text = f"https://elsewhere.example{one.text}"

    far.change = lambda asked, said: edited(said, edit) if is_list(asked) else said
    put("work/1")
    with pytest.raises(SourceProblem, match="at another host"):
        list(far.connector().sync({}))


def test_an_entry_that_the_server_does_not_give_is_kept_and_tried_again(far: Between, put: Any, kept: Any) -> None:
    for number in range(3):
        put(f"work/{number}")

    def change(asked: Asked, said: Said) -> Said:
        if asked.method == "GET" and asked.path.endswith("/1.ics"):
            return Said(500)
        return Said(501) if b"multiget" in asked.body else said

    far.change = change
    kept.take(far.connector().sync({}))
    assert titles(kept)["unread:" + f"{far.user.name}/work/1.ics"] == "1.ics"
    assert {"e0", "e2"} < set(kept.artifacts)
    far.change = lambda asked, said: said
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e0", "e1", "e2"}
    assert list(far.connector().sync(kept.cursor)) == []

    put("work/1", "Another")
    far.change = change
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept)["e1"] == "Event 1"
    far.change = lambda asked, said: said
    kept.take(far.connector().sync(kept.cursor))
    assert titles(kept)["e1"] == "Another"


def test_an_entry_that_is_listed_but_not_there_is_looked_for_again(far: Between, put: Any, kept: Any) -> None:
    def change(asked: Asked, said: Said) -> Said:
        if asked.method == "GET" and asked.path.endswith("/1.ics"):
            return Said(404)
        return Said(501) if b"multiget" in asked.body else said

    put("work/1")
    put("work/2")
    far.change = change
    kept.take(far.connector().sync({}))
    assert set(kept.artifacts) == {"e2"}
    far.change = lambda asked, said: said
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e1", "e2"}
    assert list(far.connector().sync(kept.cursor)) == []


def test_an_entry_that_is_listed_and_never_there_holds_nothing_back(far: Between, put: Any, kept: Any) -> None:
    def change(asked: Asked, said: Said) -> Said:
        if asked.method == "GET" and asked.path.endswith("/1.ics"):
            return Said(404)
        return Said(501) if b"multiget" in asked.body else said

    for number in range(4):
        put(f"work/{number}")
    far.change = change
    kept.take(far.connector().sync({}))
    unread = f"unread:{far.user.name}/work/1.ics"
    for number in (2, 3):
        (far.user.home / f"work/{number}.ics").unlink()
        kept.take(far.connector().sync(kept.cursor))
        assert kept.artifacts[unread].defects == ("its server lists it but does not give it",)
        assert f"e{number}" not in kept.artifacts
    far.change = lambda asked, said: said
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e0", "e1"}
    assert not any(name.startswith("/missed/") for name in kept.cursor)


def test_an_entry_that_is_too_large_is_kept_by_its_name(
    far: Between, put: Any, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dav, "MOST_ENTRY", 10_000)
    monkeypatch.setattr(dav, "MOST_LIST", 20_000)
    put("work/1")
    put("work/2", "x" * 30_000)
    kept.take(far.connector().sync({}))
    large = kept.artifacts[f"unread:{far.user.name}/work/2.ics"]
    assert large.title == "2.ics"
    assert "more than 0.01 MB" in large.defects[0]
    assert "e1" in kept.artifacts
    far.requests()
    assert list(far.connector().sync(kept.cursor)) == []
    assert far.requests() == ["PROPFIND"]


def test_what_came_and_went_while_a_sync_was_killed_is_gone(
    far: Between, put: Any, kept: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calendar looks then as it did when its tag and token were kept, but the store does not."""
    monkeypatch.setattr(follow, "ITEMS_PER_BATCH", 1)
    put("work/1")
    kept.take(far.connector().sync({}))
    put("work/2")
    put("work/3")
    assert kept.take(far.connector().sync(kept.cursor), 2) == 2
    assert len(kept.artifacts) == 2
    for number in (2, 3):
        (far.user.home / f"work/{number}.ics").unlink()
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e1"}


def test_what_could_not_be_read_and_went_is_gone(far: Between, put: Any, kept: Any) -> None:
    put("work/1")
    kept.take(far.connector().sync({}))
    put("work/2")
    far.change = lambda asked, said: Said(500) if asked.method == "GET" or b"multiget" in asked.body else said
    kept.take(far.connector().sync(kept.cursor))
    assert len(kept.artifacts) == 2
    far.change = lambda asked, said: said
    (far.user.home / "work/2.ics").unlink()
    kept.take(far.connector().sync(kept.cursor))
    assert set(kept.artifacts) == {"e1"}


def test_refusals_say_which_calendar_and_what_to_do(far: Between) -> None:
    far.change = refusing(b"propfind", 403)
    with pytest.raises(SourceProblem, match="answers with status 403 where a calendar is asked for"):
        list(far.connector().sync({}))
