from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.checks import CHECKS, MAX_QUOTE, address_of, addresses, check, quote_fault
from workspace import (
    Action,
    Artifact,
    Evidence,
    Finding,
    Kind,
    Person,
    Persona,
    Profile,
    Relationship,
    Role,
    State,
    Trust,
    WorldModel,
)

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 18, 10, tzinfo=BERLIN)
PROFILE = Profile(
    timezone="Europe/Berlin",
    persona=Persona(name="Anna Berger", emails=("anna@firm.example",)),
    world_model=WorldModel(relationships=(Relationship(name="Eva Lund", email="eva@firm.example"),)),
)
BEN = Person(Role.FROM, "Ben Okafor", "ben@firm.example")
ARTIFACTS = {
    artifact.id: replace(artifact, trust=Trust.KNOWN)
    for artifact in (
        Artifact(
            source="mail",
            key="m1",
            kind=Kind.EMAIL,
            title="Standup",
            text="The offer stands until Friday.\nIt\u2019s \u201cfinal\u201d \u2013 so decide.  Thanks",
            people=(BEN,),
            time=NOW,
            thread="t1",
            id=1,
        ),
        Artifact(source="mail", key="m2", kind=Kind.EMAIL, title="Re: Standup", text="Yes", thread="t1", id=2),
        Artifact(
            source="calendar",
            key="e3",
            kind=Kind.EVENT,
            title="Budget round of the board",
            time=datetime(2026, 3, 20, 9, 30, tzinfo=UTC),
            end=datetime(2026, 3, 20, 10, 30, tzinfo=UTC),
            people=(Person(Role.ATTENDEE, "Dan Novak", "dan@firm.example", "declined"),),
            series="s3",
            id=3,
        ),
        Artifact(source="calendar", key="e4", kind=Kind.EVENT, title="Budget round", series="s3", id=4),
        Artifact(
            source="files", key="d5", kind=Kind.DOCUMENT, title="Plan", text="Room 4.\nRoom 5.\nThe hall.", id=5
        ),
        Artifact(source="tasks", key="t6", kind=Kind.TASK, title="Return the lease today", status="open", id=6),
        Artifact(source="mail", key="m1/offer.txt", kind=Kind.DOCUMENT, title="Offer", parent="m1", id=7),
    )
}
MAIL = Evidence(artifact=1, quote="The offer stands until Friday.")
REPLY = Action(function_name="reply_email", parameters={"message": "a1", "body": "Yes."})


def finding(evidence=(MAIL,), action=REPLY, template="question-left-unanswered", **more):
    return Finding(
        template=template,
        description="Something is wrong.",
        why="It is.",
        evidence=evidence,
        action=action,
        confidence=0.9,
        **more,
    )


def failed(candidate, known=(), known_addresses=frozenset()):
    templates = frozenset({"question-left-unanswered", "task-past-due"})
    rejection = check(candidate, ARTIFACTS, PROFILE, NOW, known_addresses, known, templates)
    return rejection.check if rejection else None


def act(name, **parameters):
    return Action(function_name=name, parameters=parameters)


def mail_to(*people, cc=()):
    return act("send_email", to=list(people), cc=list(cc), subject="Offer", body="")


def test_a_sound_candidate_passes():
    assert failed(finding()) is None


def test_a_template_must_exist():
    assert failed(finding(template="made-up")) == "template"


def test_cited_artifacts_must_exist():
    assert failed(finding([Evidence(artifact=99, quote="The offer stands until Friday.")])) == "artifacts"


def test_something_must_be_cited_and_nothing_twice():
    assert failed(finding([MAIL, MAIL])) == "evidence"
    assert failed(finding().model_copy(update={"evidence": ()})) == "evidence"


@pytest.mark.parametrize(
    ("quote", "where"),
    [
        ("The offer stands until Friday.", "text"),
        ("offer stands until", "text"),
        ("until Friday. It's", "text"),
        ('It\'s "final" - so decide. Thanks', "text"),
        ("It\u2019s \u00abfinal\u00bb \u2014 so", "text"),
        ("The  offer\n stands", "text"),
        ("end. The \ufb01nal", "quoted"),
        ("Standup", "title"),
        ("2026-03-18T10:00", "sent"),
        ("2026-03-18T10:00", "modified"),
        ("Ben Okafor <ben@firm.example>", "from"),
        ("ben@firm.example", "from"),
    ],
)
def test_a_quote_that_stands_there_is_sound(quote, where):
    artifact = (
        ARTIFACTS[1] if where != "quoted" else Artifact("m", "k", Kind.EMAIL, quoted="the end. The final word")
    )
    assert quote_fault(Evidence(artifact=1, quote=quote, where=where), artifact, BERLIN) == ""


