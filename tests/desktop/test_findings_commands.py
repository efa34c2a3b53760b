"""Digest, findings, show, search, export, and what the person makes of findings: done, dismiss, snooze, reopen."""

import json
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.conftest import NOW
from workspace import Artifact, Batch, Folders, Kind, Put, State
from workspace.store import Store

Tide = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("found")


def states(home: Folders) -> list[str]:
    with Store(home.store) as store:
        return [finding.state.value for finding in store.findings.all()]


def test_the_digest_shows_the_most_pressing_first_with_evidence_and_action(home: Folders, tide: Tide) -> None:
    shown = tide("digest").stdout
    assert "2 findings: 2 new" in shown
    assert shown.index("#2") < shown.index("#1")
    assert "Act before Thu 21 May 08:40" in shown
    assert "a3 · event, Thu 21 May 09:00 · its title\n      “Handling course”\n" in shown
    assert "→ Move “Handling course” (Thu 21 May 09:00) to Fri 22 May 10:00." in shown
    assert "Took: sync 1.2 s, observe 1 min 15 s." in shown
    assert "Not shown: 3 candidates that failed a check (words that stand nowhere 3)." in shown
    assert "A capable model also reads" in " ".join(shown.split())


def test_what_a_digest_showed_is_seen(home: Folders, tide: Tide) -> None:
    tide("digest", "--json")
    assert states(home) == ["new", "new"]
    tide("digest")
    assert states(home) == ["seen", "seen"]
    assert "2 findings: 2 still open" in tide("digest").stdout


@pytest.mark.parametrize(
    "words", [["digest"], ["findings"], ["show", "1"], ["show", "a1"], ["search", "confirm"], ["digest", "--json"]]
)
def test_hostile_text_reaches_no_terminal(words: list[str], tide: Tide) -> None:
    shown = tide(*words).stdout
    assert shown
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066")
    assert "onmouseover" in shown


def test_the_page_escapes_everything_and_loads_nothing(home: Folders, tide: Tide, tmp_path: Path) -> None:
    target = tmp_path / "today.html"
    assert tide("digest", "--format", "html", "--output", target).exit_code == 0
    page = target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert "&lt;b onmouseover=alert(1)&gt;" in page
    assert "<b onmouseover" not in page
    assert not set(page) & set("\x1b\x07\x9b\u202e\u2066")
    assert not any(word in page for word in ("http://", "https://", "<script", "<img", "<link", "src=", "url("))
    assert "prefers-color-scheme: dark" in page
    assert "default-src 'none'" in page
    assert states(home) == ["seen", "seen"]


def test_the_record_holds_the_quotes_and_where_they_are_from(tide: Tide) -> None:
    record = json.loads(tide("digest", "--format", "json").stdout)
    first, second = record["findings"]
    assert first["id"] == 2
    assert [item["quote"] for item in first["evidence"]] == ["Board meeting", "Handling course"]
    assert first["evidence"][0] | {"from": "", "origin": ""} == {
        "artifact": 2,
        "label": "a2",
        "kind": "event",
        "title": "Board meeting",
        "from": "",
        "where": "title",
        "quote": "Board meeting",
        "origin": "",
    }
    assert first["action"]["function_name"] == "reschedule_meeting"
    assert first["action"]["words"].startswith("Move “Handling course”")
    assert second["evidence"][0]["quote"].endswith("\x1b[2J"), "a program gets the words letter by letter"
    assert record["run"]["strategy"] == "observed"
    assert record["dropped"] == {"quote": 3}
    assert record["artifacts"] == {"email": 1, "event": 2}


def test_a_finding_that_is_done_is_put_away_and_can_be_taken_up_again(home: Folders, tide: Tide) -> None:
    assert tide("done", 1).exit_code == 0
    assert states(home) == ["done", "new"]
    assert "#1" not in tide("digest").stdout
    assert json.loads(tide("reopen", 1, "--json").stdout)["state"] == "seen"
    assert "#1" in tide("digest").stdout


def test_what_has_settled_itself_and_what_has_changed_is_told(home: Folders, tide: Tide) -> None:
    tide("digest")
    with Store(home.store) as store:
        store.findings.lapse(1, 'You wrote "Re: crate".', NOW)
        store.findings.update(store.findings.get(2).model_copy(update={"updated": NOW}))
    shown = " ".join(tide("digest").stdout.split())
    assert "1 finding: 1 changed" in shown
    assert "Settled: #1" in shown
    assert 'You wrote "Re: crate".' in shown
    record = json.loads(tide("digest", "--json").stdout)
    assert [(one["id"], one["reason"]) for one in record["lapsed"]] == [(1, 'You wrote "Re: crate".')]


def test_a_dismissed_finding_is_not_shown_again(home: Folders, tide: Tide) -> None:
    assert tide("dismiss", 1, "--reason", "by phone").exit_code == 0
    assert states(home) == ["dismissed", "new"]
    assert "#1" not in tide("digest").stdout
    assert "by phone" in tide("show", "1").stdout
    (listed,) = json.loads(tide("findings", "--state", "dismissed", "--json").stdout)
    assert (listed["id"], listed["reason"]) == (1, "by phone")


