"""Covering: the story that shows most that is new is asked next, and what is shown already is not asked again."""

from inference.covering import in_order, joined
from inference.growth import Story


class Ties:
    """Links of known strength between artifacts."""

    def __init__(self, **strengths):
        self._strengths = {frozenset(map(int, pair.split("_")[1:])): value for pair, value in strengths.items()}

    def known(self, one, other):
        return self._strengths.get(frozenset((one, other)), 0.0)


def story(*members):
    return Story(members[0], list(members), 10 * len(members))


NOTHING = ((), (), ())


def test_the_story_that_adds_most_comes_next():
    links = Ties(_1_2=0.9, _2_3=0.9, _3_4=0.5, _5_6=0.6)
    # The second and third together hold all of the first; what it adds is known once they were asked.
    stories = [story(1, 2), story(5, 6), story(2, 1, 3, 4)]
    assert in_order(stories, NOTHING, links) == [2, 1, 0]


def test_equals_keep_their_order():
    links = Ties(_1_2=0.5, _3_4=0.5, _5_6=0.5)
    assert in_order([story(1, 2), story(3, 4), story(5, 6)], NOTHING, links) == [0, 1, 2]


def test_an_observation_weighs_more_than_links():
    links = Ties(_1_2=0.9, _3_4=0.2)
    assert in_order([story(1, 2), story(3, 4)], [(), (7,)], links) == [1, 0]


def test_a_story_that_is_shown_whole_is_one_with_that():
    links = Ties(_1_2=0.9, _2_3=0.9, _1_3=0.5)
    assert joined([story(1, 2, 3), story(2, 1, 3), story(3, 2)], links) == [(0, [1, 2, 3])]


def test_evidence_that_is_only_shown_two_by_two_is_asked_together():
    links = Ties(_1_2=0.7, _1_3=0.7, _2_3=0.7)
    stories = [story(2, 1), story(3, 1), story(1, 2, 3)]
    assert joined(stories, links) == [(0, [2]), (1, [3]), (2, [1])]


def test_a_seed_that_no_story_shows_is_asked():
    assert joined([story(1, 2), story(3)], Ties(_1_2=0.9)) == [(0, [1]), (1, [3])]


def test_without_links_all_members_must_be_shown():
    assert joined([story(2, 1, 3), story(1, 2), story(1, 4)], Ties()) == [(0, [2, 1]), (2, [1])]
