"""`tide eval` on a tiny workspace, with a server whose answers follow from the question alone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inference.evaluation.strategies import Strategy
from inference.models.openai_server import OpenAIServer
from tests.desktop.steady_server import steady_server
from tests.inference.test_discovery_vllm import Words
from workspace import Folders

Tide = Callable[..., Any]

STRATEGIES = tuple(map(str, Strategy))
PLOTS = ("f1-by-calls", "new-by-round", "scores")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with steady_server() as address:
        yield address


@pytest.fixture
def words_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearness by words in place of MiniLM, which is quick and as good for a few artifacts."""
    monkeypatch.setattr("desktop.choice.SentenceEmbedder", lambda name: Words())


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A workspace of ten artifacts with two problems: a clash in the calendar, and a promise that was not kept."""

    def mail(number: int, sender: str, to: str, subject: str, body: str) -> dict[str, Any]:
        return {
            "id": f"m{number}", "kind": "email", "thread": f"t{number}", "from": sender, "to": [to],
            "sent": f"2026-05-{number + 3:02}T09:00", "subject": subject, "body": body,
            "folder": "inbox" if "nora" in to else "sent",
        }  # fmt: skip

    def event(number: int, title: str, start: str, end: str) -> dict[str, Any]:
        return {
            "id": f"e{number}", "kind": "event", "title": title, "start": f"2026-05-21T{start}",
            "end": f"2026-05-21T{end}", "organizer": "Helen <helen@museum.example>",
            "attendees": [
                {"email": "Nora Keane <nora@museum.example>", "status": "accepted"},
                {"email": "Helen <helen@museum.example>", "status": "accepted"},
            ],
        }  # fmt: skip

    nora, jonas = "Nora Keane <nora@museum.example>", "Jonas Feld <jonas@crates.example>"
    facts = {"who_is_blocked": ["Nora"], "blocker": ["overlap", "same time"], "task": ["Board meeting"]}
    facts |= {"root_cause": ["both accepted", "accepted"], "deadline": ["21 May", "2026-05-21"]}
    content = {
        "format": "tide-workspace/1", "id": "tiny", "language": "en", "now": "2026-05-19T08:40",
        "timezone": "Europe/Dublin",
        "persona": {"name": "Nora Keane", "email": nora, "occupation": "Registrar", "about": ""},
        "world_model": {
            "organization": {"name": "Museum", "department": "", "reports_to": "Helen"},
            "relationships": [
                {"name": "Jonas Feld", "email": jonas, "relation": "carrier", "context": "brings the crates"},
            ],
            "priorities": ["The loan"],
        },
        "artifacts": [
            mail(1, jonas, nora, "Crates", "We bring six crates on 20 May. The ramp must be free by nine."),
            mail(2, nora, jonas, "Re: Crates", "Thank you. I send the floor plan tomorrow."),
            mail(3, jonas, nora, "The ramp", "Our lorry needs four metres. Is the gate wide enough for it?"),
            mail(4, "Shop <shop@x.example>", nora, "Till", "The till in the shop was repaired on Monday."),
            event(1, "Board meeting", "10:00", "12:00"),
            event(2, "Handling course", "11:00", "15:00"),
            event(3, "Lunch", "16:00", "17:00"),
            {"id": "d1", "kind": "document", "path": "gate.txt", "modified": "2026-05-04T10:00",
             "text": "The gate of the yard is three metres and forty wide."},
            {"id": "k1", "kind": "task", "title": "Order labels", "due": "2026-06-20T12:00", "status": "open"},
            {"id": "k2", "kind": "task", "title": "Water the plants", "due": None, "status": "done"},
        ],
        "problems": [
            {"id": "p1", "description": "Two events overlap.", "facts": facts, "evidence": ["e1", "e2"],
             "resolution": {"function_name": "reschedule_meeting", "parameters": {"event": "e2"},
                            "also_accept": [{"function_name": "send_email", "parameters": {}}]}},
            {"id": "p2", "description": "The gate is too narrow for the lorry.", "facts": facts,
             "evidence": ["m3", "d1"],
             "resolution": {"function_name": "reply_email", "parameters": {"message": "m3"}}},
        ],
        "distractors": {"m4": "resolved-but-mentioned"},
        "notes": {"m3": "Jonas Feld asks whether the gate is four metres wide.", "d1": "The gate is 3.40 m wide."},
    }  # fmt: skip
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(content))
    return path


def everything(folder: Path) -> dict[str, bytes]:
    """What an evaluation leaves for the person."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".json", ".png", ".svg")}