def test_a_snoozed_finding_comes_back_at_its_time(tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tide("snooze", 2, "next", "week")
    assert said.stderr == ("Finding 2 comes back Mon 25 May 08:00; it asks to act before Thu 21 May 08:40.\n")
    assert "#2" not in tide("digest").stdout
    monkeypatch.setenv("TIDE_NOW", "2026-05-25T07:59")
    assert "#2" not in tide("digest").stdout
    monkeypatch.setenv("TIDE_NOW", "2026-05-25T08:00")
    shown = tide("digest").stdout
    assert "2 findings: 1 back from a snooze, 1 still open" in shown
    assert "Late since Thu 21 May 08:40" in shown
    assert "[back from snooze]" not in tide("digest").stdout, "and is then seen"


def test_show_takes_a_finding_or_an_artifact(home: Folders, tide: Tide) -> None:
    assert "Template: overlapping-commitments. Confidence: 100%." in tide("show", "#2").stdout
    assert states(home) == ["new", "seen"]
    assert "Can you confirm 400 euro?" in tide("show", "a1").stdout
    assert json.loads(tide("show", "a1", "--json").stdout)["kind"] == "email"
    assert json.loads(tide("show", "1", "--json").stdout)["id"] == 1


def test_a_mail_and_what_it_carries_name_each_other(home: Folders, tide: Tide) -> None:
    with Store(home.store) as store:
        mail = Artifact("mail", "i", Kind.EMAIL, "Invitation: Budget", time=datetime(2026, 5, 18, 7, tzinfo=UTC))
        event = Artifact("mail", "i#1", Kind.EVENT, "Budget", parent="i", series="u1", time=mail.time)
        store.artifacts.take("mail", Batch((Put(mail), Put(event)), {}))
        labels = {one.title: one.label for one in store.artifacts.all()}
    shown = {title: tide("show", label).stdout for title, label in labels.items()}
    assert f"belongs to: {labels['Budget']} Budget (event, " in shown["Invitation: Budget"]
    assert f"belongs to: {labels['Invitation: Budget']} Invitation: Budget (mail" in shown["Budget"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "9"], "There is no finding 9. `tide findings` lists them."),
        (["show", "a99"], "There is no artifact a99. `tide search WORDS` finds artifacts."),
        (["show", "x"], "'x' is neither a finding (3) nor an artifact (a17). `tide findings` lists findings."),
        (["dismiss", "9"], "There is no finding 9. `tide findings` lists them."),
        (["snooze", "1", "2020-01-01"], "Wed 1 January 2020 08:00 is past. Name a later moment."),
        (["digest", "--output", "/no/such/folder/x"], "Name a file in a folder that you may write to."),
    ],
)
def test_a_wrong_name_is_told_in_one_line_with_what_to_do(words: list[str], told: str, tide: Tide) -> None:
    done = tide(*words)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.endswith(f"{told}\n")
    assert done.stderr.count("\n") == 1


def test_search_finds_by_words_and_kind(tide: Tide) -> None:
    (hit,) = json.loads(tide("search", "confirm", "euro", "--json").stdout)
    assert (hit["label"], hit["source"]) == ("a1", "mail")
    assert json.loads(tide("search", "confirm", "--kind", "event", "--json").stdout) == []
    assert "Nothing holds all of these words" in tide("search", "walrus").stderr


def test_export_writes_everything_and_no_secret(home: Folders, tide: Tide, tmp_path: Path) -> None:
    with Store(home.store) as store:
        store.findings.set_state(1, State.DISMISSED, reason="no")
        place = "https://nora:secret@dav.example/cal?token=secret"
        store.artifacts.add_source("web", "calendar", place, datetime.now(UTC) - timedelta(days=1))
    assert tide("export", tmp_path / "all.json").exit_code == 0
    assert tide("export", tmp_path / "all").exit_code == 0
    whole = json.loads((tmp_path / "all.json").read_text())
    assert [len(whole[name]) for name in ("findings", "runs", "sources")] == [2, 1, 2]
    for name, part in whole.items():
        file = tmp_path / "all" / f"{name}.json"
        assert json.loads(file.read_text()) == part
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "secret" not in file.read_text()
    assert whole["sources"][1]["location"] == "https://dav.example/cal"
    assert json.loads(tide("export", "-").stdout) == whole


def test_what_lapsed_and_is_reopened_is_kept_open(home: Folders, tide: Tide) -> None:
    with Store(home.store) as store:
        store.findings.lapse(1, "It no longer holds.", NOW)
    assert tide("reopen", 1).exit_code == 0
    with Store(home.store) as store:
        finding = store.findings.get(1)
    assert (finding.state, finding.reason, finding.kept) == (State.SEEN, "", True)
