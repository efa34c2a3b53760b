"""The profile: who the person is and what world they work in. A TOML file that the person edits."""

import tomllib
from pathlib import Path
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from workspace.errors import UserError
from workspace.folders import write_private
from workspace.profile_text import TEMPLATE, with_changes

Model = TypeVar("Model", bound=BaseModel)


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone {name!r}") from error
    return name


Zone = Annotated[str, AfterValidator(_known_zone)]


class Persona(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = ""
    emails: tuple[str, ...] = ()
    occupation: str = ""
    about: str = ""

    @field_validator("emails")
    @classmethod
    def _lower(cls, emails: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(email.strip().lower() for email in emails)


class Organization(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = ""
    department: str = ""
    reports_to: str = ""


class Relationship(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    email: str
    relation: str = ""
    context: str = ""

    @field_validator("email")
    @classmethod
    def _lower(cls, email: str) -> str:
        return email.strip().lower()


class WorldModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    organization: Organization = Organization()
    relationships: tuple[Relationship, ...] = ()
    priorities: tuple[str, ...] = ()


class Profile(BaseModel):
    """The person Tide serves. `timezone` (IANA) is the zone in which they read times."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    timezone: Zone = "UTC"
    persona: Persona = Field(default_factory=Persona)
    world_model: WorldModel = Field(default_factory=WorldModel)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def domains(self) -> frozenset[str]:
        """The domains of the person's own addresses, but those at which anybody can have an address."""
        return frozenset(email.rpartition("@")[2] for email in self.persona.emails) - _OPEN_DOMAINS - {""}

    @property
    def known(self) -> frozenset[str]:
        """Addresses of the people whom the profile names."""
        return frozenset(person.email for person in self.world_model.relationships)

    @classmethod
    def load(cls, path: Path) -> "Profile":
        """Read the profile; a missing file is an empty profile in this machine's time zone.

        Raises:
            UserError: if the file is not TOML or holds a wrong key or value.
        """
        return read_toml(cls, path) if path.exists() else cls(timezone=local_timezone())

    def save(self, path: Path) -> None:
        """Write the profile: into what the person wrote in the file, whose comments stay, or a new file.

        Raises:
            UserError: if the file cannot be read, or is written in a way in which it cannot be changed.
        """
        write_toml(self, path, TEMPLATE, "Put the change in yourself: tide profile --edit")


# The largest providers at which most people have their mail; who shares one is not a colleague.
_OPEN_DOMAINS = frozenset(
    {
        "126.com", "163.com", "aol.com", "daum.net", "fastmail.com", "free.fr", "gmail.com", "gmx.at", "gmx.ch",
        "gmx.de", "gmx.net", "googlemail.com", "hanmail.net", "hotmail.com", "icloud.com", "laposte.net",
        "libero.it", "live.com", "mac.com", "mail.com", "mail.ru", "mailbox.org", "me.com", "msn.com", "naver.com",
        "orange.fr", "outlook.com", "posteo.de", "proton.me", "protonmail.com", "qq.com", "t-online.de", "web.de",
        "yahoo.com", "yahoo.co.jp", "yandex.ru", "ymail.com", "zoho.com",
    }
)  # fmt: skip


def write_toml(value: BaseModel, path: Path, template: str, otherwise: str) -> None:
    """Write a model into the person's TOML file, whose comments stay, or into a new one that begins as `template`.

    Raises:
        UserError: if the file cannot be read, or is written in a way in which it cannot be changed; the line ends
            in what to do `otherwise`.
    """
    kind = type(value)
    text = path.read_text(encoding="utf-8") if path.exists() else template
    before = read_toml(kind, path) if path.exists() else kind.model_validate(tomllib.loads(template))
    try:
        new = with_changes(text, before.model_dump(mode="json"), value.model_dump(mode="json"))
        if kind.model_validate(tomllib.loads(new)) != value:
            raise ValueError(path)
    except ValueError as error:
        raise UserError(
            f"{path} is written in a way in which Tide cannot change it and keep what stands there. {otherwise}"
        ) from error
    write_private(path.resolve(), new)


def read_toml(model: type[Model], path: Path) -> Model:
    """Read a TOML file of the person's into a model.

    Raises:
        UserError: if it cannot be read, naming the file and the first place that is wrong.
    """
    try:
        # A pipe would never end.
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a file. Remove it to start afresh.")
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}. Make sure that it is a file of yours.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8. Correct the file, or remove it to start afresh.") from error
    except RecursionError as error:
        raise UserError(f"{path} is nested too deep. Correct the file, or remove it to start afresh.") from error
    except ValueError as error:  # TOML that is wrong, or holds a number of thousands of digits
        raise UserError(f"{path}: {error}. Correct the file, or remove it to start afresh.") from error
    try:
        return model.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        what = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
        raise UserError(f"{path}: {place}: {what}. Correct the file.") from error


def local_timezone() -> str:
    """The IANA name of this machine's time zone, UTC where it cannot be told."""
    target = Path("/etc/localtime")
    if target.is_symlink():
        _, found, name = str(target.resolve()).partition("/zoneinfo/")
        if found:
            return name
    return "UTC"
