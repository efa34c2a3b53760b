"""Stories and views: what belongs together is shown together, once, within a counted budget."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from inference.embedding import SentenceEmbedder
from inference.observations import Observation
from inference.stories import select
from templates import load_templates
from tests.inference.small_world import (
    FILLER,
    NOW,
    PROFILE,
    Sample,
    add,
    count,
    event,
    ids_of,
    mail,
    open_index,
    open_store,
)
from workspace import Action, Artifact, Batch, Evidence, Kind, Person, Put, Role


@pytest.fixture(scope="module")
def minilm():
    return SentenceEmbedder()


@pytest.fixture(scope="module")
def templates():
    return load_templates()


@pytest.fixture(scope="module")
def sample(tmp_path_factory, minilm):
    made = Sample(tmp_path_factory.mktemp("sample"), minilm, notes=True)
    yield made
    made.store.close()


@pytest.fixture
def views_of(tmp_path, minilm, templates):
    """`views_of(artifacts, seeds=[...], ...)`: the views, and key -> id."""
    opened = []

    def build(artifacts, seeds, *, observations=lambda ids: (), window=None, view_tokens=300, **other):
        store = open_store(tmp_path / f"{len(opened)}.sqlite", artifacts)
        opened.append(store)
        index = open_index(store, minilm, tmp_path)
        ids = ids_of(store)
        views = select(
            store, index, minilm, observations(ids), templates, PROFILE, NOW,
            seeds=[ids[key] for key in seeds], window=None if window is None else [ids[key] for key in window],
            view_tokens=view_tokens, count=count, **other,
        ).views  # fmt: skip
        return views, ids

    yield build
    for store in opened:
        store.close()


def observed(ids, *keys, sentence="Both are at the same time."):
    evidence = tuple(Evidence(artifact=ids[key], quote=key) for key in keys)
    action = Action(function_name="create_task", parameters={"title": "x", "due": "2026-05-20", "notes": ""})
    return Observation("overlap", sentence, evidence, True, "time-clash", "why", action, None, 0.5)


def sample_views(sample, minilm, templates, **other):
    values = {"seeds": sorted(sample.ids.values()), "window": None, "view_tokens": 3000, **other}
    return select(
        sample.store, sample.index, minilm, (), templates, sample.profile, sample.now, count=count, **values
    ).views


def test_the_evidence_of_every_problem_of_the_sample_is_together_in_one_view(sample, minilm, templates):
    views = sample_views(sample, minilm, templates)
    for problem, evidence in sample.problems.items():
        assert any(evidence <= set(view.artifacts) for view in views), problem
    assert len(views) < len(sample.ids) / 2
    assert all(count(view.text) <= 3000 for view in views)
    assert {seed for view in views for seed in view.seeds} == set(sample.ids.values())
    # Those asked first show most of them.
    early = [set(view.artifacts) for view in views[: len(views) // 2]]
    reached = [any(evidence <= shown for shown in early) for evidence in sample.problems.values()]
    assert sum(reached) >= 5


def test_the_same_store_gives_the_same_bytes(sample, minilm, templates):
    seeds = sorted(sample.ids.values())[:12]
    first = sample_views(sample, minilm, templates, seeds=seeds)
    second = sample_views(sample, minilm, templates, seeds=seeds)
    assert [(view.text, view.digest, view.templates) for view in first] == [
        (view.text, view.digest, view.templates) for view in second
    ]


def test_a_window_that_fits_is_one_view_in_the_order_of_time(sample, minilm, templates):
    everything = list(sample.ids.values())
    (view,) = sample_views(sample, minilm, templates, seeds=everything[:5], window=everything, view_tokens=20_000)
    assert set(view.artifacts) == set(everything)
    assert view.seeds == tuple(sorted(everything[:5]))
    blocks = view.text.splitlines()
    assert [block.split("]")[0] for block in blocks] == [f"[a{artifact}" for artifact in view.artifacts]
    assert len(view.templates) <= 6


def test_no_seeds_no_views(views_of):
    assert views_of(FILLER, [])[0] == []


def test_a_larger_view_holds_several_stories(views_of):
    artifacts = [*FILLER, mail("a", "Gantly Print, quote 2026-318"), mail("b", "Brannigan, plant room 44-B")]
    small, _ = views_of(artifacts, ["a", "b", "f1", "f5", "f9"], view_tokens=130)
    large, ids = views_of(artifacts, ["a", "b", "f1", "f5", "f9"], view_tokens=450)
    assert len(large) < len(small)
    assert all(count(view.text) <= 450 for view in large)
    assert {seed for view in large for seed in view.seeds} == {ids[key] for key in ("a", "b", "f1", "f5", "f9")}


def test_an_observation_brings_its_evidence_and_comes_first(views_of):
    artifacts = [event("one", "Choir"), event("two", "Dentist", location="Cork"), *FILLER]
    views, ids = views_of(
        artifacts, ["f3", "one", "f7"], observations=lambda ids: [observed(ids, "one", "two")], view_tokens=160
    )
    first = views[0]
    assert {ids["one"], ids["two"]} <= set(first.artifacts)
    assert [one.kind for one in first.observations] == ["overlap"]
    assert first.text.endswith(f"- Both are at the same time. (a{ids['one']}, a{ids['two']})")
    assert all(count(view.text) <= 160 for view in views)


def test_counted_days_do_not_make_a_view_new(views_of):
    artifacts = [event("one", "Choir"), event("two", "Dentist"), *FILLER]

    def digests(sentence):
        views, _ = views_of(
            artifacts, ["one"], observations=lambda ids: [observed(ids, "one", "two", sentence=sentence)]
        )
        return [view.digest for view in views]

    assert digests("It has waited for 3 days.") == digests("It has waited for 4 days.")
    changed = [event("one", "Choir, moved"), *artifacts[1:]]
    views, _ = views_of(changed, ["one"], observations=lambda ids: [observed(ids, "one", "two")])
    assert views[0].digest != digests("x")[0]


def test_an_attachment_comes_with_its_mail(views_of):
    file = Artifact(
        "mail", "file", Kind.DOCUMENT, "plan.txt", "Rows and columns of figures.", time=NOW, parent="a"
    )
    artifacts = [mail("a", "The Vestfjord plan is attached."), file, mail("b", "About Vestfjord."), *FILLER]
    views, ids = views_of(artifacts, ["b"], view_tokens=150)
    assert {ids["a"], ids["file"]} <= set(views[0].artifacts)


def test_the_same_message_in_two_sources_is_shown_once(tmp_path, minilm, templates):
    double = mail("<1@x.example>", "The Vestfjord crates arrive.", title="Crates")
    copy = mail("<1@x.example>", "The Vestfjord crates arrive.\nFooter of the list", title="Crates")
    artifacts = [double, mail("<2@x.example>", "Vestfjord crates: thanks.", title="Crates"), *FILLER]
    with open_store(tmp_path / "two.sqlite", artifacts) as store:
        store.artifacts.add_source("copy", "maildir", "/copy", NOW)
        store.artifacts.take("copy", Batch((Put(replace(copy, source="copy")),), {}))
        index = open_index(store, minilm, tmp_path)
        everything = [artifact.id for artifact in store.artifacts.all()]
        for window in (None, everything):
            views = select(
                store, index, minilm, (), templates, PROFILE, NOW,
                seeds=everything, window=window, view_tokens=4000, count=count,
            ).views  # fmt: skip
            assert all(view.text.count("The Vestfjord crates arrive.") <= 1 for view in views)


def test_a_series_is_shown_by_its_next_occurrence_and_what_differs(views_of):
    weekly = [
        event(f"w{n}", "Vestfjord loan call", days=7 * n - 70, series="s", recurrence="FREQ=WEEKLY")
        for n in range(40)
    ]
    moved = event("moved", "Vestfjord loan call, in Cork", days=33, series="s")
    views, ids = views_of(
        [*weekly, moved, mail("seed", "Vestfjord loan call: agenda?"), *FILLER], ["seed"], view_tokens=400
    )
    shown = set(views[0].artifacts)
    assert {ids[f"w{n}"] for n in range(40)} & shown == {ids["w10"]}
    assert ids["moved"] in shown
    assert "one of 41 from 2026-03-09 to 2026-12-07" in views[0].text


def test_only_what_differs_in_a_series_is_a_seed_beside_the_next_occurrence(views_of):
    weekly = [event(f"w{n}", "Yoga", days=7 * n - 70, series="s", recurrence="FREQ=WEEKLY") for n in range(40)]
    una = (Person(Role.ATTENDEE, "Una Byrne", "una@x.example", "declined"),)
    moved = {2: {"days": -55}, 14: {"text": "Bring a mat."}, 16: {"cancelled": True}, 18: {"people": una}}
    for n, change in moved.items():
        weekly[n] = event(f"w{n}", "Yoga", series="s", **{"days": 7 * n - 70, **change})
    clash = event("clash", "Dentist", days=7 * 20 - 70)
    everything = [*weekly, clash, *FILLER]
    keys = [artifact.key for artifact in everything]
    expected = {"w10", "w2", "w14", "w16", "w18", "w20", "clash"}
    for window, tokens in ((None, 400), (keys, 4000)):
        views, ids = views_of(
            everything,
            keys,
            observations=lambda ids: [observed(ids, "w20", "clash")],
            window=window,
            view_tokens=tokens,
        )
        names = {number: key for key, number in ids.items()}
        shown = {names[artifact] for view in views for artifact in view.artifacts}
        assert shown == expected | {artifact.key for artifact in FILLER}
        seeds = {names[seed] for view in views for seed in view.seeds}
        assert seeds == shown


def test_a_series_that_is_over_is_shown_by_its_last_occurrence(views_of):
    weekly = [event(f"w{n}", "Yoga", days=7 * n - 70, series="s") for n in range(9)]
    views, ids = views_of([*weekly, *FILLER], [artifact.key for artifact in weekly])
    assert [view.seeds for view in views] == [(ids["w8"],)]
    assert not {ids[f"w{n}"] for n in range(8)} & set(views[0].artifacts)


def test_clocks_that_change_and_days_of_the_month_move_no_occurrence(views_of):
    # 16:00 in UTC all year, which is another hour here in winter; and the 18th, whatever its weekday.
    call = [event(f"c{n}", "Call", days=7 * n - 175, series="c", recurrence="FREQ=WEEKLY") for n in range(52)]
    rent = [
        replace(
            event(f"r{n}", "Rent", series="r", recurrence="FREQ=MONTHLY", all_day=True),
            time=datetime(2026, n + 1, 18, tzinfo=UTC), end=datetime(2026, n + 1, 19, tzinfo=UTC),
        )
        for n in range(12)
    ]  # fmt: skip
    keys = [artifact.key for artifact in (*call, *rent)]
    views, ids = views_of([*call, *rent], keys, window=keys, view_tokens=4000)
    assert set(views[0].artifacts) == {ids["c25"], ids["r4"]}


def test_a_mail_tells_what_its_thread_holds_after_it_and_how_much_is_not_shown(views_of):
    asked = mail("asked", "Vestfjord: Tuesday or Wednesday?", days=-9, thread="t", title="Vestfjord")
    replies = [
        mail(f"r{n}", "Vestfjord: " + "so it goes on, " * 25, days=n - 9, thread="t", title="Re: Vestfjord")
        for n in (1, 2)
    ]
    alone = mail("alone", "Vestfjord: who has the key?", thread="u", title="Key")
    artifacts = [asked, *replies, alone, mail("loose", "Vestfjord is far.", title="Far"), *FILLER]

    def told(view):
        return {
            line.split("] ")[0][1:]: next((p for p in line.split(" | ") if "in its thread" in p), "")
            for line in view.text.splitlines()
        }

    views, ids = views_of(artifacts, ["asked"], view_tokens=1500)
    assert {key: told(views[0])[f"a{ids[key]}"] for key in ("asked", "r1", "r2", "alone", "loose")} == {
        "asked": "2 later in its thread",
        "r1": "1 later in its thread",
        "r2": "last in its thread",
        "alone": "last in its thread",
        "loose": "",
    }
    views, ids = views_of(artifacts, ["asked"], view_tokens=200)
    shown = {ids["r1"], ids["r2"]} & set(views[0].artifacts)
    missing = 2 - len(shown)
    assert missing
    assert told(views[0])[f"a{ids['asked']}"] == f"2 later in its thread, {missing} of them not shown"
    assert count(views[0].text) <= 200


def test_a_block_too_long_for_a_view_is_cut(views_of):
    long = mail("long", "\u8cc7\u6599 " * 3000)
    views, ids = views_of([long, *FILLER], ["long"], view_tokens=200, full_text=True)
    assert views[0].seeds == (ids["long"],)
    assert count(views[0].text) <= 200


def test_a_seed_that_is_gone_is_left_out(sample, minilm, templates):
    assert sample_views(sample, minilm, templates, seeds=[99_999]) == []


def test_new_artifacts_elsewhere_leave_a_view_as_it_was(tmp_path, minilm, templates):
    artifacts = [
        mail("a", "Gantly Print, quote 2026-318"),
        mail("b", "Gantly Print and 2026-318: signed?"),
        *FILLER,
    ]
    with open_store(tmp_path / "tide.sqlite", artifacts) as store:

        def look():
            index = open_index(store, minilm, tmp_path)
            return select(
                store, index, minilm, (), templates, PROFILE, NOW,
                seeds=[ids_of(store)["a"]], window=None, view_tokens=100, count=count,
            ).views  # fmt: skip

        before = look()
        add(store, mail("new", "Ein Ausflug nach Kassel", sender="X Y", time=NOW + timedelta(days=200)))
        after = look()
    assert [view.digest for view in before] == [view.digest for view in after]
