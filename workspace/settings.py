"""Settings of the person, in a TOML file; every key has a default, so an empty file is a good file."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from workspace.profile import read_toml, write_toml


class Settings(BaseModel):
    """What the person may set.

    `model`: a profile of models.toml, `embedded`, a folder of weights, or the base URL of an
    OpenAI-compatible server (`http://host:port/v1#model`); empty chooses by the hardware. `keep_server` leaves
    the model server running after a run. `context` is how many tokens a server takes that does not say so; it
    lowers that of any other model; 0 leaves it. `past_days` and `future_days` bound the occurrences of recurring
    events; `answer_days` is after how many working days an unanswered question is told.
    `disabled_templates` are ids of templates that discovery does without.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: str = ""
    strategy: Literal["", "observed", "tide"] = ""
    rounds: Annotated[int, Field(ge=1, le=50)] = 10
    new_per_round: Annotated[int, Field(ge=1, le=10)] = 1
    side_by_side: Annotated[int, Field(ge=1, le=64)] = 8
    keep_server: bool = False
    context: Annotated[int, Field(ge=0)] = 0
    past_days: Annotated[int, Field(ge=1, le=3650)] = 365
    future_days: Annotated[int, Field(ge=1, le=3650)] = 365
    answer_days: Annotated[int, Field(ge=1, le=30)] = 3
    disabled_templates: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: Path) -> "Settings":
        """Read the settings; a missing file is all defaults.

        Raises:
            UserError: if the file is not TOML or holds a wrong key or value.
        """
        return read_toml(cls, path) if path.exists() else cls()

    def save(self, path: Path) -> None:
        """Write the settings into the person's file, whose comments stay, or into a new one.

        Raises:
            UserError: if the file cannot be read, or is written in a way in which it cannot be changed.
        """
        write_toml(self, path, "", "Put the change in yourself.")
