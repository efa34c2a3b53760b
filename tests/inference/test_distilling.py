"""A template from solved cases: what a model may write is checked, and it is told what was wrong."""

import re
from zlib import crc32

import numpy as np
import pytest

from inference.distilling import distill, left_over, untested
from templates import load_cases, load_templates
from tests.inference.scripted import Scripted
from workspace import UserError

CASES = {case.id: case for case in load_cases()}
LEASE = CASES["copier-lease"]
OTHERS = [case for case in CASES.values() if case is not LEASE]
GOOD = {
    "name": "A lease that renews before anybody gives notice",
    "pattern": "A lease renews for a further term unless written notice is received days before its end. It is "
    "agreed to let the machine go, and no notice was sent.",
    "evidence_flow": [
        "A lease renews for further terms unless written notice is received days before the end of the term.",
        "Minutes say that it is agreed to let the machine go when the lease is up.",
        "A task or a quote is about the machines that come in its place, and no notice is among the sent mail.",
    ],
    "actions": ["send_email", "create_task"],
}


class Words:
    """Vectors of words: alike where they share words."""

    name, dimensions = "words", 4096

    def embed(self, texts):
        found = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in set(re.findall(r"[a-z]{4,}", text.lower())):
                found[row, crc32(word.encode()) % self.dimensions] = 1
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def write(*answers, capable=True):
    told = iter(answers)
    model = Scripted(lambda request: next(told), capable=capable)
    return model, lambda: distill([LEASE], OTHERS, NAMES, IDS, model, Words(), "5f0c2a9d17b3e468")


NAMES = [template.name for template in load_templates()]
IDS = [template.id for template in load_templates()]


def test_a_good_answer_becomes_a_template_of_its_cases():
    model, go = write(GOOD)
    made = go()
    assert (made.id, made.cases) == ("a-lease-that-renews-before-anybody", ("copier-lease",))
    assert made.actions == ("send_email", "create_task")
    assert len(model.asked) == 1
    assert "Brightcopy" in model.asked[0].messages[1].content


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pattern": "Danielle forgets the notice."}, "'danielle' is a name of the case copier-lease"),
        ({"pattern": "The lease ends on 30 April."}, "belongs to one case"),
        ({"name": NAMES[0]}, "there is a template called"),
        (
            {"evidence_flow": ["A choir sings at dawn.", "A ferry is cancelled for fog."]},
            "the evidence flow fits other cases as well",
        ),
        ({"actions": ["pray"]}, "actions"),
    ],
    ids=["name", "date", "taken", "untestable", "action"],
)
def test_what_was_wrong_is_told_and_it_is_written_anew(change, told):
    model, go = write({**GOOD, **change}, GOOD)
    assert go().name == GOOD["name"]
    assert len(model.asked) == 2
    assert told in model.asked[1].messages[-1].content


def test_after_three_tries_there_is_none_and_it_says_why():
    model, go = write(*[{**GOOD, "pattern": "Danielle forgets the notice."}] * 3)
    with pytest.raises(UserError, match=r"No template came of it in 3 tries: 'danielle' is a name"):
        go()
    assert len(model.asked) == 3


def test_a_model_that_is_too_small_is_not_asked():
    model, go = write(capable=False)
    with pytest.raises(UserError, match="too small to distil"):
        go()
    assert model.asked == []


def test_no_template_of_tide_holds_a_name_of_its_cases():
    assert [left_over(one, [CASES[name] for name in one.cases]) for one in load_templates()] == [[]] * len(IDS)


def test_a_flow_can_be_tested_if_there_is_nothing_to_hold_it_against():
    assert untested(load_templates()[0], [LEASE], [], Words()) == []
