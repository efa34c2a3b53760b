"""Which strategy and model the work takes, and that it says why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop import choice
from inference.models.hardware import GPU, Hardware
from inference.models.profiles import Profile
from workspace import Folders, Settings, UserError

BARE = Hardware(gpus=(), ram_gb=25.0, cores=2, vllm=True)
WORKSTATION = Hardware(gpus=(GPU("RTX 4090", 25.8, 25.0),), ram_gb=64.0, cores=16, vllm=True)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that the machine is this one and has the weights of these profiles."""

    def pretend(hardware: Hardware, *here: str) -> None:
        def weights(profile: Profile) -> Path | None:
            return Path("/weights") if profile.id in here else None

        monkeypatch.setattr(choice, "find_hardware", lambda: hardware)
        monkeypatch.setattr(choice, "weights", weights)

    return pretend


def test_a_bare_machine_computes_and_says_what_a_model_would_take(home: Folders, machine: Any) -> None:
    machine(BARE)
    chosen = choice.choose(Settings(), home)
    assert (chosen.strategy, chosen.name) == ("observed", "")
    assert "(observed)" in chosen.why
    assert chosen.why.endswith("tide models fetch cpu")


def test_the_best_model_that_fits_and_is_here_is_taken(home: Folders, machine: Any) -> None:
    machine(WORKSTATION, "gpu-8", "cpu", "gpu-80")
    chosen = choice.choose(Settings(), home)
    assert (chosen.strategy, chosen.name, chosen.view_tokens) == ("tide", "gpu-8", 3500)
    assert "RTX 4090" in chosen.why


def test_a_gpu_without_weights_is_told_what_to_fetch(home: Folders, machine: Any) -> None:
    machine(WORKSTATION)
    assert choice.choose(Settings(), home).why.endswith("tide models fetch gpu-24")


def test_observed_is_taken_when_asked_for(home: Folders, machine: Any) -> None:
    machine(WORKSTATION, "gpu-24")
    assert choice.choose(Settings(strategy="observed"), home).strategy == "observed"
    assert choice.choose(Settings(), home, strategy="observed").strategy == "observed"
    assert choice.choose(Settings(strategy="observed"), home, strategy="tide").name == "gpu-24"
    assert choice.choose(Settings(strategy="observed"), home, model="gpu-24").strategy == "tide"


def test_the_embedded_model_is_used_only_when_named_and_said_to_answer_nonsense(
    home: Folders, machine: Any
) -> None:
    machine(BARE)
    for name in ("embedded", "vllm:embedded", "transformers:embedded"):
        chosen = choice.choose(Settings(), home, model=name)
        assert (chosen.strategy, chosen.name) == ("tide", name)
        assert "nonsense" in chosen.why
    assert choice.choose(Settings(model="embedded"), home).strategy == "observed"
    assert choice.choose(Settings(model="embedded", strategy="tide"), home).name == "embedded"


def test_a_server_and_a_folder_are_taken_as_named(home: Folders, machine: Any, tmp_path: Path) -> None:
    machine(BARE)
    for name in ("http://127.0.0.1:8000/v1#qwen", str(tmp_path), f"vllm:{tmp_path}"):
        chosen = choice.choose(Settings(), home, model=name)
        assert (chosen.strategy, chosen.name) == ("tide", name)
    assert choice.choose(Settings(model=str(tmp_path)), home).strategy == "tide"


@pytest.mark.parametrize(
    ("settings", "model", "strategy", "told"),
    [
        (Settings(), "", "tide", r"not here\. .*--model embedded$"),
        (Settings(), "cpu", "", r"Fetch them \(8\.1 GB\): tide models fetch cpu$"),
        (Settings(model="gpu-8"), "", "", r"needs an NVIDIA GPU .* `tide models` lists those that fit\.$"),
        (Settings(), "gpt-9", "", r"no model 'gpt-9'"),
    ],
)
def test_a_model_that_cannot_be_is_told_with_what_to_do(
    settings: Settings, model: str, strategy: str, told: str, home: Folders, machine: Any
) -> None:
    machine(BARE)
    with pytest.raises(UserError, match=told):
        choice.choose(settings, home, model=model, strategy=strategy)


def test_options_come_from_the_command_and_else_from_the_settings(home: Folders, machine: Any) -> None:
    machine(BARE)
    settings = Settings(rounds=7, new_per_round=2, answer_days=5)
    chosen = choice.choose(settings, home, model="embedded")
    told = choice.options(settings, chosen, rounds=None, new_per_round=3, full_text=True)
    assert (told.strategy, told.rounds, told.new_per_round, told.view_tokens) == ("tide", 7, 3, 3000)
    assert (told.full_text, told.answer_days) == (True, 5)


def test_the_embedder_is_not_loaded_before_it_is_used(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(choice, "SentenceEmbedder", loaded.append)
    late = choice.LateEmbedder("all-MiniLM-L6-v2")
    assert late.name == "all-MiniLM-L6-v2"
    assert loaded == []
