"""A mail that says that something is attached, and carries nothing."""

import re
from collections.abc import Iterator
from datetime import timedelta

from inference.observations import promise_phrases as phrases
from inference.observations.observation import Observation
from inference.observations.promises import later_of, other_side, reply
from inference.observations.requests import sentences
from inference.observations.statements import written_on
from inference.observations.words import plain
from inference.observations.working import say_day
from inference.observations.world import World, called, cite
from workspace import Artifact

_WITHIN = timedelta(days=21)
_READ = 20_000


def missing_attachments(world: World) -> Iterator[Observation]:
    """Mails of the last three weeks, of the person or to them, that say that something is attached, carry nothing
    and were not followed by one that does. Never certain."""
    for mail in world.mails:
        if mail.time is None or not world.now - _WITHIN <= mail.time <= world.now or mail.automatic:
            continue
        said = mail.text[:_READ].lower()
        if not any(word in said for word in phrases.ATTACHED_WORDS) or (mail.source, mail.key) in world.attached:
            continue
        other = other_side(mail, world)
        if other is None or mail.parent or mail.quoted.strip() or _LINK.search(said) or mail.defects:
            continue
        sentence = next((one for one in sentences(mail.text) if _says_attached(one)), None)
        evidence = cite(mail, world.zone, sentence) if sentence is not None else None
        if sentence is None or evidence is None or _came_later(mail, world):
            continue
        own = world.sent_by_owner(mail)
        name = world.name_of(other)
        to_whom = f"You wrote to {name}" if own else f"{name} wrote to you"
        yield Observation(
            kind="attachment-missing",
            sentence=(
                f"{to_whom} in {called(mail)} on {say_day(written_on(mail, world))} that something is attached, "
                f'but the mail carries nothing: "{" ".join(sentence.split())}"'
            ),
            evidence=(evidence,),
            certain=False,
            template="promise-not-kept" if own else "delivery-silently-late",
            why="Whoever needs it has not got it, and may not have noticed.",
            action=reply(
                mail,
                other,
                "I said that something is attached to this mail, and forgot it. I send it with this one."
                if own
                else "your mail says that something is attached, but nothing came. Could you send it again?",
                world,
            ),
            deadline=None,
            weight=0.5,
        )


def _says_attached(sentence: str) -> bool:
    words = plain(sentence)
    return bool(phrases.ATTACHED.search(words)) and not phrases.ELSEWHERE.search(words) and "?" not in words


def _came_later(mail: Artifact, world: World) -> bool:
    """Whether a later mail of the thread, or between the two, carries something or speaks of attaching."""
    sender = mail.sender.email if mail.sender is not None else ""
    later = later_of(world.mails_from.get(sender, []), mail, world)
    thread = [one for one in world.threads.get(mail.thread, ()) if one.time and mail.time and one.time > mail.time]
    return any(
        (one.source, one.key) in world.attached or any(word in one.text.lower() for word in phrases.ATTACHED_WORDS)
        for one in (*later, *thread)
    )


_LINK = re.compile(r"https?://|www\.")