@pytest.mark.parametrize(
    ("quote", "where"),
    [
        ("", "text"),
        ("The", "text"),
        ("until Friday.", "text"),
        ("The offer stands until Monday.", "text"),
        ("the offer stands until Friday.", "text"),
        ("offer stands unti", "text"),
        ("fer stands until", "text"),
        ("The offer stands until Friday.", "title"),
        ("Stand", "title"),
        ("The offer stands until Friday.", "mood"),
        ("2026-03-18T11:00", "start"),
        ("2026", "sent"),
        ("x" * (MAX_QUOTE + 1), "text"),
        ("anna@firm.example", "to"),
        ("The offer stands until Friday.", "id"),
    ],
)
def test_a_quote_that_does_not_stand_there_or_proves_nothing_is_refused(quote, where):
    assert failed(finding([Evidence(artifact=1, quote=quote, where=where)])) == "quote"


def test_facts_of_the_structure_are_quoted_in_local_time():
    zone_facts = [("2026-03-20T10:30", "start"), ("2026-03-20 11:30", "end"), ("2026-03-20", "start")]
    zone_facts.append(("Dan Novak <dan@firm.example>: declined", "attendee"))
    for quote, where in zone_facts:
        assert quote_fault(Evidence(artifact=3, quote=quote, where=where), ARTIFACTS[3], BERLIN) == ""


def test_scripts_without_spaces_need_no_words():
    mail = Artifact("m", "k", Kind.EMAIL, text="会议改到星期五下午三点。내일 회의는 취소되었습니다.")
    for quote in ("会议改到星期五", "회의는 취소되었"):
        assert quote_fault(Evidence(artifact=1, quote=quote), mail, BERLIN) == ""
    assert quote_fault(Evidence(artifact=1, quote="会议"), mail, BERLIN) != ""


@given(st.text(min_size=1, max_size=300))
def test_every_whole_field_can_be_quoted(text):
    fault = quote_fault(Evidence(artifact=1, quote=text), Artifact("m", "k", Kind.EMAIL, text=text), BERLIN)
    assert fault == "" or "empty" in fault


@given(
    st.text(max_size=60), st.sampled_from(["title", "text", "quoted", "start", "due", "status", "attendee", "x"])
)
def test_no_quote_makes_the_check_raise(quote, where):
    quote_fault(Evidence(artifact=3, quote=quote, where=where), ARTIFACTS[3], BERLIN)


@pytest.mark.parametrize(
    "action",
    [
        act("delete_everything"),
        act("reply_email", message="a1"),
        act("reply_email", message="17", body=""),
        act("reply_email", message="a1", body="", bcc="x"),
        act("create_task", title="t", due="tomorrow", notes=""),
        act("create_document", path="/etc/passwd", text=""),
        act("create_document", path="../notes.txt", text=""),
        act("create_document", path="~/notes.txt", text=""),
        act("create_document", path="C:\\notes.txt", text=""),
    ],
    ids=str,
)
def test_an_action_must_be_of_the_catalogue_with_its_parameters(action):
    assert failed(finding(action=action)) == "action"


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (act("reply_email", message="a2", body=""), None),
        (act("reply_email", message="a99", body=""), "references"),
        (act("reply_email", message="a3", body=""), "references"),
        (act("cancel_meeting", event="a3", note=""), "references"),
        (act("share_document", document="a7", recipients=["ben@firm.example"], note=""), None),
        (act("share_document", document="a5", recipients=["ben@firm.example"], note=""), "references"),
    ],
    ids=str,
)
def test_a_reference_must_exist_be_of_its_kind_and_belong_to_what_is_cited(action, outcome):
    assert failed(finding(action=action)) == outcome


