"""Ordinary mail in any amount, the same for the same seed: words of a large vocabulary by Zipf's law."""

import itertools
import random
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

from workspace import Artifact, Kind, Person, Role

_SYLLABLES = [consonant + vowel for consonant in "bcdfglmnprstv" for vowel in "aeio"]
_START = datetime(2016, 1, 4, 8, tzinfo=UTC)


class Ordinary:
    """A generator of texts, people and times."""

    def __init__(self, seed: int = 1, vocabulary: int = 30_000, people: int = 400) -> None:
        self._random = random.Random(seed)
        self._words = [
            "".join(self._random.choices(_SYLLABLES, k=self._random.randint(1, 4))) for _ in range(vocabulary)
        ]
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, vocabulary + 1)))
        names = [(self.word().title(), self.word().title()) for _ in range(people)]
        self._people = [(f"{a} {b}", f"{a}.{b}{n}@example.org".lower()) for n, (a, b) in enumerate(names)]

    def word(self) -> str:
        return self._random.choices(self._words, cum_weights=self._weights)[0]

    def words(self, least: int, most: int) -> str:
        count = self._random.randint(least, most)
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=count))

    def text(self) -> str:
        paragraphs = [self.words(15, 60).capitalize() + "." for _ in range(self._random.randint(1, 5))]
        return "\n\n".join(paragraphs)

    def person(self) -> tuple[str, str]:
        return self._random.choice(self._people)

    def artifact(self, number: int) -> Artifact:
        sender, recipient = self.person(), self.person()
        people = (Person(Role.FROM, *sender), Person(Role.TO, *recipient))
        return Artifact(
            "mail",
            f"<{number}@example.org>",
            Kind.EMAIL,
            title=self.words(2, 7).capitalize(),
            text=self.text(),
            people=people,
            time=_START + timedelta(minutes=number * 7),
            thread=f"<{number - number % 3}@example.org>",
        )

    def message(self, number: int) -> EmailMessage:
        artifact = self.artifact(number)
        message = EmailMessage()
        message["From"], message["To"] = (str(person) for person in artifact.people)
        message["Subject"] = artifact.title
        message["Date"] = artifact.time
        message["Message-ID"] = artifact.key
        if artifact.thread != artifact.key:
            message["In-Reply-To"] = message["References"] = artifact.thread
        quoted = "\n".join(f"> {line}" for line in self.text().splitlines())
        body = f"{artifact.text}\n\nOn Monday {artifact.people[1].name} wrote:\n{quoted}\n"
        message.set_content(body)
        if number % 3 == 0:
            html = "".join(f"<p>{paragraph}</p>" for paragraph in artifact.text.split("\n\n"))
            message.add_alternative(
                f"<html><body>{html}<blockquote>{quoted}</blockquote></body></html>", subtype="html"
            )
        if number % 20 == 0:
            message.add_attachment(self.text(), filename=f"{self.word()}.txt")
        return message


def write_maildir(folder: Path, count: int, seed: int = 1) -> None:
    """Write a Maildir of `count` mails."""
    ordinary = Ordinary(seed)
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / "cur" / f"{1_451_900_000 + number * 420}.M{number}P1.host:2,S"
        path.write_bytes(ordinary.message(number).as_bytes())
