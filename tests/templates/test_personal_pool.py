"""The person's own templates beside those of Tide, and solved cases made of findings."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from templates import case_of, load_pool, load_templates
from workspace import (
    Action,
    Artifact,
    Evidence,
    Finding,
    Kind,
    Person,
    Persona,
    Profile,
    Role,
    State,
    Trust,
    UserError,
)

OWN = """\
id = "late-thing"
name = "A late thing"
pattern = "Something is late and somebody waits."
evidence_flow = ["A message says when it was due.", "Nothing shows that it came."]
actions = ["send_email"]
cases = ["copier-lease"]
"""
NOW = datetime(2026, 3, 16, 8, 30, tzinfo=UTC)
DAY = datetime(2026, 3, 20, tzinfo=UTC)
PROFILE = Profile(timezone="Europe/Berlin", persona=Persona(name="Mara Lindt", emails=("mara@lindt.example",)))
MAIL = Artifact(
    "mail",
    "m1",
    Kind.EMAIL,
    "The hall",
    "How many chairs?",
    quoted="We need chairs.",
    people=(Person(Role.FROM, "Jonas", "jonas@hall.example"), Person(Role.TO, "Mara Lindt", "mara@lindt.example")),
    time=NOW - timedelta(days=8),
    thread="t1",
    trust=Trust.KNOWN,
    id=7,
)
EVENT = Artifact(
    "calendar",
    "e1",
    Kind.EVENT,
    "Off",
    time=DAY,
    end=DAY + timedelta(days=2),
    all_day=True,
    id=9,
    trust=Trust.SELF,
)
TASK = Artifact("tasks", "k1", Kind.TASK, "Pay", "now", due=NOW, status="open", id=11)
FILE = Artifact("files", "d1", Kind.DOCUMENT, "papers/offer.pdf", "Notice by 1 May.", time=NOW, id=12)


def write(folder, name, text):
    path = folder / "workspace" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def finding(*rows, **changes):
    evidence = tuple(Evidence(artifact=row, quote=f"words of {row}", where="text") for row in rows)
    values = {
        "id": 3,
        "template": "question-left-unanswered",
        "description": "Jonas waits for the number of chairs.",
        "why": "He asked and has no answer.",
        "evidence": evidence,
        "action": Action(function_name="reply_email", parameters={"message": f"a{rows[0]}", "body": "Forty."}),
        "confidence": 0.9,
        "state": State.DONE,
        "created": NOW,
    }
    return Finding(**{**values, **changes})


def test_without_a_folder_there_are_the_templates_of_tide(tmp_path):
    pool = load_pool(tmp_path / "none")
    assert pool.enabled == load_templates()
    assert (pool.personal, pool.faults) == (frozenset(), ())


def test_a_personal_template_is_added_or_takes_the_place_of_one(tmp_path):
    write(tmp_path, "late-thing", OWN)
    name = load_templates()[0].id
    write(tmp_path, name, OWN.replace("late-thing", name).replace("A late thing", "A later thing"))
    pool = load_pool(tmp_path)
    assert pool.personal == {"late-thing", name}
    assert len(pool.enabled) == len(load_templates()) + 1
    assert pool.get(name).name == "A later thing"


def test_a_disabled_template_is_not_gone_by(tmp_path):
    write(tmp_path, "late-thing", OWN)
    pool = load_pool(tmp_path, frozenset({"late-thing", "no-such"}))
    assert pool.disabled == {"late-thing"}
    assert "late-thing" not in {template.id for template in pool.enabled}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (OWN.replace("A late thing", "Late on 3 May"), "belongs to one case"),
        (OWN.replace("copier-lease", "no-case"), "there is no solved case 'no-case'"),
        (OWN.replace("A late thing", load_templates()[1].name), "is already that of"),
        ("id = ", "Invalid value"),
    ],
)
def test_a_wrong_template_is_left_out_and_told(tmp_path, text, what):
    write(tmp_path, "late-thing", text)
    pool = load_pool(tmp_path)
    assert "late-thing" not in pool.templates
    (fault,) = pool.faults
    assert what in fault
    assert fault.startswith(str(tmp_path / "workspace" / "late-thing.toml"))


def test_a_wrong_case_is_left_out_and_told(tmp_path):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "x.json").write_text("{", encoding="utf-8")
    assert len(load_pool(tmp_path).faults) == 1


def test_a_case_of_a_finding_can_be_read_again_and_refers_to_its_own_artifacts(tmp_path):
    artifacts = {one.id: one for one in (MAIL, EVENT, TASK, FILE)}
    case = case_of(finding(7, 9, 11, 12), artifacts, PROFILE, "Somebody waits.", ())
    (tmp_path / "cases").mkdir()
    written = json.dumps(case.model_dump(mode="json", by_alias=True))
    (tmp_path / "cases" / f"{case.id}.json").write_text(written, encoding="utf-8")
    assert load_pool(tmp_path).cases[case.id] == case
    assert case.id == "jonas-waits-number-chairs"
    assert [one.kind for one in case.artifacts] == ["email", "event", "task", "document"]
    assert case.resolved.parameters["message"] == "a1"
    assert case.artifacts[0].body == "How many chairs?\n> We need chairs."
    assert '"words of 7" [a1]' in case.found
    assert case.now == datetime(2026, 3, 16, 9, 30)


@pytest.mark.parametrize(
    "changes",
    [
        {"people": (Person(Role.FROM, "Wehr, Jonas", "jonas@hall.example"),)},
        {
            "people": (
                Person(Role.FROM, 'A <b@c> "x"', "jonas@hall.example"),
                Person(Role.TO, "Undisclosed", "none"),
            )
        },
        {"time": datetime(9999, 12, 31, 23, 59, tzinfo=UTC)},
        {"kind": Kind.EVENT, "time": NOW, "end": NOW - timedelta(hours=1)},
        {"kind": Kind.EVENT, "people": (Person(Role.ATTENDEE, "Wehr, Jonas", "jonas@hall.example", "delegated"),)},
        {"kind": Kind.DOCUMENT, "title": ".."},
        {"kind": Kind.DOCUMENT, "title": "a\0b.txt"},
    ],
)
def test_odd_mail_and_odd_entries_make_a_case_all_the_same(tmp_path, changes):
    action = Action(
        function_name="send_email", parameters={"to": ["j@hall.example"], "cc": [], "subject": "s", "body": "b"}
    )
    odd = replace(MAIL, **changes)
    case = case_of(finding(7, 9, action=action), {7: odd, 9: EVENT}, PROFILE, "Somebody waits.", ())
    (tmp_path / "cases").mkdir()
    written = json.dumps(case.model_dump(mode="json", by_alias=True))
    (tmp_path / "cases" / f"{case.id}.json").write_text(written, encoding="utf-8")
    assert load_pool(tmp_path).cases[case.id] == case


def test_ids_of_cases_are_each_once():
    taken = ["jonas-waits-number-chairs", "jonas-waits-number-chairs-b"]
    case = case_of(finding(7, 9), {7: MAIL, 9: EVENT}, PROFILE, "Somebody waits.", taken)
    assert case.id == "jonas-waits-number-chairs-c"


def test_what_is_gone_makes_no_case():
    with pytest.raises(UserError, match="Finding 3 makes no solved case: artifacts"):
        case_of(finding(7, 9), {7: MAIL}, PROFILE, "Somebody waits.", ())


def test_an_action_on_what_is_gone_makes_no_case():
    with pytest.raises(UserError, match="Finding 3 makes no solved case: 'a0' is no email of this case"):
        case_of(finding(7, 9, 11), {9: EVENT, 11: TASK}, PROFILE, "Somebody waits.", ())


@pytest.mark.parametrize("text", ["[" * 100_000, '{"id": ' + "9" * 5000 + "}"])
def test_a_case_that_no_parser_can_take_is_left_out_and_told(tmp_path, text):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "my-case.json").write_text(text)
    (fault,) = load_pool(tmp_path).faults
    assert "too long, or lists are too deep" in fault


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5000])
def test_a_template_that_no_parser_can_take_is_left_out_and_told(tmp_path, text):
    write(tmp_path, "late-thing", text)
    pool = load_pool(tmp_path)
    assert "too long, or lists are too deep" in pool.faults[0]
    with pytest.raises(UserError, match="too long, or lists are too deep"):
        pool.get("late-thing")
