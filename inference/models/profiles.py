"""The models of models.toml: what each needs, which fits this machine, and where its weights are."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import inference
from inference.models.hardware import Hardware
from workspace import UserError

EMBEDDED = "embedded"
OnBytes = Callable[[int, int], None]
"""Called with the bytes that are here and those that there will be."""


class Sampling(BaseModel):
    """How the next token is drawn; what is not set stays as the engine has it. No temperature: the likeliest."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None

    def fields(self) -> dict[str, float | int]:
        return self.model_dump(exclude_none=True)


class Profile(BaseModel):
    """One model as models.toml describes it; the meaning of the keys stands there."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    model: Annotated[str, Field(min_length=1)]
    revision: Annotated[str, Field(min_length=1)]
    engine: Literal["vllm", "transformers"]
    device: Literal["gpu", "cpu"]
    memory_gb: Annotated[float, Field(gt=0)]
    download_gb: Annotated[float, Field(ge=0)]
    context: Annotated[int, Field(ge=2048)]
    view_tokens: Annotated[int, Field(ge=500)]
    views: Annotated[int, Field(ge=1)]
    sampling: Sampling
    hybrid: bool
    capable: bool = True
    embedding: Annotated[str, Field(min_length=1)]
    note: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A profile, and the reason in a sentence for the person."""

    profile: Profile
    why: str


def models_file() -> Path:
    """models.toml beside the packages."""
    return Path(inference.__file__).parent.parent / "models.toml"


def load_profiles(path: Path | None = None) -> tuple[Profile, ...]:
    """The profiles in the order of the file.

    Raises UserError: no such file, no TOML, a wrong key or value, an id twice.
    """
    path = path or models_file()
    try:
        tables = tomllib.loads(path.read_text("utf-8")).get("profile", [])
        profiles = tuple(Profile.model_validate(table) for table in tables)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} can't be read: {error}. Put it right or install Tide anew.") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise UserError(f"{path} has a wrong profile: {where}: {fault['msg']}. Put it right.") from error
    ids = [profile.id for profile in profiles]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise UserError(f"{path} has the profile {twice[0]} twice. Remove one.")
    return profiles


def find_profile(id: str, profiles: Sequence[Profile]) -> Profile:
    """The profile of this id.

    Raises UserError: there is none.
    """
    for profile in profiles:
        if profile.id == id:
            return profile
    raise UserError(f"There is no model {id!r}. See `tide models` for those there are.")


def fits(profile: Profile, hardware: Hardware) -> tuple[bool, str]:
    """Whether the machine can run the profile, and why or why not, in a clause."""
    need = f"{profile.memory_gb:g} GB"
    if profile.device == "cpu":
        # A person's other programs want memory too.
        if hardware.ram_gb - 3 < profile.memory_gb:
            return False, f"needs {need} of memory beside other programs, the machine has {hardware.ram_gb:.0f} GB"
        return True, f"needs {need} of {hardware.ram_gb:.0f} GB of memory"
    if not hardware.gpus:
        return False, f"needs an NVIDIA GPU with {need}, none is here"
    best = max(hardware.gpus, key=lambda gpu: gpu.total_gb)
    # GPUs are sold in GiB, of which the driver keeps a part.
    if best.total_gb < profile.memory_gb:
        return False, f"needs {need} on the GPU, the {best.name} has {best.total_gb:.0f} GB"
    if not hardware.vllm or hardware.cpu_build:
        return False, "needs vLLM for GPUs: pip install -e '.[gpu]'"
    return True, f"needs {need} of the {best.total_gb:.0f} GB of the {best.name}"


def choose(profiles: Sequence[Profile], hardware: Hardware, is_here: Callable[[Profile], bool]) -> Chosen:
    """The first profile that fits and that may be chosen by itself; `embedded` where there is none.

    Hybrids are for those who name them. On a CPU a capable model takes hours, so it is chosen only if its weights
    are here (`is_here`), which somebody must have asked for.
    """
    for profile in profiles:
        if profile.hybrid or not profile.capable:
            continue
        fit, why = fits(profile, hardware)
        if fit and (profile.device == "gpu" or is_here(profile)):
            return Chosen(profile, f"{profile.model} ({profile.id}): {why}.")
    embedded = find_profile(EMBEDDED, profiles)
    return Chosen(embedded, f"No capable model fits or is here: {_nearest(profiles, hardware)}.")


def weights(profile: Profile) -> Path | None:
    """The folder with the fetched weights, whole; None where they are not here. Nothing is fetched."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        folder = Path(
            snapshot_download(
                profile.model, revision=profile.revision, allow_patterns=_FILES, local_files_only=True
            )
        )
    except (LocalEntryNotFoundError, HfHubHTTPError):
        return None
    return folder if _is_whole(folder) else None


def fetch(profile: Profile, on_progress: OnBytes | None = None) -> Path:
    """Fetch the weights and return their folder; what is here already is not fetched again.

    Raises UserError: no network, no such model, no space.
    """
    # Set before the import, which reads it: the hub's library otherwise asks and tells more than we need.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import httpx2
    from huggingface_hub import hf_hub_download, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        planned = snapshot_download(
            profile.model,
            revision=profile.revision,
            allow_patterns=_FILES,
            dry_run=True,
            tqdm_class=_progress_into(None, 0, 0),
        )
        assert isinstance(planned, list)
        whole = sum(file.file_size or 0 for file in planned)
        here = sum(file.file_size or 0 for file in planned if not file.will_download)
        for file in planned:
            if file.will_download:
                hf_hub_download(
                    profile.model,
                    file.filename,
                    revision=file.commit_hash,
                    tqdm_class=_progress_into(on_progress, here, whole),
                )
                here += file.file_size or 0
        if on_progress is not None:
            on_progress(here, whole)
    except (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, httpx2.HTTPError, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        raise UserError(
            f"The weights of {profile.model} can't be fetched ({reason}). Check the network and try again."
        ) from error
    folder = weights(profile)
    if folder is None:
        raise UserError(f"The weights of {profile.model} are not whole. Fetch them again.")
    return folder


_FILES = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model"]


def _is_whole(folder: Path) -> bool:
    """Whether configuration, tokenizer and every shard of the weights are there; a broken-off fetch has some."""
    index = folder / "model.safetensors.index.json"
    if index.exists():
        shards = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
    else:
        shards = {"model.safetensors"}
    return all((folder / name).exists() for name in ("config.json", "tokenizer_config.json", *shards))


def _nearest(profiles: Sequence[Profile], hardware: Hardware) -> str:
    """What is in the way of the profile that asks for the least."""
    device = "gpu" if hardware.gpus else "cpu"
    likely = [p for p in profiles if p.capable and not p.hybrid and p.device == device]
    if not likely:
        return f"there is no profile for the {device.upper()}"
    least = min(likely, key=lambda profile: profile.memory_gb)
    fit, why = fits(least, hardware)
    return f"{least.id} would fit, its weights were not fetched" if fit else f"{least.id} {why}"


def _progress_into(on_progress: OnBytes | None, here: int, whole: int) -> Any:
    """The hub reports through a progress bar's class; this one shows nothing and passes the bytes on."""
    from tqdm.auto import tqdm  # type: ignore[import-untyped]

    class Bytes(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})
            self.got = 0

        def update(self, n: float | None = 1) -> bool | None:
            self.got += int(n or 0)
            if on_progress is not None:
                on_progress(here + self.got, whole)
            return None

    return Bytes
