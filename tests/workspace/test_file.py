"""The workspace file is checked on reading, and the sample workspace is what it says it is."""

import csv
import json
import re
from calendar import month_abbr, month_name
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from email.utils import parseaddr
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from dateutil.rrule import rrulestr

from workspace.errors import UserError
from workspace.file import (
    FileDocument,
    FileEmail,
    FileEvent,
    FileTask,
    WorkspaceFile,
    read_workspace,
)

SAMPLE = Path(__file__).parents[2] / "workspace" / "sample.json"
MONTHS = {name: number for number in range(1, 13) for name in (month_name[number], month_abbr[number])}
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NAMED_DAY = re.compile(
    r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:day|sday|nesday|rsday|urday)?,? (\d{1,2}) "
    rf"({'|'.join(MONTHS)})\b(?: (\d{{4}}))?"
)


@pytest.fixture(scope="module")
def sample() -> WorkspaceFile:
    return read_workspace(SAMPLE)


@pytest.fixture
def content() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(SAMPLE.read_text(encoding="utf-8"))
    return made


def complaint(content: Any, folder: Path) -> str:
    path = folder / "broken.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_workspace(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def first(content: dict[str, Any], kind: str) -> tuple[int, dict[str, Any]]:
    return next((n, item) for n, item in enumerate(content["artifacts"]) if item["kind"] == kind)


def known_addresses(sample: WorkspaceFile) -> set[str]:
    return {person.email for person in sample.world_model.relationships}


def threads(sample: WorkspaceFile) -> dict[str, list[FileEmail]]:
    made: dict[str, list[FileEmail]] = defaultdict(list)
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            made[item.thread].append(item)
    return {name: sorted(mails, key=lambda mail: mail.sent) for name, mails in made.items()}


def fresh(mail: FileEmail) -> str:
    own = mail.body.split("---------- Forwarded message")[0]
    return "\n".join(line for line in own.split("\n") if not line.startswith(">"))


def working_days(since: date, until: date) -> int:
    days = (since + timedelta(days=n) for n in range(1, (until - since).days + 1))
    return sum(day.weekday() < 5 for day in days)


def keys_of(sample: WorkspaceFile, number: int) -> list[Any]:
    by_id = {item.id: item for item in sample.artifacts}
    return [by_id[name] for name in sample.problems[number].evidence]


# The sample


def test_sample_has_the_promised_counts(sample: WorkspaceFile) -> None:
    kinds = Counter(item.kind for item in sample.artifacts)
    assert kinds["email"] >= 60
    assert kinds["event"] >= 20
    assert kinds["document"] >= 15
    assert kinds["task"] >= 3
    endings = {Path(item.path).suffix for item in sample.artifacts if isinstance(item, FileDocument)}
    assert endings == {".md", ".txt", ".html", ".csv", ".pdf", ".docx", ".xlsx"}
    assert {item.folder for item in sample.artifacts if isinstance(item, FileEmail)} == {"inbox", "sent"}


def test_sample_hides_six_problems_that_no_single_artifact_tells(sample: WorkspaceFile) -> None:
    kinds = {item.id: item.kind for item in sample.artifacts}
    assert len(sample.problems) == 6
    for problem in sample.problems:
        assert 2 <= len(problem.evidence) <= 4
        assert len({kinds[name] for name in problem.evidence}) >= 2
        assert problem.resolution.also_accept


def test_sample_has_distractors_of_every_strategy_that_are_no_evidence(sample: WorkspaceFile) -> None:
    assert len(sample.distractors) >= 12
    assert len(set(sample.distractors.values())) == 10
    evidence = {name for problem in sample.problems for name in problem.evidence}
    assert not evidence & sample.distractors.keys()


def test_every_artifact_of_the_sample_has_a_note(sample: WorkspaceFile) -> None:
    assert sample.notes.keys() == {item.id for item in sample.artifacts}


def test_sample_uses_reserved_domains_alone(sample: WorkspaceFile) -> None:
    domains = re.findall(r"[\w.+-]+@([\w.-]+\w)", SAMPLE.read_text(encoding="utf-8"))
    assert {name.rpartition(".")[2] for name in domains if name not in ("example.com", "example.org")} == {
        "example"
    }


