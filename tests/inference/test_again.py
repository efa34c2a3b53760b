"""Earlier findings of a model are proved again where something new is on their matter."""

from dataclasses import replace
from datetime import timedelta

import pytest

from inference.again import prove_again
from inference.proof import Grounds
from tests.inference.scripted import NOW, PROFILE, Scripted, artifacts, asked_text, fill, proof, put, setting
from workspace import Action, Evidence, Finding, Run, State
from workspace.store import Store

TOMORROW = NOW + timedelta(days=1)
QUOTES = ((1, "The garden hall holds 40 people"), (2, "We expect 60 participants"))


@pytest.fixture
def store(tmp_path):
    """A store with a finding about a hall that is too small."""
    with Store(tmp_path / "tide.sqlite") as opened:
        fill(opened)
        first = opened.runs.begin("first", NOW)
        finding = Finding(
            template="headcount-exceeds-capacity",
            description="The garden hall is too small for the spring workshop.",
            why="The hall holds fewer people than are expected.",
            evidence=tuple(Evidence(artifact=row, quote=quote) for row, quote in QUOTES),
            action=Action(
                function_name="send_email",
                parameters={"to": ["jonas@hall.example"], "cc": [], "subject": "A larger hall", "body": "For 60?"},
            ),
            confidence=0.9,
            revision=opened.artifacts.revision(),
        )
        opened.findings.add(finding, first.id, NOW)
        yield opened


def answer(number="m9", **changes):
    """A later mail of the thread of the booking."""
    return replace(artifacts()[0], key=number, title="Re: Your booking", time=NOW, **changes)


def again(store, verdict=None):
    """Hold the findings again; the run and the model that was asked."""
    model = Scripted(lambda request: verdict)
    run = Run(id=store.runs.begin("second", TOMORROW).id, strategy="tide", model="scripted", started=TOMORROW)
    grounds = Grounds(TOMORROW, PROFILE.known, store.findings.all())
    prove_again(store, grounds, setting(store, model, run.id), run)
    return run, model, grounds


def test_where_nothing_is_new_nothing_is_asked(store):
    run, model, _ = again(store)
    assert (model.asked, run.calls, run.lapsed) == ([], [], [])


def test_what_is_new_on_another_matter_asks_nothing_and_is_held_against_once(store):
    put(store, replace(artifacts()[4], key="m8", title="Rain", text="Umbrellas.", thread="t8"))
    _, model, _ = again(store)
    assert model.asked == []
    assert store.findings.get(1).revision == store.artifacts.revision()


@pytest.mark.parametrize("verdict", ["stands", "still_open", "concerns_person"])
def test_what_newer_artifacts_settle_lapses_with_the_reason_of_the_verdict(store, verdict):
    put(store, answer(text="We give you the large hall, which holds 90 people."))
    run, model, grounds = again(store, proof(**{verdict: False}, reason="The large hall was given."))
    finding = store.findings.get(1)
    assert (finding.state, finding.reason) == (State.LAPSED, "The large hall was given.")
    assert (run.lapsed, [call.purpose for call in run.calls]) == ([1], ["prove"])
    assert "We give you the large hall" in asked_text(model.asked[0])
    assert grounds.known[0].state is State.LAPSED


def test_what_still_stands_is_told_with_the_words_that_show_it_now(store):
    put(store, replace(artifacts()[1], text="We expect 75 participants in the garden hall."))
    quotes = (("a2", "We expect 75 participants"),)
    run, _, _ = again(store, proof(quotes, deadline="2026-04-10"))
    finding = store.findings.get(1)
    assert {(item.artifact, item.quote) for item in finding.evidence} == {
        QUOTES[0],
        (2, "We expect 75 participants"),
    }
    assert (finding.state, finding.updated, run.updated) == (State.NEW, TOMORROW, [1])
    assert finding.deadline is not None


def test_what_is_held_again_is_not_asked_again(store):
    put(store, answer(text="Please bring your own tea."))
    again(store, proof())
    _, model, _ = again(store)
    assert model.asked == []
    assert store.findings.get(1).state is State.NEW


def test_a_verdict_that_proves_nothing_changes_nothing(store):
    before = store.findings.get(1)
    put(store, answer(text="Please bring your own tea."))
    again(store, proof((("a1", "It says nothing like that at all"),)))
    assert store.findings.get(1).evidence == before.evidence
    assert store.findings.get(1).state is State.NEW


@pytest.mark.parametrize("state", [State.DISMISSED, State.DONE, State.LAPSED])
def test_what_is_put_away_is_not_proved_again(store, state):
    store.findings.set_state(1, state)
    put(store, answer(text="We give you the large hall."))
    _, model, _ = again(store)
    assert model.asked == []


def test_what_is_left_of_nothing_stays_as_it_is(store):
    from workspace import Batch, Gone

    for source, key in (("mail", "m1"), ("calendar", "e1")):
        store.artifacts.take(source, Batch((Gone(key),), {}))
    put(store, answer(text="We give you the large hall."))
    _, model, _ = again(store)
    assert (model.asked, store.findings.get(1).state) == ([], State.NEW)
