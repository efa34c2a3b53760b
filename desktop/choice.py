"""Which model and strategy the work takes, and why, in a sentence for the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from inference.discovery import Options
from inference.embedding import EMBEDDED as MINILM
from inference.embedding import Embedder, SentenceEmbedder
from inference.models.hardware import find_hardware
from inference.models.opening import open_model
from inference.models.profiles import EMBEDDED, Profile, find_profile, fits, load_profiles, weights
from inference.models.profiles import choose as choose_profile
from workspace import Folders, Settings, UserError, expanded

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from desktop.progress import Reporter
    from inference.models import LanguageModel

VIEW_TOKENS = 3500
"""The budget of a view for a model that has no profile; what any context of 8,192 tokens can hold."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy, and the model that it takes ("" for `observed`).

    `why` is for the person. `folders` is where weights and logs are, `embedding` the name of the embedding model.
    `view_tokens` and `views` (0: all) bound what a run asks. `model` is the name under which runs record it,
    "" where only its server knows; `capable` is as in the contract of models.
    """

    strategy: Literal["observed", "tide"]
    name: str
    why: str
    folders: Folders
    view_tokens: int = VIEW_TOKENS
    views: int = 0
    embedding: str = MINILM
    model: str = ""
    capable: bool = True


def choose(settings: Settings, folders: Folders, *, model: str = "", strategy: str = "") -> Choice:
    """Choose by what was asked for, else by the settings, else by what this machine can do.

    A model that is named on the command line is used; one that the settings name is used if it is capable.

    Raises:
        UserError: if the model that is named does not exist or is not here, or `tide` is asked for without one.
    """
    wanted = strategy or ("tide" if model else settings.strategy)
    if wanted == "observed":
        return Choice("observed", "", "As you asked, only what can be computed is looked for (observed).", folders)
    name = model or settings.model
    if not name:
        return _by_hardware(folders, wanted)
    if "://" in name:
        return Choice("tide", name, f"Model: the server at {name}, which you named.", folders)
    plain = name.partition(":")[2] if name.startswith(("vllm:", "transformers:")) else name
    profiles = load_profiles()
    if plain not in {profile.id for profile in profiles} and expanded(plain).is_dir():
        model_name = expanded(plain).absolute().name
        return Choice("tide", name, f"Model: the weights in {plain}, which you named.", folders, model=model_name)
    profile = find_profile(plain, profiles)
    if not profile.capable:
        return _incapable(profile, name, folders, wanted)
    fit, why = fits(profile, find_hardware())
    if not fit:
        raise UserError(f"The model {profile.id} {why}. `tide models` lists those that fit.")
    if weights(profile) is None:
        raise UserError(f"The weights of {profile.model} are not here. {_how_to_fetch(profile)}")
    return _with(profile, name, f"Model: {profile.model} ({profile.id}), which you named; it {why}.", folders)


def options(
    settings: Settings, chosen: Choice, *, rounds: int | None, new_per_round: int | None, full_text: bool
) -> Options:
    """What discovery is told: what was asked for, else the settings."""
    return Options(
        strategy=chosen.strategy,
        rounds=rounds or settings.rounds,
        new_per_round=new_per_round or settings.new_per_round,
        view_tokens=chosen.view_tokens,
        views=chosen.views,
        full_text=full_text,
        answer_days=settings.answer_days,
    )


def open_chosen(chosen: Choice, settings: Settings, told: Reporter, trace: Path | None) -> LanguageModel:
    """Open the chosen model, a context manager; starting a server takes minutes, which `told` hears.

    Raises:
        UserError: if it cannot be loaded, started or reached.
    """
    return open_model(
        chosen.name,
        chosen.folders,
        context=settings.context or None,
        side_by_side=settings.side_by_side,
        keep_server=settings.keep_server,
        trace=trace,
        on_progress=lambda step, seconds: told.progress(f"{step}, seconds", round(seconds), 0),
    )


def embedder(chosen: Choice) -> Embedder:
    """The embedding model, loaded when it has something to embed."""
    return LateEmbedder(chosen.embedding)


class LateEmbedder:
    """An embedder that costs nothing on a day on which nothing changed: it is loaded at its first use."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loaded: SentenceEmbedder | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._model().dimensions

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._model().embed(texts)

    def _model(self) -> SentenceEmbedder:
        if self._loaded is None:
            self._loaded = SentenceEmbedder(self._name)
        return self._loaded


def _by_hardware(folders: Folders, wanted: str) -> Choice:
    profiles, hardware = load_profiles(), find_hardware()
    here = [profile for profile in profiles if not profile.capable or weights(profile) is not None]
    chosen = choose_profile(here, hardware, lambda profile: True)
    if chosen.profile.capable:
        return _with(chosen.profile, chosen.profile.id, f"Model: {chosen.why}", folders)
    best = choose_profile(profiles, hardware, lambda profile: True).profile
    if best.capable:
        lack = f"The weights of {best.model} are not here. {_how_to_fetch(best)}"
    else:
        lack = "No capable model fits this machine. `tide models` shows what each needs; --model names a server."
    if wanted == "tide":
        raise UserError(f"{lack} Or prove that the engine runs, with nonsense: --model {EMBEDDED}")
    return Choice("observed", "", f"Only what can be computed is looked for (observed). {lack}", folders)


def _incapable(profile: Profile, name: str, folders: Folders, wanted: str) -> Choice:
    if wanted != "tide":
        why = (
            f"{profile.model} of the settings is not capable: only what can be computed is looked for (observed)."
        )
        return Choice("observed", "", why, folders)
    why = f"Model: {profile.model} ({profile.id}). It is far too small and answers nonsense; it proves the engine."
    return _with(profile, name, why, folders)


def _with(profile: Profile, name: str, why: str, folders: Folders) -> Choice:
    return Choice(
        "tide",
        name,
        why,
        folders,
        view_tokens=profile.view_tokens,
        views=profile.views,
        embedding=profile.embedding,
        model=profile.model,
        capable=profile.capable,
    )


def _how_to_fetch(profile: Profile) -> str:
    return f"Fetch them ({profile.download_gb:g} GB): tide models fetch {profile.id}"
