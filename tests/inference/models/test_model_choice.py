"""Which model a machine gets, and how a name becomes a model."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from inference.models import (
    Message,
    Request,
    choose,
    fetch,
    find_hardware,
    find_profile,
    fits,
    load_profiles,
    open_model,
    opening,
    profiles,
    weights,
)
from inference.models.hardware import GPU, Hardware
from inference.models.opening import find_key
from inference.models.profiles import Profile
from workspace import Folders, UserError

ALL = load_profiles()


class Line(BaseModel):
    line: str


def machine(*gpu_gib: float, ram_gb: float = 32, vllm: bool = True) -> Hardware:
    # A GPU sold with 24 GB shows a little less than 24 GiB.
    gpus = tuple(GPU(f"GPU {size:g}", size * 0.985 * 1.0737, size) for size in gpu_gib)
    return Hardware(gpus, ram_gb, 8, vllm)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    monkeypatch.setenv("TIDE_HOME", str(tmp_path / "home"))
    return Folders.find()


@pytest.mark.parametrize(
    ("gib", "id"),
    [
        (6, "embedded"),
        (8, "gpu-8"),
        (12, "gpu-12"),
        (16, "gpu-16"),
        (24, "gpu-24"),
        (48, "gpu-48"),
        (80, "gpu-80"),
    ],
)
def test_the_largest_model_that_fits_the_gpu_is_chosen(gib: float, id: str) -> None:
    chosen = choose(ALL, machine(gib), lambda _: False)
    assert chosen.profile.id == id
    assert chosen.why.endswith(".")


def test_the_largest_of_several_gpus_counts() -> None:
    assert choose(ALL, machine(8, 24), lambda _: False).profile.id == "gpu-24"


def test_without_a_gpu_a_capable_model_is_chosen_only_where_its_weights_are() -> None:
    assert choose(ALL, machine(), lambda _: True).profile.id == "cpu"
    chosen = choose(ALL, machine(), lambda _: False)
    assert chosen.profile.id == "embedded"
    assert "cpu would fit, its weights were not fetched" in chosen.why


def test_too_little_memory_is_said() -> None:
    chosen = choose(ALL, machine(ram_gb=8), lambda _: True)
    assert chosen.profile.id == "embedded"
    assert "needs 14 GB of memory beside other programs, the machine has 8 GB" in chosen.why


def test_without_vllm_for_gpus_a_gpu_profile_says_what_to_install() -> None:
    for hardware in (machine(80, vllm=False), replace(machine(80), cpu_build=True)):
        fit, why = fits(find_profile("gpu-8", ALL), hardware)
        assert not fit
        assert "pip install" in why


def test_hybrids_are_never_chosen_by_themselves() -> None:
    only = [profile for profile in ALL if profile.hybrid or profile.id == "embedded"]
    assert choose(only, machine(80), lambda _: True).profile.id == "embedded"


def test_views_and_answers_fit_the_context_of_every_profile() -> None:
    for profile in ALL:
        assert profile.view_tokens * 2 <= profile.context
        assert profile.memory_gb > profile.download_gb


def test_this_machine_is_described_without_raising() -> None:
    hardware = find_hardware()
    assert hardware.ram_gb > 0.5
    assert hardware.cores >= 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[profile]", "can't be read"),
        ('[[profile]]\nid = "Bad Id"', "id: String should match"),
        (None, "can't be read"),
    ],
)
def test_a_broken_models_file_is_named(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "models.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        load_profiles(path)
    assert str(path) in str(caught.value)


def test_an_id_twice_is_refused(tmp_path: Path) -> None:
    table = re.search(r"\[\[profile\]\].*?\n\n", profiles.models_file().read_text(), re.DOTALL)
    assert table is not None
    path = tmp_path / "models.toml"
    path.write_text(table.group() * 2)
    with pytest.raises(UserError, match="gpu-80 twice"):
        load_profiles(path)


def test_an_unknown_name_lists_where_to_look(folders: Folders) -> None:
    with pytest.raises(UserError, match="tide models"):
        open_model("gpt-9", folders)


def test_a_profile_that_does_not_fit_is_not_started(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_hardware", machine)
    with pytest.raises(UserError, match="gpu-80 needs an NVIDIA GPU with 72 GB"):
        open_model("gpu-80", folders)


def test_weights_that_are_not_here_are_named_with_their_size(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "find_hardware", lambda: machine(80))
    monkeypatch.setattr(opening, "weights", lambda _: None)
    with pytest.raises(UserError, match=r"\(61\.1 GB\) are not here\. Run: tide models fetch gpu-80"):
        open_model("gpu-80", folders)


def test_a_folder_without_a_model_is_refused(folders: Folders, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no model"):
        open_model(str(tmp_path), folders)


def test_a_folder_opens_in_this_process_when_asked(folders: Folders, tiny_qwen: Path) -> None:
    with open_model(f"transformers:{tiny_qwen}", folders, context=4096) as model:
        assert (model.name, model.context, model.capable) == ("tiny-qwen", 4096, True)
        assert model.count([Message("user", "Hello")]) > 3


def test_an_address_opens_the_server_there_with_its_key(
    folders: Folders, scripted: Any, completion: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(opening, "find_key", lambda _: "from-the-keyring")
    scripted.answers = [(200, completion('{"line":"x"}'))]
    with open_model(f"{scripted.url}#scripted", folders, trace=tmp_path / "trace") as model:
        assert (model.name, model.context) == ("scripted", 4096)
        model.generate([Request((Message("user", "Hello"),), Line, 20, "ask")])
    assert scripted.headers[0]["authorization"] == "Bearer from-the-keyring"
    assert (tmp_path / "trace" / "000001.json").exists()


def test_a_key_comes_from_the_keyring_else_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.errors import NoKeyringError

    monkeypatch.setenv("TIDE_MODEL_KEY", "environment")
    monkeypatch.setattr(keyring, "get_password", lambda service, user: f"{service} {user}")
    assert find_key("https://example.org/v1") == "tide https://example.org/v1"

    def none(*_: str) -> None:
        raise NoKeyringError

    monkeypatch.setattr(keyring, "get_password", none)
    assert find_key("https://example.org/v1") == "environment"
    monkeypatch.delenv("TIDE_MODEL_KEY")
    assert find_key("https://example.org/v1") is None


def snapshot(cache: Path, profile: Profile, *names: str) -> Path:
    """A folder as the hub's library leaves it."""
    repository = cache / f"models--{profile.model.replace('/', '--')}"
    folder = repository / "snapshots" / ("a" * 40)
    folder.mkdir(parents=True, exist_ok=True)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / profile.revision).write_text("a" * 40)
    for name in names:
        (folder / name).write_text("{}")
    return folder


def test_weights_are_here_only_when_they_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    profile = find_profile("gpu-8", ALL)
    assert weights(profile) is None
    folder = snapshot(tmp_path, profile, "config.json", "tokenizer_config.json", "one.safetensors")
    index = {"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert weights(profile) is None
    (folder / "two.safetensors").touch()
    assert weights(profile) == folder


def test_fetching_without_a_network_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="can't be fetched") as caught:
        fetch(find_profile("gpu-8", ALL))
    assert "\n" not in str(caught.value)


def test_importing_the_models_loads_nothing_heavy() -> None:
    heavy = "torch", "transformers", "outlines", "vllm", "httpx", "huggingface_hub", "keyring"
    code = f"import sys, inference.models; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