def test_all_strategies_run_and_the_same_seed_gives_the_same_figures(
    home: Folders, tiny: Path, tide: Tide, server: str, words_embedder: None, tmp_path: Path
) -> None:
    words = ("eval", tiny, "--strategy", "all", "--model", server, "--rounds", "2", "--output")
    done = tide(*words, tmp_path / "first")
    assert done.exit_code == 0, done.stderr
    table = ["strategy", *STRATEGIES]
    assert [line.split()[0] for line in done.stdout.splitlines() if line.count("  ") > 4] == table * 2
    assert "tiny, tide-cases, seed 1" in done.stderr
    first = everything(tmp_path / "first")
    assert set(first) == {"results.json", *(f"{name}.{kind}" for name in PLOTS for kind in ("png", "svg"))}
    record = json.loads(first["results.json"])
    assert (record["model"], record["judge"], record["notes"]) == ("steady", "none: words are compared", "model")
    assert [row["strategy"] for row in record["strategies"]] == [*STRATEGIES]
    runs = {run["strategy"]: run for run in record["runs"]}
    assert_the_strategies_differ(runs)
    (notes,) = (tmp_path / "first" / "notes").iterdir()
    assert runs["tide"]["reading"] == json.loads(notes.read_text())["cost"] == runs["tide-cases"]["reading"]
    assert not list((tmp_path / "first" / "work").iterdir())

    assert tide(*words, tmp_path / "again").exit_code == 0
    assert everything(tmp_path / "again") == first


def assert_the_strategies_differ(runs: dict[str, Any]) -> None:
    observed = runs["observed"]
    assert observed["calls"] == []
    assert observed["problems"][0]["retrieval"] == 1
    assert observed["told"][0]["action"]["parameters"]["event"] in ("e1", "e2")
    # One look each, whatever the number of agents; and everything in one view.
    asks = {name: [call for call in run["calls"] if call["purpose"] == "ask"] for name, run in runs.items()}
    assert (len(asks["single"]), len(asks["multi"])) == (1, 2)
    assert {call["round"] for call in asks["multi"]} == {1, 2}
    assert [runs[name]["views"] for name in ("single", "multi", "tide-whole", "published")] == [1] * 4
    assert {call["purpose"] for call in runs["published"]["calls"]} == {"ask"}
    assert all(one["round"] > 0 for one in runs["published"]["told"])
    size = {name: calls[0]["prompt_tokens"] for name, calls in asks.items() if calls}
    assert size["tide-no-templates"] < size["tide"] < size["tide-cases"]


def test_what_was_done_is_not_done_again(
    home: Folders, tiny: Path, tide: Tide, words_embedder: None, tmp_path: Path
) -> None:
    words = (
        "eval",
        tiny,
        "--strategy",
        "tide",
        "--strategy",
        "observed",
        "--rounds",
        "1",
        "--output",
        tmp_path / "o",
    )
    with steady_server() as address:
        words = (*words, "--model", address, "--judge", address)
        assert tide(*words, "--seeds", "2").exit_code == 0
        first = everything(tmp_path / "o")
    # The server is gone, and nothing is missing.
    again = tide(*words, "--seeds", "2")
    assert again.exit_code == 0, again.stderr
    assert "Run " not in again.stderr
    assert everything(tmp_path / "o") == first
    record = json.loads(first["results.json"])
    assert [run["seed"] for run in record["runs"]] == [1, 2, 1, 2]
    assert record["judge"] == address
    assert list((tmp_path / "o" / "judge").iterdir())
    # Of the clash, which is computed, all but the deadline is expressed, says this judge.
    assert record["runs"][2]["problems"][0]["identification"] == pytest.approx(0.8)
    # Another seed is another run, which needs the server.
    missing = tide(*words, "--seeds", "3")
    assert missing.exit_code == 1
    assert "Run 3 of 6" in missing.stderr


