"""Rounds: what is asked, of which views, until when, and how it is counted."""

from dataclasses import replace
from itertools import combinations

import pytest

from inference.models.contract import Cancelled
from inference.rounds import Found, ask_rounds
from templates import load_templates
from tests.inference.scripted import (
    NOTHING,
    NOW,
    Scripted,
    asked_text,
    fill,
    found,
    one_view,
    problem,
    script,
    setting,
)
from workspace import Run
from workspace.store import Store


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "tide.sqlite") as opened:
        fill(opened)
        yield opened


class Asking:
    """A run over views of the world's artifacts, with a scripted model."""

    def __init__(self, store, *answers, views=((1, 2, 3, 4, 5),), known=(), most=1, context=32_768, pool=None):
        run = store.runs.begin("test", NOW)
        self.model = Scripted(script(answers), context=context)
        self.setting = setting(store, self.model, run.id, pool, most)
        self.views = [one_view(view, store) for view in views]
        self.artifacts = store.artifacts.get([1, 2, 3, 4, 5])
        self.found = list(known)
        self.run = Run(id=run.id, strategy="tide", model="scripted", started=NOW)

    def go(self, rounds=10):
        self.named, self.closed = ask_rounds(
            self.views, self.artifacts, self.found, rounds, self.setting, self.run
        )
        return self

    def asked(self):
        return [count.asked for count in self.run.rounds]


def known(problem_said):
    return Found(problem_said["template"], frozenset(int(a[1:]) for a in problem_said["artifacts"]), "Known.")


def test_an_empty_first_answer_ends_the_rounds(store):
    asking = Asking(store, NOTHING).go()
    assert asking.asked() == [1]
    assert asking.named == []
    assert asking.closed == asking.views


def test_a_view_is_asked_until_it_has_nothing_new(store):
    asking = Asking(store, found(problem()), found(problem(("a3", "a4"))), NOTHING).go()
    assert asking.asked() == [1, 1, 1]
    assert [item.round for item in asking.named] == [1, 2]
    assert asking.closed == asking.views


def test_only_open_views_are_asked_again(store):
    asking = Asking(store, NOTHING, found(problem()), NOTHING, views=((3, 4), (1, 2))).go()
    assert asking.asked() == [2, 1]
    assert asking.closed == asking.views


def test_the_round_limit_leaves_a_view_open(store):
    asking = Asking(store, found(problem()), found(problem(("a3", "a4")))).go(rounds=2)
    assert asking.asked() == [1, 1]
    assert asking.closed == []


def test_what_was_found_is_told_in_order_and_stays_where_it_was_told(store):
    asking = Asking(
        store, found(problem()), found(problem(("a3", "a4"))), NOTHING, known=[known(problem(("a5",)))]
    ).go()
    first, second, third = (asked_text(request) for request in asking.model.asked)
    ask = first[first.rindex("</data-") :]
    assert second.startswith(first.removesuffix(ask))
    assert third.startswith(second.removesuffix(ask))
    assert third.index("a5: Known.") < third.index("a1, a2: The garden") < third.index("a3, a4: The garden")


def test_the_constant_part_is_the_same_in_every_call(store):
    asking = Asking(store, found(problem()), NOTHING, views=((1, 2), (3, 4))).go()
    assert len({request.messages[0].content for request in asking.model.asked}) == 1


def test_a_view_is_told_only_what_touches_it(store):
    earlier = [known(problem(("a3",))), known(problem(("a2", "a5")))]
    asking = Asking(store, NOTHING, views=((1, 2),), known=earlier).go()
    told = asked_text(asking.model.asked[0])
    assert "a2, a5: Known." in told
    assert "a3: Known." not in told


def test_what_is_known_is_counted_and_not_named_again(store):
    asking = Asking(store, found(problem()), known=[known(problem())]).go()
    assert asking.named == []
    assert asking.run.rounds[0].known == 1
    assert asking.closed == asking.views


