"""Who waits for whom across several threads on one matter."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from inference.observations import crossed_phrases as phrases
from inference.observations.acquaintances import Acquaintances, Somebody
from inference.observations.observation import Observation
from inference.observations.promises import later_of, reply
from inference.observations.requests import asking, by_machine, says_settled, sentences, wants_no_answer
from inference.observations.statements import written_on
from inference.observations.words import alike, plain, stems, subject
from inference.observations.working import say_day, working_days_between
from inference.observations.world import World, called, cite
from workspace import Action, Artifact, Evidence, Person, Role, Trust

_WITHIN = timedelta(days=45)
_FEW = 4
_SHARED = 2
_READ = 8000


@dataclass(frozen=True, slots=True)
class _Open:
    """A question with which a thread ends: `asker` waits for `asked`."""

    mail: Artifact
    asker: str
    asked: Person
    sentence: str


def waits_crossed(world: World) -> Iterator[Observation]:
    """Two threads on one matter that end with a question each, of the person to somebody and of that one to the
    person; and a question to the person that they answered to somebody else alone. Never certain."""
    mine: dict[str, list[_Open]] = defaultdict(list)
    theirs: list[_Open] = []
    for mails in world.threads.values():
        for one in _ends(mails, world):
            if one.asker in world.own:
                mine[one.asked.email].append(one)
            else:
                theirs.append(one)
    for one in theirs:
        other = next((other for other in mine.get(one.asker, ()) if _same_matter(one, other.mail, world)), None)
        found = _both_wait(one, other, world) if other is not None else _answered_another(one, world)
        if found is not None:
            yield found


def left_to_each_other(world: World) -> Iterator[Observation]:
    """Two people who each wrote in the last 45 days, to the person or as the person, that the other sees to
    something, in mails that share their matter. Never certain."""
    people = Acquaintances(world)
    said: dict[tuple[str, str], list[tuple[Artifact, str]]] = defaultdict(list)
    for mail in world.mails:
        if mail.time is None or not world.now - _WITHIN <= mail.time <= world.now or mail.automatic:
            continue
        if mail.sender is None or not mail.sender.email or not _concerns(mail, world):
            continue
        writer = _key(mail.sender.email, people, world)
        for sentence, to in _leavings(mail, people, world):
            if to == writer:
                continue
            for other, words in said.get((to, writer), ()):
                found = _both_leave(other, words, mail, sentence, world)
                if found is not None:
                    yield found
                    said.pop((to, writer))
                    break
            said[writer, to].append((mail, sentence))


def _ends(mails: list[Artifact], world: World) -> Iterator[_Open]:
    """The question with which a thread ends, for each of the few who are asked."""
    spoken = [
        one for one in mails if one.time and one.time <= world.now and not (one.automatic or by_machine(one.title))
    ]
    if not spoken or spoken[-1].time is None or spoken[-1].time < world.now - _WITHIN:
        return
    mail = spoken[-1]
    own = world.sent_by_owner(mail)
    to = [person for person in mail.people if person.role is Role.TO and person.email]
    asked = [person for person in to if world.is_own(person) is not own]
    known = own or mail.trust is Trust.KNOWN or (mail.sender is not None and mail.sender.email in world.dealt_with)
    if mail.sender is None or not known or not 0 < len(asked) <= _FEW or wants_no_answer(mail.text):
        return
    found = asking(mail.text)
    aged = working_days_between(written_on(mail, world), world.today, world.holidays) >= 1
    if found is None or not found.direct or not aged:
        return
    for person in asked:
        yield _Open(mail, mail.sender.email, person, found.sentence)


def _same_matter(one: _Open, other: Artifact, world: World) -> bool:
    """Whether two mails of different threads are on one matter: titles alike, or two words of the question."""
    if one.mail.id == other.id or (one.mail.thread and one.mail.thread == other.thread):
        return False
    words = stems(f"{subject(other.title)}\n{other.text[:_READ]}") - _names(world)
    title = stems(subject(one.mail.title))
    return bool(title & stems(subject(other.title)) - _names(world)) or len(stems(one.sentence) & words) >= _SHARED


def _both_wait(one: _Open, other: _Open, world: World) -> Observation | None:
    shown = [cite(item.mail, world.zone, item.sentence) for item in (one, other)]
    settled = any(says_settled(mail.text) for mail in _between(one, world))
    if shown[0] is None or shown[1] is None or settled:
        return None
    name = world.name_of(other.asked)
    return Observation(
        kind="waits-crossed",
        sentence=(
            f'You wait for {name} in {called(other.mail)} since {say_day(written_on(other.mail, world))}: "'
            f'{" ".join(other.sentence.split())}" {name} waits for you in {called(one.mail)} since '
            f'{say_day(written_on(one.mail, world))}: "{" ".join(one.sentence.split())}"'
        ),
        evidence=(shown[0], shown[1]),
        certain=False,
        template="question-left-unanswered",
        why="Each waits for the other on one matter, so that nothing moves.",
        action=reply(
            one.mail,
            one.mail.sender or other.asked,
            f"I was waiting for your answer in {called(other.mail)}, and you for mine. Can we settle both?",
            world,
        ),
        deadline=None,
        weight=0.6,
    )


def _answered_another(one: _Open, world: World) -> Observation | None:
    """The person wrote on the matter to somebody who had asked it as well, and not to this one."""
    since = written_on(one.mail, world)
    if later_of(world.own_mails_to.get(one.asker, []), one.mail, world):
        return None
    if working_days_between(since, world.today, world.holidays) < world.answer_days:
        return None
    matter = stems(one.sentence) - _names(world)
    for mail in world.mentions(one.mail.title):
        later = mail.time is not None and one.mail.time is not None and mail.time > one.mail.time
        if not later or not world.sent_by_owner(mail) or not alike(mail.title, one.mail.title):
            continue
        if len(matter & stems(mail.text[:_READ])) < _SHARED or asking(mail.text) is not None:
            continue
        shown, answer = cite(one.mail, world.zone, one.sentence), cite(mail, world.zone)
        to = [person for person in mail.people if person.role is Role.TO and not world.is_own(person)]
        if shown is None or answer is None or not to or one.mail.sender is None:
            return None
        name = world.name_of(one.mail.sender)
        return Observation(
            kind="waits-crossed",
            sentence=(
                f"{name} asked you in {called(one.mail)} on {say_day(since)}: "
                f'"{" ".join(one.sentence.split())}" You wrote on it to {world.name_of(to[0])} in {called(mail)} '
                f"on {say_day(written_on(mail, world))}, and not to {name}."
            ),
            evidence=(shown, answer),
            certain=False,
            template="question-left-unanswered",
            why="The answer exists, but not where it was asked for.",
            action=reply(
                one.mail,
                one.mail.sender,
                f"sorry for the wait. I wrote on this to {world.name_of(to[0])} already, and send it to you, too.",
                world,
            ),
            deadline=None,
            weight=0.55,
        )
    return None


def _between(one: _Open, world: World) -> list[Artifact]:
    return [
        *later_of(world.mails_from.get(one.asker, []), one.mail, world),
        *later_of(world.own_mails_to.get(one.asker, []), one.mail, world),
    ]


def _leavings(mail: Artifact, people: Acquaintances, world: World) -> Iterator[tuple[str, str]]:
    """Sentences that leave something to somebody, with whom."""
    said = plain(mail.text[:_READ])
    if not phrases.LEAVING_WORDS.search(said):
        return
    for sentence in sentences(mail.text[:_READ]):
        words = plain(sentence)
        if "?" in words or not phrases.LEAVING_WORDS.search(words) or phrases.OPEN.search(words):
            continue
        for begin, who in (*people.named_at(sentence), *_self(sentence, world)):
            before, after = plain(sentence[:begin]), plain(_after(sentence[begin:]))
            if phrases.BEFORE.search(before) or phrases.AFTER.match(after):
                yield sentence, _SELF if not who.emails else sorted(who.emails)[0]


def _self(sentence: str, world: World) -> Iterator[tuple[int, Somebody]]:
    """Where the person is named."""
    for begin, token in phrases.tokens(sentence):
        if token[0].isupper() and plain(token) in world.own_names:
            yield begin, Somebody("", frozenset())
            return


def _after(rest: str) -> str:
    """What follows the name of one or two words with which a text begins."""
    words = [(begin, token) for begin, token in phrases.tokens(rest)][:2]
    end = words[0][0] + len(words[0][1]) if words else 0
    if len(words) == 2 and words[1][1][0].isupper() and words[1][0] == end + 1:
        end = words[1][0] + len(words[1][1])
    return rest[end:]


def _both_leave(
    first: Artifact, first_words: str, second: Artifact, second_words: str, world: World
) -> Observation | None:
    if first.id == second.id or first.sender is None or second.sender is None:
        return None
    names = _names(world)
    matter = [stems(f"{subject(one.title)}\n{one.text[:_READ]}") - names for one in (first, second)]
    same_thread = first.thread == second.thread != ""
    if not same_thread and not alike(first.title, second.title) and len(matter[0] & matter[1]) < _SHARED:
        return None
    shown = (cite(first, world.zone, first_words), cite(second, world.zone, second_words))
    evidence = tuple(one for one in shown if isinstance(one, Evidence))
    if len(evidence) < len(shown) or (same_thread and says_settled(second.text)):
        return None
    one, other = (world.name_of(mail.sender) for mail in (first, second) if mail.sender is not None)
    title = f"Settle with {one} and {other} who does it: {called(second)}"
    return Observation(
        kind="left-to-each-other",
        sentence=(
            f'{one} wrote in {called(first)} on {say_day(written_on(first, world))}: "'
            f'{" ".join(first_words.split())}" {other} wrote in {called(second)} on '
            f'{say_day(written_on(second, world))}: "{" ".join(second_words.split())}"'
        ),
        evidence=evidence,
        certain=False,
        template="owner-assumed-elsewhere",
        why="Each leaves it to the other, so that perhaps nobody does it.",
        action=Action(
            function_name="create_task",
            parameters={"title": title[:160], "due": world.today.isoformat(), "notes": ""},
        ),
        deadline=None,
        weight=0.5,
    )


def _concerns(mail: Artifact, world: World) -> bool:
    """Whether a mail is the person's own, or of somebody known to few of whom they are one."""
    to = [person for person in mail.people if person.role in (Role.TO, Role.CC) and person.email]
    if world.sent_by_owner(mail):
        return len(to) <= 2 * _FEW
    known = mail.trust is Trust.KNOWN or (mail.sender is not None and mail.sender.email in world.dealt_with)
    return known and len(to) <= 2 * _FEW and any(map(world.is_own, to))


def _key(email: str, people: Acquaintances, world: World) -> str:
    return _SELF if email in world.own else sorted(people.at(email).emails)[0]


def _names(world: World) -> frozenset[str]:
    return stems(" ".join(sorted(world.first_names | world.own_names)))


_SELF = "the person"
