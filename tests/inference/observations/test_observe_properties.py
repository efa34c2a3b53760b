"""What holds for observations of any calendar, mailbox and task list."""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from inference.checks import addresses, check
from inference.observations import observe
from workspace import (
    Artifact,
    Commitment,
    Finding,
    Kind,
    Note,
    Person,
    Persona,
    Profile,
    Relationship,
    Role,
    Trust,
    WorldModel,
)

ZONES = ("Europe/Berlin", "America/New_York", "Pacific/Auckland", "Asia/Kathmandu", "UTC")
ADDRESSES = (
    "anna@firm.example",
    "ben@firm.example",
    "carla@client.example",
    "room-1@firm.example",
    "x@y.example",
    "",
)
TITLES = (
    *("Budget round", "Call", "", "Out of office", "Urlaub Ben", "Travel to Ben", "Flight", "Re: Offer", "Offer"),
    *("Ben on leave", "Call Ben", "Automatic reply: Offer", "Submit the offer"),
    *("\u200b", "\u2018Q3\u2019 \u2013 plan", "휴가", "Send the offer to Ben", "word " * 120, "y" * 500),
)
TEXTS = (
    *(
        "Hi Anna,\n\ncould you send the offer by Friday?\n\nBen",
        "Thanks!",
        "",
        "Which one, A or B?",
        "견적서를 보내 주세요.",
    ),
    *("Please confirm by 2026-03-30. No rush.", "> quoted?\n-- \nsignature?", "Can you?", "Never mind, found it."),
    "I'll send you the offer by 20 March.",
    "Please find the offer attached. Could you sign it by 30 March?",
    "The offer plan is on 30 March. We go by version 1 of the offer.",
    *("I am out of the office until 10 April 2026.", "Ben no longer works here.", "Ben must sign the offer."),
    *(
        "The train takes 2 hours.",
        "10:00 EST",
        "at 9:00 London time",
        "Ben does the offer.",
        "Anna does the offer.",
    ),
    "\u00bfPuedes confirmar la\u00a0hora \u2018exacta\u2019\u2026 ya?",
)
FILES = (
    "Item | EUR\nGlass | 8,300\nSteel | 1,200\nOffer | 12",
    "Replaces version 1 of 12 January 2026.\nItem | EUR\nGlass | 9,300\nSteel | 1,200\nOffer | 14",
    "The term ends on 30 April 2026. It renews for a year unless ended three weeks before the end of the term.",
    "The offer, version 1, has glass at 8,300.\nThe offer to Ben is due by 30 March 2026.",
)
TEMPLATES = frozenset(
    {
        *("overlapping-commitments", "meeting-without-audience", "question-left-unanswered", "reply-never-came"),
        *("task-past-due", "due-during-absence", "invitation-unanswered", "same-fact-two-values"),
        *("deadline-missing-from-plan", "notice-period-closing", "promise-not-kept", "delivery-silently-late"),
        *("superseded-version-in-use", "needed-person-away", "decision-maker-missing", "duty-of-someone-gone"),
        *("approval-holds-up-work", "no-time-to-get-there", "time-zone-misread", "owner-assumed-elsewhere"),
    }
)
# Around the change of the clocks in Europe, and of two days before it in no zone.
NOW = datetime(2026, 3, 27, 10, tzinfo=ZoneInfo("UTC"))

titles = st.one_of(st.sampled_from(TITLES), st.sampled_from(TITLES), st.text(max_size=40))
texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.text(max_size=80))
moments = st.integers(-40 * 48, 1).map(lambda halves: NOW + timedelta(minutes=30 * halves))
near = st.integers(-6, 60).map(lambda halves: NOW + timedelta(minutes=30 * halves))
lengths = st.sampled_from([0, 2, 3, 6, 10, 144]).map(lambda halves: timedelta(minutes=30 * halves))


seldom = st.integers(0, 5).map(lambda number: number == 0)
statuses = st.sampled_from(["accepted", "accepted", "declined", "tentative", "needs-action", ""])


def somebody(role: Role, *addresses: str) -> st.SearchStrategy[Person]:
    names = st.sampled_from(["Ben", "Anna Berger", ""])
    return st.builds(Person, st.just(role), names, st.sampled_from(addresses or ADDRESSES), statuses)


def either_way(one: Role, other: Role, third: Role) -> st.SearchStrategy[tuple[Person, ...]]:
    """Mostly people of whom the person is one, on either side; and now and then any."""
    anna, ben = ADDRESSES[:2]
    to_her = st.tuples(somebody(one, ben), somebody(other, anna))
    from_her = st.tuples(somebody(one, anna), somebody(other, ben))
    any_of_them = st.lists(st.sampled_from([one, other, third]).flatmap(somebody), max_size=4).map(tuple)
    return st.one_of(to_her, from_her, any_of_them, st.just(()))