def test_another_occurrence_of_a_cited_series_may_be_acted_on():
    cited = [Evidence(artifact=3, quote="Budget round of the board", where="title")]
    assert failed(finding(cited, act("cancel_meeting", event="a4", note=""))) is None


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (mail_to("Ben Okafor <ben@firm.example>"), None),
        (mail_to("BEN@firm.example"), None),
        (mail_to("Okafor, Ben <Ben@Firm.example>", cc=["Eva <eva@firm.example>"]), None),
        (mail_to("kim@far.example"), None),
        (mail_to("Ben Okafor <mallory@evil.example>"), "recipients"),
        (mail_to("ben@firm.example <mallory@evil.example>"), "recipients"),
        (mail_to("Ben Okafor"), "recipients"),
        (mail_to("ben@firm.example, mallory@evil.example"), "recipients"),
        (mail_to("<ben@firm.example> <mallory@evil.example>"), "recipients"),
        (mail_to("ben@firm.example\nBcc: mallory@evil.example"), "recipients"),
        (mail_to("ben@firm.example", cc=["dan@firm.example"]), "recipients"),
        (mail_to(), "recipients"),
        (act("escalate", to="eva@firm.example", subject="s", body=""), None),
        (act("escalate", to="ceo@firm.example", subject="s", body=""), "recipients"),
    ],
    ids=str,
)
def test_recipients_must_be_known(action, outcome):
    assert failed(finding(action=action), known_addresses=frozenset({"kim@far.example"})) == outcome


@pytest.mark.parametrize(
    ("trust", "text", "outcome"),
    [
        (Trust.SELF, "Notices to contracts@firm.example.", None),
        (Trust.KNOWN, "Notices to contracts@firm.example.", None),
        (Trust.UNKNOWN, "Notices to contracts@firm.example.", "recipients"),
        (Trust.SELF, "See https://contracts@firm.example/", "recipients"),
        (Trust.SELF, "Notices to xcontracts@firm.example.", "recipients"),
        (Trust.SELF, "Notices to contracts@firm.example.evil.example.", "recipients"),
        (Trust.SELF, "Notices to no-reply@firm.example.", "recipients"),
    ],
)
def test_an_address_may_stand_in_a_trusted_text_that_is_cited(trust, text, outcome):
    lease = Artifact("files", "l", Kind.DOCUMENT, text=f"The offer stands until Friday. {text}", trust=trust, id=8)
    cited = [Evidence(artifact=8, quote="The offer stands until Friday.")]
    to = "no-reply@firm.example" if "no-reply" in text else "contracts@firm.example"
    asked = finding(cited, mail_to(to))
    templates = frozenset({"question-left-unanswered"})
    rejection = check(asked, {8: lease}, PROFILE, NOW, frozenset(), (), templates)
    assert (rejection and rejection.check) == outcome


def test_a_text_that_is_not_cited_gives_no_address():
    lease = Artifact("files", "l", Kind.DOCUMENT, text="To contracts@firm.example", trust=Trust.SELF, id=8)
    templates = frozenset({"question-left-unanswered"})
    asked = finding(action=mail_to("contracts@firm.example"))
    rejection = check(asked, {**ARTIFACTS, 8: lease}, PROFILE, NOW, frozenset(), (), templates)
    assert rejection.check == "recipients"


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        pytest.param(REPLY, "recipients", id="to a stranger's mail"),
        pytest.param(
            Action(
                function_name="respond_to_invitation",
                parameters={"event": "a8", "response": "accepted", "note": ""},
            ),
            "recipients",
            id="to a stranger's invitation",
        ),
        pytest.param(
            Action(
                function_name="respond_to_invitation",
                parameters={"event": "a3", "response": "accepted", "note": ""},
            ),
            None,
            id="to an entry of the calendar",
        ),
    ],
)
def test_an_answer_goes_to_nobody_unknown(action, outcome):
    strange = {row: replace(artifact, trust=Trust.UNKNOWN) for row, artifact in ARTIFACTS.items()}
    strange[8] = replace(
        strange[3], id=8, parent="m1", key="m1/invite", people=(replace(BEN, role=Role.ORGANIZER),)
    )
    evidence = (MAIL, Evidence(artifact=3, quote="Budget round of the board", where="title"))

    def outcome_for(*known):
        templates = frozenset({"question-left-unanswered"})
        told = check(finding(evidence, action), strange, PROFILE, NOW, frozenset(known), [], templates)
        return told and told.check

    assert outcome_for() == outcome
    assert outcome_for("ben@firm.example") is None


def test_addresses_are_read_from_artifacts_and_profile():
    found = addresses(ARTIFACTS.values(), PROFILE)
    assert found == {"ben@firm.example", "dan@firm.example", "eva@firm.example", "anna@firm.example"}
    strangers = [replace(artifact, trust=Trust.UNKNOWN) for artifact in ARTIFACTS.values()]
    assert addresses(strangers, PROFILE) == {"eva@firm.example", "anna@firm.example"}
    assert address_of("  Eva <EVA@firm.example> ") == "eva@firm.example"
    assert address_of('"a@b" <') == ""


