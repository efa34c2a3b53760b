"""The public holidays of the country whose clocks the person goes by.

Holidays of a part of a country are left out, since a time zone does not tell the part: a day that is one in most
of the country is all that can be said.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from importlib.resources import files

import holidays


@dataclass(frozen=True, slots=True)
class PublicHolidays(Container[date]):
    """The days that are public holidays in a country, by its ISO 3166 code; none where the code is ""."""

    code: str
    country: str

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.name(day) != ""

    def name(self, day: date) -> str:
        """What a holiday is called in English, else as the country calls it; "" for any other day."""
        return _of_year(self.code, day.year).get(day, "")

    def say(self, day: date) -> str:
        return f"{self.name(day)}, a public holiday in most of {self.country}"


@lru_cache(maxsize=64)
def public_holidays(zone: str) -> PublicHolidays:
    """Those of the country of a time zone (IANA); of none where a zone belongs to no country, as UTC does."""
    code = _table("zone.tab", key=2, value=0).get(zone, "")
    return PublicHolidays(code, _table("iso3166.tab", key=0, value=1).get(code, ""))


def zone_names() -> list[str]:
    """The time zones that belong to a country, by their IANA names."""
    return sorted(_table("zone.tab", key=2, value=0))


@lru_cache(maxsize=256)
def _of_year(code: str, year: int) -> Mapping[date, str]:
    if not code:
        return {}
    try:
        return dict(holidays.country_holidays(code, years=year, language="en_US"))
    except NotImplementedError:  # the library does not know the country
        return {}


@lru_cache(maxsize=4)
def _table(name: str, key: int, value: int) -> Mapping[str, str]:
    """Two columns of one of the tables that the time zone database brings."""
    lines = files("tzdata").joinpath("zoneinfo", name).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {row[key]: row[value] for row in rows}
