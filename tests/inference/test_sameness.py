"""A problem that is told twice is known again, whatever its words, artifacts and template."""

from dataclasses import replace
from datetime import timedelta

import pytest

from inference.sameness import Known
from tests.inference.scripted import NOW, Scripted, artifacts, asked_text, fill, put, setting
from workspace import Action, Evidence, Finding
from workspace.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        fill(opened)
        opened.runs.begin("setup", NOW)
        yield opened


def finding(template, description, *rows):
    action = Action(function_name="create_task", parameters={"title": "x", "due": "2026-05-01", "notes": ""})
    evidence = tuple(Evidence(artifact=row, quote="words") for row in rows)
    return Finding(
        template=template, description=description, why="w", evidence=evidence, action=action, confidence=1
    )


HALL = finding("headcount-exceeds-capacity", "The hall is too small.", 1, 2)
TASK = finding("task-past-due", "The programme was not sent.", 4)


def ask(store, known, new, same_as="f1", **model):
    scripted = Scripted(lambda request: {"reason": "One trouble.", "same_as": same_as}, **model)
    calls = []
    return Known(known, store, setting(store, scripted)).told_before(new, calls), scripted, calls


def test_a_finding_that_the_model_knows_again_is_known(store):
    told, model, calls = ask(
        store, [HALL], finding("booking-does-not-match-need", "Sixty guests, forty seats.", 2, 3)
    )
    assert told.check == "known"
    assert told.detail == "One trouble."
    assert model.purposes() == ["same"]
    assert [call.purpose for call in calls] == ["same"]
    assert "f1 [headcount-exceeds-capacity] The hall is too small." in asked_text(model.asked[0])
    assert "new [booking-does-not-match-need] Sixty guests, forty seats." in asked_text(model.asked[0])


def test_one_that_it_does_not_know_is_news(store):
    told, model, _ = ask(store, [HALL], finding("other", "Something else.", 2, 3), same_as="none")
    assert told is None
    assert len(model.asked) == 1


def test_one_that_is_told_in_like_words_is_asked_about_whatever_it_cites(store):
    late = finding("other", "Nobody has sent the programme to the printer.", 3)
    told, model, _ = ask(store, [TASK], late)
    assert told.check == "known"
    assert len(model.asked) == 1


def test_what_touches_nothing_known_is_not_asked_about(store):
    told, model, calls = ask(store, [TASK], finding("other", "Something else.", 3))
    assert (told, model.asked, calls) == (None, [], [])


def test_a_mail_of_the_same_thread_touches(store):
    put(store, replace(artifacts()[0], key="m7", people=(), time=NOW - timedelta(days=1)))
    (row,) = (artifact.id for artifact in store.artifacts.all() if artifact.key == "m7")
    told, _, _ = ask(store, [HALL], finding("other", "The hall again.", row))
    assert told is not None


def test_those_that_share_most_are_shown_first_and_no_more_than_eight(store):
    known = [finding(f"t{n}", f"Problem {n}.", 1) for n in range(10)] + [HALL]
    _, model, _ = ask(store, known, finding("other", "The hall again.", 1, 2))
    text = asked_text(model.asked[0])
    assert "f1 [headcount-exceeds-capacity]" in text
    assert "f8 [" in text
    assert "f9 [" not in text


def test_an_answer_outside_the_form_lets_the_finding_pass(store):
    told, _, calls = ask(store, [HALL], finding("other", "The hall again.", 1, 3), same_as="f99")
    assert told is None
    assert len(calls) == 1


def test_a_small_context_compares_with_fewer(store):
    known = [finding(f"t{n}", f"Problem {n}. " + "It is long. " * 40, 1) for n in range(8)]
    told, model, _ = ask(store, known, finding("other", "The hall again.", 1, 2), context=8192)
    assert told is not None
    (request,) = model.asked
    assert model.count(request.messages) + request.max_tokens <= 8192
