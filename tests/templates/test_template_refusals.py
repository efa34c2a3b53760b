"""A broken template or case is refused with its file and the line to correct."""

import json
from pathlib import Path

import pytest

from templates import load_cases, load_templates
from workspace import UserError

TEMPLATE = """\
id = "late-thing"
name = "A late thing"
pattern = "Something is late and somebody waits."
evidence_flow = [
  "A message says when it was due.",
  "Nothing shows that it came.",
]
actions = ["send_email"]
cases = ["late-parcel"]
"""

CASE = {
    "id": "late-parcel",
    "persona": {"name": "Ola Ek", "emails": ["ola@ek.example"], "occupation": "smith", "about": "Works alone."},
    "now": "2026-03-05T09:00",
    "timezone": "Europe/Oslo",
    "problem": "The parcel is late.",
    "artifacts": [
        {"id": "a1", "kind": "document", "path": "order.txt", "modified": "2026-03-01T09:00", "text": "Due today"},
        {"id": "a2", "kind": "task", "title": "Weld", "due": "2026-03-06T17:00", "status": "open", "notes": ""},
    ],
    "found": "Order [a1], task [a2].",
    "named": "Late.",
    "resolved": {
        "function_name": "update_task",
        "parameters": {"task": "a2", "status": "open", "due": "2026-03-09", "note": "moved"},
    },
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A pool of one template and its case, both right."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "cases").mkdir()
    (tmp_path / "workspace" / "late-thing.toml").write_text(TEMPLATE, encoding="utf-8")
    write_case(tmp_path, CASE)
    return tmp_path


def write_case(pool: Path, case: object, name: str = "late-parcel.json") -> None:
    (pool / "cases" / name).write_text(json.dumps(case, indent=1), encoding="utf-8")


def test_a_pool_of_ones_own_loads(pool: Path) -> None:
    (template,) = load_templates(pool)
    (case,) = load_cases(pool)
    assert template.cases == (case.id,)
    assert template.evidence_flow[1] == "Nothing shows that it came."


@pytest.mark.parametrize(
    ("right", "wrong", "line", "complaint"),
    [
        ('name = "A late thing"', 'name = "A late thing', 2, "llegal character"),
        ('cases = ["late-parcel"]\n', 'cases = ["late-parcel"', 9, "nclosed array"),
        ('name = "A late thing"\n', "", 1, "name: Field required"),
        ('name = "A late thing"', "name = 7", 2, "valid string"),
        ('name = "A late thing"', 'title = "x"\nname = "A late thing"', 2, "title: Extra inputs"),
        ('name = "A late thing"', 'name = "Late since 3 March"', 2, "a number ('3')"),
        ('name = "A late thing"', 'name = "Late since monday"', 2, "a date ('monday')"),
        ('name = "A late thing"', 'name = "What Berta owes"', 2, "a name ('Berta')"),
        ('name = "A late thing"', 'name = "' + "long " * 13 + '"', 2, "at most 60"),
        ("somebody waits.", "ann@firm.example waits.", 3, "an address"),
        ("somebody waits.", "the «first» waits.", 3, "a quotation"),
        ('"Nothing shows that it came."', '"No bill of 2026 came."', 6, "evidence_flow.1"),
        ('  "Nothing shows that it came.",\n', "", 4, "at least 2 items"),
        ('actions = ["send_email"]', 'actions = ["send_email", "call_home"]', 8, "unknown action 'call_home'"),
        ('cases = ["late-parcel"]', 'cases = ["lost-parcel"]', 9, "no solved case 'lost-parcel'"),
        ('id = "late-thing"', 'id = "other-thing"', 1, "not the name of the file"),
        ('id = "late-thing"', 'id = "Late_Thing"', 1, "id: String should match"),
    ],
)
def test_a_broken_template_is_refused_with_file_and_line(
    pool: Path, right: str, wrong: str, line: int, complaint: str
) -> None:
    path = pool / "workspace" / "late-thing.toml"
    assert TEMPLATE.count(right) == 1
    path.write_text(TEMPLATE.replace(right, wrong), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        load_templates(pool)
    assert str(refused.value).startswith(f"{path}:{line}: ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_that_another_template_has_is_refused(pool: Path) -> None:
    path = pool / "workspace" / "later-thing.toml"
    path.write_text(TEMPLATE.replace("late-thing", "later-thing"), encoding="utf-8")
    with pytest.raises(UserError) as refused:
        load_templates(pool)
    assert str(refused.value).startswith(f"{path}:2: ")
    assert "late-thing.toml" in str(refused.value)


def test_a_template_that_is_not_utf8_is_refused_with_its_file_and_line(pool: Path) -> None:
    path = pool / "workspace" / "late-thing.toml"
    path.write_bytes(TEMPLATE.encode().replace(b"somebody waits", b"caf\xe9"))
    with pytest.raises(UserError) as refused:
        load_templates(pool)
    assert str(refused.value).startswith(f"{path}:3: ")


@pytest.mark.parametrize(
    ("place", "value", "shown"),
    [
        (("now",), "tomorrow", '"now": "tomorrow"'),
        (("timezone",), "Mars/Olympus", '"timezone": "Mars/Olympus"'),
        (("id",), "other-parcel", '"id": "other-parcel"'),
        (("artifacts", 1, "status"), "perhaps", '"status": "perhaps"'),
        (("artifacts", 1, "id"), "a1", '"id": "a1"'),
        (("resolved", "function_name"), "call_home", '"function_name": "call_home"'),
        (("resolved", "parameters", "task"), "a1", '"task": "a1"'),
        (("resolved", "parameters", "due"), "soon", '"parameters": {'),
    ],
)
def test_a_broken_case_is_refused_with_file_and_line(
    pool: Path, place: tuple[str | int, ...], value: str, shown: str
) -> None:
    case = json.loads(json.dumps(CASE))
    part = case
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    write_case(pool, case)
    path = pool / "cases" / "late-parcel.json"
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = max(number for number, text in enumerate(lines, start=1) if shown in text)
    with pytest.raises(UserError) as refused:
        load_cases(pool)
    assert str(refused.value).startswith(f"{path}:{expected}: ")


def test_a_case_that_is_no_json_is_refused_with_file_and_line(pool: Path) -> None:
    path = pool / "cases" / "late-parcel.json"
    path.write_text('{\n "id": "late-parcel",\n "now" }', encoding="utf-8")
    with pytest.raises(UserError) as refused:
        load_cases(pool)
    assert str(refused.value).startswith(f"{path}:3: ")
