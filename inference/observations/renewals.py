"""Contracts that renew themselves, and whose last day for notice is near."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from inference.observations import renewal_phrases as words
from inference.observations.dates import months_later, named_days, number_in_words
from inference.observations.observation import Observation
from inference.observations.statements import Statement, at, cite_words, iso_days, statements, written_on
from inference.observations.words import plain, stems, subject
from inference.observations.working import is_working_day, next_working_day, previous_working_day, say_day
from inference.observations.world import World, called, cite, document_name
from workspace import Action, Artifact, Evidence, Kind, Role

_NEAR = timedelta(days=45)
_TOLD = timedelta(days=400)
_WISHED = timedelta(days=150)
_READ = 20_000
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class _Notice:
    """The last day on which notice can be given for a contract; `end` is that of its term, where it is stated."""

    contract: Artifact
    day: date
    end: date | None
    evidence: Evidence


def renewal_near(world: World) -> Iterator[Observation]:
    """Contracts of which the last day for notice is within 45 days, and for which no notice can be seen.

    Those of the person's files, and those in mails that somebody wants to leave. Never certain.
    """
    near = [notice for contract in _contracts(world) for notice in _notices(contract, world)]
    leaving = _leaving(world) if near else []
    told: set[tuple[str, date]] = set()
    for notice in near:
        contract = notice.contract
        name = document_name(contract)
        if (name, notice.day) in told or _is_sent(contract, leaving, world):
            continue
        told.add((name, notice.day))
        wish = _wish(contract, leaving, world)
        # A bill or a newsletter that says how to leave is no reason to; a wish to leave is.
        if wish is not None or contract.kind is Kind.DOCUMENT:
            yield _observe(notice, wish, world)


def _notices(contract: Artifact, world: World) -> Iterator[_Notice]:
    notice = _computed(contract, world) or _noted(contract, world)
    if notice is not None and world.today <= notice.day <= world.today + _NEAR:
        yield notice


def _leaving(world: World) -> list[Artifact]:
    """The mails, entries and files that have a word of leaving or comparing something, without attachments."""
    found = []
    for artifact in world.artifacts:
        said = f"{artifact.title} {artifact.text[:_READ]}".lower() if not artifact.parent else ""
        if any(word in said for word in words.LEAVING_WORDS):
            found.append(artifact)
    return found


def _contracts(world: World) -> Iterator[Artifact]:
    mails = (mail for mail in world.mails if mail.time and world.now - _TOLD <= mail.time <= world.now)
    for artifact in (*world.documents, *mails):
        said = artifact.text[:_READ].lower()
        if any(word in said for word in words.RENEWING_WORDS) or artifact.id in world.notes:
            yield artifact


def _computed(contract: Artifact, world: World) -> _Notice | None:
    """Counted back from the end of the term; the day itself where the text says it."""
    if not words.RENEWS.search(plain(contract.text[:_READ])):
        return None
    said = statements(contract, world)
    for one in said:
        text = plain(one.text)
        limit = next((named for named in one.days if named.limit), None)
        if (
            limit is not None
            and words.GIVING.search(text)
            and words.KEEPING.search(text)
            and not words.BEFORE.search(text)
        ):
            evidence = cite(contract, world.zone, one.text)
            return _Notice(contract, limit.day, None, evidence) if evidence is not None else None
    for one in said:
        match = words.BEFORE.search(plain(one.text))
        count, unit = _period(match) if match is not None else (0, "")
        end = _end_of_term(said, one, written_on(contract, world)) if count else None
        if end is None:
            continue
        evidence = cite(contract, world.zone, one.text)
        again = words.TERM.search(plain(contract.text[:_READ]))
        months = _months(again) if again is not None else 0
        for _ in range(_ROUNDS):
            day = _back(end, count, unit)
            if day >= world.today or not months:
                return _Notice(contract, day, end, evidence) if evidence is not None else None
            end = months_later(end, months)
    return None


def _end_of_term(said: tuple[Statement, ...], notice: Statement, written: date) -> date | None:
    """The end of the term: a day of the sentence on notice, else the last day of the one that tells an end."""
    if notice.days:
        return max(named.day for named in notice.days)
    ends = set()
    for one in said:
        match = words.ENDS.search(plain(one.text)) if one.days else None
        # Before the word of ending stands when it begins.
        after = named_days(plain(one.text)[match.start() :], written) if match is not None else []
        ends |= {max(named.day for named in after)} if after else set()
    return ends.pop() if len(ends) == 1 else None


def _back(end: date, count: int, unit: str) -> date:
    if unit.startswith(("month", "monat", "mois", "mes", "개월", "달")):
        return months_later(end, -count)
    if unit.startswith(("year", "jahr", "an", "ano", "년")):
        return months_later(end, -12 * count)
    weeks = unit.startswith(("week", "woche", "semaine", "semana", "주"))
    return end - timedelta(days=count * (7 if weeks else 1))


def _period(match: re.Match[str]) -> tuple[int, str]:
    """Count and unit of a match, 0 where the count is no number."""
    groups = match.groupdict()
    number = next((value for name, value in groups.items() if name.startswith("n") and value), "")
    unit = next((value for name, value in groups.items() if name.startswith("u") and value), "")
    return number_in_words(number) or (1 if number in words.ONCE else 0), unit


def _months(match: re.Match[str]) -> int:
    count, unit = _period(match)
    if not unit:
        return 12
    return count * 12 if unit.startswith(("year", "jahr", "an", "ano", "년")) else count


def _noted(contract: Artifact, world: World) -> _Notice | None:
    """The day that a note of the text tells as the last for notice."""
    for note in world.notes.get(contract.id, ()):
        for phrase in note.dates:
            days = iso_days(phrase)
            if len(days) != 1 or not words.NOTED.search(phrase.lower()):
                continue
            last = days[0]
            evidence = cite_words(contract, world, day=last, words=f"{phrase} notice renewal term")
            return _Notice(contract, last, None, evidence) if evidence is not None else None
    return None


def _is_sent(contract: Artifact, leaving: Sequence[Artifact], world: World) -> bool:
    """Whether a later mail of the person's to somebody outside gives notice, or one of others confirms it."""
    names = _names(contract)
    for mail in leaving:
        sent = mail.time if mail.kind is Kind.EMAIL else None
        if sent is None or contract.time is None or not contract.time < sent <= world.now:
            continue
        if not names & stems(f"{subject(mail.title)}\n{mail.text}"):
            continue
        said = plain(f"{mail.title}\n{mail.text}")
        if world.sent_by_owner(mail):
            outside = any(p.role is Role.TO and p.email and not _is_colleague(p.email, world) for p in mail.people)
            if outside and words.GIVES_NOTICE.search(said):
                return True
        elif words.CONFIRMS.search(said):
            return True
    return False