def test_weekdays_named_in_the_sample_are_those_of_their_dates() -> None:
    named = NAMED_DAY.findall(SAMPLE.read_text(encoding="utf-8"))
    assert len(named) > 100
    wrong = [
        found
        for found in named
        if DAYS[date(int(found[3] or 2026), MONTHS[found[2]], int(found[1])).weekday()] != found[0]
    ]
    assert wrong == []


def test_sent_folder_holds_what_the_person_wrote(sample: WorkspaceFile) -> None:
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            mine = parseaddr(item.sender)[1] == sample.persona.email
            assert (item.folder == "sent") == mine
            assert mine or sample.persona.email in {parseaddr(text)[1] for text in (*item.to, *item.cc)}


def test_nothing_of_the_past_lies_after_now(sample: WorkspaceFile) -> None:
    for item in sample.artifacts:
        if isinstance(item, FileEmail):
            assert item.sent < sample.now
        elif isinstance(item, FileDocument):
            assert item.modified < sample.now


def test_quoted_lines_were_written_earlier_in_the_thread(sample: WorkspaceFile) -> None:
    for mails in threads(sample).values():
        for number, mail in enumerate(mails):
            earlier = " ".join(" ".join(before.body.split()) for before in mails[:number])
            quote = " ".join(line[2:] for line in mail.body.split("\n") if line.startswith("> "))
            for sentence in quote.split("> "):
                words = sentence.split()
                assert " ".join(words[:5]) in earlier
                assert " ".join(words[-5:]) in earlier


def test_only_the_first_problem_is_an_overlap_of_accepted_events(sample: WorkspaceFile) -> None:
    end = sample.now + timedelta(days=120)
    taken: list[tuple[datetime, datetime, str]] = []
    for item in sample.artifacts:
        if not isinstance(item, FileEvent) or item.cancelled or item.all_day or not item.busy:
            continue
        answers = {parseaddr(person.email)[1]: person.status for person in item.attendees}
        own = parseaddr(item.organizer)[1] == sample.persona.email
        if not own and answers.get(sample.persona.email) != "accepted":
            continue
        starts = [item.start]
        if item.recurrence:
            starts = rrulestr(item.recurrence, dtstart=item.start).between(item.start, end, inc=True)
        taken += [(start, start + (item.end - item.start), item.id) for start in starts]
    clashes = {
        frozenset((one[2], other[2]))
        for one, other in combinations(sorted(taken), 2)
        if one[0] < other[1] and other[0] < one[1]
    }
    events = [item.id for item in keys_of(sample, 0) if item.kind == "event"]
    assert clashes == {frozenset(events)}


def test_no_live_event_was_declined_by_everybody_else(sample: WorkspaceFile) -> None:
    declined = [
        item
        for item in sample.artifacts
        if isinstance(item, FileEvent)
        and item.start > sample.now
        and (
            others := {
                person.status
                for person in item.attendees
                if parseaddr(person.email)[1] not in (sample.persona.email, parseaddr(item.organizer)[1])
            }
        )
        and others == {"declined"}
    ]
    assert [item.cancelled for item in declined] == [True]


def test_only_the_second_problem_keeps_a_known_person_waiting(sample: WorkspaceFile) -> None:
    waiting = []
    for mails in threads(sample).values():
        last = mails[-1]
        to = {parseaddr(text)[1] for text in last.to}
        asked = "?" in fresh(last) and parseaddr(last.sender)[1] in known_addresses(sample)
        overdue = working_days(last.sent.date(), sample.now.date()) >= 3
        if last.folder == "inbox" and sample.persona.email in to and asked and overdue:
            waiting.append(last.id)
    open_questions = set(waiting) - sample.distractors.keys()
    assert open_questions == {item.id for item in keys_of(sample, 1) if item.kind == "email"}


