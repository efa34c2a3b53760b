"""From a name that a person writes to a model that answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from inference.models.contract import LanguageModel
from inference.models.hardware import find_hardware
from inference.models.profiles import EMBEDDED, Profile, choose, find_profile, fits, load_profiles, weights
from inference.models.trace import Trace, traced
from workspace import Folders, Keyring, KeyringLocked, UserError, expanded

KEY_VARIABLE = "TIDE_MODEL_KEY"
LONGEST = 32_768
"""Tokens of context that a folder of weights is given at most; more would only cost memory."""

OnProgress = Callable[[str, float], None]


def open_model(
    name: str | None,
    folders: Folders,
    *,
    context: int | None = None,
    side_by_side: int = 8,
    keep_server: bool = False,
    trace: Path | None = None,
    on_progress: OnProgress | None = None,
) -> LanguageModel:
    """Open the model of this name; close it, or leave its `with`, to give back what it holds.

    | name | what |
    |---|---|
    | empty | the profile that `choose` takes for this machine |
    | a profile's id, `embedded` | that profile |
    | a folder of weights | served by vLLM where it is installed, else in this process |
    | `vllm:` or `transformers:` before a folder or `embedded` | by that engine |
    | `http(s)://host:port/v1` or `...#model` | the OpenAI-compatible server there |

    `context` lowers the model's own. With `trace`, prompts and replies are kept in that folder. `on_progress` is
    told what a starting server does, and the seconds since its start.

    Raises UserError: no such model, weights not here, engine not installed, server not to be reached, no place for
    the traces.
    """
    # Before the model, which may take minutes to start.
    kept = None if trace is None else Trace(expanded(trace))
    model = _open(name or "", folders, context, side_by_side, keep_server, on_progress)
    return model if kept is None else traced(model, kept)


def find_key(base_url: str) -> str | None:
    """The key for a server: the keyring's, kept as service `tide` under its address, else TIDE_MODEL_KEY."""
    try:
        kept = Keyring().get(base_url)
    except KeyringLocked:
        # No keyring on this machine, or a locked one: the environment is the other place.
        kept = None
    return kept or os.environ.get(KEY_VARIABLE) or None


def _open(
    name: str,
    folders: Folders,
    context: int | None,
    side_by_side: int,
    keep: bool,
    on_progress: OnProgress | None,
) -> LanguageModel:
    if name.startswith(("http://", "https://")):
        from inference.models.openai_server import OpenAIServer

        address, _, model = name.partition("#")
        return OpenAIServer(address, model, key=find_key(address), context=context, side_by_side=side_by_side)
    engine, _, rest = name.partition(":")
    if engine not in ("vllm", "transformers"):
        engine, rest = "", name
    profiles = load_profiles()
    profile = _profile(rest, profiles)
    if profile is None:
        folder = expanded(rest).absolute()
        limit = min(context or LONGEST, _longest(folder))
        shown, sampling, capable = folder.name, {"temperature": 0.7, "top_p": 0.8, "top_k": 20}, True
        cache_gb = 2
        engine = engine or "vllm"
    else:
        folder = _weights(profile, folders)
        limit = min(context or profile.context, profile.context)
        shown, sampling, capable = profile.model, profile.sampling.fields(), profile.capable
        # What the profile needs beside its weights, less the working memory.
        cache_gb = max(1, int(profile.memory_gb - profile.download_gb - 2))
        engine = engine or profile.engine

    from inference.models.vllm_server import VLLMServer, vllm_installed

    if engine == "vllm" and (vllm_installed() or name.startswith("vllm:")):
        return VLLMServer(
            folder,
            folder=folders.logs,
            context=limit,
            name=shown,
            keep=keep,
            capable=capable,
            side_by_side=side_by_side,
            cache_gb=cache_gb,
            sampling=sampling,
            on_progress=on_progress,
        )
    from inference.models.local import TransformersModel

    if on_progress is not None:
        on_progress("loading the weights", 0.0)
    return TransformersModel(folder, name=shown, context=limit, capable=capable, sampling=sampling)


def _profile(name: str, profiles: tuple[Profile, ...]) -> Profile | None:
    """The profile of a name; None where the name is that of a folder."""
    if not name:
        return choose(profiles, find_hardware(), lambda profile: weights(profile) is not None).profile
    if any(profile.id == name for profile in profiles):
        return find_profile(name, profiles)
    if expanded(name).is_dir():
        return None
    raise UserError(
        f"There is no model {name!r}: no profile, folder or http(s) address. See `tide models` for the profiles."
    )


def _weights(profile: Profile, folders: Folders) -> Path:
    if profile.id == EMBEDDED:
        from inference.models.embedded import embedded_weights

        return embedded_weights(folders.cache)
    fit, why = fits(profile, find_hardware())
    if not fit:
        raise UserError(f"The model {profile.id} {why}. See `tide models` for those that fit.")
    folder = weights(profile)
    if folder is None:
        raise UserError(
            f"The weights of {profile.model} ({profile.download_gb:g} GB) are not here. "
            f"Run: tide models fetch {profile.id}"
        )
    return folder


def _longest(folder: Path) -> int:
    """The context that the weights were made for.

    Raises UserError: the folder holds no model.
    """
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        # Models that also see keep the figures of their text part below.
        return int((config.get("text_config") or config)["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{folder} holds no model: no usable config.json. Name a folder with weights.") from error