@pytest.mark.parametrize(
    ("due", "outcome"),
    [
        ("2026-03-18", None),
        ("2026-03-19", None),
        ("2026-03-17", "times"),
        ("2026-02-30", "times"),
        ("2026-20-01", "action"),
        ("2028-03-18", None),
        ("2028-04-18", "times"),
    ],
)
def test_a_day_must_be_real_and_to_come(due, outcome):
    assert failed(finding(action=act("create_task", title="t", due=due, notes=""))) == outcome


@pytest.mark.parametrize(
    ("start", "outcome"),
    [
        ("2026-03-18T10:30", None),
        ("2026-03-18T10:00", "times"),
        ("2026-03-18T09:00", "times"),
        ("2026-03-29T02:30", "times"),
        ("2026-03-29T03:30", None),
        ("2026-10-25T02:30", None),
        ("2026-03-20T24:30", "times"),
        ("2026-03-20T10:75", "action"),
        ("2029-03-18T10:30", "times"),
    ],
)
def test_a_moment_must_be_on_the_clock_and_to_come(start, outcome):
    action = act("schedule_meeting", title="t", start=start, duration_minutes=30, attendees=[], agenda="")
    assert failed(finding(action=action)) == outcome


def test_a_task_that_is_done_keeps_its_day():
    cited = [Evidence(artifact=6, quote="Return the lease today", where="title")]
    done = act("update_task", task="a6", status="done", due="2026-03-01", note="")
    assert failed(finding(cited, done)) is None
    assert (
        failed(finding(cited, act("update_task", task="a6", status="open", due="2026-03-01", note=""))) == "times"
    )


@pytest.mark.parametrize(
    ("find", "replace", "outcome"),
    [
        ("The hall.", "The yard.", None),
        ("Room 4.\nRoom 5.", "Room 6.", None),
        ("Room", "Hall", "passage"),
        ("room 4.", "Room 6.", "passage"),
        ("The hall.", "The hall.", "passage"),
    ],
)
def test_the_passage_to_replace_stands_in_the_document_once(find, replace, outcome):
    cited = [Evidence(artifact=5, quote="Room 4. Room 5.")]
    action = act("update_document", document="a5", find=find, replace=replace)
    assert failed(finding(cited, action)) == outcome


EVENT = Evidence(artifact=3, quote="Budget round of the board", where="title")
TASK = Evidence(artifact=6, quote="Return the lease today", where="title")
OTHER_ACTION = act("create_task", title="t", due="2026-03-20", notes="")


@pytest.mark.parametrize("state", list(State))
def test_what_is_known_in_any_state_is_known(state):
    assert failed(finding(), [finding(state=state, id=4)]) == "known"


def test_other_words_and_another_template_on_the_same_artifacts_are_known():
    other = finding([Evidence(artifact=1, quote="so decide. Thanks")], OTHER_ACTION, template="task-past-due")
    assert failed(finding(), [other]) == "known"


def test_the_same_template_on_half_of_the_artifacts_is_known():
    known = finding([MAIL, EVENT], OTHER_ACTION)
    assert failed(finding(action=OTHER_ACTION), [known]) == "known"
    assert failed(finding(action=OTHER_ACTION), [finding([MAIL, EVENT, TASK], OTHER_ACTION)]) is None
    assert failed(finding(action=OTHER_ACTION), [known.model_copy(update={"template": "task-past-due"})]) is None


def test_the_same_action_on_the_same_artifact_is_known():
    known = finding([MAIL, EVENT, TASK], REPLY, template="task-past-due")
    assert failed(finding(), [known]) == "known"
    assert failed(finding(action=OTHER_ACTION), [known]) is None


@pytest.mark.parametrize(
    ("state", "outcome"),
    [(State.DISMISSED, "known"), (State.NEW, "known"), (State.DONE, None), (State.LAPSED, None)],
)
def test_a_dismissal_holds_for_the_series_and_what_was_done_for_the_occurrence(state, outcome):
    next_week = finding([Evidence(artifact=4, quote="Budget round", where="title")], OTHER_ACTION)
    assert failed(next_week, [finding([EVENT], OTHER_ACTION, state=state)]) == outcome


def test_the_order_of_the_checks_is_fixed():
    assert CHECKS == (
        "template",
        "artifacts",
        "evidence",
        "quote",
        "action",
        "references",
        "recipients",
        "times",
        "passage",
        "known",
    )