def test_the_person_waits_for_nobody_for_three_working_days(sample: WorkspaceFile) -> None:
    waiting = {
        mails[-1].id
        for mails in threads(sample).values()
        if mails[-1].folder == "sent"
        and "?" in fresh(mails[-1])
        and working_days(mails[-1].sent.date(), sample.now.date()) >= 3
    }
    assert waiting <= sample.distractors.keys()


def test_only_the_third_problem_is_a_task_due_in_the_persons_own_absence(sample: WorkspaceFile) -> None:
    tasks = [item for item in sample.artifacts if isinstance(item, FileTask) and item.status == "open"]
    assert [item.id for item in tasks if item.due and item.due < sample.now] == []
    (absence,) = (
        item
        for item in sample.artifacts
        if isinstance(item, FileEvent)
        and item.all_day
        and parseaddr(item.organizer)[1] == sample.persona.email
        and re.search(r"out of office|leave", item.title, re.IGNORECASE)
    )
    caught = {item.id for item in tasks if item.due and absence.start <= item.due < absence.end}
    assert caught | {absence.id} == {item.id for item in keys_of(sample, 2) if item.kind != "email"}


def test_no_invitation_for_today_or_tomorrow_is_unanswered(sample: WorkspaceFile) -> None:
    soon = sample.now + timedelta(days=2)
    for item in sample.artifacts:
        if isinstance(item, FileEvent) and sample.now <= item.start < soon:
            answers = {parseaddr(person.email)[1]: person.status for person in item.attendees}
            assert answers.get(sample.persona.email) != "needs-action"


def test_tables_of_the_sample_add_up(sample: WorkspaceFile) -> None:
    texts = {Path(item.path).name: item.text for item in sample.artifacts if isinstance(item, FileDocument)}
    rows = [line.split(" | ") for line in texts["Object list Vestfjord v3.xlsx"].split("\n")]
    assert sum(int(row[3]) for row in rows if row[0].isdigit()) == 418000
    first_list = csv.DictReader(texts["Object list Vestfjord 2 March.csv"].split("\n"))
    assert sum(int(row["Value EUR"]) for row in first_list) == 348000
    assert "348,000" in texts["Cover note HL-26-1187.pdf"]
    lines, funds = texts["Budget Saltlines.xlsx"].split("# Funds")
    for part, column in ((lines, 1), (lines, 2), (funds, 1)):
        *figures, total = [
            int(cells[column])
            for cells in (line.split(" | ") for line in part.split("\n"))
            if len(cells) > column and cells[column].isdigit()
        ]
        assert sum(figures) == total


# The format


def test_unknown_keys_are_refused_at_their_place(content: dict[str, Any], tmp_path: Path) -> None:
    number, item = first(content, "event")
    item["colour"] = "red"
    assert f"artifacts[{number}] ({item['id']}).colour: " in complaint(content, tmp_path)


@pytest.mark.parametrize("moment", ["2026-03-16T08:30Z", "2026-03-16T08:30+01:00"])
def test_times_with_a_zone_are_refused(content: dict[str, Any], tmp_path: Path, moment: str) -> None:
    number, item = first(content, "email")
    item["sent"] = moment
    message = complaint(content, tmp_path)
    assert f"artifacts[{number}] ({item['id']}).sent: " in message
    assert "carries a zone" in message


@pytest.mark.parametrize("moment", ["2026-03-16", "16 March 2026", "2026-13-16T08:30", 1773650000, None])
def test_what_is_no_time_is_refused(content: dict[str, Any], tmp_path: Path, moment: object) -> None:
    content["now"] = moment
    assert ": now: " in complaint(content, tmp_path)


def test_an_id_that_occurs_twice_is_refused(content: dict[str, Any], tmp_path: Path) -> None:
    content["artifacts"][5]["id"] = content["artifacts"][2]["id"]
    assert "artifacts[5].id: 'a003' occurs twice" in complaint(content, tmp_path)


def test_references_that_lead_nowhere_are_refused(content: dict[str, Any], tmp_path: Path) -> None:
    content["problems"][1]["evidence"][0] = "a999"
    assert "problems[1] (p2).evidence: there is no artifact 'a999'" in complaint(content, tmp_path)