def _is_colleague(email: str, world: World) -> bool:
    return email.partition("@")[2] in {own.partition("@")[2] for own in world.own}


def _names(contract: Artifact) -> frozenset[str]:
    """The words of the title that name the contract, without those that any contract has."""
    name = document_name(contract)
    return stems(subject(name.rpartition(".")[0] or name)) - words.ANY_CONTRACT


def _wish(contract: Artifact, leaving: Sequence[Artifact], world: World) -> Artifact | None:
    """What speaks of leaving, changing or comparing it: rather what is planned than what is written, the last."""
    names = _names(contract)
    found = []
    for artifact in leaving:
        moment = at(artifact) or artifact.due or artifact.time
        if artifact.id == contract.id or artifact.automatic or moment is None:
            continue
        if world.now - _WISHED <= moment <= world.now + _WISHED and any(
            names & stems(said) and words.WISHES.search(plain(said)) for said in _pairs(artifact, world)
        ):
            found.append((artifact.kind in (Kind.EVENT, Kind.TASK), moment, artifact))
    return max(found, key=lambda item: (item[0], item[1], -item[2].id))[2] if found else None


def _pairs(artifact: Artifact, world: World) -> Iterator[str]:
    """Every two sentences that follow each other: one names the thing, the next says what becomes of it."""
    said = [one.text for one in statements(artifact, world)]
    yield from said[:1]
    for first, second in pairwise(said):
        yield f"{first} {second}"


def _observe(notice: _Notice, wish: Artifact | None, world: World) -> Observation:
    contract = notice.contract
    beside = cite(wish, world.zone) if wish is not None else None
    planned = None
    if wish is not None and wish.kind in (Kind.EVENT, Kind.TASK):
        moment = world.starts(wish) if wish.kind is Kind.EVENT else wish.due
        planned = world.local(moment).date() if moment is not None else None
    term = f" before the end of the term on {say_day(notice.end)}" if notice.end is not None else ""
    sentence = (
        f"The last day for notice under {called(contract)} is {say_day(notice.day)}{term}; no notice can be seen."
    )
    if wish is not None and beside is not None:
        sentence += f" {called(wish)} speaks of leaving it."
        if planned is not None and planned > notice.day:
            sentence = sentence.removesuffix(".") + f", and stands on {say_day(planned)}, which is too late."
    off = world.holidays
    day = notice.day if is_working_day(notice.day, off) else previous_working_day(notice.day, off)
    if day > world.today:
        day = max(world.today, previous_working_day(day, off))
    return Observation(
        kind="renewal-near",
        sentence=sentence,
        evidence=(notice.evidence, beside) if beside is not None else (notice.evidence,),
        certain=False,
        template="notice-period-closing",
        why="Without notice in time the contract goes on for another term.",
        action=Action(
            function_name="create_task",
            parameters={
                "title": f"Give notice: {contract.title.rpartition('/')[2][:120]}".strip(),
                "due": (day if is_working_day(day, off) else next_working_day(day, off)).isoformat(),
                "notes": f"The last day for notice is {say_day(notice.day)}.",
            },
        ),
        deadline=datetime.combine(notice.day + timedelta(days=1), time(0), world.zone).astimezone(UTC),
        weight=0.75 if beside is not None else 0.4,
    )