def test_a_repeat_in_other_words_or_mostly_the_same_artifacts_is_known(store):
    asking = Asking(store, found(problem()), found(problem(("a1", "a2", "a3")) | {"problem": "Too many!"})).go()
    assert len(asking.named) == 1
    assert [count.known for count in asking.run.rounds] == [0, 1]


def test_another_problem_with_one_shared_artifact_is_new(store):
    asking = Asking(store, found(problem()), found(problem(("a1", "a3"), template="promise-not-kept"))).go()
    assert len(asking.named) == 2


def test_a_view_that_named_what_another_was_quicker_to_name_is_asked_again(store):
    asking = Asking(store, found(problem()), found(problem()), views=((1, 2), (1, 2, 3))).go()
    assert asking.asked() == [2, 2]
    assert len(asking.named) == 1
    assert asking.run.rounds[0].known == 1
    assert "a1, a2: The garden" in asked_text(asking.model.asked[3])


def test_an_answer_that_is_not_valid_is_counted_and_leaves_the_view_for_another_day(store):
    asking = Asking(store, '{"thought": "', found(problem())).go()
    assert asking.asked() == [1]
    assert asking.run.rounds[0].dropped == {"invalid": 1}
    assert asking.run.dropped[0].check == "invalid"
    assert asking.closed == []


def test_several_problems_a_call_where_they_are_asked_for(store):
    asking = Asking(store, found(problem(), problem(("a3", "a4"))), NOTHING, most=2).go()
    assert len(asking.named) == 2
    assert asking.run.rounds[0].candidates == 2


def test_the_first_call_of_a_run_goes_alone_so_that_its_prefix_is_cached(store):
    asking = Asking(store, views=((1, 2), (3, 4), (5,)))
    batches = []
    generate = asking.model.generate
    asking.model.generate = lambda requests, heard: batches.append(len(requests)) or generate(requests, heard)
    asking.go()
    assert batches == [1, 2]


def test_tokens_are_counted_by_round_and_by_call(store):
    asking = Asking(store, found(problem()), NOTHING).go()
    assert [(call.purpose, call.round) for call in asking.run.calls] == [("ask", 1), ("ask", 2)]
    for call, count in zip(asking.run.calls, asking.run.rounds, strict=True):
        assert (call.prompt_tokens, call.cached_tokens, call.output_tokens) == (
            count.prompt_tokens,
            count.cached_tokens,
            count.output_tokens,
        )


def test_a_story_that_is_longer_than_planned_is_cut_instead_of_sent(store):
    asking = Asking(store, NOTHING)
    asking.views[0] = replace(asking.views[0], text="The beginning. " + "word " * 60_000)
    asking.go()
    assert "The beginning." in asked_text(asking.model.asked[0])


def test_a_view_is_no_longer_asked_when_what_was_found_fills_the_context(store):
    pool = load_templates()[:2]
    labels = [f"a{row}" for row in range(1, 6)]
    different = [
        *(problem((label,), pool[0].id) for label in labels),
        *(problem(pair, pool[1].id) for pair in combinations(labels, 2)),
    ]
    different = [found({**one, "problem": "The garden hall is too small. " * 5}) for one in different]
    asking = Asking(store, *different, context=8_000, pool=pool)
    asking.views[0] = replace(asking.views[0], text="word " * 60_000)
    asking.go(rounds=len(different))
    assert 1 < len(asking.model.asked) < len(different)
    assert asking.closed == []


def test_cancelling_passes_through(store):
    asking = Asking(store, Cancelled())
    with pytest.raises(Cancelled):
        asking.go()


def test_the_answer_type_lists_what_the_view_shows(store):
    asking = Asking(store, NOTHING, views=((2, 4),)).go()
    schema = asking.model.asked[0].schema
    schema.model_validate(found(problem(("a2", "a4"))))
    with pytest.raises(ValueError, match="'a2' or 'a4'"):
        schema.model_validate(found(problem(("a1",))))
