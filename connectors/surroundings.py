"""What is the same for all the sources of one person."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from workspace import Keyring, SecretStore


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The person to whom the sources belong.

    `own` are their addresses and `known` those the profile names, lower case; `zone` is theirs. `now` is the clock
    (aware); occurrences of recurring events are kept from `past_days` before to `future_days` after today.
    """

    own: frozenset[str]
    known: frozenset[str]
    zone: ZoneInfo
    now: Callable[[], datetime]
    past_days: int
    future_days: int
    secrets: SecretStore = field(default_factory=Keyring)

    def midnight(self) -> datetime:
        """When today began: the same day gives the same window, so that a second sync brings nothing."""
        return self.now().astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)

    def window(self) -> str:
        """The window of occurrences, as a part of fingerprints: where it is another, a calendar is read again."""
        return f"{self.midnight():%Y-%m-%d} {self.past_days} {self.future_days} {self.zone.key}"
