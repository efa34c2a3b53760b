from dataclasses import replace

import pytest

ANNA, BEN, CARLA, DAN = "anna@firm.example", "ben@firm.example", "carla@client.example", "dan@firm.example"


def visit(make, start="2026-03-26 10:00", title="Factory visit Lindau", **more):
    more.setdefault("organizer", BEN)
    more.setdefault("attendees", {ANNA: "accepted"})
    return make.event(title, start, **more)


def told(make, text, sent="2026-03-16 09:00", **more):
    more.setdefault("title", "Lindau")
    return make.mail(text, sent, **more)


def test_another_day_in_the_last_mail_on_an_event_is_told(make):
    mail = told(make, "All is set.\n\nThe factory visit in Lindau is on Wednesday 25 March, bring your shoes.")
    (found,) = make.see(visit(make), mail, kind="date-disagrees")
    assert "in the calendar on Thu 26 March 2026" in found.sentence
    assert "names Wed 25 March 2026" in found.sentence
    assert not found.certain
    assert found.evidence[0].quote == "The factory visit in Lindau is on Wednesday 25 March, bring your shoes."
    assert found.action.parameters["message"] == mail.label
    assert found.deadline == make.at("2026-03-25 09:00")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Werksbesichtigung Lindau", "Die Werksbesichtigung in Lindau ist am 25. März um zehn."),
        ("Visite d'usine Lindau", "La visite de l'usine de Lindau aura lieu le 25 mars."),
        ("Visita fabrica Lindau", "La visita a la fábrica de Lindau es el 25 de marzo."),
        ("린다우 공장 방문", "린다우 공장 방문은 3월 25일입니다."),
    ],
)
def test_it_is_seen_in_other_languages(make, title, text):
    assert len(make.see(visit(make, title=title), told(make, text), kind="date-disagrees")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The factory visit in Lindau is on Thursday 26 March.",
        "The factory visit in Lindau might be on 25 March.",
        "Could the factory visit in Lindau be on 25 March?",
        "If it snows, the factory visit in Lindau is on 25 March.",
        "The factory visit in Lindau was to be on 25 March.",
        "The factory visit in Lindau is moved from 25 March.",
        "Please send your size by 25 March for the factory visit in Lindau.",
        "The factory visit in Lindau is on 25 March or 27 March.",
        "The factory visit in Lindau is on 25 March, and the report on 30 March.",
        "The factory visit in Lindau was great on 25 March 2025.",
        "The factory in Bregenz is open on 25 March.",
        "> The factory visit in Lindau is on 25 March.",
        'Ben said "the factory visit in Lindau is on 25 March", which is nonsense.',
        "Die Werksbesichtigung wurde auf den 25. März verschoben.",
    ],
)
def test_agreeing_doubtful_quoted_and_other_days_are_left_alone(make, text):
    assert make.see(visit(make), told(make, text), kind="date-disagrees") == []


PLAIN = "The factory visit in Lindau is on 25 March."


@pytest.mark.parametrize(
    "later",
    [
        {"text": "Correction: the factory visit in Lindau is on 26 March."},
        {"text": "Sorry, Thursday 26 March it is.", "title": "Re: Lindau"},
        {"text": "The visit in Lindau will be on the 26th.", "title": "News"},
    ],
)
def test_a_later_word_that_names_the_day_of_the_entry_settles_it(make, later):
    first = told(make, PLAIN, thread="t")
    second = make.mail(**{"sent": "2026-03-17 09:00", "thread": "t", "title": "Lindau", **later})
    assert make.see(visit(make), first, second, kind="date-disagrees") == []


@pytest.mark.parametrize(
    "change",
    [
        {"start": "2026-03-16 10:00"},
        {"start": "2026-05-26 10:00"},
        {"cancelled": True},
        {"series": "weekly"},
        {"attendees": {ANNA: "declined"}},
        {"text": "Moved from 25 March."},
        {"end": "2026-03-28 10:00"},
        {"title": "Visit"},
    ],
    ids=str,
)
def test_events_that_are_over_far_called_off_repeated_or_say_it_themselves(make, change):
    assert make.see(visit(make, **change), told(make, PLAIN), kind="date-disagrees") == []


@pytest.mark.parametrize("change", [{"automatic": True}, {"sender": DAN}], ids=str)
def test_machines_and_strangers_set_no_dates(make, change):
    assert make.see(visit(make), told(make, PLAIN, **change), kind="date-disagrees") == []


def test_another_entry_on_the_named_day_is_what_the_text_is_about(make):
    other = visit(make, "2026-03-25 10:00", "Lindau, second group")
    assert make.see(visit(make), other, told(make, PLAIN), kind="date-disagrees") == []


def test_an_event_of_a_like_name_is_another_matter(make):
    assert make.see(visit(make, title="Factory visit Bregenz"), told(make, PLAIN), kind="date-disagrees") == []


def test_a_weekday_counts_in_the_week_before_it_only(make):
    text = "The factory visit in Lindau is on Friday."
    near = visit(make, "2026-03-19 10:00")
    assert len(make.see(near, told(make, text), kind="date-disagrees")) == 1
    assert make.see(near, told(make, text, "2026-02-25 09:00"), kind="date-disagrees") == []


def test_a_row_of_a_document_names_a_day_as_well(make):
    plan = make.document(
        "Plan.md", "| When | What |\n| Wed 25 March | Factory visit Lindau |\n| Fri 27 March | Report |"
    )
    (found,) = make.see(visit(make), plan, kind="date-disagrees")
    assert found.action.function_name == "create_task"


def test_a_task_that_is_due_after_the_day_that_a_text_sets_is_told(make):
    mail = told(make, "The tender documents for Lindau are due by 24 March, at noon.")
    task = make.task("Tender documents Lindau", "2026-03-27 12:00")
    (found,) = make.see(task, mail, kind="date-disagrees")
    assert found.template == "deadline-missing-from-plan"
    assert found.action.parameters["due"] == "2026-03-24"


@pytest.mark.parametrize(
    ("due", "text"),
    [
        ("2026-03-23 12:00", "The tender documents for Lindau are due by 24 March."),
        ("2026-03-27 12:00", "We print the tender documents for Lindau on 24 March."),
        ("2026-03-27 12:00", "The tender documents for Lindau are due by 27 March."),
        ("2026-03-27 12:00", "The tender documents for Lindau are due by 24 March, or so I hope."),
    ],
)
def test_tasks_that_are_due_in_time_or_about_something_else(make, due, text):
    assert make.see(make.task("Tender documents Lindau", due), told(make, text), kind="date-disagrees") == []


def test_the_deadline_of_another_project_is_another_matter(make):
    mail = told(make, "The tender documents for Bregenz are due by 24 March.", title="Bregenz")
    assert make.see(make.task("Tender documents Lindau", "2026-03-27 12:00"), mail, kind="date-disagrees") == []


def test_a_task_that_is_done_is_left_alone(make):
    task = replace(make.task("Tender documents Lindau", "2026-03-27 12:00"), status="done")
    mail = told(make, "The tender documents for Lindau are due by 24 March.")
    assert make.see(task, mail, kind="date-disagrees") == []
