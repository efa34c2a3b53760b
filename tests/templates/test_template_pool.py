"""The pool that comes with Tide: complete, free of near-duplicates, and each template backed by a case."""

import re
from itertools import combinations

import pytest

from templates import SolvedCase, Template, load_cases, load_templates, render

POOL = load_templates()
CASES = {case.id: case for case in load_cases()}

# Classes that computed observations refer to by id.
OBSERVED = {
    "due-during-absence",
    "invitation-unanswered",
    "meeting-without-audience",
    "overlapping-commitments",
    "question-left-unanswered",
    "reply-never-came",
    "task-past-due",
}

# Words that carry no meaning for telling two classes apart.
STOP = frozenset(
    re.findall(
        r"\S+",
        """a about after an and any are as at be been before but by can can't did do does else for
        from given has have in is it its least made make more must no nobody not nothing of on one
        or other others out own person says shows so some somebody something states still such that
        the their them there they thing this through time to was were which who whoever will with
        without yet message document date day named""",
    )
)


def _ids(values: object) -> str:
    return getattr(values, "id", "")


def test_the_pool_has_forty_templates_sorted_by_id() -> None:
    assert len(POOL) == 40
    assert [template.id for template in POOL] == sorted(template.id for template in POOL)


def test_the_classes_that_can_be_computed_are_in_the_pool() -> None:
    assert {template.id for template in POOL} >= OBSERVED


def test_every_case_is_behind_a_template() -> None:
    assert {case for template in POOL for case in template.cases} == set(CASES)


def test_no_two_cases_are_about_the_same_person() -> None:
    assert len({case.persona.name for case in CASES.values()}) == len(CASES)


@pytest.mark.parametrize("template", POOL, ids=_ids)
def test_a_case_was_resolved_by_an_action_that_its_template_names(template: Template) -> None:
    for case in template.cases:
        assert CASES[case].resolved.function_name in template.actions


@pytest.mark.parametrize("template", POOL, ids=_ids)
def test_a_template_is_short_enough_for_forty_of_them_to_precede_every_story(template: Template) -> None:
    assert len(render(template).split()) <= 125


@pytest.mark.parametrize("template", POOL, ids=_ids)
def test_a_template_names_nobody_from_its_cases(template: Template) -> None:
    said = set(re.findall(r"\w+", render(template).casefold()))
    for case in template.cases:
        assert not said & set(CASES[case].persona.name.casefold().split())


@pytest.mark.parametrize("case", CASES.values(), ids=_ids)
def test_a_case_is_found_from_every_one_of_its_artifacts(case: SolvedCase) -> None:
    told = set(re.findall(r"\ba\d+\b", case.found))
    assert told == {artifact.id for artifact in case.artifacts}
    assert 3 <= len(told) <= 6


@pytest.mark.parametrize("case", CASES.values(), ids=_ids)
def test_a_case_rests_on_two_kinds_of_artifacts_or_more(case: SolvedCase) -> None:
    kinds = {artifact.kind for artifact in case.artifacts}
    assert len(kinds) >= 2


@pytest.mark.parametrize("case", CASES.values(), ids=_ids)
def test_no_mail_or_document_of_a_case_is_newer_than_the_moment_of_finding(case: SolvedCase) -> None:
    for artifact in case.artifacts:
        written = {"email": "sent", "document": "modified"}.get(artifact.kind)
        if written:
            assert getattr(artifact, written) <= case.now


@pytest.mark.parametrize("case", CASES.values(), ids=_ids)
def test_a_passage_to_replace_stands_in_its_document(case: SolvedCase) -> None:
    texts = {artifact.id: getattr(artifact, "text", "") for artifact in case.artifacts}
    parameters = case.resolved.parameters
    if case.resolved.function_name == "update_document":
        assert texts[parameters["document"]].count(parameters["find"]) == 1


def test_no_two_templates_describe_the_same_class() -> None:
    words = {template.id: _words(template) for template in POOL}
    alike = {
        (one, two): len(words[one] & words[two]) / len(words[one] | words[two])
        for one, two in combinations(words, 2)
    }
    closest = max(alike, key=lambda pair: alike[pair])
    assert alike[closest] < 0.22, closest


def test_no_step_is_used_by_two_templates() -> None:
    steps = [step for template in POOL for step in template.evidence_flow]
    assert len(steps) == len(set(steps))


def test_a_template_is_rendered_as_id_name_pattern_and_numbered_flow() -> None:
    template = Template(
        id="late-thing",
        name="A late thing",
        pattern="It is late.",
        evidence_flow=("It was due.", "It is not there."),
        actions=("send_email",),
        cases=("one",),
    )
    assert render(template) == "[late-thing] A late thing / It is late. / (1) It was due. (2) It is not there."


def _words(template: Template) -> frozenset[str]:
    text = " ".join((template.name, template.pattern, *template.evidence_flow))
    return frozenset(re.findall(r"[a-z']+", text.casefold())) - STOP
