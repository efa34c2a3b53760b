"""Models that the tests share: a small real one, a random one, and one vLLM server for the whole session.

Unpacking the small one takes seconds and starting vLLM half a minute: each is done once, when first asked for.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from inference.models import LanguageModel
from inference.models.vllm_server import VLLMServer, vllm_installed


def pytest_configure(config: pytest.Config) -> None:
    # torch 2.13 uses what it has deprecated itself, when transformers is imported.
    config.addinivalue_line("filterwarnings", "ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")


@pytest.fixture(scope="session")
def embedded_folder(pytestconfig: pytest.Config) -> Path:
    """The weights of SmolLM2-135M-Instruct, unpacked; they are kept for the next session."""
    from inference.models.embedded import embedded_weights

    return embedded_weights(pytestconfig.rootpath / ".cache")


@pytest.fixture(scope="session")
def tiny_qwen(tmp_path_factory: pytest.TempPathFactory, embedded_folder: Path) -> Path:
    """The folder of a Qwen3 with two small layers of random weights, the hardest model there is.

    It has the tokenizer and chat template of SmolLM2 and a context of 32,768 tokens.
    """
    import torch
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

    folder = tmp_path_factory.mktemp("tiny-qwen") / "tiny-qwen"
    tokenizer = AutoTokenizer.from_pretrained(embedded_folder)
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=32,
            max_position_embeddings=32768,
            tie_word_embeddings=True,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    ).to(torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def vllm_server(tiny_qwen: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageModel]:
    """`tiny_qwen` on a vLLM server: 32,768 tokens of context, eight requests side by side, sampled at 0.8."""
    if not vllm_installed():
        pytest.skip("vLLM is not installed")
    with VLLMServer(
        tiny_qwen,
        folder=tmp_path_factory.mktemp("vllm"),
        context=32768,
        capable=True,
        cache_gb=1,
        sampling={"temperature": 0.8},
    ) as server:
        yield server