@st.composite
def events(draw: st.DrawFn) -> Artifact:
    start = draw(near)
    return Artifact(
        source=draw(st.sampled_from(["a", "b"])),
        key="",
        kind=Kind.EVENT,
        title=draw(titles),
        text=draw(texts),
        people=draw(either_way(Role.ORGANIZER, Role.ATTENDEE, Role.ATTENDEE)),
        time=None if draw(seldom) else start,
        end=None if draw(seldom) else start + draw(lengths),
        all_day=draw(seldom),
        busy=not draw(seldom),
        cancelled=draw(seldom),
        location=draw(st.sampled_from(["", "", "Office", "Harbour", "Zoom"])),
        series=draw(st.sampled_from(["", "", "", "s", "r"])),
    )


mails = st.builds(
    Artifact,
    source=st.just("m"),
    key=st.just(""),
    kind=st.just(Kind.EMAIL),
    title=titles,
    text=texts,
    people=either_way(Role.FROM, Role.TO, Role.CC),
    time=st.one_of(moments, st.none()),
    thread=st.sampled_from(["", "", "t", "u"]),
    trust=st.sampled_from(list(Trust)),
    automatic=seldom,
)
tasks = st.builds(
    Artifact,
    source=st.just("t"),
    key=st.just(""),
    kind=st.just(Kind.TASK),
    title=titles,
    text=texts,
    due=st.one_of(moments, near, near, st.none()),
    status=st.sampled_from(["open", "done", ""]),
    all_day=st.booleans(),
)
documents = st.builds(
    Artifact,
    source=st.just("m"),
    key=st.just(""),
    kind=st.just(Kind.DOCUMENT),
    title=st.sampled_from(["Offer v1.xlsx", "Offer v2.xlsx", "Lease.pdf", ""]),
    text=st.one_of(st.sampled_from(FILES), texts),
    time=st.one_of(moments, st.none()),
    parent=st.sampled_from(["", "1", "2", "3"]),
)
worlds = st.lists(st.one_of(events(), events(), mails, mails, tasks, documents), max_size=12)
notes = st.builds(
    Note,
    people=st.just([]),
    things=st.just([]),
    commitments=st.lists(
        st.builds(
            Commitment,
            who=st.sampled_from(["Anna Berger", "Ben", ""]),
            what=st.sampled_from(["the offer", "\u200b"]),
            to=st.sampled_from(["Ben", "Anna Berger", ""]),
            by=st.sampled_from(["2026-03-20 Fri", "2026-03-30 Mon", "2026-02-31", "soon", ""]),
        ),
        max_size=2,
    ),
    dates=st.lists(st.sampled_from(["2026-04-09 Thu: last day for notice", "2026-99-99: notice by"]), max_size=1),
    amounts=st.just([]),
    states=st.just([]),
    rules=st.just([]),
    absences=st.lists(st.sampled_from(["Anna Berger away 2026-03-29 to 2026-04-02"]), max_size=1),
    line=st.just("A line."),
)


def stored(artifacts: list[Artifact]) -> list[Artifact]:
    return [replace(artifact, id=row, key=str(row)) for row, artifact in enumerate(artifacts, start=1)]


def person_in(zone: str) -> Profile:
    return Profile(
        timezone=zone,
        persona=Persona(name="Anna Berger", emails=("anna@firm.example",)),
        world_model=WorldModel(relationships=(Relationship(name="Ben", email="ben@firm.example"),)),
    )


@given(worlds, st.lists(notes, max_size=12), st.sampled_from(ZONES))
def test_every_observation_passes_the_checks(made, read, zone):
    artifacts = stored(made)
    profile = person_in(zone)
    by_row = {artifact.id: artifact for artifact in artifacts}
    by_note = {row: [note] for row, note in enumerate(read, start=1)}
    for item in observe(artifacts, profile, NOW, notes=by_note):
        finding = Finding(
            template=item.template,
            description=item.sentence,
            why=item.why,
            evidence=item.evidence,
            action=item.action,
            confidence=1.0,
            deadline=item.deadline,
        )
        assert check(finding, by_row, profile, NOW, addresses(artifacts, profile), (), TEMPLATES) is None
        assert 0.0 <= item.weight <= 1.0
        assert item.deadline is None or item.deadline.tzinfo is not None


@given(worlds.flatmap(lambda made: st.tuples(st.just(stored(made)), st.permutations(stored(made)))))
def test_the_order_of_the_artifacts_makes_no_difference(both):
    profile = person_in("Europe/Berlin")
    assert observe(both[0], profile, NOW) == observe(both[1], profile, NOW)