def test_attachments_must_be_documents(content: dict[str, Any], tmp_path: Path) -> None:
    number, item = first(content, "email")
    item["attachments"] = [item["id"]]
    assert f"artifacts[{number}] ({item['id']}).attachments: there is no document" in complaint(content, tmp_path)


def test_parameters_must_name_an_artifact_of_their_kind(content: dict[str, Any], tmp_path: Path) -> None:
    _, item = first(content, "document")
    content["problems"][0]["resolution"]["parameters"]["event"] = item["id"]
    assert "problems[0] (p1).resolution: event: there is no event" in complaint(content, tmp_path)


def test_also_accepted_resolutions_are_checked_as_well(content: dict[str, Any], tmp_path: Path) -> None:
    content["problems"][0]["resolution"]["also_accept"][1]["parameters"]["event"] = "a999"
    assert "problems[0] (p1).resolution: event: there is no event 'a999'" in complaint(content, tmp_path)


@pytest.mark.parametrize(
    ("resolution", "reason"),
    [
        ({"function_name": "send_flowers", "parameters": {}}, "there is no action 'send_flowers'"),
        ({"function_name": "send_email", "parameters": {"colour": "red"}}, "has no parameter 'colour'"),
    ],
)
def test_resolutions_outside_the_catalogue_are_refused(
    content: dict[str, Any], tmp_path: Path, resolution: dict[str, Any], reason: str
) -> None:
    content["problems"][3]["resolution"] = resolution
    message = complaint(content, tmp_path)
    assert "problems[3] (p4).resolution" in message
    assert reason in message


@pytest.mark.parametrize("key", ["distractors", "notes"])
def test_distractors_and_notes_must_name_artifacts(content: dict[str, Any], tmp_path: Path, key: str) -> None:
    content[key]["a999"] = "outdated"
    assert f"{key}: there is no artifact 'a999'" in complaint(content, tmp_path)


def test_long_notes_and_unknown_strategies_are_refused(content: dict[str, Any], tmp_path: Path) -> None:
    content["notes"]["a001"] = "word " * 46
    assert "notes.a001: 46 words" in complaint(content, tmp_path)
    content["distractors"]["a001"] = "bluff"
    assert "distractors.a001: " in complaint(content, tmp_path)


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.txt", "a/../../b.md", "C:\\x.txt", ""])
def test_document_paths_stay_inside(content: dict[str, Any], tmp_path: Path, path: str) -> None:
    number, item = first(content, "document")
    item["path"] = path
    assert f"artifacts[{number}] ({item['id']}).path: " in complaint(content, tmp_path)


def test_events_end_after_they_start(content: dict[str, Any], tmp_path: Path) -> None:
    number, item = first(content, "event")
    item["end"] = "2020-01-01T00:00"
    assert f"artifacts[{number}] ({item['id']}): the event ends before it starts" in complaint(content, tmp_path)


def test_an_all_day_end_at_2359_is_the_midnight_after() -> None:
    event = FileEvent(
        id="e1",
        kind="event",
        title="Vacation",
        all_day=True,
        start=datetime(2026, 5, 4),
        end=datetime(2026, 5, 5, 23, 59),
        organizer="A <a@example.org>",
    )
    assert event.end == datetime(2026, 5, 6)


def test_unknown_zones_and_kinds_are_refused(content: dict[str, Any], tmp_path: Path) -> None:
    content["artifacts"][0]["kind"] = "letter"
    assert "artifacts[0] (a001): " in complaint(content, tmp_path)
    content["timezone"] = "Europe/Atlantis"
    assert "unknown time zone 'Europe/Atlantis'" in complaint(content, tmp_path)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "line 1"),
        (b"[1]", "valid dictionary"),
        (b"\xff", "not UTF-8"),
        (b'{"id": "a", "id": "b"}', "the key 'id' occurs twice"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_workspace_is_refused(tmp_path: Path, raw: bytes, reason: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(raw)
    with pytest.raises(UserError, match=reason):
        read_workspace(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.json: No such file"):
        read_workspace(tmp_path / "nowhere.json")