def test_an_evaluation_that_was_stopped_goes_on_where_it_was(
    home: Folders,
    tiny: Path,
    tide: Tide,
    server: str,
    words_embedder: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("eval", tiny, "--strategy", "tide-text", "--model", server, "--rounds", "4", "--output")
    asked, stop = 0, 0
    generate = OpenAIServer.generate

    def counted(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == stop:
            raise KeyboardInterrupt
        return generate(*arguments)

    monkeypatch.setattr(OpenAIServer, "generate", counted)
    assert tide(*words, tmp_path / "whole").exit_code == 0
    in_all, asked = asked, 0
    assert in_all >= 2
    stop = in_all
    stopped = tide(*words, tmp_path / "stopped")
    assert stopped.exit_code == 130
    assert "goes on where it was" in stopped.stderr
    (work,) = (tmp_path / "stopped" / "work").iterdir()
    assert (work / "opened").is_file()
    assert not (tmp_path / "stopped" / "cells").exists()
    asked, stop = 0, 0
    assert tide(*words, tmp_path / "stopped").exit_code == 0
    assert everything(tmp_path / "stopped") == everything(tmp_path / "whole")
    # The reply to all but the last was kept.
    assert asked == 1


def test_a_workspace_is_cut_where_it_does_not_fit(
    home: Folders, tiny: Path, tide: Tide, server: str, words_embedder: None, tmp_path: Path
) -> None:
    content = json.loads(tiny.read_text())
    # So much that not all of it can be shown beside the templates.
    content["artifacts"][3]["body"] = "The till was repaired. " * 100
    content["artifacts"] += [
        {**content["artifacts"][3], "id": f"x{number}", "thread": f"x{number}"} for number in range(12)
    ]
    tiny.write_text(json.dumps(content))
    words = ("eval", tiny, "--strategy", "published", "--model", server, "--rounds", "1", "--context", "12000")
    refused = tide(*words, "--output", tmp_path / "refused")
    assert refused.exit_code == 1
    assert "--fit" in refused.stderr
    partly = tide(*words, "--strategy", "observed", "--output", tmp_path / "partly", "--json")
    assert partly.exit_code == 0
    assert [run["strategy"] for run in json.loads(partly.stdout)["runs"]] == ["observed"]
    assert "Left out: The workspace does not fit" in partly.stderr
    done = tide(*words, "--output", tmp_path / "cut", "--fit", "--json")
    assert done.exit_code == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert 10 <= run["artifacts_kept"] < 22
    assert {"e1", "e2", "m3", "d1"} <= set(json.loads(cell_of(tmp_path / "cut"))["kept"])


def cell_of(folder: Path) -> str:
    (path,) = (folder / "cells").iterdir()
    return path.read_text()


def test_switches_take_away_what_is_computed_and_proved(
    home: Folders, tiny: Path, tide: Tide, server: str, words_embedder: None, tmp_path: Path
) -> None:
    done = tide(
        "eval", tiny, "--strategy", "tide", "--strategy", "observed", "--model", server, "--rounds", "2", "--json",
        "--no-proof", "--no-observations", "--notes", "file", "--output", tmp_path / "o", "--views", "1",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    record = json.loads(done.stdout)
    tide_run, observed = record["runs"]
    assert observed["told"] == []
    assert {call["purpose"] for call in tide_run["calls"]} == {"ask"}
    assert tide_run["told"]
    assert tide_run["reading"]["calls"] == 0
    assert (record["proof"], record["observations"], record["views"]) == (False, False, 1)


def test_the_selection_is_measured_without_a_model(
    home: Folders,
    tiny: Path,
    tide: Tide,
    words_embedder: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counter = "inference.evaluation.selection.embedded_counter"
    monkeypatch.setattr(counter, lambda: lambda text: len(text) // 4 + 1)
    done = tide("eval", tiny, "--prefilter-only", "--output", tmp_path / "o", "--json")
    assert done.exit_code == 0, done.stderr
    tables = json.loads(done.stdout)
    assert [(table["source"], table["problems"]) for table in tables] == [
        ("notes", 2), ("notes", 2), ("raw text", 2), ("raw text", 2),
    ]  # fmt: skip
    assert [one["budget"] for one in tables[0]["reached"]] == [1000, 2000, 3000, 4000, 8000]
    assert json.loads((tmp_path / "o" / "selection.json").read_text()) == tables


def test_what_cannot_be_evaluated_is_refused(home: Folders, tiny: Path, tide: Tide, tmp_path: Path) -> None:
    def refused(*words: object) -> str:
        done = tide("eval", *words)
        assert done.exit_code == 1
        assert done.stderr.count("\n") == 1
        return str(done.stderr)

    other = ("--output", tmp_path / "new")
    assert "'best'" in refused(tiny, "--strategy", "best", *other)
    assert "'tiny'" in refused(tiny, tiny, *other)
    assert "nothing.json" in refused(tmp_path / "nothing.json", *other)
    assert "holds something else" in refused(tiny, "--output", tmp_path)
    assert tide("eval", tiny, "--seeds", "0").exit_code == 2


def test_the_help_names_every_strategy(tide: Tide) -> None:
    told = "".join(tide("eval", "--help").stdout.split())
    assert f"{','.join(Strategy)},orall" in told
